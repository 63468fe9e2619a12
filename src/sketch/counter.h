/* counter.h - the seam between a distinct counter and its sketch. */
#ifndef COUNTER_H
#define COUNTER_H

#include "seen.h"

#include <stdbool.h>

struct counter_ops {
    const char *name;
    uint64_t (*size)(double error);  /* cells for a relative standard error; 0: cannot be had */
    double (*error)(uint64_t cells); /* the relative standard error of this many cells */
    uint64_t (*bytes)(uint64_t cells);
    void (*init)(void *state, uint64_t cells, uint64_t seed); /* on zeroed bytes */
    void (*add)(void *state, uint64_t cells, size_t n, const seen_digest *);
    double (*estimate)(const void *state, uint64_t cells);
    void (*merge)(void *into, const void *from, uint64_t cells);
    bool (*valid)(uint64_t cells);                                   /* size() may return this */
    bool (*sound)(const void *state, uint64_t cells, uint64_t seed); /* add() can leave it so */
};

extern const struct counter_ops counter_hll, counter_fm;

#endif
