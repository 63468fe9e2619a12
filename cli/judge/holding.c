/* holding.c - holds records back: --reorder sorts them, --keep last waits for the last of a key. */
#include "judge/holding.h"

#include <stdlib.h>

/* -- --reorder ------------------------------------------------------------------------------ */

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

static void sink_down(struct reorder *r, struct waiting w) {
    size_t i = 0;
    for (size_t down; (down = 2 * i + 1) < r->n; i = down) {
        if (down + 1 < r->n && before(r->heap[down + 1], r->heap[down])) down++;
        if (!before(r->heap[down], w)) break;
        r->heap[i] = r->heap[down];
    }
    r->heap[i] = w;
}

/* -- memory ------------------------------------------------------------------------------- */

/* The bytes left for the block. */
static size_t limit(const struct reorder *r) {
    size_t heap = r->n * sizeof *r->heap;
    return r->most > heap ? r->most - heap : 0;
}

static size_t live(const struct reorder *r) { return r->shelf.used - r->shelf.dead; }

/* Notes the bytes of all records of the last span, whether they are held or had to go.  They are
 * counted by parts of the span, and one part more on either side. */
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
    seen_time time = read->time, newest = r->newest;
    if (time > r->newest) r->newest = time;
    seen_time due = r->newest > r->span ? r->newest - r->span : 0;
    seen_time least = due > r->gone ? due : r->gone;
    if (time < least) {
        time = least;
        r->clamped++;
        r->displaced += r->gone > due;
    }
    if (shelf_crowded(&r->shelf, record, read, limit(r))) {
        /* Gaps are closed.  Records keep their order, so the heap stays a heap. */
        shelf_plan(&r->shelf);
        for (size_t i = 0; i < r->n; i++)
            r->heap[i].place = shelf_at(&r->shelf, r->heap[i].place)->link;
        shelf_slide(&r->shelf);
    }
    if (r->n == r->room) {
        r->room = 2 * r->room + 64;
        r->heap = realloc(r->heap, r->room * sizeof *r->heap);
        if (!r->heap) die("out of memory for records held back; --hold bounds what they take");
    }
    size_t used = r->shelf.used;
    uint32_t place = shelf_put(&r->shelf, record, read, time, 0, limit(r));
    note_recent(r, newest, time, r->shelf.used - used + sizeof *r->heap);
    struct waiting w = {time, place};
    size_t i = r->n++;
    for (size_t up; i > 0 && before(w, r->heap[up = (i - 1) / 2]); i = up) r->heap[i] = r->heap[up];
    r->heap[i] = w;
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

/* -- --keep last ---------------------------------------------------------------------------- */

#define DAY UINT64_C(86400000000)

enum { MIN_HEADS = 64 };

static void *table_of(size_t places) {
    void *table = calloc(places, sizeof(uint32_t));
    if (!table) die("out of memory for records held back; --hold bounds what they take");
    return table;
}

void keep_init(struct keep *k, const struct seen_spec *s, size_t most, unsigned with, char end) {
    *k = (struct keep){.spec = s, .heads = MIN_HEADS, .queue_room = MIN_HEADS, .most = most};
    window_clock_init(&k->clock, s, 0);
    k->head = table_of(k->heads);
    if (k->clock.refresh_first) k->queue = table_of(k->queue_room);
    shelf_init(&k->shelf, with | (k->clock.refresh_first ? HELD_SERIAL : 0), end);
}

void keep_free(struct keep *k) {
    shelf_free(&k->shelf);
    free(k->head);
    free(k->queue);
    k->head = k->queue = NULL;
}

/* -- memory ------------------------------------------------------------------------------- */

static size_t tables(const struct keep *k) {
    return (k->heads + (k->clock.refresh_first ? k->queue_room : 0)) * sizeof(uint32_t);
}

/* The bytes left for the block. */
static size_t table_limit(const struct keep *k) {
    return k->most > tables(k) ? k->most - tables(k) : 0;
}

void keep_note_keys(struct keep *k, uint64_t keys) {
    size_t live = k->shelf.used - k->shelf.dead;
    if (!k->n) return;
    double each = (double)live / (double)k->n * 8 / 7 + 3 * sizeof(uint32_t);
    if (each * (double)keys > k->needed) k->needed = each * (double)keys;
}

/* -- the table ---------------------------------------------------------------------------- */

