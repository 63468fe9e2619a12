/* units.c - numbers as people write them.
 *
 * Everything is exact: digits go into an integer and a power of ten, never through a double, so
 * that 1.5GiB, 1e6 and 18446744073709551615 are what they say or are refused. */
#include "spec/units.h"

#include "bits.h"
#include "error.h"
#include "spec/options.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit sizes[] = {
    {"GiB", 1u << 30}, {"MiB", 1u << 20}, {"KiB", 1u << 10}, {NULL, 0}};
static const struct unit spans[] = {
    {"w", 604800000000}, {"d", 86400000000}, {"h", 3600000000}, {"m", 60000000},
    {"s", 1000000},      {"ms", 1000},       {NULL, 0}};
static const struct unit counts[] = {{"", 1}, {NULL, 0}};

struct decimal {
    bits_u128 digits;
    int exponent; /* value = digits x 10^exponent */
    size_t used;  /* characters */
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* digits [. digits] [e [sign] digits]; false if it is no number or has over 25 digits. */
static bool read_decimal(struct decimal *d, const char *text, size_t len) {
    *d = (struct decimal){0};
    size_t i = 0, seen = 0;
    for (bool point = false; i < len && (is_digit(text[i]) || (text[i] == '.' && !point)); i++) {
        if (text[i] == '.') {
            point = true;
            continue;
        }
        if (d->digits >= (bits_u128)1000000000000 * 1000000000000) return false;
        d->digits = d->digits * 10 + (unsigned)(text[i] - '0');
        d->exponent -= point;
        seen++;
    }
    if (!seen) return false;
    size_t e = i + 1;
    if (i < len && (text[i] == 'e' || text[i] == 'E')) {
        bool minus = e < len && text[e] == '-';
        if (e < len && (text[e] == '-' || text[e] == '+')) e++;
        int exponent = 0;
        size_t from = e;
        for (; e < len && is_digit(text[e]); e++)
            if (exponent < 1000) exponent = exponent * 10 + (text[e] - '0');
        if (e > from) {
            d->exponent += minus ? -exponent : exponent;
            i = e;
        }
    }
    d->used = i;
    return true;
}

/* digits x 10^exponent x factor, if that is a whole number below 2^64. */
static bool scale(uint64_t *value, const struct decimal *d, uint64_t factor) {
    bits_u128 v = d->digits * factor; /* < 10^25 x 2^40 < 2^124 */
    for (int i = d->exponent; i < 0 && v; i++) {
        if (v % 10) return false;
        v /= 10;
    }
    for (int i = d->exponent; i > 0 && v; i--) {
        if (v > UINT64_MAX) return false;
        v *= 10;
    }
    *value = (uint64_t)v;
    return v <= UINT64_MAX;
}

static int read_unit(uint64_t *value, const struct unit *units, const char *what, const char *hint,
                     const char *text, size_t len, size_t where, struct seen_error *e) {
    struct decimal d;
    int shown = len > 40 ? 40 : (int)len;
    if (!read_decimal(&d, text, len))
        return error_set(e, SEEN_EINVAL, where, "'%.*s' is no %s; %s", shown, text, what, hint);
    for (const struct unit *u = units; u->name; u++) {
        if (strlen(u->name) != len - d.used || memcmp(u->name, text + d.used, len - d.used) != 0)
            continue;
        if (scale(value, &d, u->factor)) return 0;
        return error_set(e, SEEN_EINVAL, where, "'%.*s' is too large or no whole number; %s", shown,
                         text, hint);
    }
    if (d.used == len)
        return error_set(e, SEEN_EINVAL, where + len, "'%.*s' needs a unit; %s", shown, text, hint);
    return error_set(e, SEEN_EINVAL, where + d.used, "'%.*s' has an unknown unit; %s", shown, text,
                     hint);
}

int units_count(uint64_t *value, const char *text, size_t len, size_t where, struct seen_error *e) {
    return read_unit(value, counts, "count", "write a whole number such as 1000000 or 1e6", text,
                     len, where, e);
}

int units_size(uint64_t *bytes, const char *text, size_t len, size_t where, struct seen_error *e) {
    return read_unit(bytes, sizes, "size", "write a size such as 512KiB, 64MiB or 1.5GiB", text,
                     len, where, e);
}

int units_span(uint64_t *us, const char *text, size_t len, size_t where, struct seen_error *e) {
    return read_unit(us, spans, "span of time",
                     "write a span such as 500ms, 90s, 15m, 1h, 7d or 2w", text, len, where, e);
}

int units_real(double *value, const char *text, size_t len, size_t where, struct seen_error *e) {
    char copy[64], *end;
    if (len && len < sizeof copy && (is_digit(text[0]) || text[0] == '.')) {
        memcpy(copy, text, len);
        copy[len] = 0;
        *value = strtod(copy, &end);
        if (!*end && isfinite(*value) && !strpbrk(copy, "xX")) return 0;
    }
    return error_set(e, SEEN_EINVAL, where, "'%.*s' is no number; write one such as 0.001 or 1e-6",
                     len > 40 ? 40 : (int)len, text);
}

int seen_parse_count(uint64_t *v, const char *text, struct seen_error *e) {
    return units_count(v, text, strlen(text), 1, e);
}

int seen_parse_size(uint64_t *v, const char *text, struct seen_error *e) {
    return units_size(v, text, strlen(text), 1, e);
}

int seen_parse_span(uint64_t *v, const char *text, struct seen_error *e) {
    return units_span(v, text, strlen(text), 1, e);
}

/* The largest unit that divides the value, else the largest that is not above it, with the decimals
 * that make it exact. */
static int print_unit(const struct unit *units, uint64_t value, char *buf, size_t cap) {
    const struct unit *best = NULL, *last = units;
    for (const struct unit *u = units; u->name; last = u, u++)
        if (!best && value >= u->factor && value % u->factor == 0) best = u;
    for (const struct unit *u = units; u->name && !best; u++)
        if (value >= u->factor && (bits_u128)value * 1000 % u->factor == 0) best = u;
    if (!best) best = last;
    uint64_t rest = value % best->factor;
    char digits[16] = "";
    size_t n = 0;
    for (; rest && n < 12; n++) {
        rest *= 10;
        digits[n] = (char)('0' + rest / best->factor);
        rest %= best->factor;
    }
    digits[n] = 0;
    return snprintf(buf, cap, "%llu%s%s%s", (unsigned long long)(value / best->factor),
                    n ? "." : "", digits, best->name);
}

int seen_print_size(uint64_t bytes, char *buf, size_t cap) {
    return print_unit(sizes, bytes, buf, cap);
}

int seen_print_span(uint64_t us, char *buf, size_t cap) { return print_unit(spans, us, buf, cap); }

int units_print_real(double value, char *buf, size_t cap) {
    char text[40];
    if (value >= 1 && value < 1e15 && value == floor(value))
        return snprintf(buf, cap, "%.0f", value);
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        if (strtod(text, NULL) == value) break;
    }
    return snprintf(buf, cap, "%s", text);
}

int units_print_need(uint64_t bytes, char *buf, size_t cap) {
    uint64_t grain = 1024;
    while (bytes / grain >= 16384 && grain < (uint64_t)1 << 30) grain *= 1024;
    return seen_print_size(bits_ceil_div(bytes, grain) * grain, buf, cap);
}

int units_print_mem(uint64_t bytes, char *buf, size_t cap) {
    size_t n;
    uint64_t most = (uint64_t)seen_options(&n)[OPTION_MEM].max;
    char size[32];
    units_print_need(bytes < most ? bytes : most, size, sizeof size);
    return snprintf(buf, cap, "%smem=%s", bytes > most ? "more than " : "", size);
}
