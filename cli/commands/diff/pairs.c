/* pairs.c - walks the keys of both sides in the order of their bytes. */
#include "commands/diff/pairs.h"

#include "base/cli.h"
#include "commands/diff/packed.h"

#include <stdlib.h>
#include <string.h>

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

static void keep_key(struct pairs *p, size_t len) {
    if (len > p->room) {
        p->room = 2 * len;
        free(p->key);
        p->key = malloc(p->room);
        if (!p->key) die("out of memory for a key of %zu bytes", len);
    }
    memcpy(p->key, p->ahead.key, len);
}

/* All times of one key. */
static bool next_timed(struct pairs *p, struct pair *pair) {
    if (!p->more) return false;
    size_t len = p->ahead.len - PACKED_TIME;
    keep_key(p, len);
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