static uint32_t *chain_of(const struct keep *k, seen_digest key) {
    return &k->head[((key.lo ^ key.hi) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (k->heads - 1)];
}

/* The link to the record of that key; a link of 0: no record of it is held. */
static uint32_t *find(const struct keep *k, seen_digest key) {
    uint32_t *link = chain_of(k, key);
    while (*link) {
        struct held *h = shelf_at(&k->shelf, *link);
        if (h->key.lo == key.lo && h->key.hi == key.hi) break;
        link = &h->link;
    }
    return link;
}

static void chain(struct keep *k, uint32_t place) {
    struct held *h = shelf_at(&k->shelf, place);
    uint32_t *head = chain_of(k, h->key);
    h->link = *head;
    *head = place;
}

/* Builds all chains again, after places or the number of chains have changed. */
static void chain_all(struct keep *k, size_t heads) {
    struct shelf *s = &k->shelf;
    free(k->head);
    k->head = table_of(heads);
    k->heads = heads;
    for (struct held *h = shelf_oldest(s); h; h = shelf_next(s, h))
        chain(k, (uint32_t)(((const char *)h - s->block) / 8 + 1));
}

static void grow_queue(struct keep *k) {
    size_t room = 2 * k->queue_room;
    uint32_t *queue = table_of(room);
    for (uint64_t i = k->queue_from; i < k->next; i++)
        queue[i & (room - 1)] = k->queue[i & (k->queue_room - 1)];
    free(k->queue);
    k->queue = queue;
    k->queue_room = room;
}

static void close_table_gaps(struct keep *k) {
    shelf_plan(&k->shelf);
    for (uint64_t i = k->queue_from; i < k->next; i++) {
        uint32_t *place = &k->queue[i & (k->queue_room - 1)];
        if (*place) *place = shelf_at(&k->shelf, *place)->link;
    }
    shelf_slide(&k->shelf);
    chain_all(k, k->heads);
}

/* -- a record ----------------------------------------------------------------------------- */

void keep_step(struct keep *k, const struct reading *r, bool landmark) {
    window_clock_step(&k->clock, r->time);
    if (landmark) k->base = k->clock.noted - 1;
    k->again = false;
    if (k->spec->window != SEEN_WINDOW_LANDMARK) return;
    const struct seen_spec *s = k->spec;
    uint64_t window = 0, shift = 0;
    if (k->clock.timed && s->length % (7 * DAY) == 0) shift = 3 * DAY; /* weeks begin on Mondays */
    if (s->unit != SEEN_UNIT_NONE)
        window = (k->clock.now + shift - (k->clock.timed ? 0 : k->base)) / s->length;
    k->over = k->n > 0 && (landmark || window != k->window);
    k->window = window;
}

static struct held *oldest(struct keep *k) {
    if (!k->n) return NULL;
    if (!k->clock.refresh_first) return shelf_oldest(&k->shelf);
    while (!k->queue[k->queue_from & (k->queue_room - 1)]) k->queue_from++;
    return shelf_at(&k->shelf, k->queue[k->queue_from & (k->queue_room - 1)]);
}

static const struct held *let_go(struct keep *k, uint32_t *link) {
    struct held *h = shelf_at(&k->shelf, *link);
    *link = h->link;
    shelf_drop(&k->shelf, h);
    k->n--;
    return h;
}

const struct held *keep_take(struct keep *k, bool all) {
    struct held *h = oldest(k);
    if (!h) k->over = false;
    if (!h) return NULL;
    if (!all && !k->over && k->clock.now - h->clock <= k->clock.reach) {
        size_t live = k->shelf.used - k->shelf.dead;
        if (live <= table_limit(k) / 8 * 7) return NULL; /* an eighth of the block is for gaps */
        k->early++;
    }
    if (k->clock.refresh_first) k->queue_from++;
    return let_go(k, find(k, h->key));
}

const struct held *keep_drop(struct keep *k, const struct reading *read, bool over) {
    uint32_t *link = find(k, read->digest);
    bool found = *link != 0;
    k->again = found && !over;
    if (!found) return NULL;
    const struct held *h = let_go(k, link);
    if (!k->clock.refresh_first) return h;
    k->again_clock = h->clock;
    k->again_serial = shelf_serial(&k->shelf, h);
    if (over) k->queue[k->again_serial & (k->queue_room - 1)] = 0;
    return h;
}

void keep_put(struct keep *k, const struct record *record, const struct reading *read, bool known) {
    bool inherits = k->again && k->clock.refresh_first;
    k->repeats += known && !k->again && k->early > 0;
    if (shelf_crowded(&k->shelf, record, read, table_limit(k))) close_table_gaps(k);
    if (k->n == k->heads) chain_all(k, 2 * k->heads);
    uint32_t serial = k->again_serial; /* of the record whose place is taken, or a new one */
    if (k->clock.refresh_first && !k->again) {
        if (k->next - k->queue_from == k->queue_room) grow_queue(k);
        serial = (uint32_t)k->next++;
    }
    uint32_t place = shelf_put(&k->shelf, record, read, inherits ? k->again_clock : k->clock.now,
                               serial, table_limit(k));
    if (k->clock.refresh_first) k->queue[serial & (k->queue_room - 1)] = place;
    chain(k, place);
    k->n++;
    size_t bytes = k->shelf.used + tables(k);
    if (bytes > k->peak) k->peak = bytes;
}
