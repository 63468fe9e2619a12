/* part.c - counters of a window: one of all its records, or one a group. */
#include "commands/count/part.h"

#include "base/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- counters ----------------------------------------------------------------------------- */

void counting_take_memory(struct counting *c, const char *value) {
    struct seen_error e;
    c->memory.given = value;
    if (seen_parse_size(&c->memory.most, value, &e)) die("--mem %s: %s", value, e.text);
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
