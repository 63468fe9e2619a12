/* options.c - the option table: parsing, bounds, --help, completions and printing all read it. */
#include "spec/options.h"

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
