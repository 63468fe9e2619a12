/* tally.c - counts how often each side has each key, in bounded memory. */
#include "commands/diff/diff.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t packed_put(char *out, const char *value, size_t len) {
    char *p = out;
    for (const char *nul; (nul = len ? memchr(value, '\0', len) : NULL);) {
        size_t n = (size_t)(nul - value);
        memcpy(p, value, n);
        memcpy(p + n, "\0\1", 2);
        p += n + 2;
        value = nul + 1;
        len -= n + 1;
    }
    if (len) memcpy(p, value, len);
    memcpy(p + len, "\0\0", 2);
    return (size_t)(p - out) + len + 2;
}

size_t packed_get(const char **at, char *out) {
    char *p = out;
    for (;;) {
        size_t n = strlen(*at);
        memcpy(p, *at, n);
        p += n;
        *at += n + 2;
        if ((*at)[-1] == '\0') return (size_t)(p - out);
        *p++ = '\0';
    }
}

void packed_put_time(char *out, seen_time t) {
    uint64_t big = __builtin_bswap64(t);
    memcpy(out, &big, sizeof big);
}

seen_time packed_get_time(const char *at) {
    uint64_t big;
    memcpy(&big, at, sizeof big);
    return __builtin_bswap64(big);
}

enum { UNIT = 16, AHEAD = 8 };

/* An entry in the arena: counts, sums if there are any, and the key. */
struct counts {
    uint64_t n[2];
    decimal sum[]; /* [2], or none */
};

static size_t counts_size(const struct tally *t) {
    return sizeof(struct counts) + (t->sums ? 2 * sizeof(decimal) : 0);
}

static struct counts *counts_at(const struct tally *t, size_t at) {
    return (struct counts *)(t->arena + (at - 1) * UNIT);
}

static struct text *text_of(const struct tally *t, struct counts *c) {
    return (struct text *)((char *)c + counts_size(t));
}

static size_t round_up(size_t n) { return (n + UNIT - 1) / UNIT * UNIT; }

/* -- memory ------------------------------------------------------------------------------- */

/* An eighth is left for reading.  A quarter of the rest, rounded down to a power of two, holds the
 * slots; what remains holds the entries and sorts them.  Pages are taken when first used. */
void tally_init(struct tally *t, uint64_t mem, const char *folder, bool sums, uint64_t seed) {
    const uint64_t most = UINT64_C(40) << 30; /* an entry's place is 32 bits */
    mem = mem > most ? most : mem - mem / 8;
    size_t slots = 1;
    while (slots * 2 * sizeof(struct slot) <= mem / 4) slots *= 2;
    memset(t, 0, sizeof *t);
    t->sums = sums;
    t->seed = seed;
    t->folder = folder;
    t->mask = slots - 1;
    t->room = ((size_t)mem - slots * sizeof(struct slot) - SPILL_BUFFER) / UNIT * UNIT;
    t->slot = calloc(slots, sizeof *t->slot);
    t->arena = malloc(t->room);
    t->out = malloc(SPILL_BUFFER);
    if (!t->slot || !t->arena || !t->out)
        die("out of memory: --mem asks for %ju bytes", (uintmax_t)mem);
}

void tally_free(struct tally *t) {
    for (size_t i = 0; i < t->runs; i++) close(t->run[i].fd);
    free(t->slot);
    free(t->arena);
    free(t->out);
}

/* To merge runs the arena holds a buffer for each of them, and one more for the key. */
static size_t buffer_size(const struct tally *t) { return t->room / (MERGED + 1) / UNIT * UNIT; }

size_t tally_longest(const struct tally *t) { return buffer_size(t); }

/* -- sorting ------------------------------------------------------------------------------ */

/* Lists the entries behind the last one and sorts the list. */
static void sort_entries(struct tally *t) {
    t->sorted = (struct sorted *)(t->arena + t->used);
    size_t n = 0;
    for (size_t at = 0; at < t->used; n++) {
        struct text *text = text_of(t, (struct counts *)(t->arena + at));
        t->sorted[n].text = text;
        at = (size_t)(text->bytes + text->len - t->arena);
        at = round_up(at);
    }
    sort_texts(t->sorted, n, t->seed);
}

static void get_entry(const struct tally *t, const struct text *text, struct entry *e) {
    const struct counts *c = (const struct counts *)((const char *)text - counts_size(t));
    *e = (struct entry){text->bytes, text->len, {c->n[LEFT], c->n[RIGHT]}, {0, 0}};
    if (t->sums) memcpy(e->sum, c->sum, sizeof e->sum);
}

/* -- runs --------------------------------------------------------------------------------- */

