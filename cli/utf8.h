/* utf8.h - characters of text that may be none: RFC 3629, no surrogates, nothing overlong. */
#ifndef SEEN_UTF8_H
#define SEEN_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 character at `text`, which has n bytes left, at least one.  0: these
 * bytes are not a character. */
static inline size_t utf8_character(const char *text, size_t n) {
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] < 0x80) return 1;
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < len) return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool beyond = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
    return overlong || beyond ? 0 : len;
}

/* The same, where a byte that begins no character is one by itself. */
static inline size_t utf8_step(const char *p, size_t n) {
    size_t len = utf8_character(p, n);
    return len ? len : 1;
}

/* The number of a character of that length, as Unicode has it. */
static inline uint32_t utf8_number(const char *text, size_t len) {
    static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *p = (const unsigned char *)text;
    uint32_t c = p[0] & mask[len];
    for (size_t i = 1; i < len; i++) c = c << 6 | (p[i] & 0x3f);
    return c;
}

#endif
