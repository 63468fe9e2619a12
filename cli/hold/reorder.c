/* reorder.c - a binary heap by time and arrival. */
#include "hold/reorder.h"

#include "cli.h"

#include <stdlib.h>

void reorder_init(struct reorder *r, uint64_t span, size_t most, char end) {
    *r = (struct reorder){.span = span, .most = most, .end = end};
}

void reorder_free(struct reorder *r) {
    for (size_t i = 0; i < r->n; i++) free(r->heap[i]);
    free(r->heap);
    *r = (struct reorder){0};
}

/* -- the heap ----------------------------------------------------------------------------- */

static bool before(const struct held *a, const struct held *b) {
    return a->read.time != b->read.time ? a->read.time < b->read.time : a->serial < b->serial;
}

static void rise(struct reorder *r, size_t i, struct held *h) {
    for (size_t up; i > 0 && before(h, r->heap[up = (i - 1) / 2]); i = up) r->heap[i] = r->heap[up];
    r->heap[i] = h;
}

static void sink_down(struct reorder *r, struct held *h) {
    size_t i = 0;
    for (size_t down; (down = 2 * i + 1) < r->n; i = down) {
        if (down + 1 < r->n && before(r->heap[down + 1], r->heap[down])) down++;
        if (!before(r->heap[down], h)) break;
        r->heap[i] = r->heap[down];
    }
    r->heap[i] = h;
}

static void make_room(struct reorder *r) {
    if (r->n < r->room) return;
    r->room = 2 * r->room + 1024;
    r->heap = realloc(r->heap, r->room * sizeof *r->heap);
    if (!r->heap) die("out of memory for records held back");
}

/* -- in and out --------------------------------------------------------------------------- */

static seen_time least(const struct reorder *r) {
    seen_time due = r->newest > r->span ? r->newest - r->span : 0;
    return due > r->gone ? due : r->gone;
}

void reorder_put(struct reorder *r, const struct record *record, const struct reading *read) {
    struct held *h = held_new(record, read, r->end);
    if (read->time > r->newest) r->newest = read->time;
    if (read->time < least(r)) {
        h->read.time = least(r);
        r->clamped++;
    }
    h->serial = r->serial++;
    make_room(r);
    rise(r, r->n++, h);
    r->bytes += held_size(h) + sizeof h;
    if (r->bytes > r->peak) r->peak = r->bytes;
}

struct held *reorder_take(struct reorder *r, bool all) {
    if (!r->n) return NULL;
    struct held *h = r->heap[0];
    bool due = all || (r->newest >= r->span && h->read.time <= r->newest - r->span);
    if (!due && r->bytes <= r->most) return NULL;
    if (!due) {
        r->early++;
        r->gone = h->read.time;
    }
    struct held *last = r->heap[--r->n];
    if (r->n) sink_down(r, last);
    r->bytes -= held_size(h) + sizeof h;
    return h;
}
