/* spec.c - reads and prints a spec: the window and options that a user asks for.
 *
 *     spec   = window *( SP name "=" value )
 *     window = "landmark" [":" length] | "jumping:" length "/" Q | "sliding:" length | "decaying"
 *     length = COUNT | SPAN                      (a bare number counts records; spans have a unit)
 *
 * Printing is canonical: the window, then the options given, in table order, so that parsing and
 * printing again gives the same text. */
#include "spec/spec.h"
#include "base/base.h"

#include <stdio.h>
#include <string.h>

#define MAX_LENGTH                                                                                 \
    ((uint64_t)1000000000000000) /* 10^15 records, or 31 years: ticks never overflow */
#define MAX_SUBWINDOWS 255

static const char *const window_names[] = {NULL, "landmark", "jumping", "sliding", "decaying"};

/* -- windows ------------------------------------------------------------------------------ */

static int parse_length(struct seen_spec *spec, const char *text, size_t len, size_t where,
                        struct seen_error *e) {
    bool span;
    int bad = units_length(&spec->length, &span, text, len, where, e);
    if (bad) return bad;
    if (!spec->length || spec->length > MAX_LENGTH)
        return error_set(
            e, SEEN_EINVAL, where,
            "a window of '%.*s' makes no sense; give it between 1 and 1e15 records, or "
            "between 1ms and 1653w",
            len > 40 ? 40 : (int)len, text);
    spec->unit = span ? SEEN_UNIT_MICROSECONDS : SEEN_UNIT_RECORDS;
    return 0;
}

static int parse_subwindows(struct seen_spec *spec, const char *text, size_t len, size_t where,
                            struct seen_error *e) {
    int bad = units_count(&spec->subwindows, text, len, where, e);
    if (bad) return bad;
    if (spec->subwindows < 1 || spec->subwindows > MAX_SUBWINDOWS)
        return error_set(e, SEEN_EINVAL, where,
                         "a jumping window has 1 to %d sub-windows, not %.*s", MAX_SUBWINDOWS,
                         len > 40 ? 40 : (int)len, text);
    if (spec->subwindows > spec->length)
        return error_set(e, SEEN_EINVAL, where,
                         "%.*s sub-windows are more than the window has records; give at most one "
                         "for each",
                         (int)len, text);
    return 0;
}

static int parse_kind(uint32_t *kind, const char *text, size_t len, size_t where,
                      struct seen_error *e) {
    struct slip near = {NULL, 0};
    for (uint32_t i = SEEN_WINDOW_LANDMARK; i <= SEEN_WINDOW_DECAYING; i++) {
        if (strlen(window_names[i]) == len && !memcmp(window_names[i], text, len))
            return *kind = i, 0;
        slip_try(&near, text, len, window_names[i]);
    }
    return slip_refuse(&near, "the window ", text, len,
                       "start with landmark, landmark:1d, jumping:1h/12, sliding:1e6 or decaying",
                       where, e);
}

static int parse_window(struct seen_spec *spec, const char *text, size_t len, size_t where,
                        struct seen_error *e) {
    const char *colon = memchr(text, ':', len);
    size_t name = colon ? (size_t)(colon - text) : len;
    uint32_t kind = 0;
    int bad = parse_kind(&kind, text, name, where, e);
    if (bad) return bad;
    spec->window = kind;
    spec->unit = SEEN_UNIT_NONE;
    spec->length = spec->subwindows = 0;
    if (!colon || (name + 1 == len && kind != SEEN_WINDOW_DECAYING)) {
        if (!colon && (kind == SEEN_WINDOW_LANDMARK || kind == SEEN_WINDOW_DECAYING)) return 0;
        return error_set(e, SEEN_EINVAL, where + len, "%s needs a length: write %s",
                         window_names[kind],
                         kind == SEEN_WINDOW_JUMPING ? "jumping:1e6/8 or jumping:1h/12"
                         : kind == SEEN_WINDOW_LANDMARK
                             ? "landmark:1e6 or landmark:1d, or landmark without a colon"
                             : "sliding:1e6 or sliding:24h");
    }
    if (kind == SEEN_WINDOW_DECAYING)
        return error_set(e, SEEN_EINVAL, where + name,
                         "decaying has no length: its memory is its reach");
    const char *length = colon + 1;
    size_t rest = len - name - 1;
    const char *slash = memchr(length, '/', rest);
    size_t n = slash ? (size_t)(slash - length) : rest, at = where + name + 1;
    if (kind == SEEN_WINDOW_JUMPING && !slash)
        return error_set(e, SEEN_EINVAL, at + rest,
                         "jumping needs its number of sub-windows: write jumping:%.*s/8",
                         n > 40 ? 40 : (int)n, length);
    if (kind != SEEN_WINDOW_JUMPING && slash)
        return error_set(e, SEEN_EINVAL, at + n,
                         "only jumping windows have sub-windows: leave out '/' and what follows");
    bad = parse_length(spec, length, n, at, e);
    if (bad || !slash) return bad;
    return parse_subwindows(spec, slash + 1, rest - n - 1, at + n + 1, e);
}

