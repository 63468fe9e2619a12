/* slip.h - "did you mean": the name that was probably meant, and the sentence that refuses. */
#ifndef SLIP_H
#define SLIP_H

#include "seen.h"

/* The nearest of the names tried so far, all zero at first. */
struct slip {
    const char *name;
    size_t distance;
};

void slip_try(struct slip *, const char *word, size_t len, const char *name);

/* "`what`'word' is not known; did you mean name?", or `else_say` instead if no name is near. */
int slip_refuse(const struct slip *, const char *what, const char *word, size_t len,
                const char *else_say, size_t where, struct seen_error *);

#endif
