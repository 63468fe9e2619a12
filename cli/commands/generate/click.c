/* click.c - makes records of clicks whose fields are drawn. */
#include "commands/generate/generate.h"

#include <string.h>
#include <time.h>

/* Squaring a number in [1, 2) doubles its logarithm: each time it passes 2, the next bit is 1. */
uint64_t fixed_log2(uint64_t x) {
    int whole = 63 - __builtin_clzll(x);
    uint64_t m = x << (63 - whole); /* 1 <= m < 2, with 63 bits after the point */
    uint64_t log = (uint64_t)whole;
    for (int bit = 0; bit < LOG_BITS; bit++) {
        u128 square = (u128)m * m >> 63;
        uint64_t two = (uint64_t)(square >> 64);
        log = log << 1 | two;
        m = (uint64_t)(square >> two);
    }
    return log;
}

/* 2^f = e^(f ln 2) = 1 + x/1 (1 + x/2 (1 + x/3 (...))); twenty terms are beyond 62 bits. */
uint64_t fixed_exp2(uint64_t log2x) {
    const uint64_t ln2 = 0xb17217f7d1cf79acu, one = (uint64_t)1 << 62;
    int whole = (int)(log2x >> LOG_BITS);
    uint64_t x = (uint64_t)((u128)(log2x << (64 - LOG_BITS)) * ln2 >> 64);
    uint64_t y = one;
    for (unsigned k = 20; k > 0; k--) y = one + (uint64_t)((u128)x * y >> 64) / k;
    return y >> (62 - whole);
}

enum { ADS = 10000, PUBLISHERS = 500 };

static const char *const agents[] = {
    "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)",
    "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.0)",
    "Mozilla/4.0 (compatible; MSIE 5.5; Windows 98)",
    "Mozilla/5.0 (Windows; U; Windows NT 5.1; en-US; rv:1.7) Gecko/20040803 Firefox/0.9.3",
    "Mozilla/5.0 (Macintosh; U; PPC Mac OS X; en) AppleWebKit/125.2 (KHTML, like Gecko) Safari/125",
    "Opera/7.54 (Windows NT 5.1; U)",
};

static char *put_text(char *at, const char *text) {
    size_t n = strlen(text);
    memcpy(at, text, n);
    return at + n;
}

static char *put_digits(char *at, uint64_t value, unsigned digits) {
    for (unsigned i = digits; i-- > 0; value /= 10) at[i] = (char)('0' + value % 10);
    return at + digits;
}

static char *put_number(char *at, uint64_t value) {
    unsigned digits = 1;
    for (uint64_t rest = value / 10; rest; rest /= 10) digits++;
    return put_digits(at, value, digits);
}

/* -- time --------------------------------------------------------------------------------- */

uint64_t click_time(const struct click_style *s, uint64_t number) {
    uint64_t within = below(draw(s->seed + 5, number), s->period);
    return s->start + (uint64_t)(((u128)number * s->period + within) >> PERIOD_BITS);
}

static char *put_rfc3339(struct click_style *s, char *at, uint64_t us) {
    uint64_t second = us / 1000000, day = second / 86400;
    if (day != s->day) {
        struct tm tm;
        time_t t = (time_t)second;
        strftime(s->date, sizeof s->date, "%Y-%m-%dT", gmtime_r(&t, &tm));
        s->day = day;
    }
    at = put_text(at, s->date);
    at = put_digits(at, second / 3600 % 24, 2), *at++ = ':';
    at = put_digits(at, second / 60 % 60, 2), *at++ = ':';
    at = put_digits(at, second % 60, 2), *at++ = '.';
    at = put_digits(at, us % 1000000, 6), *at++ = 'Z';
    return at;
}

static char *put_time(struct click_style *s, char *at, uint64_t number) {
    uint64_t us = click_time(s, number);
    switch (s->stamp) {
    case STAMP_NONE: return at;
    case STAMP_S: return put_number(at, us / 1000000);
    case STAMP_MS: return put_number(at, us / 1000);
    case STAMP_US: return put_number(at, us);
    case STAMP_RFC3339: return put_rfc3339(s, at, us);
    }
    return at;
}

/* -- the id ------------------------------------------------------------------------------- */

/* A bijection on `bits` bits: odd factors and shifted exclusive-ors can be undone. */
static uint64_t scramble(uint64_t x, unsigned bits, uint64_t key) {
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    for (uint64_t round = 0; round < 3; round++) {
        x = ((x ^ draw(key, round)) * 0x9e3779b97f4a7c15u) & mask;
        x ^= x >> bits / 2;
    }
    return x;
}

static uint64_t user_of(const struct click_style *s, uint64_t id) {
    return id < s->users ? id : id - s->users;
}

/* Small numbers are frequent: the density falls like log(n/x). */
static uint64_t pick(uint64_t key, uint64_t i, uint64_t n) {
    return below(draw(key, 2 * i), 1 + below(draw(key, 2 * i + 1), n));
}

static uint64_t ad_of(const struct click_style *s, uint64_t id) {
    uint64_t user = user_of(s, id), ad = pick(s->seed + 6, user, ADS);
    if (id == user) return ad;
    return (ad + 1 + below(draw(s->seed + 7, user), ADS - 1)) % ADS; /* another one */
}

