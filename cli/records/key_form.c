/* key_form.c - applies --key-regex, --trim, --key-url and --ignore-case to values of keys.
 *
 * --key-url makes URLs that lead to the same page one key:
 *
 *     HTTP://Example.COM:80/a?utm_source=x&id=7#top  ->  http://example.com/a?id=7
 *     https://Example.com?fbclid=1                   ->  https://example.com/
 *     /a?gclid=1                                     ->  /a          a path, as web logs hold it
 *
 * These changes keep the meaning of a URL by RFC 3986: scheme and host become lower case, a default
 * or empty port goes, an empty path behind a host becomes "/".  The fragment goes, because no
 * server sees it, and so do the parameters listed below.  Other parameters keep their order.  An
 * empty query goes with its question mark.  Path, escapes and the name of a user stay as they are.
 *
 * The code uses no library for URLs, because a new version of it might change keys, and states and
 * shared windows live longer than a version.  Besides, libcurl and uriparser refuse addresses that
 * logs contain, such as those with a blank. */
#include "records/key_form.h"

#include "base/cli.h"

#include <string.h>
#include <strings.h>

bool key_form_any(const struct key_form *f) {
    return f->trim || f->ignore_case || f->url || f->regex;
}

/* -- the expression ----------------------------------------------------------------------- */

static int compile(const struct key_form *f, regex_t *pattern) {
    return regcomp(pattern, f->regex, REG_EXTENDED | (f->ignore_case ? REG_ICASE : 0));
}

void key_form_compile(const struct key_form *f, regex_t *pattern) {
    if (compile(f, pattern)) die("out of memory for --key-regex");
}

void key_form_check(struct key_form *f) {
    char why[128];
    regex_t pattern;
    if (!f->regex) return;
    int code = compile(f, &pattern);
    if (code) {
        regerror(code, &pattern, why, sizeof why);
        die("--key-regex '%s' is not an extended regular expression: %s", f->regex, why);
    }
    if (pattern.re_nsub > FORM_GROUPS)
        die("--key-regex '%s' has %zu groups; %d are the most", f->regex, pattern.re_nsub,
            FORM_GROUPS);
    f->groups = (uint32_t)pattern.re_nsub;
    regfree(&pattern);
}

size_t key_form_match(const struct key_form *f, const regex_t *pattern, const char *value,
                      size_t len, regmatch_t match[FORM_GROUPS + 1]) {
    match[0] = (regmatch_t){0, (regoff_t)len};
    if (regexec(pattern, value, f->groups + 1, match, REG_STARTEND)) return 0;
    if (!f->groups) return 1;
    memmove(match, match + 1, f->groups * sizeof *match);
    for (uint32_t i = 0; i < f->groups; i++) /* a group that took no part is empty */
        if (match[i].rm_so < 0) match[i] = (regmatch_t){0, 0};
    return f->groups;
}

/* -- --key-url ---------------------------------------------------------------------------- */

/* Names of parameters; a star stands for any ending.  Upper and lower case are the same.  A change
 * of this list changes keys, so CHANGELOG.md has to mention it. */
static const char *const tracking[] = {
    "utm_*",      "mtm_*",     "hsa_*",     "pk_campaign", "pk_kwd",
    "pk_keyword", "pk_source", "pk_medium", "gclid",       "gclsrc",
    "dclid",      "gbraid",    "wbraid",    "gad_source",  "srsltid",
    "_ga",        "_gl",       "fbclid",    "igshid",      "igsh",
    "msclkid",    "twclid",    "ttclid",    "li_fat_id",   "yclid",
    "ysclid",     "_openstat", "mc_cid",    "mc_eid",      "mkt_tok",
    "_hsenc",     "_hsmi",     "vero_id",   "oly_anon_id", "oly_enc_id",
    "wickedid",   "rdt_cid",   "epik",      "ScCid",       "gad_campaignid",
};

static const struct {
    const char *scheme, *port;
} defaults[] = {{"http", "80"}, {"https", "443"}, {"ws", "80"}, {"wss", "443"}, {"ftp", "21"}};

static void lower(char *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z') p[i] = (char)(p[i] | 0x20);
}

static bool digit(char c) { return c >= '0' && c <= '9'; }

