/* store.h - an exact set of digests, in the order in which they were last stamped; it grows.
 *
 * Idea       A hash table over a queue.  Linear hashing (Litwin, VLDB 1980): the table grows by one
 *            bucket at a time, so no call ever rehashes it.  Entries and buckets live in chunks,
 *            which never move.  Entries are also linked by age, so the oldest is at hand: when its
 *            stamp has left the window it is reused before new memory is allocated.
 * Guarantee  Exact up to the 128 bits of a digest.  If memory runs out, the oldest keys are
 *            forgotten and counted.
 * Layout     bucket ─► entry ─► entry          (chained by hash)
 *            oldest ◄─► … ◄─► newest           (linked by age)
 *            entry: digest 16 bytes | stamp 8 | older, newer, chain: 4 each | spare 4;  bucket: 4
 * Cost       44 bytes a key; two or three cache misses a record, fetched ahead in batches.
 */
#ifndef STORE_H
#define STORE_H

#include "base/base.h"
#include "seen.h"

#include <stdbool.h>

struct store {
    const struct seen_allocator *alloc;
    struct store_chunk **chunks;
    uint32_t chunk_count, directory; /* chunks allocated; room for their addresses */
    uint32_t buckets;
    uint32_t used, size;     /* entries ever handed out; keys held */
    uint32_t spare;          /* list of entries handed back, as index + 1 */
    uint32_t oldest, newest; /* index + 1; 0: none */
    uint32_t most;           /* keys it may hold */
    uint64_t bytes;          /* memory allocated */
    uint64_t forgotten;      /* keys dropped inside the window */
    uint64_t kept;           /* shortest reach left by such a drop, in stamps */
};

/* `most`: keys that the store may hold; 0: no limit.  The allocator must outlive the store. */
void store_init(struct store *, const struct seen_allocator *, uint64_t most);
void store_free(struct store *);

/* Called after the store and its allocator may have moved.  Offers the mover the directory, but not
 * the chunks. */
void store_move(struct store *, const struct seen_allocator *, struct seen_mover);
void store_empty(struct store *);    /* frees all but the counts of what was forgotten */
uint64_t store_bytes(uint64_t keys); /* that this many keys take */

/* Tests and adds n digests in order, the i-th under stamp[i * stride]; stamps never decrease.  Keys
 * stamped below stamp - reach no longer count.  refresh_first: a duplicate keeps its stamp. Returns
 * how many keys were new or had an older stamp before. */
size_t store_observe(struct store *, size_t n, const seen_digest *, const uint64_t *stamp,
                     size_t stride, uint64_t reach, bool refresh_first, uint8_t *verdict);

/* The same in steps, for callers with their own rule for verdicts.  store_fetch prefetches up to
 * BITS_AHEAD keys.  store_expire removes at most two keys stamped below `least`.  store_add adds a
 * key that is not held as the newest.  Stamps may go back: keys leave in the order of arrival. */
void store_fetch(const struct store *, size_t n, const seen_digest *);
void store_expire(struct store *, uint64_t least);
void store_add(struct store *, seen_digest, uint64_t stamp, uint64_t now, uint64_t least);

/* Finds the stamp under which a key is held, even if it no longer counts; false: it is not held. */
bool store_find(const struct store *, seen_digest, uint64_t *stamp);

/* The number of keys stamped at `least` or later.  It is counted if at most `most` keys are, or if
 * at most `most` keys are not.  Otherwise it is estimated: the finer the stamps, the better. */
uint64_t store_live(const struct store *, uint64_t least, uint64_t most);

/* Removes a key; false: it is not held. */
bool store_forget(struct store *, seen_digest);

/* Sets the counts of forgotten keys back to none. */
void store_clear_counters(struct store *);

struct store_moment {
    uint64_t now, least; /* keys stamped below `least` no longer count */
};

/* Adds the keys of `from` that count, each under stamp - there.now + here.now + shift, at most
 * here.now.  The younger of two stamps stays.  Keys stamped below here.least do not enter, and
 * leave if room is needed.  Returns after `most` keys of both stores; true: the merge is complete.
 */
bool store_merge(struct store *into, struct store_moment here, const struct store *from,
                 struct store_moment there, uint64_t shift, uint64_t most, struct merge_cursor *);

/* Writes the counters and the keys, the oldest first; returns what the writer returned. */
int store_save(const struct store *, struct seen_writer);

/* Loads into an empty store.  Refuses a key that is there twice, stamps that go back by more than
 * `back` or exceed `newest`, and more keys than `limit` bytes hold. */
int store_load(struct store *, uint64_t newest, uint64_t back, struct seen_reader, uint64_t limit,
               struct seen_error *);

#endif
