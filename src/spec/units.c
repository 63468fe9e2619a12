/* units.c - numbers as people write them.
 *
 *     number = digits ["." digits] ["e" ["-" | "+"] digits]     digits: "_" may stand between two
 *     count  = number
 *     size   = number ( B | K | M | G | T | KiB | MiB | GiB | TiB | KB | MB | GB | TB )
 *     span   = number ( ms | s | m | h | d | w, or a longer name such as min, hour, days )
 *     share  = number ["%"]
 *     rate   = number ["/" ( s | m | h | d )]
 *
 * K and KiB are 1024 bytes, KB is 1000.  A size in lower case is refused, because "64m" means
 * either.  Counts, sizes and spans are exact: digits go into an integer and a power of ten, never
 * through a double. */
#include "spec/spec.h"

#include "base/base.h"
#include "base/bits.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    uint64_t factor;
};

/* The first rows are printed, the largest first, up to the row without a name; the rows behind it
 * are read as well. */
static const struct unit sizes[] = {{"GiB", 1u << 30},
                                    {"MiB", 1u << 20},
                                    {"KiB", 1u << 10},
                                    {NULL, 0},
                                    {"TiB", (uint64_t)1 << 40},
                                    {"T", (uint64_t)1 << 40},
                                    {"G", 1u << 30},
                                    {"M", 1u << 20},
                                    {"K", 1u << 10},
                                    {"TB", 1000000000000},
                                    {"GB", 1000000000},
                                    {"MB", 1000000},
                                    {"KB", 1000},
                                    {"B", 1},
                                    {NULL, 0}};

#define WEEK   604800000000
#define DAY    86400000000
#define HOUR   3600000000
#define MINUTE 60000000
#define SECOND 1000000

static const struct unit spans[] = {{"w", WEEK},
                                    {"d", DAY},
                                    {"h", HOUR},
                                    {"m", MINUTE},
                                    {"s", SECOND},
                                    {"ms", 1000},
                                    {NULL, 0},
                                    {"week", WEEK},
                                    {"weeks", WEEK},
                                    {"day", DAY},
                                    {"days", DAY},
                                    {"hour", HOUR},
                                    {"hours", HOUR},
                                    {"hr", HOUR},
                                    {"hrs", HOUR},
                                    {"minute", MINUTE},
                                    {"minutes", MINUTE},
                                    {"min", MINUTE},
                                    {"mins", MINUTE},
                                    {"second", SECOND},
                                    {"seconds", SECOND},
                                    {"sec", SECOND},
                                    {"secs", SECOND},
                                    {"millisecond", 1000},
                                    {"milliseconds", 1000},
                                    {"msec", 1000},
                                    {NULL, 0}};

static const struct unit counts[] = {{NULL, 0}, {"", 1}, {NULL, 0}};

