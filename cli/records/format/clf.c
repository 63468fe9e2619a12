/* clf.c - web logs in the common and the combined log format of Apache and nginx.
 *
 *     127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 23 "http://b/" "M"
 *     host      │ user   time                         request              │   │   referer    agent
 *               └ ident                               method path protocol │   └ bytes
 *                                                                          └ status
 *
 * A virtual host may come before the host, as in Apache's vhost_combined.
 *
 * Inside quotes a backslash escapes, as in \" or \x22.  Text behind these fields is ignored.  A
 * line whose fields up to "bytes" do not look like this has no fields.  "-" is a value like
 * others. */
#include "records/format/record.h"

#include <arpa/inet.h>
#include <string.h>

enum field {
    HOST,
    IDENT,
    USER,
    TIME,
    REQUEST,
    STATUS,
    BYTES,
    REFERER,
    AGENT,
    METHOD,
    PATH,
    PROTOCOL,
    VHOST,
    FIELDS
};

const struct header clf_names = {
    .n = FIELDS,
    .name = (char *[]){"host", "ident", "user", "time", "request", "status", "bytes", "referer",
                       "agent", "method", "path", "protocol", "vhost"},
};

/* -- one line ------------------------------------------------------------------------------ */

struct text {
    const char *at, *end;
};

/* Takes the bytes up to `stop`, at least one, and skips `stop`. */
static bool take_until(struct text *t, const char *stop, struct slice *out) {
    const char *to = memmem(t->at, (size_t)(t->end - t->at), stop, strlen(stop));
    if (!to || to == t->at) return false;
    *out = (struct slice){t->at, (uint32_t)(to - t->at), AS_IT_IS};
    t->at = to + strlen(stop);
    return true;
}

static bool is_dash(const struct slice *f) { return f->len == 1 && *f->at == '-'; }

/* name:port or [address]:port, as Apache writes %v:%p; an address of IPv6 has more colons. */
static bool has_port(const struct slice *f) {
    const char *end = f->at + f->len, *colon = memrchr(f->at, ':', f->len);
    if (!colon || colon == f->at || colon + 1 == end || end - colon > 6) return false;
    for (const char *p = colon + 1; p < end; p++)
        if (*p < '0' || *p > '9') return false;
    size_t name = (size_t)(colon - f->at);
    return colon[-1] == ']' || !memchr(f->at, ':', name);
}

