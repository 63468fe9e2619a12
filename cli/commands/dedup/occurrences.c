/* occurrences.c - keeps the first and the last occurrence of each key in the window. */
#include "commands/dedup/dedup.h"

#include <stdlib.h>

#define uthash_fatal(what)           die("out of memory for the first occurrences of keys")
#define HASH_FUNCTION(key, len, out) ((out) = (unsigned)((const seen_digest *)(key))->lo)
#include <uthash.h>

struct entry {
    seen_digest key;
    struct occurrence first, last;
    uint64_t clock, noted; /* in the window's unit; how many records came before its last */
    UT_hash_handle hh;
};

static const struct occurrence none = {0, NO_TIME};

void occurrences_init(struct occurrences *l, const seen_detector *d) {
    struct seen_plan plan = seen_plan_of(d);
    *l = (struct occurrences){.most = plan.capacity};
    window_clock_init(&l->clock, &plan.spec, plan.slack);
}

static void drop(struct occurrences *l, struct entry *e) {
    HASH_DEL(l->entries, e);
    free(e);
}

void occurrences_free(struct occurrences *l) {
    while (l->entries) drop(l, l->entries);
}

void occurrences_note(struct occurrences *l, seen_digest key, uint8_t verdict, struct details *f) {
    struct entry *e;
    window_clock_step(&l->clock, f->itself.time);
    uint64_t now = l->clock.now;
    /* The head is what has waited longest: uthash keeps the order in which entries came. */
    while (l->entries && now - l->entries->clock > l->clock.reach) drop(l, l->entries);
    while (l->most && HASH_COUNT(l->entries) > l->most) drop(l, l->entries);
    HASH_FIND(hh, l->entries, &key, sizeof key, e);
    f->first = f->last = none;
    f->age = SEEN_NEVER;
    if (e && verdict == SEEN_NEW) {
        drop(l, e);
        e = NULL;
    }
    if (!e) {
        e = calloc(1, sizeof *e);
        if (!e) die("out of memory for the first occurrences of keys");
        e->key = key;
        e->first = f->itself;
        e->clock = now;
        HASH_ADD(hh, l->entries, key, sizeof e->key, e);
    } else {
        f->first = e->first;
        f->last = e->last;
        f->age = now - e->clock;
        if (!l->clock.refresh_first) { /* the entry becomes the newest */
            HASH_DEL(l->entries, e);
            HASH_ADD(hh, l->entries, key, sizeof e->key, e);
            e->clock = now;
        }
    }
    e->last = f->itself;
    e->noted = l->clock.noted - 1;
}

void occurrences_landmark(struct occurrences *l, uint64_t noted) {
    struct entry *e, *next;
    for (e = l->entries; e; e = next) {
        next = e->hh.next;
        if (e->noted < noted) drop(l, e);
    }
}
