/* groups_pack.c - groups and sums in a state: what was counted, as bytes, and back again.
 *
 *     fields of --group-by, fields of --sum          number, texts
 *     of each sum: its digits, first misread         see unpack_sum
 *     were groups kept out for want of room?         number
 *     groups, the unnamed ones first                 number, then key, counts and sums of each
 */
#include "commands/dedup/groups.h"

#include "base/cli.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS_MOST = 4096 };

static void pack_fields(const struct fields *f, struct packer *p) {
    pack_number(p, f->n);
    for (uint32_t i = 0; i < f->n; i++) pack_text(p, f->name[i]);
}

static void pack_sum(const struct sum *s, struct packer *p) {
    for (int v = 0; v < VERDICTS; v++) {
        pack_number(p, (uint64_t)s->of[v]);
        pack_number(p, (uint64_t)(s->of[v] >> 64));
    }
    pack_number(p, s->unreadable);
    pack_number(p, s->too_large);
}

static void pack_group(const struct groups *g, uint32_t i, struct packer *p) {
    size_t len;
    const char *key = names_key(&g->names, i, &len);
    pack_bytes(p, key, len);
    for (int v = 0; v < VERDICTS; v++) pack_number(p, g->group[i].of[v]);
    for (uint32_t s = 0; s < g->sums.fields.n; s++) pack_sum(&groups_sum(g, i)[s], p);
}

void groups_pack(const struct groups *g, struct packer *p) {
    pack_fields(&g->by, p);
    pack_fields(&g->sums.fields, p);
    for (uint32_t i = 0; i < g->sums.fields.n; i++) {
        const struct misread *m = &g->sums.misread[i];
        pack_number(p, g->sums.places[i]);
        pack_number(p, m->number);
        pack_number(p, m->absent);
        pack_text(p, m->value);
    }
    pack_number(p, g->names.crowded);
    pack_number(p, g->names.n);
    for (uint32_t i = 0; i < g->names.n; i++) pack_group(g, i, p);
}

/* -- and back ----------------------------------------------------------------------------- */

/* The names must be those of `f`, if that has any. */
static void unpack_fields(struct fields *f, struct unpacker *u) {
    size_t n = unpack_count(u, 9);
    bool known = f->n > 0;
    if (n > FIELDS_MOST || (known && n != f->n)) u->bad = true;
    for (size_t i = 0; i < n && !u->bad; i++) {
        const char *name = unpack_text(u);
        if (known && strcmp(name, f->name[i]) != 0) u->bad = true;
        if (known || u->bad) continue;
        f->name = realloc(f->name, n * sizeof *f->name);
        char *copy = strdup(name);
        if (!f->name || !copy) die("out of memory for the groups of a state");
        f->name[f->n++] = copy;
    }
}

static void unpack_sum_of_all(struct sums *s, uint32_t i, struct unpacker *u) {
    struct misread *m = &s->misread[i];
    uint64_t places = unpack_number(u);
    m->number = unpack_number(u);
    m->absent = unpack_number(u);
    const char *value = unpack_text(u);
    if (places > DECIMAL_PLACES || strlen(value) >= sizeof m->value) u->bad = true;
    if (u->bad) return;
    s->places[i] = (unsigned)places;
    strcpy(m->value, value);
    text_tame(m->value);
}

static void unpack_sum(struct sum *s, struct unpacker *u) {
    for (int v = 0; v < VERDICTS; v++) {
        const uint64_t low = unpack_number(u), halves[2] = {low, unpack_number(u)};
        memcpy(&s->of[v], halves, sizeof halves);
    }
    s->unreadable = unpack_number(u);
    s->too_large = unpack_number(u);
}

static void unpack_group(struct groups *g, uint32_t i, struct unpacker *u) {
    size_t len;
    const char *key = unpack_bytes(u, &len);
    if (u->bad || (i < GROUP_FIRST ? len > 0 : !names_restore(&g->names, key, len))) {
        u->bad = true;
        return;
    }
    groups_make_room(g);
    for (int v = 0; v < VERDICTS; v++) g->group[i].of[v] = unpack_number(u);
    for (uint32_t s = 0; s < g->sums.fields.n; s++) unpack_sum(&groups_sum(g, i)[s], u);
}

static bool unpack(struct groups *g, struct unpacker *u) {
    for (uint32_t i = 0; i < g->sums.fields.n; i++) unpack_sum_of_all(&g->sums, i, u);
    bool crowded = unpack_number(u);
    size_t n = unpack_count(u, 9 + 8 * VERDICTS);
    for (size_t i = 0; i < n && !u->bad; i++) unpack_group(g, (uint32_t)i, u);
    g->names.crowded = crowded;
    g->misread = groups_misread(g);
    return !u->bad && u->at == u->end;
}

/* Where no columns are known nothing was counted: then all numbers are 0. */
static bool is_nothing(const char *bytes, size_t len) {
    bool nothing = true;
    for (size_t i = 0; i < len; i++) nothing &= bytes[i] == 0;
    return nothing;
}

bool groups_unpack(struct groups *g, const char *bytes, size_t len) {
    struct unpacker u = {.at = bytes, .end = bytes + len};
    if (!g->names.n) return is_nothing(bytes, len);
    unpack_fields(&g->by, &u);
    unpack_fields(&g->sums.fields, &u);
    return !u.bad && unpack(g, &u);
}

bool groups_unpack_fresh(struct groups *g, const char *bytes, size_t len) {
    struct unpacker u = {.at = bytes, .end = bytes + len};
    *g = (struct groups){0};
    if (is_nothing(bytes, len)) return true;
    unpack_fields(&g->by, &u);
    unpack_fields(&g->sums.fields, &u);
    g->grouped = g->by.n > 0;
    g->summed = g->sums.fields.n > 0;
    sums_init(&g->sums);
    names_init(&g->names, g->by.n, UINT32_MAX);
    groups_make_room(g);
    return !u.bad && unpack(g, &u);
}
