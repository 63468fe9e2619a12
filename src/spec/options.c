/* options.c - the option table, and the value of one option: parsed, checked against its bounds,
 * printed, and read and set by programs. */
#include "spec/spec.h"

#include "base/base.h"
#include "base/bits.h"

#include <string.h>

#define CHOICES(...)                                                                               \
    (const char *const[]) { __VA_ARGS__, NULL }

static const struct seen_option table[OPTION_COUNT] = {
#define OPTION(id, called, before, type, least, most, planned, structures, values, line)           \
    [OPTION_##id] = {.name = called,                                                               \
                     .old_name = before,                                                           \
                     .help = line,                                                                 \
                     .of = structures,                                                             \
                     .choices = values,                                                            \
                     .min = least,                                                                 \
                     .max = most,                                                                  \
                     .kind = SEEN_KIND_##type,                                                     \
                     .geometry = planned},
#include "spec/options.def"
};

_Static_assert(OPTION_COUNT <= SEEN_MAX_OPTIONS, "struct seen_spec has no room for more options");

const struct seen_option *seen_option(size_t i) { return i < OPTION_COUNT ? &table[i] : NULL; }

static bool is(const char *name, const char *word, size_t len) {
    return name && strlen(name) == len && !memcmp(name, word, len);
}

int options_find(const char *name, size_t len) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (is(table[i].name, name, len) || is(table[i].old_name, name, len)) return i;
    return -1;
}

const struct seen_option *seen_option_find(const char *name) {
    int i = options_find(name, strlen(name));
    return i < 0 ? NULL : &table[i];
}

bool options_serve(enum option option, const char *filter) {
    const char *name = table[option].of;
    if (!name) return true;
    for (; *name; name += strspn(name, ", ")) {
        size_t n = strcspn(name, ",");
        if (is(filter, name, n)) return true;
        name += n;
    }
    return false;
}

/* -- typing errors ------------------------------------------------------------------------ */

/* Words that differ by letters missing, too many, wrong or swapped (Damerau's distance). */

enum { LONGEST = 32 }; /* longer words are cut */

static size_t distance(const char *a, size_t n, const char *b, size_t m) {
    size_t row[3][LONGEST + 1]; /* for letter i of a, i-1 and i-2 */
    for (size_t j = 0; j <= m; j++) row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *before = row[(i - 1) % 3], *two = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t changed = before[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = bits_min(changed, bits_min(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = bits_min(now[j], two[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

size_t seen_slip(const char *word, size_t len, const char *name) {
    size_t most = len > 3 ? len / 3 + 1 : 1, m = strlen(name);
    size_t d = distance(word, len < LONGEST ? len : LONGEST, name, m < LONGEST ? m : LONGEST);
    return d <= most && d < m ? d : SIZE_MAX;
}

void slip_try(struct slip *n, const char *word, size_t len, const char *name) {
    size_t d = seen_slip(word, len, name);
    if (d < (n->name ? n->distance : SIZE_MAX)) *n = (struct slip){name, d};
}

int slip_refuse(const struct slip *n, const char *what, const char *word, size_t len,
                const char *else_say, size_t where, struct seen_error *e) {
    int shown = len > 40 ? 40 : (int)len;
    if (n->name)
        return error_set(e, SEEN_EINVAL, where, "%s'%.*s' is not known; did you mean %s?", what,
                         shown, word, n->name);
    return error_set(e, SEEN_EINVAL, where, "%s'%.*s' is not known; %s", what, shown, word,
                     else_say);
}

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

/* Names that structures had before, which specs may still use. */
static const char *const old_names[][2] = {{"clock", "second-chance"}};

static int parse_name(const char **value, const char *text, size_t len, size_t where,
                      spec_names known, struct seen_error *e) {
    char names[240];
    struct text list = text_begin(names, sizeof names);
    struct slip near = {NULL, 0};
    const char *name;
    for (size_t i = 0; i < sizeof old_names / sizeof *old_names; i++)
        if (strlen(old_names[i][0]) == len && !memcmp(old_names[i][0], text, len))
            return parse_name(value, old_names[i][1], strlen(old_names[i][1]), where, known, e);
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

/* Prints a bound of an option in the unit of the option. */
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

/* The option of a name that the program gives.  A misspelt name stops the program. */
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

/* Sets an option to a number.  `text` is the number for messages. */
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
