/* span.c - reads places of fields such as 2-4 and last-1, and resolves them. */
#include "records/span.h"

#include "base/cli.h"

#include <stdlib.h>
#include <string.h>

static bool digit(char c) { return c >= '0' && c <= '9'; }

/* "7", "last" or "last-7" at *p, which moves behind it. */
static bool take_place(const char **p, struct nth *out) {
    const char *digits = *p;
    char *end;
    *out = (struct nth){.from_end = !strncmp(*p, "last", 4)};
    if (out->from_end) {
        *p += 4;
        digits = *p + 1;
        if (**p != '-' || !digit(*digits)) return true;
    }
    if (!digit(*digits)) return false;
    unsigned long n = strtoul(digits, &end, 10);
    *p = end;
    if (n > SPAN_MOST) n = SPAN_MOST + 1ul; /* to be refused */
    out->n = (uint32_t)(out->from_end ? n : n - 1);
    return true;
}

static bool take_span(const char *p, struct span *s) {
    if (!take_place(&p, &s->first)) return false;
    s->last = s->first;
    if (*p == '-' && !p[1]) s->last = (struct nth){.from_end = true}, p++;
    if (*p == '-') p++, take_place(&p, &s->last);
    return !*p;
}

_Noreturn static void refuse_negative(const char *word) {
    unsigned long n = strtoul(word + 1, NULL, 10);
    if (n < 1 || n > SPAN_MOST) die("'%s' is not a field: they count from 1", word);
    if (n == 1) die("'-1' is not a field: the last one is written last, the first one 1");
    die("'%s' is not a field: field %lu from the end is written last-%lu, and the fields up to %lu "
        "are "
        "written 1-%lu",
        word, n, n - 1, n, n);
}

/* Places count from 1, up to a bound, and a range goes upwards. */
static bool sound(const struct span *s) {
    const struct nth *a = &s->first, *b = &s->last;
    if (a->n >= SPAN_MOST || b->n >= SPAN_MOST) return false;
    if (a->from_end != b->from_end) return !a->from_end;
    return a->from_end ? a->n >= b->n : a->n <= b->n;
}

bool span_parse(const char *word, struct span *s) {
    bool numbers = *word && !word[strspn(word, "0123456789-")];
    *s = (struct span){.slot = NO_SLOT};
    if (numbers && word[0] == '-' && digit(word[1]) && !word[1 + strspn(word + 1, "0123456789")])
        refuse_negative(word);
    bool parsed = take_span(word, s);
    if (!parsed && !numbers) return false;
    if (!parsed || !sound(s))
        die("'%s' is not a field: they count from 1 to %d, a range is written 2-4, 2- or 2-last-1",
            word, SPAN_MOST);
    return true;
}

/* The number of a field from 0, of n; or beyond all. */
static uint64_t number_of(struct nth p, uint64_t n) {
    if (!p.from_end) return p.n;
    return p.n < n ? n - 1 - p.n : n;
}

bool span_among(const struct span *s, uint64_t n, uint64_t *first, uint64_t *last) {
    *first = number_of(s->first, n);
    *last = number_of(s->last, n);
    return *first <= *last && *last < n;
}
