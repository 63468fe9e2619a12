/* part.c - counts the different keys of a window, and prints them as rows. */
#include "commands/count/count.h"

#include "base/cli.h"
#include "base/text.h"
#include "seen_counter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct figures counts_figures(uint64_t records, const seen_counter *c) {
    struct figures f = {.records = records};
    f.distinct = seen_counter_estimate(c, &f.error);
    return f;
}

/* A table's columns before the figures; several fields of a group have a column each. */
static void put_heading(const struct counts *r) {
    const struct fields *f = &r->how->fields;
    printf("from\t");
    if (r->how->by && f->n < 2) printf("group\t");
    for (uint32_t i = 0; f->n > 1 && i < f->n; i++) printf("%s\t", f->name[i]);
    puts("records\tdistinct\tlow\thigh");
}

static void put_group(const struct counts *r, const struct names *names, uint32_t group) {
    if (r->json) printf("\"group\": ");
    if (group >= GROUP_FIRST && r->json)
        names_put_json(names, group, stdout);
    else if (group >= GROUP_FIRST)
        names_put_text(names, group, '\t', stdout);
    else if (r->json)
        printf("\"all\"");
    else
        for (uint32_t i = 0; !i || i < r->how->fields.n; i++) printf("%sall", i ? "\t" : "");
    printf(r->json ? ", " : "\t");
}

void counts_put(struct counts *r, const char *from, const struct names *names, uint32_t group,
                struct figures f) {
    r->n++;
    if (r->value) {
        printf("%.0f\n", f.distinct);
        return;
    }
    if (!r->json && !r->headed) put_heading(r);
    r->headed = true;
    if (r->json)
        printf("{\"from\": "), json_print(from, strlen(from), stdout), printf(", ");
    else
        printf("%s\t", from);
    if (r->how->by) put_group(r, names, group);
    double low = f.distinct / (1 + 1.96 * f.error);
    double high = f.distinct / fmax(1 - 1.96 * f.error, .05);
    if (r->json)
        printf("\"records\": %" PRIu64
               ", \"distinct\": %.0f, \"distinct_95\": [%.0f, %.0f], \"error\": %.3g}\n",
               f.records, f.distinct, low, high, f.error);
    else
        printf("%" PRIu64 "\t%.0f\t%.0f\t%.0f\n", f.records, f.distinct, low, high);
}

static int by_count(const void *a, const void *b, void *ctx) {
    const struct part *p = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    double x = rint(seen_counter_estimate(p->group[i].counter, NULL)); /* as printed */
    double y = rint(seen_counter_estimate(p->group[j].counter, NULL));
    return x != y ? (x < y ? 1 : -1) : names_order(&p->names, i, j);
}

void counts_put_groups(struct counts *r, const char *from, const struct part *p) {
    uint32_t n = p->room ? p->names.n - GROUP_FIRST : 0, *list = malloc((n + 1) * sizeof *list);
    if (!list) die("out of memory for %u groups", n);
    for (uint32_t i = 0; i < n; i++) list[i] = GROUP_FIRST + i;
    qsort_r(list, n, sizeof *list, by_count, (void *)(uintptr_t)p);
    for (uint32_t i = 0; i < n; i++) {
        const struct group *g = &p->group[list[i]];
        counts_put(r, from, &p->names, list[i], counts_figures(g->records, g->counter));
    }
    free(list);
}

/* -- counters ----------------------------------------------------------------------------- */

void counting_take_memory(struct counting *c, const char *value) {
    struct seen_error e;
    c->memory.given = value;
    if (seen_parse_size(value, &c->memory.most, &e)) die("--mem %s: %s", value, e.text);
}

static void *take_bytes(void *ctx, size_t size) {
    struct memory *m = ctx;
    size_t whole = (size + 63) / 64 * 64;
    void *p = whole <= m->most - m->used ? aligned_alloc(64, whole) : NULL;
    m->out |= !p;
    if (!p) return NULL;
    m->used += whole;
    return memset(p, 0, whole);
}

static void give_bytes(void *ctx, void *p, size_t size) {
    struct memory *m = ctx;
    m->used -= (size + 63) / 64 * 64;
    free(p);
}

void counting_check(const struct counting *c) {
    char most[32];
    if (!c->memory.out) return;
    seen_print_size(c->memory.most, most, sizeof most);
    fflush(stdout);
    die("--exact: the keys of the first %" PRIu64 " records do not fit into --mem=%s; give more "
        "memory, or leave out --exact for an estimate",
        *c->records, most);
}

seen_counter *counting_new(struct counting *c) {
    const struct seen_allocator bounded = {take_bytes, give_bytes, &c->memory};
    struct seen_error e;
    seen_counter *new;
    int bad = seen_counter_new(&new, c->kind, c->error, c->seed, c->exact ? &bounded : NULL, &e);
    counting_check(c);
    if (bad) die("%s", e.text);
    return new;
}

void counting_save(const seen_counter *c, struct blocks_out *out) {
    seen_counter_save(c, blocks_writer(out), NULL);
}

seen_counter *counting_load(struct counting *c, struct blocks_in *in) {
    const struct seen_allocator bounded = {take_bytes, give_bytes, &c->memory};
    seen_counter *new;
    int bad = seen_counter_load(&new, blocks_reader(in), 0, c->exact ? &bounded : NULL, NULL);
    counting_check(c);
    if (bad || !seen_counter_merge(new, c->empty, NULL)) return bad ? NULL : new;
    seen_counter_free(new);
    return NULL;
}

