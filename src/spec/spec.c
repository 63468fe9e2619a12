/* spec.c - what is asked, as text and as a struct.
 *
 *     spec   = window *( SP name "=" value )
 *     window = "landmark" [":" length] | "jumping:" length "/" Q | "sliding:" length | "decaying"
 *     length = COUNT | SPAN                      (a bare number counts records; spans have a unit)
 *
 * Printing is canonical: the window, then the options given, in table order, so that parsing and
 * printing again gives the same text. */
#include "base/base.h"
#include "base/bits.h"
#include "detector/registry.h"
#include "spec/options.h"
#include "spec/units.h"

#include <stdio.h>
#include <string.h>

#define LENGTH_MOST                                                                                \
    ((uint64_t)1000000000000000) /* 10^15 records, or 31 years: ticks never overflow */
#define SUBWINDOWS_MOST 255

static const char *const window_names[] = {NULL, "landmark", "jumping", "sliding", "decaying"};

/* -- suggestions -------------------------------------------------------------------------- */

/* The name that was probably meant, as the distances told so far have it. */
struct near {
    const char *name;
    size_t distance;
};

static void near_try(struct near *n, const char *word, size_t len, const char *name) {
    size_t d = seen_slip(word, len, name);
    if (d < (n->name ? n->distance : SIZE_MAX)) *n = (struct near){name, d};
}

/* "what='word' is not known; did you mean name?", or where none is near, what else it can be. */
static int refuse_word(const struct near *n, const char *what, const char *word, size_t len,
                       const char *else_say, size_t where, struct seen_error *e) {
    int shown = len > 40 ? 40 : (int)len;
    if (n->name)
        return error_set(e, SEEN_EINVAL, where, "%s'%.*s' is not known; did you mean %s?", what,
                         shown, word, n->name);
    return error_set(e, SEEN_EINVAL, where, "%s'%.*s' is not known; %s", what, shown, word,
                     else_say);
}

/* -- windows ------------------------------------------------------------------------------ */

static int parse_length(struct seen_spec *spec, const char *text, size_t len, size_t where,
                        struct seen_error *e) {
    bool span;
    int bad = units_length(&spec->length, &span, text, len, where, e);
    if (bad) return bad;
    if (!spec->length || spec->length > LENGTH_MOST)
        return error_set(
            e, SEEN_EINVAL, where,
            "a window of '%.*s' makes no sense; give it between 1 and 1e15 records, or "
            "between 1ms and 1653w",
            len > 40 ? 40 : (int)len, text);
    spec->unit = span ? SEEN_MICROSECONDS : SEEN_RECORDS;
    return 0;
}

static int parse_subwindows(struct seen_spec *spec, const char *text, size_t len, size_t where,
                            struct seen_error *e) {
    int bad = units_count(&spec->subwindows, text, len, where, e);
    if (bad) return bad;
    if (spec->subwindows < 1 || spec->subwindows > SUBWINDOWS_MOST)
        return error_set(e, SEEN_EINVAL, where,
                         "a jumping window has 1 to %d sub-windows, not %.*s", SUBWINDOWS_MOST,
                         len > 40 ? 40 : (int)len, text);
    if (spec->subwindows > spec->length)
        return error_set(e, SEEN_EINVAL, where,
                         "%.*s sub-windows are more than the window has records; give at most one "
                         "for each",
                         (int)len, text);
    return 0;
}

static int window_kind(const char *text, size_t len) {
    for (int i = SEEN_LANDMARK; i <= SEEN_DECAYING; i++)
        if (strlen(window_names[i]) == len && !memcmp(window_names[i], text, len)) return i;
    return 0;
}

static int unknown_window(const char *text, size_t len, size_t where, struct seen_error *e) {
    struct near near = {NULL, 0};
    for (int i = SEEN_LANDMARK; i <= SEEN_DECAYING; i++)
        near_try(&near, text, len, window_names[i]);
    return refuse_word(&near, "the window ", text, len,
                       "start with landmark, landmark:1d, jumping:1h/12, sliding:1e6 or decaying",
                       where, e);
}

