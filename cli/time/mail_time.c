/* mail_time.c - the dates of mails and of HTTP, RFC 2822: Fri, 06 Nov 2020 18:10:51 +0100.  The day
 * of the week, the seconds and a comment behind it, (CET), may be missing. */
#include "time/time_parts.h"

/* A number of one or two digits, and the byte behind it: moves p behind both. */
static int number(const char **p, const char *end, char after) {
    const char *start = *p;
    int value = 0;
    while (*p < end && *p - start < 2 && **p >= '0' && **p <= '9')
        value = value * 10 + *(*p)++ - '0';
    if (*p == start || *p == end || **p != after) return -1;
    ++*p;
    return value;
}

/* "Fri, " or nothing.  Which day it is is not believed. */
static const char *skip_weekday(const char *p, const char *end) {
    static const char names[] = "MonTueWedThuFriSatSun";
    for (int i = 0; end - p > 5 && i < 7; i++)
        if (!memcmp(names + 3 * i, p, 3) && p[3] == ',' && p[4] == ' ') return p + 5;
    return p;
}

/* Where a comment in parentheses begins, with the spaces before it. */
static const char *before_comment(const char *p, const char *end) {
    const char *open = end > p && end[-1] == ')' ? memchr(p, '(', (size_t)(end - p)) : NULL;
    if (!open) return end;
    while (open > p && open[-1] == ' ') open--;
    return open;
}

/* The names that RFC 2822 gives to offsets of North America: hours west of UTC. */
static bool named_offset(struct civil *c, const char *p, const char *end) {
    static const char names[] = "EDTESTCDTCSTMDTMSTPDTPST";
    static const int hours[] = {4, 5, 5, 6, 6, 7, 7, 8};
    for (int i = 0; end - p == 4 && *p == ' ' && i < 8; i++) {
        if (memcmp(names + 3 * i, p + 1, 3) != 0) continue;
        c->has_offset = true;
        c->offset = -3600 * hours[i];
        return true;
    }
    return false;
}

bool mail_time_parse(seen_time *out, const char *p, size_t len) {
    const char *end = before_comment(p, p + len);
    struct civil c = {0};
    p = skip_weekday(p, end);
    c.day = number(&p, end, ' ');
    if (c.day < 0 || end - p < 14 || p[3] != ' ' || p[8] != ' ') return false;
    c.month = month_of(p);
    c.year = digits(p + 4, 4);
    if (p[11] != ':') return false;
    c.hour = digits(p + 9, 2);
    c.minute = digits(p + 12, 2);
    p += 14;
    if (end - p >= 3 && *p == ':') {
        c.second = digits(p + 1, 2);
        p += 3;
    }
    if (!civil_offset(&c, p, end) && !named_offset(&c, p, end)) return false;
    return civil_time(&c, out);
}
