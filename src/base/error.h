/* error.h - fills in an error: one sentence, and the column of the mistake. */
#ifndef ERROR_H
#define ERROR_H

#include "seen.h"

/* Fills *e (which may be NULL) and returns `code`, so that `return error_set(...)` refuses. */
int error_set(struct seen_error *e, int code, size_t where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