static bool is_address(const struct slice *f) {
    char text[64];
    unsigned char address[16];
    if (f->len >= sizeof text) return false;
    memcpy(text, f->at, f->len);
    text[f->len] = '\0';
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

/* Four words before the bracket are a virtual host and three others, if the first word has a port,
 * or if an address and the "-" of ident follow it.  Otherwise the user's name has several words. */
static void shift_vhost(struct slice *f) {
    struct slice *user = &f[USER];
    const char *end = user->at + user->len, *space = memchr(user->at, ' ', user->len);
    if (!space || space + 1 == end || is_dash(&f[IDENT])) return;
    struct slice third = {user->at, (uint32_t)(space - user->at), AS_IT_IS};
    if (!third.len || (!has_port(&f[HOST]) && !(is_dash(&third) && is_address(&f[IDENT])))) return;
    f[VHOST] = f[HOST];
    f[HOST] = f[IDENT];
    f[IDENT] = third;
    *user = (struct slice){space + 1, (uint32_t)(end - space - 1), AS_IT_IS};
}

/* Takes the text between two quotes, and both quotes. */
static bool take_quoted(struct text *t, struct slice *out) {
    if (t->at == t->end || *t->at != '"') return false;
    const char *from = t->at + 1, *p = from;
    enum writing how = AS_IT_IS;
    for (; p < t->end && *p != '"'; p++) {
        if (*p != '\\') continue;
        how = CLF_QUOTED;
        p++;
    }
    if (p >= t->end) return false;
    *out = (struct slice){from, (uint32_t)(p - from), how};
    t->at = p + 1;
    return true;
}

static bool take_byte(struct text *t, char byte) {
    bool there = t->at < t->end && *t->at == byte;
    t->at += there;
    return there;
}

/* Digits, or "-". */
static bool take_number(struct text *t, struct slice *out) {
    const char *from = t->at;
    if (!take_byte(t, '-'))
        while (t->at < t->end && *t->at >= '0' && *t->at <= '9') t->at++;
    *out = (struct slice){from, (uint32_t)(t->at - from), AS_IT_IS};
    return t->at > from && (t->at == t->end || *t->at == ' ');
}

/* "GET /path HTTP/1.1": without those three parts it is only a request. */
static void take_apart(struct slice *f) {
    const struct slice *r = &f[REQUEST];
    const char *end = r->at + r->len, *first = memchr(r->at, ' ', r->len);
    if (!first || first == r->at) return;
    const char *last = memrchr(r->at, ' ', r->len);
    bool protocol = last > first && end - last > 5 && !memcmp(last + 1, "HTTP/", 5);
    const char *stop = protocol ? last : end;
    if (stop == first + 1) return;
    f[METHOD] = (struct slice){r->at, (uint32_t)(first - r->at), r->escaped};
    f[PATH] = (struct slice){first + 1, (uint32_t)(stop - first - 1), r->escaped};
    if (protocol) f[PROTOCOL] = (struct slice){last + 1, (uint32_t)(end - last - 1), r->escaped};
}

static bool parse(const struct record *r, struct slice *f) {
    struct text t = {r->at, r->at + r->bare};
    if (!take_until(&t, " ", &f[HOST]) || !take_until(&t, " ", &f[IDENT]) ||
        !take_until(&t, " [", &f[USER]) || /* a user's name may have several words */
        !take_until(&t, "]", &f[TIME]) || !take_byte(&t, ' ') || !take_quoted(&t, &f[REQUEST]) ||
        !take_byte(&t, ' ') || !take_number(&t, &f[STATUS]) || !take_byte(&t, ' ') ||
        !take_number(&t, &f[BYTES]))
        return false;
    shift_vhost(f);
    bool more = take_byte(&t, ' ') && take_quoted(&t, &f[REFERER]) && take_byte(&t, ' ');
    if (more) take_quoted(&t, &f[AGENT]);
    take_apart(f);
    return true;
}

/* -- the format ---------------------------------------------------------------------------- */

static size_t split(struct splitter *s, const char *p, const char *end, bool last,
                    struct batch *b) {
    const struct layout *l = s->layout;
    const char *at = p;
    size_t n = 0;
    for (; n < BATCH && at < end; n++) {
        const char *stop = memchr(at, s->end, (size_t)(end - at));
        if (!stop && !last) break;
        struct record r = record_of(at, stop ? stop : end, end, s->strip_cr);
        struct slice field[FIELDS] = {0}, *slot = b->field + n * l->slots;
        bool good = parse(&r, field);
        for (uint32_t i = 0; i < l->width; i++)
            if (l->slot_of[i] != NO_SLOT) slot[l->slot_of[i]] = good ? field[i] : (struct slice){0};
        b->record[n] = r;
        at += r.len;
    }
    b->n = n;
    return (size_t)(at - p);
}

static bool valid(const struct layout *l, const struct record *r) {
    struct slice field[FIELDS] = {0};
    (void)l;
    return parse(r, field);
}

const struct format clf_format = {
    .split = split, .tail = line_tail, .valid = valid, .invalid = CAUSE_NOT_LOG};

/* -- values -------------------------------------------------------------------------------- */

size_t clf_unescape(const char *p, size_t len, char *out) {
    static const char from[] = "nrtbfv", to[] = "\n\r\t\b\f\v";
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (p[i] != '\\' || i + 1 == len) {
            out[n++] = p[i];
            continue;
        }
        char c = p[++i];
        const char *known = c ? strchr(from, c) : NULL;
        bool two = c == 'x' && i + 2 < len;
        int high = two ? hex_digit(p[i + 1]) : -1, low = two ? hex_digit(p[i + 2]) : -1;
        if (high >= 0 && low >= 0) {
            out[n++] = (char)(high << 4 | low);
            i += 2;
        } else {
            out[n++] = known ? to[known - from] : c;
        }
    }
    return n;
}
