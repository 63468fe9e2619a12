/* number.h - exact sums of decimal amounts, such as the cost of a click; counts and sizes for
 * people.
 *
 * An amount is a whole number of units of 10^-18 in 128 bits: 18 digits behind the point and 20
 * before it.  Nothing is rounded: text that does not fit is refused, and so is a sum. */
#ifndef SEEN_NUMBER_H
#define SEEN_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* A number as text.  Use it within the expression that makes it: number_grouped(n).text. */
struct number {
    char text[32];
};

struct number number_grouped(uint64_t); /* 1,234,567 */
struct number number_size(uint64_t);    /* 1.5 MiB */

#endif
