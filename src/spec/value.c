/* value.c - the value of one option: parsed, checked against its bounds, printed, and read and set
 * by programs. */
#include "spec/spec.h"

#include "base/base.h"
#include "spec/options.h"

#include <string.h>

/* -- from text ---------------------------------------------------------------------------- */

static int parse_choice(uint64_t *value, const struct seen_option *o, const char *text, size_t len,
                        size_t where, struct seen_error *e) {
    char names[80] = "it is ", what[40];
    struct slip near = {NULL, 0};
    for (uint64_t i = 0; o->choices[i]; i++) {
        if (strlen(o->choices[i]) == len && !memcmp(o->choices[i], text, len)) {
            *value = i;
            return 0;
        }
        size_t at = strlen(names);
        const char *comma = !i ? "" : o->choices[i + 1] ? ", " : " or ";
        snprintf(names + at, sizeof names - at, "%s%s", comma, o->choices[i]);
        slip_try(&near, text, len, o->choices[i]);
    }
    snprintf(what, sizeof what, "%s=", o->name);
    return slip_refuse(&near, what, text, len, names, where, e);
}

static int parse_name(const char **value, const char *text, size_t len, size_t where,
                      spec_names known, struct seen_error *e) {
    char names[240];
    struct text list = text_begin(names, sizeof names);
    struct slip near = {NULL, 0};
    const char *name;
    text_add(&list, "choose one of ");
    for (size_t i = 0; (name = known(i)); i++) {
        if (strlen(name) == len && !memcmp(name, text, len)) return *value = name, 0;
        slip_try(&near, text, len, name);
        if (i) text_add(&list, ", ");
        text_add(&list, name);
    }
    return slip_refuse(&near, "filter=", text, len, names, where, e);
}

static bool is_real(const struct seen_option *o) {
    return o->kind == SEEN_KIND_REAL || o->kind == SEEN_KIND_RATE;
}

/* COUNT, SIZE and SPAN are exact integers; REAL and RATE are doubles. */
static int parse_number(union seen_value *value, const struct seen_option *o, const char *text,
                        size_t len, size_t where, struct seen_error *e) {
    switch (o->kind) {
    case SEEN_KIND_REAL: return units_share(&value->real, text, len, where, e);
    case SEEN_KIND_RATE: return units_rate(&value->real, text, len, where, e);
    case SEEN_KIND_SIZE: return units_size(&value->count, text, len, where, e);
    case SEEN_KIND_SPAN: return units_span(&value->count, text, len, where, e);
    default: return units_count(&value->count, text, len, where, e);
    }
}

/* A bound of an option, in its own unit. */
static void print_bound(const struct seen_option *o, double bound, char *buf, size_t cap) {
    if (o->kind == SEEN_KIND_SIZE)
        seen_print_size((uint64_t)bound, buf, cap);
    else if (o->kind == SEEN_KIND_SPAN)
        seen_print_span((uint64_t)bound, buf, cap);
    else
        units_print_real(bound, buf, cap);
}

static int check_bounds(const union seen_value *value, const struct seen_option *o,
                        const char *text, size_t len, size_t where, struct seen_error *e) {
    double number = is_real(o) ? value->real : (double)value->count;
    bool inside =
        is_real(o) ? number > o->min && number < o->max : number >= o->min && number <= o->max;
    char least[32], most[32];
    if (inside) return 0;
    print_bound(o, o->min, least, sizeof least);
    print_bound(o, o->max, most, sizeof most);
    return error_set(e, SEEN_EINVAL, where, "%s=%.*s is out of range; it must be %s %s and %s %s",
                     o->name, len > 40 ? 40 : (int)len, text, is_real(o) ? "above" : "at least",
                     least, is_real(o) ? "below" : "at most", most);
}

