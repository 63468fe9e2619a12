/* click.h - fields of made-up clicks. */
#ifndef SEEN_GENERATE_CLICK_H
#define SEEN_GENERATE_CLICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The arithmetic of `seen generate`: integers only, so that a stream has the same bytes
 * on every machine (libm and floating-point contraction differ from one to the next). */

__extension__ typedef unsigned __int128 u128;

/* A bijection on 64 bits that looks random: the finaliser of SplitMix64 (Steele, Lea and Flood). */
static inline uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The i-th number of the random sequence `key`; any of them can be had without the others. */
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
#define CLICK_PUBLISHER "pub013"       /* the planted ones */
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

    uint64_t users, day; /* from here on: click_prepare's */
    char date[16];       /* of `day` */
    char pairs[1024][2]; /* ten bits -> two base-32 digits */
};

void click_prepare(struct click_style *);

/* The header (nothing for lines and JSON), and record `number` of id `id`.  Return the new end. */
char *click_put_header(const struct click_style *, char *at);
char *click_put(struct click_style *, char *at, uint64_t number, uint64_t id, bool fresh);

/* Record i comes at a random moment of the i-th period: times rise, and the rate is exact. */
uint64_t click_time(const struct click_style *, uint64_t number);

#endif