static int parse_window(struct seen_spec *spec, const char *text, size_t len, size_t where,
                        struct seen_error *e) {
    const char *colon = memchr(text, ':', len);
    size_t name = colon ? (size_t)(colon - text) : len;
    int kind = window_kind(text, name);
    if (!kind) return unknown_window(text, name, where, e);
    spec->window = (uint32_t)kind;
    spec->unit = SEEN_EXPLICIT;
    spec->length = spec->subwindows = 0;
    if (!colon || (name + 1 == len && kind != SEEN_DECAYING)) {
        if (!colon && (kind == SEEN_LANDMARK || kind == SEEN_DECAYING)) return 0;
        return error_set(
            e, SEEN_EINVAL, where + len, "%s needs a length: write %s", window_names[kind],
            kind == SEEN_JUMPING    ? "jumping:1e6/8 or jumping:1h/12"
            : kind == SEEN_LANDMARK ? "landmark:1e6 or landmark:1d, or landmark without a colon"
                                    : "sliding:1e6 or sliding:24h");
    }
    if (kind == SEEN_DECAYING)
        return error_set(e, SEEN_EINVAL, where + name,
                         "decaying has no length: its memory is its reach");
    const char *length = colon + 1;
    size_t rest = len - name - 1;
    const char *slash = memchr(length, '/', rest);
    size_t n = slash ? (size_t)(slash - length) : rest, at = where + name + 1;
    if (kind == SEEN_JUMPING && !slash)
        return error_set(e, SEEN_EINVAL, at + rest,
                         "jumping needs its number of sub-windows: write jumping:%.*s/8",
                         n > 40 ? 40 : (int)n, length);
    if (kind != SEEN_JUMPING && slash)
        return error_set(e, SEEN_EINVAL, at + n,
                         "only jumping windows have sub-windows: leave out '/' and what follows");
    int bad = parse_length(spec, length, n, at, e);
    if (bad || !slash) return bad;
    return parse_subwindows(spec, slash + 1, rest - n - 1, at + n + 1, e);
}

/* -- options ------------------------------------------------------------------------------ */

static int set_choice(uint32_t *value, const struct seen_option *o, const char *text, size_t len,
                      size_t where, struct seen_error *e) {
    char names[80] = "it is ", what[40];
    struct near near = {NULL, 0};
    for (uint32_t i = 0; o->choices[i]; i++) {
        if (strlen(o->choices[i]) == len && !memcmp(o->choices[i], text, len)) {
            *value = i;
            return 0;
        }
        size_t at = strlen(names);
        const char *comma = !i ? "" : o->choices[i + 1] ? ", " : " or ";
        snprintf(names + at, sizeof names - at, "%s%s", comma, o->choices[i]);
        near_try(&near, text, len, o->choices[i]);
    }
    snprintf(what, sizeof what, "%s=", o->name);
    return refuse_word(&near, what, text, len, names, where, e);
}

static int set_name(char *value, const char *text, size_t len, size_t where, struct seen_error *e) {
    if (!registry_known(text, len)) {
        char names[240] = "choose one of ";
        struct near near = {NULL, 0};
        const char *name;
        for (size_t i = 0; (name = seen_filter_name(i)); i++) near_try(&near, text, len, name);
        registry_names(names + strlen(names), sizeof names - strlen(names));
        return refuse_word(&near, "filter=", text, len, names, where, e);
    }
    snprintf(value, sizeof((struct seen_spec *)0)->filter, "%.*s", (int)len, text);
    return 0;
}

/* COUNT, SIZE and SPAN are exact integers; REAL and RATE are doubles, with exclusive bounds. */
static int set_number(void *value, const struct seen_option *o, const char *text, size_t len,
                      size_t where, struct seen_error *e) {
    int bad;
    bool inside;
    bool is_real = o->kind == SEEN_REAL || o->kind == SEEN_RATE;
    if (is_real) {
        double real;
        bad = (o->kind == SEEN_REAL ? units_share : units_rate)(&real, text, len, where, e);
        if (bad) return bad;
        inside = real > o->min && real < o->max;
        memcpy(value, &real, sizeof real);
    } else {
        uint64_t whole;
        bad = (o->kind == SEEN_SIZE   ? units_size
               : o->kind == SEEN_SPAN ? units_span
                                      : units_count)(&whole, text, len, where, e);
        if (bad) return bad;
        inside = (double)whole >= o->min && (double)whole <= o->max;
        memcpy(value, &whole, sizeof whole);
    }
    if (inside) return 0;
    char least[32], most[32];
    if (o->kind == SEEN_SIZE) {
        seen_print_size((uint64_t)o->min, least, sizeof least);
        seen_print_size((uint64_t)o->max, most, sizeof most);
    } else if (o->kind == SEEN_SPAN) {
        seen_print_span((uint64_t)o->min, least, sizeof least);
        seen_print_span((uint64_t)o->max, most, sizeof most);
    } else {
        units_print_real(o->min, least, sizeof least);
        units_print_real(o->max, most, sizeof most);
    }
    return error_set(e, SEEN_EINVAL, where, "%s=%.*s is out of range; it must be %s %s and %s %s",
                     o->name, len > 40 ? 40 : (int)len, text, is_real ? "above" : "at least", least,
                     is_real ? "below" : "at most", most);
}

static int set_option(struct seen_spec *spec, int row, const char *text, size_t len, size_t where,
                      struct seen_error *e) {
    size_t n;
    const struct seen_option *o = &seen_options(&n)[row];
    void *value = (char *)spec + o->offset;
    int bad = o->kind == SEEN_CHOICE ? set_choice(value, o, text, len, where, e)
              : o->kind == SEEN_NAME ? set_name(value, text, len, where, e)
                                     : set_number(value, o, text, len, where, e);
    if (!bad) options_mark(spec, (enum option)row);
    return bad;
}