static void add_run(struct tally *t, struct spill_out *out, unsigned level) {
    t->run[t->runs++] = (struct tally_run){spill_end(out), level};
    t->spilled_runs++;
    t->spilled_bytes += out->bytes;
}

/* Begins to merge the last n runs, whose files the merge then closes. */
static void merge_last(struct tally *t, size_t n) {
    size_t size = buffer_size(t);
    t->runs -= n;
    for (size_t i = 0; i < n; i++)
        spill_in_init(&t->lane[i].in, t->run[t->runs + i].fd, t->folder, t->sums,
                      t->arena + i * size, size);
    merge_begin(&t->merge, t->lane, t->heap, n, t->arena + n * size);
}

/* Merges the last n runs into one. */
static void join_last(struct tally *t, size_t n) {
    struct spill_out out;
    struct entry e;
    unsigned level = t->run[t->runs - n].level + 1;
    merge_last(t, n);
    spill_begin(&out, t->folder, t->sums, t->out);
    while (merge_next(&t->merge, &e)) spill_entry(&out, &e);
    add_run(t, &out, level);
}

/* Writes the table as a run, and empties it. */
static void spill_table(struct tally *t) {
    struct spill_out out;
    struct entry e;
    sort_entries(t);
    spill_begin(&out, t->folder, t->sums, t->out);
    for (size_t i = 0; i < t->n; i++) {
        if (i + AHEAD < t->n) __builtin_prefetch(t->sorted[i + AHEAD].text);
        get_entry(t, t->sorted[i].text, &e);
        spill_entry(&out, &e);
    }
    add_run(t, &out, 0);
    memset(t->slot, 0, (t->mask + 1) * sizeof *t->slot);
    t->used = t->n = 0;
    while (t->runs >= MERGED && t->run[t->runs - MERGED].level == t->run[t->runs - 1].level)
        join_last(t, MERGED);
}

/* -- adding ------------------------------------------------------------------------------- */

static struct slot *find(const struct tally *t, uint64_t hash, const char *key, size_t len) {
    for (size_t i = hash & t->mask;; i = (i + 1) & t->mask) {
        struct slot *s = &t->slot[i];
        if (!s->at) return s;
        if (s->tag != hash >> 32) continue;
        const struct text *text = text_of(t, counts_at(t, s->at));
        if (text->len == len && !memcmp(text->bytes, key, len)) return s;
    }
}

static void insert(struct tally *t, struct slot *s, uint64_t hash, const char *key, size_t len) {
    struct counts *c = (struct counts *)(t->arena + t->used);
    struct text *text = text_of(t, c);
    memset(c, 0, counts_size(t));
    text->len = (uint32_t)len;
    memcpy(text->bytes, key, len);
    *s = (struct slot){(uint32_t)(hash >> 32), (uint32_t)(t->used / UNIT + 1)};
    t->used = round_up(t->used + counts_size(t) + sizeof *text + len);
    t->n++;
}

_Noreturn static void refuse_sum(void) {
    die("the sum of a key's amounts has more than 20 digits before the point");
}

void tally_add(struct tally *t, uint64_t hash, const char *key, size_t len, int side,
               decimal amount) {
    struct slot *s = find(t, hash, key, len);
    if (!s->at) {
        /* There has to be room for one entry more, and for sorting all of them. */
        size_t size = round_up(counts_size(t) + sizeof(struct text) + len);
        size_t sorting = (t->n + 1) * sizeof(struct sorted);
        if (t->used + size + sorting > t->room || t->n >= t->mask / 4 * 3) {
            spill_table(t);
            s = find(t, hash, key, len);
        }
        insert(t, s, hash, key, len);
    }
    struct counts *c = counts_at(t, s->at);
    c->n[side]++;
    if (t->sums && !decimal_add(&c->sum[side], amount)) refuse_sum();
}

void entry_add(struct entry *e, const struct entry *more) {
    for (int side = LEFT; side <= RIGHT; side++) {
        e->n[side] += more->n[side];
        if (!decimal_add(&e->sum[side], more->sum[side])) refuse_sum();
    }
}

/* -- handing out -------------------------------------------------------------------------- */

void tally_end(struct tally *t) {
    if (!t->runs) {
        sort_entries(t);
        return;
    }
    spill_table(t);
    for (size_t more; t->runs > MERGED; join_last(t, more)) {
        more = t->runs - MERGED + 1;
        if (more > MERGED) more = MERGED;
    }
    merge_last(t, t->runs);
    t->merging = true;
}

bool tally_next(struct tally *t, struct entry *e) {
    if (t->merging) return merge_next(&t->merge, e);
    if (t->next == t->n) return false;
    get_entry(t, t->sorted[t->next++].text, e);
    return true;
}
