/* rows.c - matches the records of both sides key by key, and prints the keys that differ. */
#include "commands/diff/diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 4096 }; /* moments */

/* -- the queue ---------------------------------------------------------------------------- */

static void read_head(struct queue *q) {
    const size_t size = BLOCK * sizeof *q->head;
    size_t at = 0;
    spill_seek(q->fd, q->folder, q->read++ * size);
    for (size_t got = 1; got && at < size; at += got)
        got = spill_read(q->fd, q->folder, (char *)q->head + at, size - at);
    if (at < size) die("the temporary data in %s ends too soon", q->folder);
    q->front = 0;
    q->head_n = BLOCK;
}

/* The oldest moment that waits, or NULL. */
static struct moment *front(struct queue *q) {
    if (q->front < q->head_n) return &q->head[q->front];
    if (q->read < q->written) {
        read_head(q);
    } else if (q->tail_n) {
        struct moment *spare = q->head;
        q->head = q->tail;
        q->tail = spare;
        q->front = 0;
        q->head_n = q->tail_n;
        q->tail_n = 0;
        q->read = q->written = 0; /* the file's space is used again */
    } else {
        return NULL;
    }
    return &q->head[q->front];
}

/* -- matching ----------------------------------------------------------------------------- */

static void match_init(struct match *m, uint64_t tolerance, const char *folder) {
    *m = (struct match){.tolerance = tolerance};
    m->waiting.fd = -1;
    m->waiting.folder = folder;
    m->waiting.head = malloc(BLOCK * sizeof(struct moment));
    m->waiting.tail = malloc(BLOCK * sizeof(struct moment));
    if (!m->waiting.head || !m->waiting.tail) die("out of memory for matching times");
}

static void match_free(struct match *m) {
    free(m->waiting.head);
    free(m->waiting.tail);
    if (m->waiting.fd >= 0) close(m->waiting.fd);
}

/* Begins a key. */
static void match_begin(struct match *m) {
    struct queue *q = &m->waiting;
    q->front = q->head_n = q->tail_n = 0;
    q->read = q->written = 0;
    m->matched = 0;
}

static void arrive(struct match *m, int side, seen_time time, uint64_t n) {
    struct moment *oldest;
    while (n && m->side != side && (oldest = front(&m->waiting))) {
        uint64_t pairs = oldest->n < n ? oldest->n : n;
        m->matched += pairs;
        oldest->n -= pairs;
        n -= pairs;
        if (!oldest->n) m->waiting.front++;
    }
    if (!n) return;
    m->side = side;
    struct queue *q = &m->waiting;
    if (q->tail_n == BLOCK) { /* the tail goes to the file */
        const size_t size = BLOCK * sizeof *q->tail;
        if (q->fd < 0) q->fd = spill_open(q->folder);
        spill_seek(q->fd, q->folder, q->written++ * size);
        spill_write(q->fd, q->folder, q->tail, size);
        q->tail_n = 0;
    }
    q->tail[q->tail_n++] = (struct moment){time, n};
}

/* Adds the key's records of one time.  Times grow from call to call. */
static void match_add(struct match *m, seen_time time, const uint64_t n[2]) {
    for (struct moment *oldest; (oldest = front(&m->waiting));) {
        if (time - oldest->time <= m->tolerance) break;
        m->waiting.front++;
    }
    arrive(m, LEFT, time, n[LEFT]);
    arrive(m, RIGHT, time, n[RIGHT]);
}

void pairs_init(struct pairs *p, struct tally *t, const uint64_t *tolerance) {
    *p = (struct pairs){.tally = t, .timed = tolerance != NULL};
    if (!p->timed) return;
    match_init(&p->match, *tolerance, t->folder);
    p->more = tally_next(t, &p->ahead);
}

void pairs_free(struct pairs *p) {
    if (p->timed) match_free(&p->match);
    free(p->key);
}

/* The next key, with the records of all its times. */
static bool next_timed(struct pairs *p, struct pair *pair) {
    if (!p->more) return false;
    size_t len = p->ahead.len - PACKED_TIME;
    if (len > p->room) {
        p->room = 2 * len;
        free(p->key);
        p->key = malloc(p->room);
        if (!p->key) die("out of memory for a key of %zu bytes", len);
    }
    memcpy(p->key, p->ahead.key, len);
    pair->entry = (struct entry){.key = p->key, .len = len};
    match_begin(&p->match);
    do {
        entry_add(&pair->entry, &p->ahead);
        match_add(&p->match, packed_get_time(p->ahead.key + len), p->ahead.n);
        p->more = tally_next(p->tally, &p->ahead);
    } while (p->more && p->ahead.len == len + PACKED_TIME && !memcmp(p->ahead.key, p->key, len));
    pair->matched = p->match.matched;
    return true;
}

