/* pieces.h - how many duplicates were false, by expectation, where the false-positive rate is known
 * at any time: each record called new stands for p/(1-p) that were new and called duplicates.  The
 * odds are taken at the ends of pieces so short that they hardly change, and their mean between. */
#ifndef PIECES_H
#define PIECES_H

#include <stdbool.h>
#include <stdint.h>

/* A snapshot keeps it. */
struct pieces {
    uint64_t fresh, until; /* records called new in the open piece; its length */
    double expected, odds; /* false duplicates before it; p/(1-p) when it began */
};

/* The sum with the open piece, at whose end the rate is `rate`. */
double pieces_now(const struct pieces *, double rate);

/* Ends the piece; the next is to be `until` long. */
void pieces_close(struct pieces *, double rate, uint64_t until);

/* Forgets what was counted, not the odds. */
void pieces_clear(struct pieces *);

bool pieces_sane(const struct pieces *); /* loaded ones */

#endif
