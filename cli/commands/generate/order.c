/* order.c - computes the order of the occurrences of a generated stream. */
#include "order.h"

#include <stdlib.h>

#include "number.h"

/* -- a permutation that is computed ------------------------------------------------------- */

/* a is the square root of n, rounded up, so that the rectangle is less than a points too large. */
static void permutation_make(struct permutation *p, uint64_t n, uint64_t key) {
    uint64_t low = 0, a = (uint64_t)1 << 32;
    while (a - low > 1) {
        uint64_t middle = low + (a - low) / 2;
        if ((u128)middle * middle < n)
            low = middle;
        else
            a = middle;
    }
    *p = (struct permutation){.n = n, .a = a, .b = n / a + (n % a != 0), .key = key};
}

/* Three times each coordinate is shifted by a random function of the other; the few points beyond
 * n are sent round again, which ends since the network is a bijection of the rectangle. */
static uint64_t permute(const struct permutation *p, uint64_t i) {
    do {
        uint64_t x = i % p->a, y = i / p->a;
        for (uint64_t round = 0; round < 6; round += 2) {
            x += below(draw(p->key + round, y), p->a);
            if (x >= p->a) x -= p->a;
            y += below(draw(p->key + round + 1, x), p->b);
            if (y >= p->b) y -= p->b;
        }
        i = y * p->a + x;
    } while (i >= p->n);
    return i;
}

static uint64_t id_of_slot(const struct repeats *repeats, uint64_t slot) {
    const struct repeat_class *c = repeats_of_slot(repeats, slot);
    return c->first_id + (slot - c->first_slot) / c->count;
}

static size_t next_shuffled(struct order *o, size_t n, uint64_t *id, uint8_t *fresh) {
    for (size_t i = 0; i < n; i++) {
        id[i] = id_of_slot(o->repeats, permute(&o->permutation, o->at + i));
        uint64_t *word = &o->bits[id[i] / 64], bit = (uint64_t)1 << id[i] % 64;
        fresh[i] = !(*word & bit);
        *word |= bit;
        o->met += fresh[i];
    }
    o->at += n;
    return n;
}

/* -- repeats that follow ------------------------------------------------------------------ */

/* Ties are broken by id: the order must not depend on how a heap happens to be built. */
static int before(const struct pending *a, const struct pending *b) {
    return a->due != b->due ? a->due < b->due : a->id < b->id;
}

static int heap_push(struct order *o, struct pending p) {
    if (o->pending == o->room) {
        size_t room = o->room ? o->room * 2 : 1024;
        struct pending *heap = realloc(o->heap, room * sizeof *heap);
        if (!heap) return -1;
        o->heap = heap, o->room = room;
    }
    size_t at = o->pending++;
    for (; at > 0 && before(&p, &o->heap[(at - 1) / 2]); at = (at - 1) / 2)
        o->heap[at] = o->heap[(at - 1) / 2];
    o->heap[at] = p;
    return 0;
}

static struct pending heap_pop(struct order *o) {
    struct pending top = o->heap[0], last = o->heap[--o->pending];
    size_t at = 0;
    for (size_t child = 1; child < o->pending; child = 2 * at + 1) {
        if (child + 1 < o->pending && before(&o->heap[child + 1], &o->heap[child])) child++;
        if (!before(&o->heap[child], &last)) break;
        o->heap[at] = o->heap[child];
        at = child;
    }
    o->heap[at] = last;
    return top;
}

/* floor(2^U) with U uniform in [0, log2(most+1)) is log-uniform in 1 .. most. */
static uint64_t draw_gap(const struct order *o, uint64_t left) {
    uint64_t random = draw(o->key, o->at), fits = (o->repeats->records - o->at) / left;
    uint64_t most = fits < o->gap_most ? fits : o->gap_most;
    if (most < 2) return 1;
    if (o->gaps == GAPS_BURST) return 1 + below(random, most);
    uint64_t log = most == o->gap_most ? o->log_gap_most : fixed_log2(most + 1);
    uint64_t gap = fixed_exp2(below(random, log));
    return gap < most ? gap : most;
}

static size_t next_scheduled(struct order *o, size_t n, uint64_t *id, uint8_t *fresh) {
    for (size_t i = 0; i < n; i++) {
        struct pending p;
        fresh[i] = o->met < o->repeats->distinct && !(o->pending && o->heap[0].due <= o->at);
        if (fresh[i]) {
            p.id = permute(&o->permutation, o->met++);
            p.left = repeats_of_id(o->repeats, p.id)->count;
        } else {
            p = heap_pop(o);
        }
        id[i] = p.id;
        if (--p.left) {
            p.due = o->at + draw_gap(o, p.left);
            if (heap_push(o, p)) return 0;
        }
        o->at++;
    }
    return n;
}

/* ---------------------------------------------------------------------------------------------- */

int order_make(struct order *o, const struct repeats *repeats, enum gaps gaps, uint64_t gap_most,
               uint64_t seed) {
    *o = (struct order){.repeats = repeats, .gaps = gaps, .gap_most = gap_most};
    o->key = draw(seed, 1);
    uint64_t n = gaps == GAPS_UNIFORM ? repeats->records : repeats->distinct;
    permutation_make(&o->permutation, n, draw(seed, 2));
    if (gaps != GAPS_UNIFORM) {
        o->log_gap_most = fixed_log2(gap_most + 1);
        return 0;
    }
    o->bits = calloc(repeats->distinct / 64 + 1, sizeof *o->bits);
    return o->bits ? 0 : -1;
}

void order_free(struct order *o) {
    free(o->bits);
    free(o->heap);
}

size_t order_next(struct order *o, size_t n, uint64_t *id, uint8_t *fresh) {
    uint64_t left = o->repeats->records - o->at;
    if (n > left) n = (size_t)left;
    return o->gaps == GAPS_UNIFORM ? next_shuffled(o, n, id, fresh)
                                   : next_scheduled(o, n, id, fresh);
}
