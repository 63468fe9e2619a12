/* packed.c - packs the fields of a key into one string that sorts like them, and unpacks it. */
#include "commands/diff/packed.h"

#include <string.h>

size_t packed_put(char *out, const char *value, size_t len) {
    char *p = out;
    for (const char *nul; (nul = len ? memchr(value, '\0', len) : NULL);) {
        size_t n = (size_t)(nul - value);
        memcpy(p, value, n);
        memcpy(p + n, "\0\1", 2);
        p += n + 2;
        value = nul + 1;
        len -= n + 1;
    }
    if (len) memcpy(p, value, len);
    memcpy(p + len, "\0\0", 2);
    return (size_t)(p - out) + len + 2;
}

size_t packed_get(const char **at, char *out) {
    char *p = out;
    for (;;) {
        size_t n = strlen(*at);
        memcpy(p, *at, n);
        p += n;
        *at += n + 2;
        if ((*at)[-1] == '\0') return (size_t)(p - out);
        *p++ = '\0';
    }
}

void packed_put_time(char *out, seen_time t) {
    uint64_t big = __builtin_bswap64(t);
    memcpy(out, &big, sizeof big);
}

seen_time packed_get_time(const char *at) {
    uint64_t big;
    memcpy(&big, at, sizeof big);
    return __builtin_bswap64(big);
}
