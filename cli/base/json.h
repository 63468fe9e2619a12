/* json.h - bytes from outside as JSON: text as a string, anything else in base64.  And the
 * characters of UTF-8 (RFC 3629: no surrogates, nothing overlong). */
#ifndef SEEN_JSON_H
#define SEEN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The length of the UTF-8 character at `text`, which has n bytes left, at least one.  0: these
 * bytes are not a character. */
size_t utf8_character(const char *text, size_t n);

/* The same, but a byte that begins no character counts as one by itself. */
size_t utf8_step(const char *p, size_t n);

/* The number of a character of that length, as Unicode has it. */
uint32_t utf8_number(const char *text, size_t len);

/* Is all of it UTF-8? */
bool json_is_text(const char *p, size_t n);

/* How many of the n bytes at p stand for themselves inside a string; then one that does not is
 * written at `out` as an escape, whose length is returned. */
size_t json_plain(const char *p, size_t n);
size_t json_escape(char c, char out[8]);

/* Prints bytes as a string in quotes.  If they are not UTF-8, each byte above 0x7f is printed as
 * the Latin-1 character. */
void json_print(const char *p, size_t n, FILE *);
void json_print_text(FILE *, const char *text); /* the same of a string that ends in a NUL */

/* -- base64, a piece at a time ------------------------------------------------------------- */

struct base64 {
    unsigned char left[3]; /* bytes that wait for others */
    size_t n;
};

enum { BASE64_IN = 3 * 1024, BASE64_OUT = 4 * 1024 + 8 };

/* Up to BASE64_IN bytes in; the length written. */
size_t base64_add(struct base64 *, const char *p, size_t n, char out[BASE64_OUT]);
size_t base64_end(struct base64 *, char out[8]);

/* Bytes in base64, in quotes. */
void json_print_base64(const char *p, size_t n, FILE *);

#endif