bool pairs_next(struct pairs *p, struct pair *pair) {
    if (p->timed) return next_timed(p, pair);
    const uint64_t *n = pair->entry.n;
    bool more = tally_next(p->tally, &pair->entry);
    if (more) pair->matched = n[LEFT] < n[RIGHT] ? n[LEFT] : n[RIGHT];
    return more;
}

bool pair_differs(const struct pair *p) {
    const struct entry *e = &p->entry;
    return p->matched < e->n[LEFT] || p->matched < e->n[RIGHT] || e->sum[LEFT] != e->sum[RIGHT];
}

/* -- one value ---------------------------------------------------------------------------- */

static void put_quoted(const struct rows *r, const char *p, size_t n) {
    bool bare = !memchr(p, r->delimiter, n);
    for (size_t i = 0; i < n && bare; i++) bare = p[i] != '"' && p[i] != '\n' && p[i] != '\r';
    if (bare) {
        fwrite(p, 1, n, stdout);
        return;
    }
    putchar_unlocked('"');
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '"') putchar_unlocked('"');
        putchar_unlocked(p[i]);
    }
    putchar_unlocked('"');
}

/* A table's rows are lines, so a byte that would end a value or a row is written as an escape. */
static void put_value(const struct rows *r, const char *p, size_t n) {
    static const char from[] = "\t\n\r\\\0", to[] = "tnr\\0";
    if (r->format == ROWS_CSV) {
        put_quoted(r, p, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const char *known = memchr(from, p[i], sizeof from - 1);
        if (known) putchar_unlocked('\\');
        putchar_unlocked(known ? to[known - from] : p[i]);
    }
}

/* Reads the next field of a key into r->value, behind `used` bytes. */
static size_t next_field(struct rows *r, const char **at, const struct entry *e, size_t used) {
    if (r->room < e->len) {
        r->room = 2 * e->len;
        r->value = realloc(r->value, r->room);
        if (!r->value) die("out of memory for a key of %zu bytes", e->len);
    }
    return packed_get(at, r->value + used);
}

static bool more_fields(const char *at, const struct entry *e) { return at < e->key + e->len; }

/* -- tables ------------------------------------------------------------------------------- */

static char between(const struct rows *r) { return r->format == ROWS_CSV ? r->delimiter : '\t'; }

void rows_head(const struct rows *r) {
    static const char *const of_all[] = {"left", "right"}, *const of_sums[] = {"left_sum",
                                                                               "right_sum"};
    char c = between(r);
    if (r->format == ROWS_JSON) return;
    for (uint32_t i = 0; i < r->columns; i++) {
        put_value(r, r->name[i], strlen(r->name[i]));
        putchar_unlocked(c);
    }
    printf("%s%c%s", of_all[LEFT], c, of_all[RIGHT]);
    if (r->matched) printf("%cmatched", c);
    if (r->sums) printf("%c%s%c%s", c, of_sums[LEFT], c, of_sums[RIGHT]);
    putchar_unlocked('\n');
}

static void put_row(struct rows *r, const struct pair *p) {
    const struct entry *e = &p->entry;
    const char *at = e->key;
    char c = between(r), text[DECIMAL_TEXT];
    for (uint32_t i = 0; i < r->columns; i++) {
        size_t n = next_field(r, &at, e, 0);
        while (r->varies && more_fields(at, e)) { /* one column has all fields */
            r->value[n++] = r->joint;
            n += next_field(r, &at, e, n);
        }
        put_value(r, r->value, n);
        putchar_unlocked(c);
    }
    printf("%" PRIu64 "%c%" PRIu64, e->n[LEFT], c, e->n[RIGHT]);
    if (r->matched) printf("%c%" PRIu64, c, p->matched);
    for (int side = LEFT; r->sums && side <= RIGHT; side++) {
        decimal_text(e->sum[side], r->places, text);
        printf("%c%s", c, text);
    }
    putchar_unlocked('\n');
}

/* -- JSON --------------------------------------------------------------------------------- */

/* Prints one value alone, several as an array.  All are in base64 if one of them is not UTF-8. */
static void put_json_key(struct rows *r, const struct entry *e) {
    bool text = true, array = r->columns > 1 || r->varies;
    for (const char *p = e->key; text && more_fields(p, e);) {
        size_t n = next_field(r, &p, e, 0);
        text = json_is_text(r->value, n);
    }
    const char *at = e->key;
    printf("\"key%s\": %s", text ? "" : "_base64", array ? "[" : "");
    while (more_fields(at, e)) {
        if (at > e->key) printf(", ");
        size_t n = next_field(r, &at, e, 0);
        if (text)
            json_print(r->value, n, stdout);
        else
            json_print_base64(r->value, n, stdout);
    }
    if (array) putchar_unlocked(']');
}

static void put_object(struct rows *r, const struct pair *p) {
    const struct entry *e = &p->entry;
    char text[2][DECIMAL_TEXT];
    putchar_unlocked('{');
    put_json_key(r, e);
    printf(", \"left\": %" PRIu64 ", \"right\": %" PRIu64, e->n[LEFT], e->n[RIGHT]);
    if (r->matched) printf(", \"matched\": %" PRIu64, p->matched);
    if (r->sums) {
        for (int side = LEFT; side <= RIGHT; side++)
            decimal_text(e->sum[side], r->places, text[side]);
        printf(", \"left_sum\": \"%s\", \"right_sum\": \"%s\"", text[LEFT], text[RIGHT]);
    }
    printf("}\n");
}

/* -- rows --------------------------------------------------------------------------------- */

void rows_put(struct rows *r, const struct pair *p) {
    if (r->format == ROWS_JSON)
        put_object(r, p);
    else
        put_row(r, p);
}

void rows_free(struct rows *r) { free(r->value); }

void totals_add(struct totals *a, const struct pair *p) {
    const uint64_t *n = p->entry.n;
    a->matched += p->matched;
    if (n[LEFT] && n[RIGHT]) {
        a->both++;
        a->different += pair_differs(p);
    } else {
        a->only[n[LEFT] ? LEFT : RIGHT]++;
    }
}

static void put_line(const char *what, uint64_t left, uint64_t right) {
    fprintf(stderr, "%-16s %20s %20s\n", what, number_grouped(left).text,
            number_grouped(right).text);
}

void totals_text(const struct totals *a, const struct side side[2], const struct tally *t) {
    const struct side *l = &side[LEFT], *r = &side[RIGHT];
    fprintf(stderr, "%-16s %20s %20s\n", "", "left", "right");
    put_line("records", l->records, r->records);
    put_line("left out", l->left_out, r->left_out);
    put_line("not matched", l->counted - a->matched, r->counted - a->matched);
    put_line("keys", a->both + a->only[LEFT], a->both + a->only[RIGHT]);
    put_line("keys only here", a->only[LEFT], a->only[RIGHT]);
    if (t->sums) {
        char sum[2][DECIMAL_TEXT];
        unsigned places = l->places > r->places ? l->places : r->places;
        put_line("amounts misread", l->misread, r->misread);
        for (int i = LEFT; i <= RIGHT; i++) decimal_text(side[i].total, places, sum[i]);
        fprintf(stderr, "%-16s %20s %20s\n", "sum", sum[LEFT], sum[RIGHT]);
    }
    fprintf(stderr, "%s keys are in both, ", number_grouped(a->both).text);
    fprintf(stderr, "%s of them differ\n", number_grouped(a->different).text);
    if (!t->spilled_runs) return;
    fprintf(stderr, "%s of temporary data in ", number_size(t->spilled_bytes).text);
    fprintf(stderr, "%s, written in %s runs\n", t->folder, number_grouped(t->spilled_runs).text);
}

void totals_json(const struct totals *a, const struct side side[2], const struct tally *t) {
    static const char *const names[] = {"left", "right"};
    struct json j = {.out = stderr};
    char sum[DECIMAL_TEXT];
    json_open(&j, NULL, '{');
    for (int i = LEFT; i <= RIGHT; i++) {
        const struct side *s = &side[i];
        json_open(&j, names[i], '{');
        json_count(&j, "records", s->records);
        json_count(&j, "left_out", s->left_out);
        json_count(&j, "not_matched", s->counted - a->matched);
        json_count(&j, "keys", a->both + a->only[i]);
        json_count(&j, "only", a->only[i]);
        decimal_text(s->total, s->places, sum);
        if (t->sums) json_count(&j, "misread", s->misread), json_text(&j, "sum", sum);
        json_close(&j, '}');
    }
    json_count(&j, "both", a->both);
    json_count(&j, "different", a->different);
    json_count(&j, "matched", a->matched);
    json_count(&j, "spilled_runs", t->spilled_runs);
    json_count(&j, "spilled_bytes", t->spilled_bytes);
    json_text(&j, "version", SEEN_VERSION);
    fputs("}\n", stderr);
}
