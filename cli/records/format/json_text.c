/* json_text.c - what JSON's strings, numbers and nested values say. */
#include "records/format/json.h"
#include "records/format/record.h"

#include <string.h>

/* -- strings ------------------------------------------------------------------------------ */

/* The four digits behind \u, or -1. */
static int32_t unit(const char *p, const char *end) {
    int32_t value = 0;
    if (end - p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

static size_t put_utf8(char *out, int32_t c) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(0xf00 >> n | c); /* 110x, 1110, 1111 0xxx */
    return n;
}

/* Reads one character behind \u at p; two escapes may be a surrogate pair.  Returns the bytes read,
 * or 0 if the escape is malformed. */
static size_t get_unicode(const char *p, const char *end, int32_t *c) {
    *c = unit(p, end);
    if (*c < 0) return 0;
    if (*c < 0xd800 || *c >= 0xdc00 || end - p < 10 || p[4] != '\\' || p[5] != 'u') return 4;
    int32_t low = unit(p + 6, end);
    if (low < 0xdc00 || low >= 0xe000) return 4;
    *c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
    return 10;
}

static char simple_escape(char c) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *at = c ? strchr(from, c) : NULL;
    return at ? to[at - from] : '\0';
}

ptrdiff_t json_unescape(const char *p, size_t len, char *out) {
    const char *end = p + len;
    char scrap[4];
    size_t n = 0;
    while (p < end) {
        const char *stop = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((stop ? stop : end) - p);
        if (out) memmove(out + n, p, plain);
        n += plain;
        p += plain;
        if (!stop) break;
        if (end - p < 2) return -1;
        int32_t c = simple_escape(p[1]);
        size_t used = c ? 2 : 0;
        if (p[1] == 'u') {
            size_t digits = get_unicode(p + 2, end, &c);
            used = digits ? 2 + digits : 0;
        }
        if (!used) return -1;
        n += put_utf8(out ? out + n : scrap, c);
        p += used;
    }
    return (ptrdiff_t)n;
}

/* -- the others --------------------------------------------------------------------------- */

size_t json_minify(const char *p, size_t len, char *out) {
    bool inside = false;
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (!inside && strchr(" \t\r\n", p[i])) continue;
        if (p[i] == '"') inside = !inside;
        out[n++] = p[i];
        if (inside && p[i] == '\\' && i + 1 < len) out[n++] = p[++i];
    }
    return n;
}

static const char *skip_digits(const char *p, const char *end) {
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p;
}

bool json_is_number(const char *p, size_t len) {
    const char *end = p + len, *from = p += len > 0 && *p == '-';
    p = skip_digits(p, end);
    if (p == from || (*from == '0' && p - from > 1)) return false;
    if (p < end && *p == '.') {
        from = ++p;
        p = skip_digits(p, end);
        if (p == from) return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        from = p;
        p = skip_digits(p, end);
        if (p == from) return false;
    }
    return p == end;
}
