/* group.c - gives each set of values of some fields a number, and prints those values. */
#include "group/group.h"

#include "base/cli.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(what) die("out of memory for groups; give less --max-groups")
#include <uthash.h>

/* -- values of fields in one run of bytes --------------------------------------------------- */

char *values_append(char *to, const char *value, size_t len) {
    to[0] = (char)(len & 0xff);
    to[1] = (char)(len >> 8);
    if (len) memcpy(to + 2, value, len);
    return to + 2 + len;
}

const char *values_next(const char **at, size_t *len) {
    const unsigned char *p = (const unsigned char *)*at;
    *len = (size_t)p[0] | (size_t)p[1] << 8;
    *at += 2 + *len;
    return (const char *)p + 2;
}

void values_print_json(const char *at, size_t n, FILE *out) {
    if (n > 1) putc('[', out);
    for (size_t i = 0, len; i < n; i++) {
        const char *value = values_next(&at, &len);
        if (i) fputs(", ", out);
        json_print(value, len, out);
    }
    if (n > 1) putc(']', out);
}

/* -- groups --------------------------------------------------------------------------------- */

struct name {
    UT_hash_handle hh;
    uint32_t number, len;
    char key[];
};

static void *allocate(void *old, size_t size) {
    void *p = realloc(old, size);
    if (!p) die("out of memory for groups; give less --max-groups");
    return p;
}

static struct name *add(struct names *g, const char *key, uint32_t len) {
    struct name *new = NULL;
    if (g->n == g->room) {
        g->room = 2 * g->room + 16;
        g->list = allocate(g->list, g->room * sizeof(struct name *));
    }
    if (g->n >= GROUP_FIRST) {
        new = allocate(NULL, sizeof *new + len);
        new->number = g->n;
        new->len = len;
        memcpy(new->key, key, len);
        HASH_ADD_KEYPTR(hh, g->by_value, new->key, len, new);
        g->bytes += len + g->each;
    }
    return g->list[g->n++] = new;
}

void names_init(struct names *g, uint32_t fields, uint32_t most) {
    *g = (struct names){.fields = fields, .most = most, .most_bytes = SIZE_MAX};
    g->key = allocate(NULL, (size_t)fields * (GROUP_VALUE + 2) + 1);
    while (g->n < GROUP_FIRST) add(g, NULL, 0);
}

void names_free(struct names *g) {
    HASH_CLEAR(hh, g->by_value);
    for (uint32_t i = GROUP_FIRST; i < g->n; i++) free(g->list[i]);
    free(g->list);
    free(g->key);
    free(g->value);
    *g = (struct names){0};
}

void *names_array(const struct names *g, void *array, uint32_t *room, size_t size) {
    if (g->n <= *room) return array;
    uint32_t more = 2 * g->n + 16;
    char *p = allocate(array, (size_t)more * size + 1);
    memset(p + (size_t)*room * size, 0, (size_t)(more - *room) * size);
    *room = more;
    return p;
}

uint32_t *names_sorted(const struct names *g, int order(const void *, const void *, void *ctx),
                       const void *ctx, uint32_t *n) {
    *n = g->n > GROUP_FIRST ? g->n - GROUP_FIRST : 0;
    uint32_t *list = allocate(NULL, (*n + GROUP_FIRST) * sizeof *list); /* the unnamed ones fit */
    for (uint32_t i = 0; i < *n; i++) list[i] = GROUP_FIRST + i;
    if (*n) qsort_r(list, *n, sizeof *list, order, (void *)(uintptr_t)ctx);
    return list;
}

/* -- the group of a record ---------------------------------------------------------------- */

uint32_t names_find_key(struct names *g, const char *key, size_t len) {
    struct name *found;
    HASH_FIND(hh, g->by_value, key, len, found);
    if (found) return found->number;
    if (g->n - GROUP_FIRST >= g->most) return GROUP_OTHERS;
    g->crowded |= g->bytes + len + g->each > g->most_bytes;
    if (g->crowded) return GROUP_OTHERS;
    return add(g, key, (uint32_t)len)->number;
}

uint32_t names_find(struct names *g, const struct fields *fields, const struct slice *field) {
    char *end = g->key;
    for (uint32_t i = 0; i < fields->n; i++) {
        const struct slice *f = &field[fields->slot[i]];
        const char *value = f->at;
        size_t len = f->len;
        if (!f->at) return GROUP_LACKING;
        if (f->escaped) {
            if (g->value_room < len) {
                g->value_room = 2 * len;
                g->value = allocate(g->value, g->value_room);
            }
            len = slice_value(f, g->value);
            value = g->value;
        }
        end = values_append(end, value, len < GROUP_VALUE ? len : GROUP_VALUE);
    }
    return names_find_key(g, g->key, (size_t)(end - g->key));
}

const char *names_key(const struct names *g, uint32_t number, size_t *len) {
    *len = number < GROUP_FIRST ? 0 : g->list[number]->len;
    return number < GROUP_FIRST ? "" : g->list[number]->key;
}

bool names_restore(struct names *g, const char *key, size_t len) {
    struct name *found;
    size_t at = 0;
    for (uint32_t i = 0; i < g->fields; i++) {
        if (len - at < 2) return false;
        size_t value = (size_t)(unsigned char)key[at] | (size_t)(unsigned char)key[at + 1] << 8;
        if (value > GROUP_VALUE || len - at - 2 < value) return false;
        at += 2 + value;
    }
    HASH_FIND(hh, g->by_value, key, len, found);
    if (at != len || found || g->n - GROUP_FIRST >= g->most) return false;
    add(g, key, (uint32_t)len);
    return true;
}

/* -- the values of a group ----------------------------------------------------------------- */

int names_order(const struct names *g, uint32_t a, uint32_t b) {
    const char *p = g->list[a]->key, *q = g->list[b]->key;
    int order = 0;
    for (uint32_t i = 0; i < g->fields && !order; i++) {
        size_t m, n;
        const char *x = values_next(&p, &m), *y = values_next(&q, &n);
        order = memcmp(x, y, m < n ? m : n);
        if (!order) order = (m > n) - (m < n);
    }
    return order;
}

static void put_value(const char *value, size_t len, bool quotes, FILE *out) {
    quotes = quotes && (memchr(value, ',', len) || memchr(value, '"', len));
    if (quotes) putc('"', out);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)value[i];
        if (quotes && c == '"') putc('"', out);
        putc(c < 0x20 || c == 0x7f ? '?' : c, out);
    }
    if (quotes) putc('"', out);
}

void names_put_text(const struct names *g, uint32_t number, char separator, FILE *out) {
    static const char *const unnamed[] = {"(all others)", "(no such field)"};
    if (number < GROUP_FIRST) {
        fputs(unnamed[number], out);
        return;
    }
    const char *key = g->list[number]->key;
    for (uint32_t i = 0; i < g->fields; i++) {
        size_t len;
        const char *value = values_next(&key, &len);
        if (i) putc(separator, out);
        put_value(value, len, g->fields > 1 && separator == ',', out);
    }
}

void names_put_json(const struct names *g, uint32_t number, FILE *out) {
    if (number < GROUP_FIRST)
        fputs("null", out);
    else
        values_print_json(g->list[number]->key, g->fields, out);
}
