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

/* Reads 12, -0.50, +.5 or 1.5e3, with blanks around it.  If the text has more than *places digits
 * behind the point, *places becomes their number.  False: not a number, or it does not fit. */
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

/* The Unicode code point of a character of that length. */
uint32_t utf8_number(const char *text, size_t len);

/* Is all of it UTF-8? */
bool json_is_text(const char *p, size_t n);

/* -- JSON strings ---------------------------------------------------------------------------- */

/* How many bytes from p on need no escape inside a string. */
size_t json_plain(const char *p, size_t n);

/* Writes the escape of a byte that needs one.  Returns its length. */
size_t json_escape(char c, char out[8]);

/* Prints bytes as a string in quotes.  If they are not UTF-8, each byte above 0x7f is printed as
 * the Latin-1 character. */
void json_print(const char *p, size_t n, FILE *);

/* -- JSON objects and arrays, member by member ------------------------------------------------ *
 *
 *     struct json j = {.out = stdout};
 *     json_open(&j, NULL, '{');
 *     json_count(&j, "records", 3);
 *     json_close(&j, '}');            {"records":3}
 *
 * The writer puts commas where they belong.  A NULL name writes an element of an array. */

struct json {
    FILE *out;
    bool spaced; /* a blank follows each comma and each colon */
    bool comma;  /* the next member needs a comma before it; private */
};

void json_open(struct json *, const char *name, char bracket);
void json_close(struct json *, char bracket);
void json_count(struct json *, const char *name, uint64_t);
void json_real(struct json *, const char *name, double); /* null if it is not finite */
void json_bool(struct json *, const char *name, bool);
void json_text(struct json *, const char *name, const char *); /* null for NULL */

/* A value in the caller's format, such as "%.3f" or "[%d, %d]". */
void json_put(struct json *, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Only the name.  The caller prints the value to `out`. */
void json_name(struct json *, const char *name);

/* Begins a new line for the next member, `indent` blanks from the left. */
void json_line(struct json *, int indent);

/* -- base64, a piece at a time ------------------------------------------------------------- */

struct base64 {
    unsigned char left[3]; /* bytes that wait for others */
    size_t n;
};

enum { BASE64_IN = 3 * 1024, BASE64_OUT = 4 * 1024 + 8 };

/* Takes up to BASE64_IN bytes.  Returns the length written; base64_end writes what remains. */
size_t base64_add(struct base64 *, const char *p, size_t n, char out[BASE64_OUT]);
size_t base64_end(struct base64 *, char out[8]);

/* Bytes in base64, in quotes. */
void json_print_base64(const char *p, size_t n, FILE *);

#endif
