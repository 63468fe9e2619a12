/* late.c - judges records that come out of order, with three lookups each. */
#include "sliding/late.h"

#include "base/bits.h"

#define GROUP (BITS_AHEAD / 3) /* records fetched ahead of use */

/* The digest of a key in the k-th stretch.  It goes into the upper half, which keys taken as they
 * are (hash=int) leave free. */
static seen_digest within(seen_digest key, uint64_t k) {
    key.hi += k * BITS_GOLDEN;
    return key;
}

static uint64_t distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

uint64_t late_least(const struct late *l, uint64_t at, uint64_t bias) {
    return at + bias - (l->window - 1) - l->lateness;
}

uint64_t late_distance(const struct late *l, const struct store *s, seen_digest d, uint64_t stamp) {
    uint64_t k = stamp / l->window, nearest = SEEN_NEVER, other;
    for (uint64_t i = k - (k > 0); i <= k + 1; i++)
        if (store_find(s, within(d, i), &other))
            nearest = bits_min(nearest, distance(stamp, other));
    return nearest < l->window ? nearest : SEEN_NEVER;
}

static void fetch(const struct late *l, const struct store *s, size_t n, const seen_digest *d,
                  const uint64_t *at, uint64_t bias) {
    seen_digest asked[3 * GROUP];
    for (size_t i = 0; i < n; i++)
        for (uint64_t j = 0; j < 3; j++)
            asked[3 * i + j] = within(d[i], (at[i] + bias) / l->window + j - 1);
    store_fetch(s, 3 * n, asked);
}

void late_observe(struct late *l, struct store *s, size_t n, const seen_digest *d,
                  const uint64_t *at, uint64_t bias, uint8_t *verdict) {
    for (size_t i = 0; i < n; i++) {
        uint64_t stamp = at[i] + bias;
        if (i % GROUP == 0) fetch(l, s, bits_min(n - i, GROUP), d + i, at + i, bias);
        l->newest = bits_max(l->newest, at[i]);
        uint64_t least = late_least(l, l->newest, bias);
        store_expire(s, least);
        verdict[i] = late_distance(l, s, d[i], stamp) != SEEN_NEVER;
        if (verdict[i]) continue;
        /* Its place is free: any in its stretch would lie in its window. */
        store_add(s, within(d[i], stamp / l->window), stamp, l->newest + bias, least);
        l->latest = bits_max(l->latest, stamp);
    }
}

bool late_forget(const struct late *l, struct store *s, seen_digest d, uint64_t least) {
    bool had = false;
    for (uint64_t k = least / l->window; k <= l->latest / l->window; k++)
        had |= store_forget(s, within(d, k));
    return had;
}