static char *put_ad(char *at, uint64_t ad) { return put_digits(put_text(at, "ad"), ad, 4); }

/* Writes two base-32 digits at a time, and up to eleven digits behind the end. */
static char *put_cookie(const struct click_style *s, char *at, uint64_t user) {
    char *end = at + s->id_length - AD_LENGTH;
    uint64_t bits = scramble(user, 40, s->seed + 8);
    for (int i = 0; i < 4; i++, bits >>= 10, at += 2) memcpy(at, s->pairs[bits & 1023], 2);
    for (uint64_t key = draw(s->seed + 9, user), word = 0; at < end; word++) {
        bits = draw(key, word);
        for (int i = 0; i < 6; i++, bits >>= 10, at += 2) memcpy(at, s->pairs[bits & 1023], 2);
    }
    return end;
}

/* -- the click log ------------------------------------------------------------------------ */

static char *put_address(const struct click_style *s, char *at, uint64_t user) {
    if (user % FARM == FARM - 1) return put_text(at, CLICK_ADDRESS);
    uint64_t address = scramble(user / 5 * 4 + user % 5 % 4, 24, s->seed + 10);
    at = put_text(at, "10");
    for (int shift = 16; shift >= 0; shift -= 8) {
        *at++ = '.';
        at = put_number(at, address >> shift & 255);
    }
    return at;
}

/* -- columns ------------------------------------------------------------------------------ */

enum { TIME, IP, COOKIE, PUBLISHER, AD, COST, AGENT, TRUTH };
static const char *const names[] = {"time", "ip",   "cookie", "publisher",
                                    "ad",   "cost", "agent",  "truth"};

static size_t first_column(const struct click_style *s) {
    return s->stamp == STAMP_NONE ? IP : TIME;
}

static size_t columns(const struct click_style *s) { return s->mark ? TRUTH + 1 : TRUTH; }

static char *put_column(struct click_style *s, char *at, size_t column, uint64_t number,
                        uint64_t id, bool fresh) {
    uint64_t user = user_of(s, id), cents;
    switch (column) {
    case TIME: return put_time(s, at, number);
    case IP: return put_address(s, at, user);
    case COOKIE: return put_cookie(s, at, user);
    case PUBLISHER:
        if (id >= s->distinct - s->tops) return put_text(at, CLICK_PUBLISHER);
        return put_digits(put_text(at, "pub"), pick(s->seed + 11, id, PUBLISHERS), 3);
    case AD: return put_ad(at, ad_of(s, id));
    case COST:
        cents = 5 + pick(s->seed + 12, ad_of(s, id), 200);
        at = put_number(at, cents / 100), *at++ = '.';
        return put_digits(at, cents % 100, 2);
    case AGENT: {
        const char *agent = agents[pick(s->seed + 13, user, sizeof agents / sizeof *agents)];
        bool quote = s->dress == DRESS_CSV && strchr(agent, ',');
        if (quote) *at++ = '"';
        at = put_text(at, agent);
        if (quote) *at++ = '"';
        return at;
    }
    case TRUTH: return put_text(at, fresh ? "new" : "dup");
    }
    return at;
}

/* An object.  No value has a byte that JSON escapes. */
static char *put_object(struct click_style *s, char *at, uint64_t number, uint64_t id, bool fresh) {
    for (size_t i = first_column(s); i < columns(s); i++) {
        bool text = i == TIME ? s->stamp == STAMP_RFC3339 : i != COST;
        *at++ = i == first_column(s) ? '{' : ',';
        *at++ = '"', at = put_text(at, names[i]), *at++ = '"', *at++ = ':';
        if (text) *at++ = '"';
        at = put_column(s, at, i, number, id, fresh);
        if (text) *at++ = '"';
    }
    return put_text(at, "}\n");
}

/* -- the record --------------------------------------------------------------------------- */

void click_prepare(struct click_style *s) {
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    for (unsigned i = 0; i < 1024; i++) {
        s->pairs[i][0] = digits[i & 31];
        s->pairs[i][1] = digits[i >> 5];
    }
    s->users = s->distinct - s->distinct / 3;
    s->day = UINT64_MAX;
}

char *click_put_header(const struct click_style *s, char *at) {
    if (s->dress == DRESS_LINES || s->dress == DRESS_NDJSON) return at;
    for (size_t i = first_column(s); i < columns(s); i++) {
        at = put_text(at, names[i]);
        *at++ = s->dress == DRESS_CSV ? ',' : '\t';
    }
    at[-1] = '\n';
    return at;
}

char *click_put(struct click_style *s, char *at, uint64_t number, uint64_t id, bool fresh) {
    if (s->dress == DRESS_NDJSON) return put_object(s, at, number, id, fresh);
    if (s->dress == DRESS_LINES) {
        if (s->stamp != STAMP_NONE) at = put_time(s, at, number), *at++ = '\t';
        at = put_cookie(s, put_ad(at, ad_of(s, id)), user_of(s, id));
        if (s->mark) *at++ = '\t', at = put_text(at, fresh ? "new" : "dup");
        *at++ = '\n';
        return at;
    }
    for (size_t i = first_column(s); i < columns(s); i++) {
        at = put_column(s, at, i, number, id, fresh);
        *at++ = s->dress == DRESS_CSV ? ',' : '\t';
    }
    at[-1] = '\n';
    return at;
}
