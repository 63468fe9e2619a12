/* value.c - what the value of an option can be, read from its row's placeholder. */
#include "help/value.h"

#include "seen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void append(char *buf, size_t cap, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *buf, size_t cap, const char *format, ...) {
    va_list args;
    size_t used = strlen(buf);
    va_start(args, format);
    vsnprintf(buf + used, cap - used, format, args);
    va_end(args);
}

/* "a|b|c" as "a b c"; what is written in capitals is a placeholder and no word. */
static enum value_kind choices(struct value *v, const char *arg) {
    append(v->words, sizeof v->words, "%.*s", (int)strcspn(arg, "]"), arg);
    for (char *p = v->words; *p; p++) {
        if (*p >= 'A' && *p <= 'Z') return v->words[0] = '\0', VALUE_ANY;
        if (*p == '|') *p = ' ';
    }
    return v->optional || strchr(v->words, ' ') ? VALUE_CHOICES : VALUE_ANY;
}

static void filters(struct value *v) {
    const char *name;
    for (size_t i = 0; (name = seen_filter_name(i)); i++)
        append(v->words, sizeof v->words, "%s%s", i ? " " : "", name);
}

struct value value_of(const struct option_row *row) {
    static const struct {
        const char *arg;
        enum value_kind kind;
    } known[] = {{"FILE", VALUE_FILE},
                 {"SPEC", VALUE_SPEC},
                 {"ZONE", VALUE_ZONE},
                 {"FILTER", VALUE_CHOICES}};
    struct value v = {.kind = VALUE_NONE};
    if (!row->arg) return v;
    v.optional = row->arg[0] == '[';
    const char *arg = row->arg + 2 * v.optional; /* behind [= */
    size_t n = strcspn(arg, "]");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].arg) == n && !strncmp(known[i].arg, arg, n)) v.kind = known[i].kind;
    if (v.kind == VALUE_CHOICES) filters(&v);
    if (v.kind == VALUE_NONE) v.kind = choices(&v, arg);
    return v;
}

const char *value_spec_words(void) {
    static char words[4096] = "landmark landmark: jumping: sliding: decaying";
    static bool done;
    size_t n;
    const struct seen_option *o = seen_options(&n);
    const char *name;
    for (size_t i = 0; i < n && !done; i++) {
        if (o[i].kind != SEEN_CHOICE) append(words, sizeof words, " %s=", o[i].name);
        for (const char *const *c = o[i].choices; c && *c; c++)
            append(words, sizeof words, " %s=%s", o[i].name, *c);
    }
    for (size_t i = 0; !done && (name = seen_filter_name(i)); i++)
        append(words, sizeof words, " filter=%s", name);
    done = true;
    return words;
}