/* -- options ------------------------------------------------------------------------------ */

int spec_unknown_option(const char *name, size_t len, size_t where, struct seen_error *e) {
    char names[240] = "the options are ";
    struct slip near = {NULL, 0};
    const struct seen_option *o;
    for (size_t i = 0; (o = seen_option(i)); i++) {
        size_t at = strlen(names);
        slip_try(&near, name, len, o->name);
        if (!o->geometry) snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "", o->name);
    }
    strncat(names, " and those of single structures", sizeof names - strlen(names) - 1);
    return slip_refuse(&near, "the option ", name, len, names, where, e);
}

int spec_set(struct seen_spec *spec, const char *name, const char *value, spec_names names,
             struct seen_error *e) {
    struct seen_spec changed = *spec;
    size_t len = strlen(value);
    int row = options_find(name, strlen(name));
    int bad = !strcmp(name, "window") ? parse_window(&changed, value, len, 1, e)
              : row < 0               ? spec_unknown_option(name, strlen(name), 1, e)
                                      : value_parse(&changed, row, value, len, 1, names, e);
    if (!bad) *spec = changed;
    return bad;
}

static int parse_option(struct seen_spec *spec, const char *word, size_t len, size_t where,
                        spec_names names, struct seen_error *e) {
    const char *equals = memchr(word, '=', len);
    if (!equals)
        return error_set(e, SEEN_EINVAL, where, "'%.*s' is not an option; write name=value",
                         len > 40 ? 40 : (int)len, word);
    size_t name = (size_t)(equals - word);
    int row = options_find(word, name);
    if (row < 0) return spec_unknown_option(word, name, where, e);
    if (options_has(spec, (enum option)row))
        return error_set(e, SEEN_EINVAL, where, "%.*s is given twice: leave one out", (int)name,
                         word);
    return value_parse(spec, row, equals + 1, len - name - 1, where + name + 1, names, e);
}

int spec_parse(struct seen_spec *out, const char *text, spec_names names, struct seen_error *e) {
    struct seen_spec spec = {0};
    for (size_t i = 0;;) {
        i += strspn(text + i, " \t\n");
        size_t len = strcspn(text + i, " \t\n");
        if (!len) break;
        int bad = spec.window ? parse_option(&spec, text + i, len, i + 1, names, e)
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

static void add_window(struct text *t, const struct seen_spec *spec) {
    char span[48];
    text_add(t, spec->window && spec->window <= SEEN_WINDOW_DECAYING ? window_names[spec->window]
                                                                     : "?");
    if (spec->unit == SEEN_UNIT_NONE) return;
    text_add(t, ":");
    if (spec->unit == SEEN_UNIT_RECORDS) {
        text_add_count(t, spec->length);
    } else {
        seen_print_span(spec->length, span, sizeof span);
        text_add(t, span);
    }
    if (spec->window != SEEN_WINDOW_JUMPING) return;
    text_add(t, "/");
    text_add_count(t, spec->subwindows);
}

int seen_spec_print(const struct seen_spec *spec, char *buf, size_t cap) {
    struct text t = text_begin(buf, cap);
    const struct seen_option *o;
    add_window(&t, spec);
    for (size_t i = 0; (o = seen_option(i)); i++) {
        if (!options_has(spec, (enum option)i)) continue;
        text_add(&t, " ");
        text_add(&t, o->name);
        text_add(&t, "=");
        value_print(&t, spec, (enum option)i);
    }
    return (int)t.len;
}
