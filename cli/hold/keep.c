#include "hold/keep.h"

#include "cli.h"

#include <stdlib.h>

#define uthash_fatal(what)           die("out of memory for records held back")
#define HASH_FUNCTION(key, len, out) ((out) = (unsigned)((const seen_digest *)(key))->lo)
#include <uthash.h>

#define DAY UINT64_C(86400000000)

struct kept {
    seen_digest key;
    struct held *held;
    uint64_t clock; /* of the last occurrence; refresh=first: of the first */
    UT_hash_handle hh;
};

void keep_init(struct keep *k, const seen_detector *d, size_t most, char end) {
    const struct seen_spec *s = &seen_plan_of(d)->spec;
    bool timed = s->unit == SEEN_MICROSECONDS;
    *k = (struct keep){.spec = s,
                       .end = end,
                       .timed = timed,
                       .refresh_first = s->refresh == SEEN_REFRESH_FIRST,
                       .reach = s->window == SEEN_SLIDING ? s->length - timed : UINT64_MAX,
                       .most = most};
}

static struct held *let_go(struct keep *k, struct kept *kept) {
    struct held *h = kept->held;
    HASH_DEL(k->kept, kept);
    k->bytes -= held_size(h) + sizeof *kept;
    free(kept);
    return h;
}

void keep_free(struct keep *k) {
    while (k->kept) free(let_go(k, k->kept));
}

/* The number of the landmark window around the clock; weeks begin on Mondays, 1970-01-01 was a
 * Thursday. */
static uint64_t window_of(const struct keep *k) {
    const struct seen_spec *s = k->spec;
    if (s->unit == SEEN_EXPLICIT) return 0;
    if (!k->timed) return (k->clock - k->base) / s->length;
    return (k->clock + (s->length % (7 * DAY) ? 0 : 3 * DAY)) / s->length;
}

void keep_step(struct keep *k, const struct reading *r, bool landmark) {
    if (!k->timed)
        k->clock = k->noted;
    else if (r->time > k->clock)
        k->clock = r->time;
    if (landmark) k->base = k->noted;
    k->noted++;
    if (k->spec->window != SEEN_LANDMARK) return;
    uint64_t window = window_of(k);
    k->over = k->kept && (landmark || window != k->window);
    k->window = window;
}

/* The head is what has waited longest: uthash keeps the order in which entries came. */
struct held *keep_take(struct keep *k, bool all) {
    struct kept *oldest = k->kept;
    if (!oldest) k->over = false;
    if (!oldest) return NULL;
    if (all || k->over || k->clock - oldest->clock > k->reach) return let_go(k, oldest);
    if (k->bytes <= k->most) return NULL;
    k->early++;
    return let_go(k, oldest);
}

static void join(struct keep *k, struct kept *kept) {
    HASH_ADD(hh, k->kept, key, sizeof kept->key, kept);
}

struct held *keep_put(struct keep *k, const struct record *record, const struct reading *read) {
    struct kept *kept;
    struct held *before = NULL;
    HASH_FIND(hh, k->kept, &read->digest, sizeof read->digest, kept);
    if (kept) {
        before = kept->held;
        k->bytes -= held_size(before);
        if (!k->refresh_first) {
            HASH_DEL(k->kept, kept);
            join(k, kept);
            kept->clock = k->clock;
        }
    } else {
        kept = calloc(1, sizeof *kept);
        if (!kept) die("out of memory for records held back");
        kept->key = read->digest;
        kept->clock = k->clock;
        join(k, kept);
        k->bytes += sizeof *kept;
    }
    kept->held = held_new(record, read, k->end);
    k->bytes += held_size(kept->held);
    if (k->bytes > k->peak) k->peak = k->bytes;
    return before;
}
