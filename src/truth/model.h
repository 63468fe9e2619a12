/* model.h - how many duplicates were false, by the formulas, one a shard.
 *
 * Where the false-positive rate is p, each record called new stands for p/(1-p) that were new and
 * called duplicates.  The stream of a shard is cut into pieces, each an eighth as long as the keys
 * stored at its begin, and wherever a window rotates.  The structure's rate is asked at both ends
 * of a piece; between them the odds p/(1-p) follow a power of the load.  Pieces are cut at numbers
 * of records, so that the sum does not depend on batches. */
#ifndef MODEL_H
#define MODEL_H

#include "detector/detector.h"

/* A snapshot keeps it. */
struct model {
    uint64_t records;  /* of the shard, so far */
    uint64_t began;    /* number of the record that began this piece */
    uint64_t until;    /* number of the record that begins the next piece */
    uint64_t fresh;    /* records called new in this piece */
    double odds, load; /* p/(1-p) and the keys stored when the piece began */
    double expected;   /* false duplicates of the pieces before */
    double worst;      /* greatest rate met at the ends of pieces */
    double fullest;    /* greatest number of keys stored, likewise */
};

/* Begins a piece, for a window whose clock is `at`. */
void model_open(struct model *, const struct window *, uint64_t at);

/* Ends it, and tells the window how many keys it took for its own (ops->unnoticed). */
void model_close(struct model *, struct window *, uint64_t at);

/* The sum with the open piece. */
double model_now(const struct model *, const struct window *, uint64_t at);

bool model_sane(const struct model *); /* a loaded one */

#endif
