/* generate.h - the parts of `seen generate`: clicks, and the order of their ids. */
#ifndef SEEN_COMMAND_GENERATE_H
#define SEEN_COMMAND_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- clicks (click.c) -------------------------------------------------------------------------- */

/* The arithmetic of `seen generate` uses integers only, so that a stream has the same bytes on
 * every machine.  Floating point differs from one machine to another. */

__extension__ typedef unsigned __int128 u128;

/* A bijection on 64 bits that looks random: the finaliser of SplitMix64 (Steele, Lea and Flood). */
static inline uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The i-th number of the random sequence `key`. */
static inline uint64_t draw(uint64_t key, uint64_t i) {
    return mix(key + (i + 1) * 0x9e3779b97f4a7c15u);
}

/* 64 random bits -> uniform in 0 .. n-1. */
static inline uint64_t below(uint64_t random, uint64_t n) {
    return (uint64_t)((u128)random * n >> 64);
}

/* Logarithms are in units of 2^-LOG_BITS: 6 bits before the point, 58 after it. */
#define LOG_BITS 58
uint64_t fixed_log2(uint64_t x);     /* x >= 1 */
uint64_t fixed_exp2(uint64_t log2x); /* floor; log2x < 62 */

enum { AD_LENGTH = 6, ID_SHORTEST = AD_LENGTH + 8, ID_LONGEST = 4096, FARM = 1000 };
enum { PERIOD_BITS = 26 };
enum { MAX_CLICK = ID_LONGEST + 512 }; /* bytes that click_put may touch */
#define CLICK_PUBLISHER "pub013"       /* publisher and address of the planted clicks */
#define CLICK_ADDRESS   "192.0.2.66"

enum dress { DRESS_LINES, DRESS_TSV, DRESS_CSV, DRESS_NDJSON };
enum stamp { STAMP_NONE, STAMP_S, STAMP_MS, STAMP_US, STAMP_RFC3339 };

struct click_style {
    enum dress dress;
    enum stamp stamp;
    bool mark;        /* a last column: new or dup */
    size_t id_length; /* characters */
    uint64_t seed;
    uint64_t distinct, tops; /* ids; the last `tops` of them are the top ones */
    uint64_t start;          /* microseconds since the epoch */
    uint64_t period;         /* of one record, in 2^-PERIOD_BITS microseconds */

    uint64_t users, day; /* from here on: click_prepare fills them in */
    char date[16];       /* of `day` */
    char pairs[1024][2]; /* ten bits -> two base-32 digits */
};

void click_prepare(struct click_style *);

/* Write the header (lines and JSON have none), or record `number`, which has this id.  Return the
 * new end. */
char *click_put_header(const struct click_style *, char *at);
char *click_put(struct click_style *, char *at, uint64_t number, uint64_t id, bool fresh);

/* The time of a record: a random moment of the i-th period.  So times rise and the rate is
 * exact. */
uint64_t click_time(const struct click_style *, uint64_t number);

/* -- the order of ids (order.c) ---------------------------------------------------------------- */

enum gaps { GAPS_UNIFORM, GAPS_LOGUNIFORM, GAPS_BURST };

/* A keyed permutation of 0 .. n-1: a Feistel network over the a x b rectangle just above n. */
struct permutation {
    uint64_t n, a, b, key;
};

struct pending {
    uint64_t due, id, left; /* the record at which the id comes next, and how often it will come */
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

/* Returns 0, or -1 if memory is short. */
int order_make(struct order *, const struct repeats *, enum gaps, uint64_t gap_most, uint64_t seed);
void order_free(struct order *);

/* Writes at most n occurrences: the id, and whether it occurs for the first time.  Returns their
 * number; 0 at the end, or if memory is short (at < records). */
size_t order_next(struct order *, size_t n, uint64_t *id, uint8_t *fresh);

/* How often each id of a generated stream occurs.
 *
 * A stream has `records` clicks of `distinct` ids.  A few ids occur exactly top[0], top[1] ...
 * times.  The others follow a truncated power law,
 *
 *     P(an id occurs r times) ~ r^-s,   1 <= r <= classes,
 *
 * the usual law of repeat visits.  The numbers decide it: r stays below the count of the last top
 * id, and s is the exponent with the mean (records - tops) / (distinct - tops).  For Metwally's
 * stream the mean is 1.360, s = 3.01, and the third id occurs 1,620 times, so the two published ids
 * continue the same tail.
 *
 * The counts are not drawn at random.  Class r gets round(D F(r)) - round(D F(r-1)) of the D ids,
 * where F is the cumulated law.  The smallest classes make up for the rounding.  So both totals are
 * exact, and every seed has the same repeat counts.
 *
 *     ids    0 ................. n1 ........ n1+n2 ........ distinct - tops ... distinct
 *            once each           twice each  3 times ...    top ids, the last one top[0] times
 *     slots  0 ................. n1 ........ n1+2 n2 ....                       records
 *
 * A slot is one occurrence of one id; the order of the stream is a permutation of the slots.  A
 * thousand classes take a few KiB of memory, and ids take none.  If the mean is beyond MAX_MEAN,
 * every id first gets `base` records, and the law applies to the rest. */

enum { MAX_TOPS = 16, MAX_CLASSES = 16384, MAX_MEAN = 1024, GUIDES = 4096 };

struct repeat_class {
    uint64_t first_slot, first_id; /* of its ids; those of the next class end it */
    uint64_t count;                /* occurrences of each */
};

struct repeats {
    uint64_t records, distinct;
    uint64_t top[MAX_TOPS]; /* descending */
    uint64_t tops;
    double exponent;            /* s, for messages */
    uint64_t n;                 /* classes in use, the top ids included */
    struct repeat_class *class; /* n, ascending, and one that ends the last */
    uint32_t guide[GUIDES + 1]; /* the class in which the i-th of GUIDES equal parts begins */
};

/* Finds the counts.  Returns NULL, or a sentence that says why the numbers contradict each
 * other. */
const char *repeats_make(struct repeats *);
void repeats_free(struct repeats *);

#endif
