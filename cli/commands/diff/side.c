/* side.c - reads one input of `seen diff` and counts its records by key. */
#include "commands/diff/diff.h"

#include "time/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *side_name(const struct side *s) {
    const char *name = s->input.files[0];
    return strcmp(name, "-") ? name : "standard input";
}

uint32_t side_columns(const struct side *s) {
    return s->fields == PARTS_VARY ? 1 : (uint32_t)s->fields;
}

/* -- columns ------------------------------------------------------------------------------ */

/* The name of a column of the key: as in the header, or as -k names a path into JSON, or its place
 * in the key. */
static char *name_of_field(const struct side *s, const struct header *h, const struct fields *path,
                           uint32_t i) {
    const struct layout *l = &s->reader.layout;
    const char *name = NULL;
    char number[32];
    snprintf(number, sizeof number, s->fields > 1 ? "key%u" : "key", i + 1);
    if (path->n == s->fields) name = path->name[i];
    if (h && l->keys == s->fields) {
        name = NULL;
        for (uint32_t c = 0; c < l->width && c < h->n && !name; c++)
            if (l->slot_of[c] == (int32_t)l->key[i]) name = h->name[c];
    }
    char *copy = strdup(name ? name : number);
    if (!copy) die("out of memory for a column's name");
    return copy;
}

struct reading_side {
    struct side *side;
    void (*resolved)(void *ctx, struct side *);
    void *ctx;
};

static void on_columns(void *ctx, const struct header *header) {
    struct reading_side *r = ctx;
    struct side *s = r->side;
    struct layout *l = &s->reader.layout;
    if (s->sum) s->slot = columns_slot(l, "--sum", s->sum, header);
    s->fields = parts_of_key(l);
    if (s->fields == 0) s->fields = 1; /* the whole record */
    s->resolved = true;
    struct fields path = {0};
    if (l->paths && s->input.keys) columns_fields(l, "-k", s->input.keys, NULL, &path);
    uint32_t n = side_columns(s);
    s->name = calloc(n, sizeof *s->name);
    if (!s->name) die("out of memory for the names of columns");
    for (uint32_t i = 0; i < n; i++) s->name[i] = name_of_field(s, header, &path, i);
    columns_free_fields(&path);
    r->resolved(r->ctx, s);
}

/* -- ahead, on any thread ------------------------------------------------------------------- */

/* The n records of a batch that have all fields needed, with their times and amounts. */
struct countable {
    size_t n;
    uint16_t order[BATCH]; /* a record's place among all */
    seen_time time[BATCH];
    decimal amount[BATCH];
    unsigned places;
    uint8_t cause[BATCH]; /* why the other records cannot be counted, at their places */
    uint64_t misread;
    size_t first_misread; /* the record of the first amount that was misread */
};

/* The exact value of an amount's field. */
static bool amount_of(const struct slice *f, decimal *amount, unsigned *places) {
    char value[512];
    if (!f->at) return false;
    if (!f->escaped) return decimal_parse(amount, places, f->at, f->len);
    return f->len <= sizeof value && decimal_parse(amount, places, value, slice_value(f, value));
}

/* Reads times and amounts.  Records without a time are left out.  An amount that cannot be read
 * counts as nothing. */
static void read_countable(const struct side *s, const struct batch *b, struct countable *r) {
    const struct layout *l = &s->reader.layout;
    size_t m = 0;
    for (size_t i = 0; i < r->n; i++) {
        uint16_t record = r->order[i];
        const struct slice *f = &b->field[record * l->slots];
        r->time[m] = 0;
        r->amount[m] = 0;
        if (s->timed && !slice_time(&f[l->time], s->input.time_format, &r->time[m])) {
            bool there = f[l->time].at;
            r->cause[record] =
                (uint8_t)(there ? CAUSE_TIME : cause_of_missing(l, &b->record[record]));
            continue;
        }
        if (s->sum && !amount_of(&f[s->slot], &r->amount[m], &r->places)) {
            r->amount[m] = 0;
            if (!r->misread++) r->first_misread = record;
        }
        r->order[m++] = record;
    }
    r->n = m;
}

static void on_ahead(void *ctx, unsigned who, struct batch *b, seen_time now) {
    struct side *s = ((struct reading_side *)ctx)->side;
    struct countable *r = b->result;
    seen_digest digest[BATCH];
    (void)now;
    r->n = key_batch(&s->keyer[who], b, digest, r->order);
    r->places = 0;
    r->misread = 0;
    key_causes(&s->keyer[who], b, r->n, r->order, r->cause);
    if (s->timed || s->sum) read_countable(s, b, r);
}

