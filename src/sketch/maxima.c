/* maxima.c - lists of possible future maxima for the registers of a sliding HyperLogLog. */
#include "sketch/maxima.h"

#include <string.h>

enum { FIRST_ROOM = 256 };

void maxima_free(struct maxima *x, const struct seen_allocator *alloc) {
    if (x->pair) alloc->free(alloc->ctx, x->pair, x->room * sizeof *x->pair);
    *x = (struct maxima){.head = x->head};
}

bool maxima_reserve(struct maxima *x, uint64_t pairs, const struct seen_allocator *alloc) {
    if (pairs <= x->room) return true;
    if (pairs > UINT32_MAX / 2) return false;
    struct maxima_pair *more = alloc->zalloc(alloc->ctx, pairs * sizeof *more);
    if (!more) return false;
    if (x->pair) {
        memcpy(more, x->pair, x->used * sizeof *more);
        alloc->free(alloc->ctx, x->pair, x->room * sizeof *x->pair);
    }
    x->pair = more;
    x->room = (uint32_t)pairs;
    return true;
}

static struct maxima_pair *pair_at(const struct maxima *x, uint32_t ref) {
    return &x->pair[ref - 1];
}

static bool has_room(struct maxima *x, const struct seen_allocator *alloc) {
    if (x->spare || x->used < x->room) return true;
    return maxima_reserve(x, x->room ? 2 * (uint64_t)x->room : FIRST_ROOM, alloc);
}

static uint32_t take_pair(struct maxima *x) {
    uint32_t ref = x->spare;
    if (!ref) return ++x->used;
    x->spare = pair_at(x, ref)->next;
    return ref;
}

/* Takes the pair at *link out of its list. */
static void drop(struct maxima *x, uint32_t *link) {
    uint32_t ref = *link;
    *link = pair_at(x, ref)->next;
    *pair_at(x, ref) = (struct maxima_pair){.next = x->spare};
    x->spare = ref;
}

bool maxima_add(struct maxima *x, uint64_t reg, uint8_t rank, seen_time time,
                const struct seen_allocator *alloc) {
    if (!has_room(x, alloc)) return false;
    uint32_t *link = &x->head[reg];
    for (; *link && pair_at(x, *link)->time >= time; link = &pair_at(x, *link)->next) {
        if (pair_at(x, *link)->rank >= rank) return true;
        if (pair_at(x, *link)->time == time) break;
    }
    while (*link && pair_at(x, *link)->rank <= rank) drop(x, link);
    uint32_t ref = take_pair(x);
    *pair_at(x, ref) = (struct maxima_pair){time, *link, rank};
    *link = ref;
    return true;
}

void maxima_expire(struct maxima *x, uint64_t reg, seen_time least) {
    uint32_t *link = &x->head[reg];
    while (*link && pair_at(x, *link)->time >= least) link = &pair_at(x, *link)->next;
    while (*link) drop(x, link);
}

uint8_t maxima_since(const struct maxima *x, uint64_t reg, seen_time least) {
    uint8_t rank = 0;
    for (uint32_t at = x->head[reg]; at && pair_at(x, at)->time >= least; at = pair_at(x, at)->next)
        rank = pair_at(x, at)->rank;
    return rank;
}
