/* clf_time.c - the time of web logs: 10/Oct/2000:13:55:36 -0700. */
#include "time/time_parts.h"

/* Everything but the digits, the month and the zone is where it belongs. */
static bool has_form(const char *p, size_t len) {
    static const char form[] = "  /   /    :  :  :      ";
    if (len != 26) return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] != ' ' && form[i] != p[i]) return false;
    return p[20] == ' ' && (p[21] == '+' || p[21] == '-');
}

bool clf_time_parse(seen_time *out, const char *p, size_t len) {
    if (!has_form(p, len)) return false;
    struct civil c = {.year = digits(p + 7, 4),
                      .month = month_of(p + 3),
                      .day = digits(p, 2),
                      .hour = digits(p + 12, 2),
                      .minute = digits(p + 15, 2),
                      .second = digits(p + 18, 2)};
    return civil_offset(&c, p + 20, p + len) && civil_time(&c, out);
}
