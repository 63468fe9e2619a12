/* number.c - reads, adds and prints exact decimal amounts; prints counts and sizes for people. */
#include "number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* -- exact decimals ----------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 u128;

static const uint64_t E18 = UINT64_C(1000000000000000000);

/* The largest amount has 38 digits, as 10^38 < 2^127. */
static u128 limit(void) { return (u128)E18 * E18 * 100; }

/* digits x 10^power, or false if that is not below 10^38. */
static bool shift(u128 *digits, int power) {
    for (; power > 0 && *digits; power--) {
        if (*digits >= limit() / 10) return false;
        *digits *= 10;
    }
    return true;
}

static bool is_digit(const char *p, const char *end) { return p < end && *p >= '0' && *p <= '9'; }

/* The number that the digits at *p make, capped: an exponent that large never fits. */
static int read_exponent(const char **p, const char *end) {
    bool minus = *p < end && **p == '-';
    int value = 0;
    *p += *p < end && (**p == '-' || **p == '+');
    if (!is_digit(*p, end)) return *p = NULL, 0;
    for (; is_digit(*p, end); (*p)++)
        if (value < 10000) value = value * 10 + (**p - '0');
    return minus ? -value : value;
}

/* digits [. digits] [e exponent] up to `end`, as digits x 10^*power.  Zeros behind the last other
 * digit only count in the power, so that 1.000...0 fits with any number of them. */
static bool read_number(const char *p, const char *end, u128 *digits, int *power, int *fraction) {
    int zeros = 0, seen = 0;
    bool point = false;
    *fraction = 0;
    for (*digits = 0; is_digit(p, end) || (p < end && *p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        seen = 1;
        *fraction += point;
        zeros++;
        if (*p == '0') continue;
        if (!shift(digits, zeros)) return false;
        *digits += (unsigned)(*p - '0');
        zeros = 0;
    }
    *power = zeros - *fraction;
    if (!seen || p == end) return seen;
    if (*p != 'e' && *p != 'E') return false;
    p++;
    int exponent = read_exponent(&p, end);
    *power += exponent;
    *fraction -= exponent;
    return p == end;
}

bool decimal_parse(decimal *out, unsigned *places, const char *text, size_t len) {
    const char *p = text, *end = text + len;
    u128 digits;
    int power, fraction;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t')) end--;
    bool minus = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (end - p > 10000 || !read_number(p, end, &digits, &power, &fraction)) return false;
    if (digits && (power < -DECIMAL_PLACES || !shift(&digits, power + DECIMAL_PLACES)))
        return false;
    *out = minus ? -(decimal)digits : (decimal)digits;
    if (fraction > DECIMAL_PLACES) fraction = DECIMAL_PLACES;
    if (fraction > (int)*places) *places = (unsigned)fraction;
    return true;
}

bool decimal_add(decimal *sum, decimal amount) {
    decimal more;
    if (__builtin_add_overflow(*sum, amount, &more)) return false;
    *sum = more;
    return true;
}

size_t decimal_text(decimal amount, unsigned places, char out[DECIMAL_TEXT]) {
    u128 rest = amount < 0 ? -(u128)amount : (u128)amount;
    char text[DECIMAL_TEXT], *p = text + sizeof text;
    for (unsigned i = DECIMAL_PLACES; i > 0; i--, rest /= 10) {
        bool shown = i <= places || p < text + sizeof text || rest % 10;
        if (shown) *--p = (char)('0' + (int)(rest % 10));
    }
    if (p < text + sizeof text) *--p = '.';
    do *--p = (char)('0' + (int)(rest % 10));
    while (rest /= 10);
    if (amount < 0) *--p = '-';
    size_t len = (size_t)(text + sizeof text - p);
    memcpy(out, p, len);
    out[len] = '\0';
    return len;
}

/* -- for people --------------------------------------------------------------------------- */

struct number number_grouped(uint64_t n) {
    char digits[24];
    struct number out;
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) out.text[at++] = ',';
        out.text[at++] = digits[i];
    }
    out.text[at] = '\0';
    return out;
}

struct number number_size(uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    struct number out;
    double size = (double)bytes;
    size_t unit = 0;
    for (; size >= 1024 && unit < 4; unit++) size /= 1024;
    snprintf(out.text, sizeof out.text, "%.*f %s", unit > 0, size, units[unit]);
    return out;
}
