/* values.c - packs the values of several fields into one run of bytes. */
#include "group/values.h"

#include "base/json.h"

#include <string.h>

char *values_append(char *to, const char *value, size_t len) {
    to[0] = (char)(len & 0xff);
    to[1] = (char)(len >> 8);
    if (len) memcpy(to + 2, value, len);
    return to + 2 + len;
}

const char *values_next(const char **at, size_t *len) {
    const unsigned char *p = (const unsigned char *)*at;
    *len = (size_t)p[0] | (size_t)p[1] << 8;
    *at += 2 + *len;
    return (const char *)p + 2;
}

void values_print_json(const char *at, size_t n, FILE *out) {
    if (n > 1) putc('[', out);
    for (size_t i = 0, len; i < n; i++) {
        const char *value = values_next(&at, &len);
        if (i) fputs(", ", out);
        json_print(value, len, out);
    }
    if (n > 1) putc(']', out);
}
