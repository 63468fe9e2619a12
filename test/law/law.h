/* law.h - the driver of the law tests.
 *
 * A law is a function that is run for every structure the registry has (window x filter), and for
 * every variant of it that the option table has (counting by=subtract), so that a new structure is
 * tested without being listed.  It builds detectors from specs, plays streams to
 * them and checks.  A failure prints the seed and the spec; SEEN_SEED=… replays it.
 *
 *   law_truth.c      no false negatives; new is new beyond the slack; batch = single; query =
 *                    observe without effect, and const; ages; landmarks; forget; every CPU alike
 *   law_wrap.c       the same truth over more than 2^16 generations, and across silences
 *   law_rate.c       measured false positives = the plan's closed forms; expected_false = the truth
 *   law_snapshot.c   save and load are identity; save(load(x)) = x; every truncation and mutation
 *                    is refused or harmless; memory stays below the limit
 *   law_memory.c     bytes = plan; the k-th allocation fails, for every k; mem= holds, and what
 *                    is forgotten is counted
 *   law_merge.c      merged = both streams in one, in pieces too, with any calls between them;
 *                    refused where spec or seed differ
 *   law_decaying.c   false positives against "ever seen"; misses as planned
 *   law_stable.c     the Stable Bloom filter against its closed forms
 *   law_cache.c      the fingerprint cache against its closed forms, and a naive one
 *   law_buffer.c     lru, clock and fp-lru against stack distances
 *   law_confirm.c    with cache=, what is confirmed is certain, and by the cache's definition
 *   law_late.c       lateness= against its definition
 *   law_move.c       a detector whose blocks move gives the same answers
 *   law_threads.c    shards on several threads give the verdicts and bytes of one
 *   law_plan.c       a resolved spec plans to itself; plans keep mem= and fp=; named fixes work */
#ifndef LAW_H
#define LAW_H

#include "oracle.h"
#include "seen.h"

#include <stdbool.h>

/* -- cases -------------------------------------------------------------------------------- */

struct law_case {
    uint32_t window;       /* enum seen_window */
    const char *structure; /* as after filter=, a variant's option included */
    const char *name;      /* without it */
    uint32_t traits;       /* of its plan */
    uint32_t serial;       /* different in each case: mixed into seeds */
};

struct law {
    const char *name;
    void (*run)(const struct law_case *);
    bool once; /* not for every structure */
};

/* Does it run a variant?  Some laws then do less: all but one option was tested already. */
static inline bool law_is_variant(const struct law_case *c) { return c->structure != c->name; }

int law_main(const char *group, const struct law *, size_t n);

/* Small and awkward windows of the case's kind, counts and times; NULL after the last. */
const char *law_window(const struct law_case *, size_t i);

/* -- failing ------------------------------------------------------------------------------ */

/* What failures print; set by law_plan. */
#define law_check(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition)) law_fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                   \
    } while (0)
void law_fail(const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((format(printf, 4, 5), noreturn));

/* -- chance ------------------------------------------------------------------------------- */

uint64_t law_seed(void);          /* SEEN_SEED, or the one of every ordinary run */
uint64_t law_next(uint64_t *rng); /* SplitMix64 */
uint64_t law_below(uint64_t *rng, uint64_t n);
seen_digest law_digest(uint64_t key, uint64_t seed);
seen_digest law_fresh(uint64_t *rng); /* of a key never met before */

/* As a key that the plan can have: of its bits=, where keys are taken as they are. */
seen_digest law_key(const struct seen_plan *, uint64_t key, uint64_t seed);

/* -- detectors ---------------------------------------------------------------------------- */

/* Plans and makes, or fails the test; `cpu` as in cpu.h; NULL allocator: the library's. */
void law_plan(struct seen_plan *, const char *format, ...) __attribute__((format(printf, 2, 3)));
seen_detector *law_new(const struct seen_plan *, const struct seen_allocator *);
seen_detector *law_new_on(const struct seen_plan *, uint32_t cpu); /* an enum cpu */
seen_detector *law_make(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct oracle *law_oracle(const struct seen_plan *);

/* -- streams ------------------------------------------------------------------------------ */

enum law_kind {
    LAW_UNIFORM,  /* keys drawn from a set about as large as the window */
    LAW_DISTINCT, /* no key twice */
    LAW_ONE_KEY,  /* one key only */
    LAW_GAPS,     /* repeats at gaps of exactly N, N±1, the slack's end ±1, 1, 2 */
    LAW_BURSTS,   /* runs of one key, some keys come back */
    LAW_KINDS
};

struct law_stream {
    size_t n;
    seen_digest *digest;
    seen_time *time;
    uint8_t *landmarks; /* explicit ones before each record */
};

/* A stream for the window of a plan; times tie, run late and fall silent.  `landmarks`: a landmark
 * every `landmarks` records, sometimes two in a row; 0 for none. */
struct law_stream law_stream(const struct seen_plan *, enum law_kind, size_t n, uint64_t landmarks,
                             uint64_t seed);
void law_stream_free(struct law_stream *);

/* The records [from, to) in batches drawn from `rng`, or one by one (NULL); landmarks included. */
void law_play(seen_detector *, const struct law_stream *, size_t from, size_t to, uint64_t *rng,
              uint8_t *verdict);

/* Share of n fresh keys (rounded up to whole batches) that a query takes for duplicates. */
double law_query_fresh(const seen_detector *, uint64_t n, uint64_t *rng);

/* Fresh keys for digest[0 … n-1], and plays them. */
void law_play_fresh(seen_detector *, seen_digest *digest, uint64_t n, uint64_t *rng);

/* Share found of those of digest[0 … n-1], played last, that have `gap` others behind them, give or
 * take a hundredth. */
double law_found_at(const seen_detector *, const seen_digest *, uint64_t n, uint64_t gap);

/* -- bytes -------------------------------------------------------------------------------- */

struct law_bytes {
    unsigned char *data;
    size_t len, room, at; /* `at`: read so far */
};

struct law_bytes law_save(const seen_detector *, const char *blob);
seen_detector *law_load(const struct law_bytes *, const struct seen_allocator *);
void law_reload(seen_detector **); /* saved, freed, loaded; checks that its bytes are the same */
bool law_alike(const seen_detector *, const seen_detector *); /* to the byte of what is saved */
int law_load_error(seen_detector **, const struct law_bytes *, size_t limit,
                   const struct seen_allocator *, struct seen_error *);
bool law_bytes_equal(const struct law_bytes *, const struct law_bytes *);
void law_bytes_free(struct law_bytes *);

/* -- memory that counts ------------------------------------------------------------------- */

struct law_memory {
    struct seen_allocator allocator; /* hand this to the library */
    uint64_t now, most, calls, live; /* bytes, their peak, allocations, those not freed */
    uint64_t fail_from, fail_until;  /* calls numbered from 1 that return NULL */
    bool mismatch;                   /* something was freed with another size */
};
void law_memory_init(struct law_memory *);

#endif
