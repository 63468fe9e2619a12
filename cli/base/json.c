/* json.c - tells UTF-8 from other bytes, and prints bytes as JSON strings or in base64. */
#include "base/json.h"

#include <string.h>

/* -- UTF-8 -------------------------------------------------------------------------------- */

size_t utf8_character(const char *text, size_t n) {
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

size_t utf8_step(const char *p, size_t n) {
    size_t len = utf8_character(p, n);
    return len ? len : 1;
}

uint32_t utf8_number(const char *text, size_t len) {
    static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *p = (const unsigned char *)text;
    uint32_t c = p[0] & mask[len];
    for (size_t i = 1; i < len; i++) c = c << 6 | (p[i] & 0x3f);
    return c;
}

bool json_is_text(const char *p, size_t n) {
    for (size_t i = 0, len; i < n; i += len)
        if (!(len = utf8_character(p + i, n - i))) return false;
    return true;
}

/* -- strings ------------------------------------------------------------------------------ */

static bool plain(char c) { return (unsigned char)c >= 0x20 && c != '"' && c != '\\' && c != 0x7f; }

size_t json_plain(const char *p, size_t n) {
    size_t i = 0;
    while (i < n && plain(p[i])) i++;
    return i;
}

size_t json_escape(char c, char out[8]) {
    static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";
    const char *known = c ? strchr(from, c) : NULL;
    if (known) return (size_t)sprintf(out, "\\%c", to[known - from]);
    return (size_t)sprintf(out, "\\u%04x", (unsigned char)c);
}

void json_print(const char *p, size_t n, FILE *out) {
    char escaped[8];
    bool text = json_is_text(p, n);
    putc('"', out);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        if (!text && c >= 0x80)
            fprintf(out, "\\u%04x", c);
        else if (plain(p[i]))
            putc(c, out);
        else
            fwrite(escaped, 1, json_escape(p[i], escaped), out);
    }
    putc('"', out);
}

/* -- base64 ------------------------------------------------------------------------------- */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void four(const unsigned char *p, char *out) {
    out[0] = alphabet[p[0] >> 2];
    out[1] = alphabet[(p[0] & 3) << 4 | p[1] >> 4];
    out[2] = alphabet[(p[1] & 15) << 2 | p[2] >> 6];
    out[3] = alphabet[p[2] & 63];
}

size_t base64_add(struct base64 *b, const char *p, size_t n, char out[BASE64_OUT]) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        b->left[b->n++] = (unsigned char)p[i];
        if (b->n < 3) continue;
        four(b->left, out + at);
        at += 4;
        b->n = 0;
    }
    return at;
}

size_t base64_end(struct base64 *b, char out[8]) {
    size_t n = b->n;
    if (!n) return 0;
    memset(b->left + n, 0, 3 - n);
    four(b->left, out);
    memset(out + n + 1, '=', 3 - n);
    b->n = 0;
    return 4;
}

void json_print_base64(const char *p, size_t n, FILE *f) {
    struct base64 b = {.n = 0};
    char out[BASE64_OUT];
    putc('"', f);
    for (size_t i = 0; i < n; i += BASE64_IN) {
        size_t piece = n - i < BASE64_IN ? n - i : BASE64_IN;
        fwrite(out, 1, base64_add(&b, p + i, piece, out), f);
    }
    fwrite(out, 1, base64_end(&b, out), f);
    putc('"', f);
}

void json_print_text(FILE *f, const char *text) { json_print(text, strlen(text), f); }
