/* packed.h - a key as one string of bytes that sorts as its fields do, one after the other.
 *
 * In each field a NUL is written as 00 01, and the field ends in 00 00:
 *
 *     ("ab", "c")     61 62 00 00  63 00 00
 *     ("a\0", "c")    61 00 01 00 00  63 00 00
 *
 * So memcmp compares two keys field by field, no key is the beginning of another, and bytes of a
 * fixed length, such as a time, may follow. */
#ifndef SEEN_DIFF_PACKED_H
#define SEEN_DIFF_PACKED_H

#include "seen.h"

#include <stddef.h>

/* The most bytes that fields of `len` bytes in all take. */
static inline size_t packed_room(size_t len, size_t fields) { return 2 * len + 2 * fields; }

/* Appends a field at `out`; returns the bytes written. */
size_t packed_put(char *out, const char *value, size_t len);
/* Reads the field at *at into `out`, which has room for it, and moves *at behind it.  Returns the
 * value's length. */
size_t packed_get(const char **at, char *out);

enum { PACKED_TIME = 8 };

/* A time in PACKED_TIME bytes that sort as it does. */
void packed_put_time(char *out, seen_time);
seen_time packed_get_time(const char *at);

#endif