static int unknown_option(const char *name, size_t len, size_t where, struct seen_error *e) {
    char names[240] = "the options are ";
    struct near near = {NULL, 0};
    size_t n;
    const struct seen_option *o = seen_options(&n);
    for (size_t i = 0; i < n; i++) {
        size_t at = strlen(names);
        near_try(&near, name, len, o[i].name);
        if (!o[i].geometry)
            snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "", o[i].name);
    }
    strncat(names, " and those of single structures", sizeof names - strlen(names) - 1);
    return refuse_word(&near, "the option ", name, len, names, where, e);
}

int seen_spec_set(struct seen_spec *spec, const char *name, const char *value,
                  struct seen_error *e) {
    struct seen_spec changed = *spec;
    int row = options_find(name, strlen(name));
    int bad = !strcmp(name, "window") ? parse_window(&changed, value, strlen(value), 1, e)
              : row < 0               ? unknown_option(name, strlen(name), 1, e)
                                      : set_option(&changed, row, value, strlen(value), 1, e);
    if (!bad) *spec = changed;
    return bad;
}

static int parse_option(struct seen_spec *spec, const char *word, size_t len, size_t where,
                        struct seen_error *e) {
    const char *equals = memchr(word, '=', len);
    if (!equals)
        return error_set(e, SEEN_EINVAL, where, "'%.*s' is not an option; write name=value",
                         len > 40 ? 40 : (int)len, word);
    size_t name = (size_t)(equals - word);
    int row = options_find(word, name);
    if (row < 0) return unknown_option(word, name, where, e);
    if (options_has(spec, (enum option)row))
        return error_set(e, SEEN_EINVAL, where, "%.*s is given twice: leave one out", (int)name,
                         word);
    return set_option(spec, row, equals + 1, len - name - 1, where + name + 1, e);
}

int seen_spec_parse(struct seen_spec *out, const char *text, struct seen_error *e) {
    struct seen_spec spec = {0};
    for (size_t i = 0;;) {
        i += strspn(text + i, " \t\n");
        size_t len = strcspn(text + i, " \t\n");
        if (!len) break;
        int bad = spec.window ? parse_option(&spec, text + i, len, i + 1, e)
                              : parse_window(&spec, text + i, len, i + 1, e);
        if (bad) return bad;
        i += len;
    }
    if (!spec.window)
        return error_set(e, SEEN_EINVAL, 1,
                         "the spec is empty; start with a window such as landmark:1d");
    *out = spec;
    return 0;
}

/* -- printing ----------------------------------------------------------------------------- */

struct text {
    char *buf;
    size_t cap, len;
};

static void add(struct text *t, const char *piece) {
    for (; *piece; piece++, t->len++)
        if (t->len + 1 < t->cap) t->buf[t->len] = *piece;
    if (t->cap) t->buf[t->len < t->cap ? t->len : t->cap - 1] = 0;
}

static void add_count(struct text *t, uint64_t value) {
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)value);
    add(t, number);
}

static void add_window(struct text *t, const struct seen_spec *spec) {
    char span[48];
    add(t, spec->window && spec->window <= SEEN_DECAYING ? window_names[spec->window] : "?");
    if (spec->unit == SEEN_EXPLICIT) return;
    add(t, ":");
    if (spec->unit == SEEN_RECORDS) {
        add_count(t, spec->length);
    } else {
        seen_print_span(spec->length, span, sizeof span);
        add(t, span);
    }
    if (spec->window != SEEN_JUMPING) return;
    add(t, "/");
    add_count(t, spec->subwindows);
}

static void add_value(struct text *t, const struct seen_option *o, const void *value) {
    char number[48];
    uint64_t whole = 0;
    uint32_t choice = 0;
    double real = 0;
    switch (o->kind) {
    case SEEN_COUNT:
        memcpy(&whole, value, sizeof whole);
        add_count(t, whole);
        return;
    case SEEN_SIZE:
        memcpy(&whole, value, sizeof whole);
        seen_print_size(whole, number, sizeof number);
        break;
    case SEEN_SPAN:
        memcpy(&whole, value, sizeof whole);
        seen_print_span(whole, number, sizeof number);
        break;
    case SEEN_REAL:
    case SEEN_RATE:
        memcpy(&real, value, sizeof real);
        units_print_real(real, number, sizeof number);
        break;
    case SEEN_CHOICE:
        memcpy(&choice, value, sizeof choice);
        add(t, o->choices[choice]);
        return;
    default: add(t, value); return;
    }
    add(t, number);
}

int seen_spec_print(const struct seen_spec *spec, char *buf, size_t cap) {
    struct text t = {buf, cap, 0};
    if (cap) buf[0] = 0;
    add_window(&t, spec);
    size_t n;
    const struct seen_option *o = seen_options(&n);
    for (size_t i = 0; i < n; i++) {
        if (!options_has(spec, (enum option)i)) continue;
        add(&t, " ");
        add(&t, o[i].name);
        add(&t, "=");
        add_value(&t, &o[i], (const char *)spec + o[i].offset);
    }
    return (int)t.len;
}