/* The length of the scheme before "://"; 0: there is none. */
static size_t scheme_of(const char *url, size_t len) {
    size_t n = 0;
    for (; n < len; n++) {
        bool letter = (url[n] | 0x20) >= 'a' && (url[n] | 0x20) <= 'z';
        if (!letter && (n == 0 || !(digit(url[n]) || memchr("+-.", url[n], 3)))) break;
    }
    return len - n >= 3 && !memcmp(url + n, "://", 3) ? n : 0;
}

/* The number of bytes of [from, to) before the first that is one of `stops`. */
static size_t up_to(const char *from, const char *to, const char *stops) {
    const char *p = from;
    while (p < to && !(*p && strchr(stops, *p))) p++;
    return (size_t)(p - from);
}

/* Puts the host in lower case.  Returns the length of the authority without a default port. */
static size_t put_authority(const char *scheme, size_t scheme_len, char *at, size_t len) {
    char *user = memrchr(at, '@', len), *host = user ? user + 1 : at, *end = at + len, *port = end;
    lower(host, (size_t)(end - host));
    while (port > host && digit(port[-1])) port--;
    if (port == host || port[-1] != ':') return len;
    bool plain = port == end;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        plain |= strlen(defaults[i].scheme) == scheme_len &&
                 !memcmp(defaults[i].scheme, scheme, scheme_len) &&
                 strlen(defaults[i].port) == (size_t)(end - port) &&
                 !memcmp(defaults[i].port, port, (size_t)(end - port));
    return plain ? (size_t)(port - 1 - at) : len;
}

static bool tracks(const char *parameter, size_t len) {
    size_t n = up_to(parameter, parameter + len, "=");
    for (size_t i = 0; i < sizeof tracking / sizeof *tracking; i++) {
        size_t known = strcspn(tracking[i], "*");
        bool begins = tracking[i][known] == '*';
        if ((begins ? n >= known : n == known) && !strncasecmp(parameter, tracking[i], known))
            return true;
    }
    return false;
}

/* Writes a question mark and the parameters of [from, to) that stay at `out`.  Returns the end. */
static char *put_query(char *out, const char *from, const char *to) {
    char *begin = out;
    for (const char *p = from; p <= to;) {
        size_t n = up_to(p, to, "&");
        if (!tracks(p, n)) {
            *out = out == begin ? '?' : '&';
            memmove(out + 1, p, n);
            out += 1 + n;
        }
        p += n + 1;
    }
    return out == begin + 1 ? begin : out;
}

/* Normalises the authority at `from`.  *out becomes its end.  Returns where the path begins, which
 * is at least "/" behind an authority.  If there is no room for this "/", the rest moves by one
 * byte. */
static char *put_host(const char *scheme, size_t scheme_len, char *from, char **end, char **out) {
    size_t n = up_to(from, *end, "/?");
    *out = from + put_authority(scheme, scheme_len, from, n);
    from += n;
    if (n == 0 || (from < *end && *from == '/')) return from;
    if (*out == from) {
        memmove(from + 1, from, (size_t)(*end - from));
        from++;
        (*end)++;
    }
    *(*out)++ = '/';
    return from;
}

static size_t normalise_url(char *url, size_t len) {
    size_t scheme = scheme_of(url, len);
    if (!scheme && (len == 0 || url[0] != '/')) return len;
    char *end = url + up_to(url, url + len, "#"), *from = url, *out = url;
    if (scheme) {
        lower(url, scheme);
        from = put_host(url, scheme, url + scheme + 3, &end, &out);
    }
    size_t path = up_to(from, end, "?");
    memmove(out, from, path);
    out += path;
    from += path;
    if (from < end) out = put_query(out, from + 1, end);
    return (size_t)(out - url);
}

/* -- one value ---------------------------------------------------------------------------- */

static bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static size_t trim(char *value, size_t len) {
    size_t from = 0;
    while (len > 0 && blank(value[len - 1])) len--;
    while (from < len && blank(value[from])) from++;
    memmove(value, value + from, len - from);
    return len - from;
}

size_t key_form_apply(const struct key_form *f, char *value, size_t len) {
    if (f->trim) len = trim(value, len);
    if (f->url) len = normalise_url(value, len);
    if (f->ignore_case) lower(value, len);
    return len;
}
