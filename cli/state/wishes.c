/* wishes.c - the options a run was given, and how they differ from another's.  What does not decide
 * verdicts is listed here; any other option counts, so that none is forgotten when it is new. */
#include "state/wishes.h"

#include "base/text.h"
#include "seen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* -- which count -------------------------------------------------------------------------- */

/* What is printed, and how the run is carried out.  The window is compared as a spec. */
static const char *const free_to_change[] = {
    "duplicates",   "confirmed", "tag",         "stats",      "quiet",      "exit-code",
    "strict",       "state",     "state-every", "from-start", "forget",     "max-record",
    "threads",      "output",    "audit",       "window",     "tag-column", "now",
    "allow-future", "rejects",   "no-progress", "sum",        "unpack-mem", "max-field",
};

static bool counts(const char *name) {
    size_t n;
    const struct seen_option *engine = seen_options(&n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(engine[i].name, name)) return false;
    for (size_t i = 0; i < sizeof free_to_change / sizeof *free_to_change; i++)
        if (!strcmp(free_to_change[i], name)) return false;
    return true;
}

static struct wish *find(const struct wishes *w, const char *name) {
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->wish[i].name, name)) return (struct wish *)&w->wish[i];
    return NULL;
}

bool wishes_put(struct wishes *w, const char *name, const char *value) {
    struct wish *wish = find(w, name);
    if (!wish && (w->n == WISHES_MOST || strlen(name) >= sizeof wish->name)) return false;
    if (!wish) wish = &w->wish[w->n++];
    snprintf(wish->name, sizeof wish->name, "%s", name);
    wish->value = value;
    return true;
}

void wishes_note(struct wishes *w, const struct option_row *row, const char *value) {
    char name[sizeof w->wish->name];
    if (!counts(row->name)) return;
    if (row->letter)
        snprintf(name, sizeof name, "-%c", row->letter);
    else
        snprintf(name, sizeof name, "--%s", row->name);
    if (!wishes_put(w, name, value ? value : "")) die("too many options to keep in a state");
}

const char *wishes_find(const struct wishes *w, const char *name) {
    const struct wish *wish = find(w, name);
    return wish ? wish->value : NULL;
}

/* -- differences -------------------------------------------------------------------------- */

/* One more clause, as long as there is room. */
__attribute__((format(printf, 4, 5))) static size_t add(char *text, size_t cap, size_t at,
                                                        const char *format, ...) {
    va_list args;
    if (at && at + 2 < cap) at += (size_t)snprintf(text + at, cap - at, "; ");
    if (at + 1 >= cap) return at;
    va_start(args, format);
    int n = vsnprintf(text + at, cap - at, format, args);
    va_end(args);
    text_tame(text + at);
    return (size_t)n < cap - at ? at + (size_t)n : cap - 1;
}

static const char *gap(const char *value) { return *value ? " " : ""; }

size_t wishes_differ(const struct wishes *before, const struct wishes *now, char *text, size_t cap,
                     size_t at) {
    for (size_t i = 0; i < before->n; i++) {
        const struct wish *a = &before->wish[i], *b = find(now, a->name);
        if (!b)
            at = add(text, cap, at, "with %s%s%.80s", a->name, gap(a->value), a->value);
        else if (strcmp(a->value, b->value) != 0)
            at = add(text, cap, at, "with %s %.80s, not %s %.80s", a->name, a->value, b->name,
                     b->value);
    }
    for (size_t i = 0; i < now->n; i++) {
        const struct wish *b = &now->wish[i];
        if (!find(before, b->name))
            at = add(text, cap, at, "without %s%s%.80s", b->name, gap(b->value), b->value);
    }
    return at;
}

/* The word of a spec that says the same kind of thing as `word` (name=…; the window is the first),
 * and its length; NULL if there is none. */
static const char *match(const char *spec, const char *word, bool window, size_t *len) {
    for (const char *p = spec; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " "), name = strcspn(p, "= ");
        *len = n;
        if (window || (p > spec && !strncmp(p, word, name) && word[name] == '=')) return p;
        p += n;
    }
    return NULL;
}

size_t wishes_specs_differ(const char *before, const char *now, char *text, size_t cap, size_t at) {
    size_t n, m;
    for (const char *p = before; *p; p += n, p += strspn(p, " ")) {
        n = strcspn(p, " ");
        const char *q = match(now, p, p == before, &m);
        if (!q)
            at = add(text, cap, at, "with %.*s", (int)n, p);
        else if (n != m || strncmp(p, q, n) != 0)
            at = add(text, cap, at, "with %.*s, not %.*s", (int)n, p, (int)m, q);
    }
    for (const char *p = now; *p; p += n, p += strspn(p, " ")) {
        n = strcspn(p, " ");
        if (!match(before, p, p == now, &m)) at = add(text, cap, at, "without %.*s", (int)n, p);
    }
    return at;
}