struct decimal {
    bits_u128 digits;
    int exponent; /* value = digits x 10^exponent */
    size_t used;  /* characters */
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A number at the beginning of a text; false if there is none or it has over 25 digits. */
static bool read_decimal(struct decimal *d, const char *text, size_t len) {
    *d = (struct decimal){0};
    size_t i = 0, seen = 0;
    for (bool point = false; i < len; i++) {
        if (text[i] == '_' && i && i + 1 < len && is_digit(text[i - 1]) && is_digit(text[i + 1]))
            continue; /* as in 1_000_000 */
        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(text[i])) break;
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

/* -- suggestions for unknown units -------------------------------------------------------- */

/* The row of a unit of that name, in any case of its letters if `loose`; NULL if there is none. */
static const struct unit *find_unit(const struct unit *units, const char *name, size_t len,
                                    bool loose) {
    for (int part = 0; part < 2; part++, units++)
        for (; units->name; units++)
            if (strlen(units->name) == len &&
                !(loose ? strncasecmp : strncmp)(units->name, name, len))
                return units;
    return NULL;
}

static int refuse(struct seen_error *e, size_t where, const char *text, size_t len,
                  const char *what, const char *hint) {
    return error_set(e, SEEN_EINVAL, where, "'%.*s' %s; %s", len > 40 ? 40 : (int)len, text, what,
                     hint);
}

/* The number of a text, cut to the length that messages have room for; for "%.*s". */
#define NUMBER(d, text) (d)->used > 24 ? 24 : (int)(d)->used, text

/* "64m" and "64mb" have two meanings; "64mib" and "64b" have one. */
static bool mean_size(char *hint, size_t cap, const struct decimal *d, const char *text,
                      const char *unit, size_t len) {
    const struct unit *u = find_unit(sizes, unit, len, true);
    if (!u) return false;
    char binary[2] = {u->name[0], 0}, decimal[3] = {u->name[0], 'B', 0};
    const struct unit *k = find_unit(sizes, binary, 1, false);
    uint64_t bytes, fewer;
    if (len == 3 || u->factor == 1 || !scale(&bytes, d, k->factor) ||
        !scale(&fewer, d, find_unit(sizes, decimal, 2, false)->factor))
        return snprintf(hint, cap, "write %.*s%s", NUMBER(d, text), u->name);
    return snprintf(hint, cap, "write %.*s%s (%llu bytes) or %.*s%s (%llu bytes)", NUMBER(d, text),
                    binary, (unsigned long long)bytes, NUMBER(d, text), decimal,
                    (unsigned long long)fewer);
}

static bool mean_span(char *hint, size_t cap, const struct decimal *d, const char *text,
                      const char *unit, size_t len) {
    static const struct {
        const char *name, *days;
    } longer[] = {{"mo", "30d"}, {"month", "30d"}, {"months", "30d"},
                  {"y", "365d"}, {"year", "365d"}, {"years", "365d"}};
    const struct unit *u = find_unit(spans, unit, len, true);
    if (u) return snprintf(hint, cap, "write %.*s%s", NUMBER(d, text), u->name);
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (strlen(longer[i].name) == len && !strncasecmp(longer[i].name, unit, len))
            return snprintf(hint, cap, "months and years differ in length: write days, such as %s",
                            longer[i].days);
    return false;
}

static bool mean_count(char *hint, size_t cap, const struct decimal *d, const char *text,
                       const char *unit, size_t len) {
    static const char letters[] = "kKmMgGbBtT", *const powers[] = {"e3", "e6", "e9", "e9", "e12"};
    const char *letter = len == 1 ? strchr(letters, *unit) : NULL;
    bool plain = !memchr(text, 'e', d->used) && !memchr(text, 'E', d->used);
    if (memchr(text, ',', len + d->used))
        return snprintf(hint, cap, "write it without commas, as in 1_000_000 or 1e6");
    if (!letter || !*letter || !plain) return false;
    return snprintf(hint, cap, "a count takes no unit: write %.*s%s", NUMBER(d, text),
                    powers[(letter - letters) / 2]);
}

static int read_unit(uint64_t *value, const struct unit *units, const char *what, const char *hint,
                     const char *text, size_t len, size_t where, struct seen_error *e) {
    struct decimal d;
    char meant[120], unknown[40];
    snprintf(unknown, sizeof unknown, "is not a %s", what);
    if (!read_decimal(&d, text, len)) return refuse(e, where, text, len, unknown, hint);
    const char *unit = text + d.used;
    const struct unit *u = find_unit(units, unit, len - d.used, false);
    if (u && scale(value, &d, u->factor)) return 0;
    if (u) return refuse(e, where, text, len, "is too large or not a whole number", hint);
    if (d.used == len) return refuse(e, where + len, text, len, "needs a unit", hint);
    bool known = (units == sizes   ? mean_size
                  : units == spans ? mean_span
                                   : mean_count)(meant, sizeof meant, &d, text, unit, len - d.used);
    return refuse(e, where + d.used, text, len, "has an unknown unit", known ? meant : hint);
}

int units_count(uint64_t *value, const char *text, size_t len, size_t where, struct seen_error *e) {
    return read_unit(value, counts, "count", "write a whole number such as 1000000 or 1e6", text,
                     len, where, e);
}

int units_size(uint64_t *bytes, const char *text, size_t len, size_t where, struct seen_error *e) {
    return read_unit(bytes, sizes, "size", "write a size such as 512KiB, 64M or 1.5G", text, len,
                     where, e);
}

int units_span(uint64_t *us, const char *text, size_t len, size_t where, struct seen_error *e) {
    return read_unit(us, spans, "span of time",
                     "write a span such as 500ms, 90s, 15m, 1h, 7d or 2w", text, len, where, e);
}

/* Refuses "1M", which may mean a million records or a minute. */
int units_length(uint64_t *value, bool *span, const char *text, size_t len, size_t where,
                 struct seen_error *e) {
    struct decimal d;
    *span = len && !is_digit(text[len - 1]) && text[len - 1] != '.';
    if (*span && read_decimal(&d, text, len) && len - d.used == 1 &&
        strchr("kKMgG", text[d.used])) {
        char letter = text[d.used];
        const char *power = letter == 'M' ? "e6" : letter == 'k' || letter == 'K' ? "e3" : "e9";
        char hint[80] = "";
        if (letter == 'M') snprintf(hint, sizeof hint, ", or %.*sm for minutes", NUMBER(&d, text));
        return error_set(e, SEEN_EINVAL, where + d.used,
                         "'%.*s' is not clear; write %.*s%s for records%s",
                         len > 40 ? 40 : (int)len, text, NUMBER(&d, text), power, hint);
    }
    return (*span ? units_span : units_count)(value, text, len, where, e);
}

/* Reads a number as the double nearest to it times 10^exponent.  *used: its length in characters.
 */
static bool read_real(double *value, const char *text, size_t len, int exponent, size_t *used) {
    char copy[80];
    struct decimal d;
    size_t n = 0;
    if (!len || !read_decimal(&d, text, len) || d.used > 64) return false;
    for (size_t i = 0; i < d.used && text[i] != 'e' && text[i] != 'E'; i++)
        if (text[i] != '_' && text[i] != '.') copy[n++] = text[i];
    snprintf(copy + n, sizeof copy - n, "e%d", d.exponent + exponent);
    *value = strtod(copy, NULL);
    *used = d.used;
    return isfinite(*value);
}

int units_share(double *value, const char *text, size_t len, size_t where, struct seen_error *e) {
    size_t used;
    int percent = len && text[len - 1] == '%';
    bool number = read_real(value, text, len, percent ? -2 : 0, &used);
    if (number && used + (size_t)percent == len) return 0;
    return refuse(e, where, text, len, "is not a rate", "write one such as 0.001, 1e-6 or 0.1%");
}

int units_rate(double *value, const char *text, size_t len, size_t where, struct seen_error *e) {
    static const struct {
        const char *name;
        double seconds;
    } each[] = {{"/s", 1}, {"/m", 60}, {"/h", 3600}, {"/d", 86400}};
    size_t used;
    bool number = read_real(value, text, len, 0, &used);
    if (number && used == len) return 0;
    for (size_t i = 0; number && i < sizeof each / sizeof *each; i++)
        if (len - used == 2 && !memcmp(text + used, each[i].name, 2)) {
            *value /= each[i].seconds;
            return 0;
        }
    return refuse(e, where, text, len, "is not a number of records a second",
                  "write one such as 500, 3e4/m, 1e6/h or 1e9/d");
}

int seen_parse_count(const char *text, uint64_t *v, struct seen_error *e) {
    return units_count(v, text, strlen(text), 1, e);
}

int seen_parse_size(const char *text, uint64_t *v, struct seen_error *e) {
    return units_size(v, text, strlen(text), 1, e);
}

int seen_parse_span(const char *text, uint64_t *v, struct seen_error *e) {
    return units_span(v, text, strlen(text), 1, e);
}

/* Prints the value exactly: in the largest unit that divides it, else with decimals. */
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
    uint64_t most = (uint64_t)seen_option(OPTION_MEM)->max;
    char size[32];
    units_print_need(bytes < most ? bytes : most, size, sizeof size);
    return snprintf(buf, cap, "%smem=%s", bytes > most ? "more than " : "", size);
}
