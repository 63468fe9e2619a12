/* order.h - the order of the keys of `seen generate`: which are new, which come again and when. */
#ifndef SEEN_GENERATE_ORDER_H
#define SEEN_GENERATE_ORDER_H

#include <stddef.h>
#include <stdint.h>

enum gaps { GAPS_UNIFORM, GAPS_LOGUNIFORM, GAPS_BURST };

/* A keyed permutation of 0 .. n-1: a Feistel network over the a x b rectangle just above n. */
struct permutation {
    uint64_t n, a, b, key;
};

struct pending {
    uint64_t due, id, left; /* at which record, who, and how often still */
};

struct order {
    const struct repeats *repeats;
    enum gaps gaps;
    uint64_t gap_most, log_gap_most, key;
    uint64_t at;  /* records emitted */
    uint64_t met; /* distinct ids emitted */
    struct permutation permutation;
    uint64_t *bits; /* uniform: one a distinct id that was emitted */
    struct pending *heap;
    size_t pending, room;
};

/* -1: no memory. */
int order_make(struct order *, const struct repeats *, enum gaps, uint64_t gap_most, uint64_t seed);
void order_free(struct order *);

/* The next at most n occurrences: the number of the id, and whether it is its first.  Returns how
 * many; 0 at the end, or where memory ran out before it (at < records). */
size_t order_next(struct order *, size_t n, uint64_t *id, uint8_t *fresh);

/* How often each id of a generated stream occurs.
 *
 * Given: `records` clicks of `distinct` ids, the first few of them occurring exactly top[0], top[1]
 * ... times.  The others follow a truncated power law,
 *
 *     P(an id occurs r times) ~ r^-s,   1 <= r <= classes,
 *
 * the law of repeat visits wherever people or scripts come back to things.  Nothing is left to
 * choose: r stays below the last top id, and s is the one exponent that gives the mean
 * (records - tops) / (distinct - tops).  For Metwally's stream that mean is 1.360, s = 3.01, and
 * the third id occurs 1,620 times: the two published ids continue the same tail, as they
 * should.
 *
 * The law is not sampled, it is laid out: class r gets round(D F(r)) - round(D F(r-1)) of the D ids
 * (F the cumulated law), and the few records by which the rounding misses are put right in the
 * smallest classes.  So both totals are exact, and every seed has the same repeat counts.
 *
 *     ids    0 ................. n1 ........ n1+n2 ........ distinct - tops ... distinct
 *            once each           twice each  3 times ...    top ids, the last one top[0] times
 *     slots  0 ................. n1 ........ n1+2 n2 ....                       records
 *
 * A slot is one occurrence of one id; the order of the stream is a permutation of the slots.
 * Memory: a few KiB a thousand classes, none an id.  Where the mean is beyond MAX_MEAN every id
 * first gets `base` records and the law applies to the rest. */

enum { MAX_TOPS = 16, MAX_CLASSES = 16384, MAX_MEAN = 1024, GUIDES = 4096 };

struct repeat_class {
    uint64_t first_slot, first_id; /* of its ids; those of the next class end it */
    uint64_t count;                /* occurrences of each */
};

struct repeats {
    uint64_t records, distinct;
    uint64_t top[MAX_TOPS]; /* descending */
    uint64_t tops;
    double exponent;            /* s, for show */
    uint64_t n;                 /* classes in use, the top ids included */
    struct repeat_class *class; /* n, ascending, and one that ends the last */
    uint32_t guide[GUIDES + 1]; /* the class in which the i-th of GUIDES equal parts begins */
};

/* NULL, or the sentence that says why these numbers cannot be had together. */
const char *repeats_make(struct repeats *);
void repeats_free(struct repeats *);

/* The class of a slot, and of an id. */
const struct repeat_class *repeats_of_slot(const struct repeats *, uint64_t slot);
const struct repeat_class *repeats_of_id(const struct repeats *, uint64_t id);

#endif
