/* pieces.h - how many duplicates were false, by expectation, where the rate of now is at hand.
 *
 * Each record called new stands for p/(1-p) that were new and called duplicates.  The rate changes
 * little over a short piece of the stream: it is asked at the piece's ends. */
#ifndef PIECES_H
#define PIECES_H

#include "plan/theory.h"

#include <math.h>
#include <stdbool.h>

/* What a snapshot keeps. */
struct pieces {
    uint64_t fresh, until; /* records called new in the open piece; its length */
    double expected, odds; /* false duplicates before it; p/(1-p) when it began */
};

/* With the open piece, at rate p. */
static inline double pieces_expected(const struct pieces *s, double p) {
    double odds = s->fresh ? theory_odds(p) : 0;
    return s->expected + (double)s->fresh * (s->odds + odds) / 2;
}

/* Ends the piece, at rate p; the next is of `until` records called new. */
static inline void pieces_close(struct pieces *s, double p, uint64_t until) {
    *s = (struct pieces){0, until, pieces_expected(s, p), theory_odds(p)};
}

static inline void pieces_clear(struct pieces *s) {
    s->fresh = 0;
    s->expected = 0;
}

static inline bool pieces_sane(const struct pieces *s) {
    return s->fresh < (uint64_t)1 << 62 && isfinite(s->expected) && s->expected >= 0 &&
           s->expected < 1e18 && s->odds >= 0 && s->odds <= 1e6;
}

#endif