seen_sliding_counter *counting_new_sliding(struct counting *c, uint64_t window) {
    const struct seen_allocator bounded = {take_bytes, give_bytes, &c->memory}, *memory = NULL;
    struct seen_error e;
    seen_sliding_counter *new;
    if (c->exact) memory = &bounded;
    int bad = seen_sliding_counter_new(&new, c->kind, c->error, window, memory, &e);
    counting_check(c);
    if (bad) die("%s", e.text);
    return new;
}

void counting_save_sliding(const seen_sliding_counter *c, struct blocks_out *out) {
    seen_sliding_counter_save(c, blocks_writer(out), NULL);
}

bool counting_load_sliding(struct counting *c, struct blocks_in *in,
                           seen_sliding_counter **counter) {
    const struct seen_allocator bounded = {take_bytes, give_bytes, &c->memory}, *memory = NULL;
    seen_sliding_counter *new;
    if (c->exact) memory = &bounded;
    int bad = seen_sliding_counter_load(&new, blocks_reader(in), 0, memory, NULL);
    counting_check(c);
    if (bad || !seen_sliding_counter_alike(new, *counter)) {
        seen_sliding_counter_free(new);
        return false;
    }
    seen_sliding_counter_free(*counter);
    *counter = new;
    return true;
}

/* -- parts -------------------------------------------------------------------------------- */

static struct part *allocate(void) {
    struct part *p = calloc(1, sizeof *p);
    if (!p) die("out of memory for a window");
    return p;
}

struct part *part_new(struct counting *c) {
    struct part *p = allocate();
    if (c->by)
        names_init(&p->names, c->fields.n, UINT32_MAX);
    else
        p->counter = counting_new(c);
    return p;
}

void part_free(struct part *p) {
    for (uint32_t i = 0; i < p->room; i++) seen_counter_free(p->group[i].counter);
    free(p->group);
    names_free(&p->names);
    seen_counter_free(p->counter);
    free(p);
}

/* Counters for all groups that have a number. */
static void make_room(struct part *p) {
    if (p->names.n <= p->room) return;
    uint32_t room = 2 * p->names.n + 16;
    p->group = realloc(p->group, room * sizeof *p->group);
    if (!p->group) die("out of memory for %u groups", p->names.n);
    memset(p->group + p->room, 0, (room - p->room) * sizeof *p->group);
    p->room = room;
}

void part_add(struct counting *c, struct part *p, const seen_digest *digest,
              const struct slice *field) {
    p->records++;
    if (!c->by) {
        seen_counter_add(p->counter, 1, digest);
        return;
    }
    uint32_t number = names_find(&p->names, &c->fields, field);
    if (number < GROUP_FIRST) return;
    make_room(p);
    struct group *g = &p->group[number];
    if (!g->counter) g->counter = counting_new(c);
    g->records++;
    seen_counter_add(g->counter, 1, digest);
}

static void merge_group(struct counting *c, struct part *p, const struct part *from, uint32_t i) {
    size_t len;
    const char *key = names_key(&from->names, i, &len);
    uint32_t number = names_find_key(&p->names, key, len);
    make_room(p);
    struct group *g = &p->group[number];
    if (!g->counter) g->counter = counting_new(c);
    g->records += from->group[i].records;
    seen_counter_merge(g->counter, from->group[i].counter, NULL);
}

void part_merge(struct counting *c, struct part *p, const struct part *from) {
    p->records += from->records;
    if (p->counter) seen_counter_merge(p->counter, from->counter, NULL);
    for (uint32_t i = GROUP_FIRST; i < from->names.n; i++) merge_group(c, p, from, i);
}

void part_clear(struct counting *c, struct part *p) {
    p->records = 0;
    if (p->counter) {
        seen_counter_clear(p->counter);
        return;
    }
    for (uint32_t i = 0; i < p->room; i++) seen_counter_free(p->group[i].counter);
    free(p->group);
    p->group = NULL;
    p->room = 0;
    names_free(&p->names);
    names_init(&p->names, c->fields.n, UINT32_MAX);
}

/* -- in a state --------------------------------------------------------------------------- */

void part_save(const struct part *p, struct blocks_out *out) {
    blocks_put_number(out, p->records);
    if (p->counter) {
        counting_save(p->counter, out);
        return;
    }
    blocks_put_number(out, p->names.n);
    for (uint32_t i = GROUP_FIRST; i < p->names.n; i++) {
        size_t len;
        const char *key = names_key(&p->names, i, &len);
        blocks_put_number(out, len);
        blocks_put(out, key, len);
        blocks_put_number(out, p->group[i].records);
        counting_save(p->group[i].counter, out);
    }
}

static bool load_group(struct counting *c, struct part *p, uint32_t i, struct blocks_in *in) {
    uint64_t len = blocks_get_number(in), most = (uint64_t)c->fields.n * (GROUP_VALUE + 2);
    char *key = p->names.key; /* has so much room */
    if (len > most || !blocks_get(in, key, len) || !names_restore(&p->names, key, len))
        return false;
    make_room(p);
    p->group[i].records = blocks_get_number(in);
    p->group[i].counter = counting_load(c, in);
    return p->group[i].counter;
}

static bool load_groups(struct counting *c, struct part *p, struct blocks_in *in) {
    if (!c->fields.n) return false; /* no columns are known, so nothing was counted */
    names_init(&p->names, c->fields.n, UINT32_MAX);
    uint64_t n = blocks_get_number(in);
    for (uint64_t i = GROUP_FIRST; i < n; i++)
        if (!load_group(c, p, (uint32_t)i, in)) return false;
    return n >= GROUP_FIRST;
}

struct part *part_load(struct counting *c, struct blocks_in *in) {
    struct part *p = allocate();
    p->records = blocks_get_number(in);
    if (!c->by) p->counter = counting_load(c, in);
    if (c->by ? load_groups(c, p, in) : p->counter != NULL) return p;
    part_free(p);
    return NULL;
}
