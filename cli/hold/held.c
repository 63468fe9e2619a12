#include "hold/held.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { OVERHEAD = 16, TEXT_MOST = 1 << 20 }; /* of malloc; bytes of a batch, but for one record */

struct held *held_new(const struct record *r, const struct reading *read, char end) {
    bool ended = r->len > 0 && r->at[r->len - 1] == end;
    struct held *h = malloc(sizeof *h + r->len + !ended);
    if (!h) die("out of memory for a record held back");
    memcpy(h->bytes, r->at, r->len);
    if (!ended) h->bytes[r->len] = end;
    h->read = *read;
    h->serial = 0;
    h->verdict = SEEN_NEW;
    h->len = r->len + !ended;
    h->bare = r->bare;
    return h;
}

size_t held_size(const struct held *h) { return sizeof *h + h->len + OVERHEAD; }

/* -- let go ------------------------------------------------------------------------------- */

void outlet_init(struct outlet *o) {
    *o = (struct outlet){.batch = calloc(1, sizeof *o->batch), .read = calloc(1, sizeof *o->read)};
    if (!o->batch || !o->read) die("out of memory for records let go");
}

void outlet_free(struct outlet *o) {
    free(o->batch);
    free(o->read);
    free(o->text);
    *o = (struct outlet){0};
}

void outlet_begin(struct outlet *o) {
    o->batch->n = o->read->n = 0;
    o->read->due = false;
    o->used = 0;
}

bool outlet_full(const struct outlet *o) { return o->batch->n == BATCH || o->used >= TEXT_MOST; }

static void make_room(struct outlet *o, size_t more) {
    if (o->used + more <= o->cap) return;
    o->cap = 2 * o->cap + more;
    o->text = realloc(o->text, o->cap);
    if (!o->text) die("out of memory for records let go");
}

void outlet_take(struct outlet *o, struct held *h) {
    size_t i = o->batch->n++;
    make_room(o, h->len);
    memcpy(o->text + o->used, h->bytes, h->len);
    o->used += h->len;
    o->batch->record[i] = (struct record){NULL, h->len, h->bare};
    o->batch->verdict[i] = h->verdict;
    o->read->order[i] = (uint16_t)i;
    o->read->landmark[i] = false;
    readable_put(o->read, i, &h->read);
    o->read->n = o->batch->n;
    free(h);
}

/* The text stands still from now on. */
void outlet_end(struct outlet *o) {
    const char *at = o->text;
    for (size_t i = 0; i < o->batch->n; at += o->batch->record[i++].len)
        o->batch->record[i].at = at;
}
