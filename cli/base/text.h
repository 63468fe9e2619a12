/* text.h - values as text: exact decimal amounts, counts and sizes for people, UTF-8, JSON. */
#ifndef SEEN_TEXT_H
#define SEEN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* -- exact sums of decimal amounts, such as the cost of a click --------------------------- *
 *
 * An amount is a whole number of units of 10^-18 in 128 bits: 18 digits behind the point and 20
 * before it.  Nothing is rounded: text that does not fit is refused, and so is a sum. */

__extension__ typedef __int128 decimal;

enum { DECIMAL_PLACES = 18, DECIMAL_TEXT = 48 };

/* Reads 12, -0.50, +.5 or 1.5e3, with blanks around it.  Raises *places to the number of digits
 * that the text has behind the point.  False if the text is not a number or does not fit. */
bool decimal_parse(decimal *, unsigned *places, const char *text, size_t len);

/* False, and *sum unchanged, if the sum does not fit. */
bool decimal_add(decimal *sum, decimal amount);

/* Writes the amount with `places` digits behind the point, or more where it has more.  Returns the
 * length; the text ends in a NUL. */
size_t decimal_text(decimal, unsigned places, char out[DECIMAL_TEXT]);

/* -- for people ---------------------------------------------------------------------------- */

/* A number as text.  Use it within the expression that makes it: number_grouped(n).text. */
struct number {
    char text[32];
};

struct number number_grouped(uint64_t); /* 1,234,567 */
struct number number_size(uint64_t);    /* 1.5 MiB */

/* -- UTF-8 (RFC 3629: no surrogates, nothing overlong) ------------------------------------- */

/* The length of the UTF-8 character at `text`, which has n bytes left, at least one.  0: these
 * bytes are not a character. */
size_t utf8_character(const char *text, size_t n);

/* The same, but a byte that begins no character counts as one by itself. */
size_t utf8_step(const char *p, size_t n);

/* The number of a character of that length, as Unicode has it. */
uint32_t utf8_number(const char *text, size_t len);

/* Is all of it UTF-8? */
bool json_is_text(const char *p, size_t n);

/* -- bytes from outside as JSON: text as a string, anything else in base64 ----------------- */

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
