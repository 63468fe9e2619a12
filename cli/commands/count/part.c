/* part.c - counts the different keys of a window, of its groups, and of sliding windows, and prints
 * the rows. */
#include "commands/count/count.h"

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
    if (!r->json && !r->headed) { /* several fields of a group have a column each */
        const struct fields *by = &r->how->fields;
        printf("from\t");
        if (r->how->by && by->n < 2) printf("group\t");
        for (uint32_t i = 0; by->n > 1 && i < by->n; i++) printf("%s\t", by->name[i]);
        puts("records\tdistinct\tlow\thigh");
    }
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
    uint32_t n, *list = names_sorted(&p->names, by_count, p, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct group *g = &p->group[list[i]];
        counts_put(r, from, &p->names, list[i], counts_figures(g->records, g->counter));
    }
    free(list);
}

/* -- counters ----------------------------------------------------------------------------- */

void counting_take_memory(struct counting *c, const char *value) {
    c->memory.given = value;
    c->memory.most = option_size("--mem", value);
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

static seen_sliding_counter *counting_new_sliding(struct counting *c, uint64_t window) {
    const struct seen_allocator bounded = {take_bytes, give_bytes, &c->memory}, *memory = NULL;
    struct seen_error e;
    seen_sliding_counter *new;
    if (c->exact) memory = &bounded;
    int bad = seen_sliding_counter_new(&new, c->kind, c->error, window, memory, &e);
    counting_check(c);
    if (bad) die("%s", e.text);
    return new;
}

static void counting_save_sliding(const seen_sliding_counter *c, struct blocks_out *out) {
    seen_sliding_counter_save(c, blocks_writer(out), NULL);
}

/* Reads a sliding counter, which replaces *counter.  False: the bytes cannot be right. */
static bool counting_load_sliding(struct counting *c, struct blocks_in *in,
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

struct part *part_new(struct counting *c) {
    struct part *p = calloc(1, sizeof *p);
    if (!p) die("out of memory for a window");
    if (c->by)
        names_init(&p->names, c->fields.n, UINT32_MAX);
    else
        p->counter = counting_new(c);
    return p;
}

/* The counts of a group; a new group gets a counter. */
static struct group *group_at(struct counting *c, struct part *p, uint32_t number) {
    p->group = names_array(&p->names, p->group, &p->room, sizeof *p->group);
    struct group *g = &p->group[number];
    if (!g->counter) g->counter = counting_new(c);
    return g;
}

void part_free(struct part *p) {
    for (uint32_t i = 0; i < p->room; i++) seen_counter_free(p->group[i].counter);
    free(p->group);
    names_free(&p->names);
    seen_counter_free(p->counter);
    free(p);
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
    struct group *g = group_at(c, p, number);
    g->records++;
    seen_counter_add(g->counter, 1, digest);
}

void part_merge(struct counting *c, struct part *p, const struct part *from) {
    p->records += from->records;
    if (p->counter) seen_counter_merge(p->counter, from->counter, NULL);
    for (uint32_t i = GROUP_FIRST; i < from->names.n; i++) {
        size_t len;
        const char *key = names_key(&from->names, i, &len);
        struct group *g = group_at(c, p, names_find_key(&p->names, key, len));
        g->records += from->group[i].records;
        seen_counter_merge(g->counter, from->group[i].counter, NULL);
    }
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
    p->group = names_array(&p->names, p->group, &p->room, sizeof *p->group);
    p->group[i].records = blocks_get_number(in);
    p->group[i].counter = counting_load(c, in);
    return p->group[i].counter;
}

struct part *part_load(struct counting *c, struct blocks_in *in) {
    struct part *p = calloc(1, sizeof *p);
    if (!p) die("out of memory for a window");
    p->records = blocks_get_number(in);
    bool good = !c->by && (p->counter = counting_load(c, in));
    if (c->by && c->fields.n) { /* without fields no columns were known, and nothing was counted */
        names_init(&p->names, c->fields.n, UINT32_MAX);
        uint64_t n = blocks_get_number(in);
        good = n >= GROUP_FIRST;
        for (uint64_t i = GROUP_FIRST; good && i < n; i++) good = load_group(c, p, (uint32_t)i, in);
    }
    if (good) return p;
    part_free(p);
    return NULL;
}

/* -- sliding windows ---------------------------------------------------------------------- */

static uint64_t cell_length(const struct recent *r) {
    return (r->window + RECENT_CELLS - 3) / (RECENT_CELLS - 2);
}

static seen_time earliest(const struct recent *r) {
    seen_time begin = r->newest >= r->window ? r->newest - r->window + 1 : 0;
    return begin > r->first ? begin : r->first;
}

void recent_add(struct recent *r, const seen_digest *digest, seen_time t) {
    r->records++;
    if (!r->timed) t = r->records;
    if (r->records == 1 || t < r->first) r->first = t;
    if (t > r->newest) r->newest = t;
    if (t + r->window <= r->newest)
        r->outside++;
    else if (t < r->told)
        r->late++;
    if (r->timed) { /* a record of a cell that has left the window is in no row */
        uint64_t number = t / cell_length(r), i = number % RECENT_CELLS;
        bool left = r->cell[i].records && r->cell[i].number > number;
        if (!left && r->cell[i].number != number) r->cell[i].records = 0;
        if (!left) r->cell[i].number = number, r->cell[i].records++;
    }
    seen_sliding_counter_add(r->counter, 1, digest, &t);
    counting_check(r->how);
}

/* A row is printed at the end of each period.  The periods are windows in which nothing is
 * counted. */

static void *on_begin(void *ctx) { return ctx; }

static void on_end(void *ctx, const struct window *w, size_t n) {
    struct recent *r = ctx;
    struct figures f = {.records = r->records < r->window ? r->records : r->window};
    char from[32];
    if (r->timed) {
        uint64_t first = earliest(r) / cell_length(r), last = r->newest / cell_length(r);
        f.records = 0;
        for (size_t i = 0; i < RECENT_CELLS; i++)
            if (r->cell[i].number >= first && r->cell[i].number <= last)
                f.records += r->cell[i].records;
    }
    (void)w, (void)n;
    f.distinct = seen_sliding_counter_estimate(r->counter, 0, &f.error);
    counts_put(r->rows, windows_from(r->windows, earliest(r), from), NULL, 0, f);
    r->told = r->newest;
}

static void on_drop(void *ctx, void *counts) { (void)ctx, (void)counts; }

static void on_save(const void *ctx, const void *counts, struct blocks_out *out) {
    (void)ctx, (void)counts, (void)out;
}

static void *on_load(void *ctx, struct blocks_in *in) {
    (void)in;
    return ctx;
}

static const struct windows_events periods = {
    .begin = on_begin, .end = on_end, .drop = on_drop, .save = on_save, .load = on_load};

void recent_begin(struct recent *r, struct counting *how, struct windows *p, struct counts *rows) {
    *r = (struct recent){
        .window = p->slides, .timed = p->timed, .how = how, .windows = p, .rows = rows};
    r->counter = counting_new_sliding(how, r->window);
    windows_begin(p, &periods, r, 1);
}

void recent_free(struct recent *r) { seen_sliding_counter_free(r->counter); }

/* -- in a state --------------------------------------------------------------------------- */

void recent_save(const struct recent *r, struct blocks_out *out) {
    blocks_put_number(out, r->records);
    blocks_put_number(out, r->first);
    blocks_put_number(out, r->newest);
    blocks_put_number(out, r->told);
    if (r->timed) blocks_put(out, r->cell, sizeof r->cell);
    counting_save_sliding(r->counter, out);
}

bool recent_load(struct recent *r, struct blocks_in *in) {
    r->records = blocks_get_number(in);
    r->first = blocks_get_number(in);
    r->newest = blocks_get_number(in);
    r->told = blocks_get_number(in);
    if (r->timed && !blocks_get(in, r->cell, sizeof r->cell)) return false;
    for (size_t i = 0; r->timed && i < RECENT_CELLS; i++)
        if ((r->cell[i].number | r->cell[i].records) >> 62) return false;
    if ((r->records | r->first | r->newest | r->told) >> 62) return false;
    return counting_load_sliding(r->how, in, &r->counter);
}

void recent_tell(const struct recent *r, const struct input_options *s) {
    if (s->quiet || !r->timed) return;
    if (r->outside)
        warn("%" PRIu64 " record%s older than the window when %s came, and in no row; sort the "
             "input by time, or give a longer window",
             r->outside, r->outside == 1 ? " was" : "s were", r->outside == 1 ? "it" : "they");
    if (r->late)
        warn("%" PRIu64 " record%s came when a row that holds %s time was printed, and %s in later "
             "rows only; sort the input by time",
             r->late, r->late == 1 ? "" : "s", r->late == 1 ? "its" : "their",
             r->late == 1 ? "is" : "are");
}
