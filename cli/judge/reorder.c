/* reorder.c - a binary heap by time and arrival. */
#include "judge/reorder.h"

#include "base/cli.h"

#include <stdlib.h>

void reorder_init(struct reorder *r, uint64_t span, size_t most, unsigned with, char end) {
    *r = (struct reorder){.span = span, .most = most};
    shelf_init(&r->shelf, with, end);
}

void reorder_free(struct reorder *r) {
    shelf_free(&r->shelf);
    free(r->heap);
    *r = (struct reorder){0};
}

/* -- the heap ----------------------------------------------------------------------------- */

static bool before(struct waiting a, struct waiting b) {
    return a.time != b.time ? a.time < b.time : a.place < b.place;
}

static void rise(struct reorder *r, size_t i, struct waiting w) {
    for (size_t up; i > 0 && before(w, r->heap[up = (i - 1) / 2]); i = up) r->heap[i] = r->heap[up];
    r->heap[i] = w;
}

static void sink_down(struct reorder *r, struct waiting w) {
    size_t i = 0;
    for (size_t down; (down = 2 * i + 1) < r->n; i = down) {
        if (down + 1 < r->n && before(r->heap[down + 1], r->heap[down])) down++;
        if (!before(r->heap[down], w)) break;
        r->heap[i] = r->heap[down];
    }
    r->heap[i] = w;
}

static void make_room(struct reorder *r) {
    if (r->n < r->room) return;
    r->room = 2 * r->room + 64;
    r->heap = realloc(r->heap, r->room * sizeof *r->heap);
    if (!r->heap) die("out of memory for records held back; --hold bounds what they take");
}

/* -- memory ------------------------------------------------------------------------------- */

/* What is left for the block. */
static size_t limit(const struct reorder *r) {
    size_t heap = r->n * sizeof *r->heap;
    return r->most > heap ? r->most - heap : 0;
}

static size_t live(const struct reorder *r) { return r->shelf.used - r->shelf.dead; }

/* Gaps keep the order, so the heap stays one. */
static void close_gaps(struct reorder *r) {
    shelf_plan(&r->shelf);
    for (size_t i = 0; i < r->n; i++)
        r->heap[i].place = shelf_at(&r->shelf, r->heap[i].place)->link;
    shelf_slide(&r->shelf);
}

/* The records of the last span, whether they are held or had to go: of its parts, and one before
 * and one behind. */
static void note_recent(struct reorder *r, seen_time before, seen_time time, size_t bytes) {
    enum { PARTS = sizeof r->recent / sizeof *r->recent };
    uint64_t part = r->span / REORDER_PARTS + 1, from = before / part, to = r->newest / part;
    for (uint64_t i = 0; i < PARTS && from + i < to; i++) {
        uint64_t *old = &r->recent[(to - i) % PARTS];
        r->recent_all -= *old;
        *old = 0;
    }
    r->recent[time / part % PARTS] += bytes;
    r->recent_all += bytes;
    if (r->recent_all > r->recent_most) r->recent_most = r->recent_all;
}

double reorder_needed(const struct reorder *r) { return (double)r->recent_most * 8 / 7; }

/* -- in and out --------------------------------------------------------------------------- */

void reorder_put(struct reorder *r, const struct record *record, const struct reading *read) {
    seen_time time = read->time, before = r->newest;
    if (time > r->newest) r->newest = time;
    seen_time due = r->newest > r->span ? r->newest - r->span : 0;
    seen_time least = due > r->gone ? due : r->gone;
    if (time < least) {
        time = least;
        r->clamped++;
        r->displaced += r->gone > due;
    }
    if (shelf_crowded(&r->shelf, record, read, limit(r))) close_gaps(r);
    make_room(r);
    size_t used = r->shelf.used;
    uint32_t place = shelf_put(&r->shelf, record, read, time, 0, limit(r));
    note_recent(r, before, time, r->shelf.used - used + sizeof *r->heap);
    rise(r, r->n++, (struct waiting){time, place});
    size_t bytes = r->shelf.used + r->n * sizeof *r->heap;
    if (bytes > r->peak) r->peak = bytes;
}

const struct held *reorder_take(struct reorder *r, bool all) {
    if (!r->n) return NULL;
    struct waiting w = r->heap[0];
    bool due = all || (r->newest >= r->span && w.time <= r->newest - r->span);
    if (!due && live(r) <= limit(r) / 8 * 7) return NULL;
    if (!due) {
        r->early++;
        r->gone = w.time;
    }
    struct waiting last = r->heap[--r->n];
    if (r->n) sink_down(r, last);
    struct held *h = shelf_at(&r->shelf, w.place);
    shelf_drop(&r->shelf, h);
    if (!r->n) shelf_oldest(&r->shelf); /* begins the block again */
    return h;
}
