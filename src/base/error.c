/* error.c - fills in a seen_error. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct seen_error *e, int code, size_t where, const char *format, ...) {
    if (!e) return code;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    e->code = code;
    e->where = where;
    return code;
}