/* -- in order: counting ------------------------------------------------------------------- */

/* Appends the key of a record at `at`; returns its end, or `at` if it is too long. */
static size_t put_key(struct side *s, const struct batch *b, size_t record, seen_time time,
                      size_t at) {
    const struct parts *p = &s->keyer[0].parts;
    size_t end = at, longest = tally_longest(s->tally);
    key_find_parts(&s->keyer[0], b, record);
    if (p->used > longest) return at;
    size_t need = at + packed_room(p->used, p->n) + PACKED_TIME;
    if (need > s->room) {
        s->room = 2 * need;
        s->key = realloc(s->key, s->room);
        if (!s->key) die("out of memory for keys of %zu bytes", need);
    }
    for (size_t i = 0; i < p->n; i++)
        end += packed_put(s->key + end, parts_text(p, i), p->part[i].len);
    if (s->timed) packed_put_time(s->key + end, time), end += PACKED_TIME;
    return end - at > longest ? at : end;
}

/* Makes the keys of all readable records.  Records whose key is too long are left out. */
static void put_keys(struct side *s, const struct batch *b, struct countable *r) {
    size_t n = 0;
    s->at[0] = 0;
    for (size_t m = 0; m < r->n; m++) {
        uint16_t record = r->order[m];
        s->at[n + 1] = put_key(s, b, record, r->time[m], s->at[n]);
        if (s->at[n + 1] == s->at[n]) {
            r->cause[record] = CAUSE_ROOM;
            continue;
        }
        r->order[n] = record;
        r->amount[n] = r->amount[m];
        s->hash[n] = seen_hash(s->key + s->at[n], s->at[n + 1] - s->at[n], s->seed).lo;
        n++;
    }
    r->n = n;
}

static void count(struct side *s, const struct countable *r) {
    enum { SLOT_AHEAD = 16, ENTRY_AHEAD = 8 };
    for (size_t i = 0; i < r->n; i++) {
        if (i + SLOT_AHEAD < r->n) tally_prefetch_slot(s->tally, s->hash[i + SLOT_AHEAD]);
        if (i + ENTRY_AHEAD < r->n) tally_prefetch_entry(s->tally, s->hash[i + ENTRY_AHEAD]);
        decimal amount = s->sum ? r->amount[i] : 0;
        tally_add(s->tally, s->hash[i], s->key + s->at[i], s->at[i + 1] - s->at[i], s->which,
                  amount);
        if (s->sum) {
            if (!decimal_add(&s->total, amount))
                die("%s: the sum of all amounts has more than 20 digits before the point",
                    side_name(s));
        }
    }
    s->counted += r->n;
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct side *s = ((struct reading_side *)ctx)->side;
    struct countable *r = b->result;
    put_keys(s, b, r);
    unjudged_batch(&s->reader.unjudged, b, now, r->n, r->order, r->cause);
    count(s, r);
    if (!s->misread && r->misread) s->first_misread = b->before + r->first_misread + 1;
    s->misread += r->misread;
    if (r->places > s->places) s->places = r->places;
}

static const struct reader_events events = {.columns = on_columns,
                                            .ahead = on_ahead,
                                            .result_size = sizeof(struct countable),
                                            .batch = on_batch};

/* -- a side ------------------------------------------------------------------------------- */

bool side_read(struct side *s, void (*resolved)(void *ctx, struct side *), void *ctx) {
    struct reading_side r = {s, resolved, ctx};
    struct unjudged *u = &s->reader.unjudged;
    reader_init(&s->reader, &s->input, &events, &r);
    u->side = side_name(s);
    for (int i = 0; i < MAX_THREADS; i++)
        key_init_seeded(&s->keyer[i], s->seed, &s->reader.layout, s->input.max_record);
    bool read = reader_run(&s->reader) && !signals_stop();
    if (read) unjudged_end(u, "left out", false);
    if (read && s->misread && !s->input.quiet)
        warn("%s amounts of %s are not decimal numbers and count as nothing; the first is that of "
             "record %ju; write an amount as 1234.50",
             number_grouped(s->misread).text, side_name(s), (uintmax_t)s->first_misread);
    s->records = u->records;
    s->left_out = u->n;
    for (int i = 0; i < MAX_THREADS; i++) key_free(&s->keyer[i]);
    reader_free(&s->reader);
    free(s->key);
    s->key = NULL;
    return read && (!s->left_out || s->left_out < s->records);
}

void side_free(struct side *s) {
    for (uint32_t i = 0; s->name && i < side_columns(s); i++) free(s->name[i]);
    free(s->name);
}