int value_parse(struct seen_spec *spec, int option, const char *text, size_t len, size_t where,
                spec_names names, struct seen_error *e) {
    const struct seen_option *o = seen_option((size_t)option);
    union seen_value value = {0};
    int bad = o->kind == SEEN_KIND_CHOICE ? parse_choice(&value.count, o, text, len, where, e)
              : o->kind == SEEN_KIND_NAME ? parse_name(&value.name, text, len, where, names, e)
                                          : parse_number(&value, o, text, len, where, e);
    if (!bad && o->kind != SEEN_KIND_NAME) bad = check_bounds(&value, o, text, len, where, e);
    if (bad) return bad;
    spec->value[option] = value;
    options_mark(spec, (enum option)option);
    return 0;
}

/* -- as text ------------------------------------------------------------------------------ */

void value_print(struct text *t, const struct seen_spec *spec, enum option option) {
    const struct seen_option *o = seen_option(option);
    union seen_value value = spec->value[option];
    char number[48];
    switch (o->kind) {
    case SEEN_KIND_COUNT: text_add_count(t, value.count); return;
    case SEEN_KIND_CHOICE: text_add(t, o->choices[value.count]); return;
    case SEEN_KIND_NAME: text_add(t, options_name(spec, option)); return;
    case SEEN_KIND_SIZE: seen_print_size(value.count, number, sizeof number); break;
    case SEEN_KIND_SPAN: seen_print_span(value.count, number, sizeof number); break;
    default: units_print_real(value.real, number, sizeof number); break;
    }
    text_add(t, number);
}

/* -- for programs ------------------------------------------------------------------------- */

/* The option of a name that the program gives, which it must not misspell. */
static enum option option_of(const char *name) {
    int option = options_find(name, strlen(name));
    ERROR_MISUSE(option < 0, "seen: there is no option of this name; see seen_option_find");
    return (enum option)option;
}

int seen_spec_has(const struct seen_spec *s, const char *name) {
    return options_has(s, option_of(name));
}

uint64_t seen_spec_get_count(const struct seen_spec *s, const char *name) {
    enum option option = option_of(name);
    const struct seen_option *o = seen_option(option);
    ERROR_MISUSE(is_real(o) || o->kind == SEEN_KIND_NAME,
                 "seen: this option is not a whole number; call seen_spec_get_real or _get");
    return options_get(s, option);
}

double seen_spec_get_real(const struct seen_spec *s, const char *name) {
    enum option option = option_of(name);
    return is_real(seen_option(option)) ? options_real(s, option)
                                        : (double)seen_spec_get_count(s, name);
}

int seen_spec_get(const struct seen_spec *s, const char *name, char *buf, size_t cap) {
    struct text t = text_begin(buf, cap);
    enum option option = option_of(name);
    if (options_has(s, option)) value_print(&t, s, option);
    return (int)t.len;
}

void seen_spec_unset(struct seen_spec *s, const char *name) { options_unset(s, option_of(name)); }

/* Sets the option of a name, whose value the program says as a number; `text` shows the number. */
static int set_number(struct seen_spec *s, const char *name, union seen_value value, bool real,
                      const char *text, struct seen_error *e) {
    int option = options_find(name, strlen(name));
    if (option < 0) return spec_unknown_option(name, strlen(name), 1, e);
    const struct seen_option *o = seen_option((size_t)option);
    if (o->kind == SEEN_KIND_NAME || (real && !is_real(o)))
        return error_set(e, SEEN_EINVAL, 1, "%s= is not %s number; set it with seen_spec_set%s",
                         o->name, real ? "a real" : "a", real ? "_count" : "");
    if (!real && is_real(o)) value.real = (double)value.count;
    int bad = check_bounds(&value, o, text, strlen(text), 1, e);
    if (bad) return bad;
    s->value[option] = value;
    options_mark(s, (enum option)option);
    return 0;
}

int seen_spec_set_count(struct seen_spec *s, const char *name, uint64_t value,
                        struct seen_error *e) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return set_number(s, name, (union seen_value){.count = value}, false, text, e);
}

int seen_spec_set_real(struct seen_spec *s, const char *name, double value, struct seen_error *e) {
    char text[48];
    units_print_real(value, text, sizeof text);
    return set_number(s, name, (union seen_value){.real = value}, true, text, e);
}
