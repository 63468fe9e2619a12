/* feed.c - judges records with one key to ask about and one to add. */
#include "judge/feed.h"

/* A field that one key lacks the other may do without. */
static enum cause cause_of(struct keyer *k, const struct batch *b, size_t i) {
    enum cause cause = key_cause(k, b, i);
    return cause == CAUSE_LONG || cause == CAUSE_NOT_JSON || cause == CAUSE_NOT_LOG ? cause
                                                                                    : CAUSE_EMPTY;
}

size_t feed_batch(struct keyer *asked, struct keyer *added, const struct batch *b, uint16_t *order,
                  seen_digest *ask, seen_digest *add, uint8_t *parts, uint8_t *cause) {
    seen_digest asks[BATCH], adds[BATCH];
    uint16_t asking[BATCH + 1], adding[BATCH + 1];
    size_t n = 0;
    asking[key_batch(asked, b, asks, asking)] = BATCH;
    adding[key_batch(added, b, adds, adding)] = BATCH;
    for (size_t i = 0, p = 0, q = 0; i < b->n; i++) {
        bool has_ask = asking[p] == i, has_add = adding[q] == i;
        if (has_ask) ask[n] = asks[p++];
        if (has_add) add[n] = adds[q++];
        has_ask = has_ask && !key_is_empty(asked, b, i);
        has_add = has_add && !key_is_empty(added, b, i);
        order[n] = (uint16_t)i;
        parts[n] = (uint8_t)(has_ask * FEED_ASKS + has_add * FEED_ADDS);
        if (parts[n])
            n++;
        else
            cause[i] = (uint8_t)cause_of(asked, b, i);
    }
    return n;
}

uint8_t feed_observe(struct feed_counts *c, seen_detector *d, uint8_t parts, seen_digest ask,
                     seen_digest add, const seen_time *time, uint64_t within) {
    uint8_t verdict = UNREADABLE, unasked;
    if (parts & FEED_ASKS) {
        seen_query(d, 1, &ask, time ? *time : 0, within, &verdict);
        c->unique += verdict == SEEN_NEW;
        c->duplicates += verdict != SEEN_NEW;
    } else {
        c->only_added++;
    }
    if (parts & FEED_ADDS) seen_observe(d, 1, &add, time, &unasked);
    return verdict;
}
