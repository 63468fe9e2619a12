/* text.c - values as text: exact decimal amounts, counts and sizes for people, UTF-8, and bytes as
 * JSON strings or in base64. */
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* -- exact decimals ----------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 u128;

static const uint64_t E18 = UINT64_C(1000000000000000000);

/* Multiplies the digits by 10^power.  False if the result has more than 38 digits: 10^38 <
 * 2^127. */
static bool shift(u128 *digits, int power) {
    const u128 limit = (u128)E18 * E18 * 10;
    for (; power > 0 && *digits; power--) {
        if (*digits >= limit) return false;
        *digits *= 10;
    }
    return true;
}

static bool is_digit(const char *p, const char *end) { return p < end && *p >= '0' && *p <= '9'; }

/* Reads an exponent at *p.  Values above 10000 are capped: no amount with such an exponent fits. */
static int read_exponent(const char **p, const char *end) {
    bool minus = *p < end && **p == '-';
    int value = 0;
    *p += *p < end && (**p == '-' || **p == '+');
    if (!is_digit(*p, end)) return *p = NULL, 0;
    for (; is_digit(*p, end); (*p)++)
        if (value < 10000) value = value * 10 + (**p - '0');
    return minus ? -value : value;
}

/* Reads digits [. digits] [e exponent] up to `end` as digits x 10^*power.  Zeros behind the last
 * other digit only change the power, so 1.000...0 fits with any number of zeros. */
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

/* -- JSON strings ------------------------------------------------------------------------------ */

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

/* -- JSON objects ---------------------------------------------------------------------------- */

void json_name(struct json *j, const char *name) {
    if (j->comma) fputs(j->spaced ? ", " : ",", j->out);
    j->comma = true;
    if (!name) return;
    json_print(name, strlen(name), j->out);
    fputs(j->spaced ? ": " : ":", j->out);
}

void json_open(struct json *j, const char *name, char bracket) {
    json_name(j, name);
    putc(bracket, j->out);
    j->comma = false;
}

void json_close(struct json *j, char bracket) {
    putc(bracket, j->out);
    j->comma = true;
}

void json_put(struct json *j, const char *name, const char *format, ...) {
    va_list args;
    json_name(j, name);
    va_start(args, format);
    vfprintf(j->out, format, args);
    va_end(args);
}

void json_count(struct json *j, const char *name, uint64_t n) { json_put(j, name, "%" PRIu64, n); }

void json_real(struct json *j, const char *name, double x) {
    json_put(j, name, isfinite(x) ? "%.9g" : "null", x);
}

void json_bool(struct json *j, const char *name, bool is) {
    json_put(j, name, is ? "true" : "false");
}

void json_text(struct json *j, const char *name, const char *text) {
    json_name(j, name);
    if (text)
        json_print(text, strlen(text), j->out);
    else
        fputs("null", j->out);
}

void json_line(struct json *j, int indent) {
    fprintf(j->out, "%s\n%*s", j->comma ? "," : "", indent, "");
    j->comma = false;
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
