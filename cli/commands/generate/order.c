/* order.c - draws the order of ids in a stream: how often each occurs, and when. */
#include "commands/generate/generate.h"

#include <stdlib.h>
#include <string.h>

/* -- a permutation that is computed ------------------------------------------------------- */

/* `a` is the square root of n, rounded up.  The rectangle has fewer than `a` points beyond n. */
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

/* Shifts each coordinate three times by a random function of the other one.  Points beyond n go
 * round again.  This ends, because the network is a bijection of the rectangle. */
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

static const struct repeat_class *repeats_of_slot(const struct repeats *p, uint64_t slot) {
    const struct repeat_class *c = p->class + p->guide[(u128)slot * GUIDES / p->records];
    while (c[1].first_slot <= slot) c++;
    return c;
}

/* The class of a slot, and of an id. */
static const struct repeat_class *repeats_of_id(const struct repeats *p, uint64_t id) {
    uint64_t low = 0, high = p->n;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (p->class[middle].first_id <= id)
            low = middle;
        else
            high = middle;
    }
    return p->class + low;
}

static size_t next_shuffled(struct order *o, size_t n, uint64_t *id, uint8_t *fresh) {
    for (size_t i = 0; i < n; i++) {
        uint64_t slot = permute(&o->permutation, o->at + i);
        const struct repeat_class *c = repeats_of_slot(o->repeats, slot);
        id[i] = c->first_id + (slot - c->first_slot) / c->count;
        uint64_t *word = &o->bits[id[i] / 64], bit = (uint64_t)1 << id[i] % 64;
        fresh[i] = !(*word & bit);
        *word |= bit;
        o->met += fresh[i];
    }
    o->at += n;
    return n;
}

/* -- repeats that follow ------------------------------------------------------------------ */

/* Among equal times the smaller id comes first, so the order does not depend on the heap. */
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

/* -- the order ---------------------------------------------------------------------------- */

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

/* Weights have 40 bits after the point, exponents 24; exponents reach from -40 to 40. */
enum { WEIGHT_BITS = 40, EXPONENT_BITS = 24 };
#define MAX_EXPONENT ((int64_t)40 << EXPONENT_BITS)

/* The ids that follow the law.  Together they have `records` records, each id at most `limit`. */
struct law {
    uint64_t ids, records, limit, base;
    uint64_t classes;
    uint64_t *log, *weight, *n; /* by r, from 1 */
    int64_t exponent;
};

/* weight[r] = r^-s, or (r/classes)^-s where s < 0, so that no weight is above 1. */
static void weigh(struct law *law, int64_t s) {
    for (uint64_t r = 1; r <= law->classes; r++) {
        uint64_t log = s < 0 ? law->log[law->classes] - law->log[r] : law->log[r];
        u128 e = (u128)log * (uint64_t)(s < 0 ? -s : s) >> EXPONENT_BITS;
        u128 one = (u128)WEIGHT_BITS << LOG_BITS;
        law->weight[r] = e < one ? fixed_exp2((uint64_t)(one - e)) : 0;
    }
}

/* Finds the exponent s whose mean is records/ids, by bisection: the mean falls as s grows. */
static void solve(struct law *law) {
    int64_t low = -MAX_EXPONENT, high = MAX_EXPONENT;
    while (high - low > 1) {
        int64_t s = low + (high - low) / 2;
        u128 sum = 0, mean = 0;
        weigh(law, s);
        for (uint64_t r = 1; r <= law->classes; r++) {
            sum += law->weight[r];
            mean += (u128)law->weight[r] * r;
        }
        if (mean * law->ids > sum * law->records)
            low = s;
        else
            high = s;
    }
    law->exponent = high;
    weigh(law, high);
}

/* n[r] by rounding the cumulated law: their sum is `ids` exactly.  Returns the sum of r n[r]. */
static uint64_t lay_out(struct law *law) {
    u128 sum = 0, sofar = 0;
    uint64_t placed = 0, records = 0;
    for (uint64_t r = 1; r <= law->classes; r++) sum += law->weight[r];
    for (uint64_t r = 1; r <= law->classes; r++) {
        sofar += law->weight[r];
        uint64_t upto = (uint64_t)((sofar * law->ids * 2 + sum) / (sum * 2));
        law->n[r] = upto - placed;
        records += law->n[r] * r;
        placed = upto;
    }
    return records;
}

/* Moves ids to the next class up or down, small classes first, until the records are exact. */
static void put_right(struct law *law, uint64_t have) {
    while (have != law->records) {
        int up = have < law->records;
        uint64_t miss = up ? law->records - have : have - law->records;
        for (uint64_t r = up ? 1 : 2; miss && r + (uint64_t)up <= law->classes; r++) {
            uint64_t moved = law->n[r] < miss ? law->n[r] : miss;
            law->n[r] -= moved;
            law->n[up ? r + 1 : r - 1] += moved;
            miss -= moved;
        }
        have = up ? law->records - miss : law->records + miss;
    }
}

/* Takes the top ids and their records out of the law.  Returns NULL, or why it is
 * impossible. */
static const char *remainder_of(struct law *law, const struct repeats *p) {
    uint64_t records = p->records;
    if (p->distinct > p->records) return "there cannot be more distinct ids than records";
    if (p->records && !p->distinct) return "records need at least one distinct id";
    if (p->tops > p->distinct) return "--top names more ids than are distinct";
    for (uint64_t i = 0; i < p->tops; i++) {
        if (p->top[i] > records) return "the --top ids occur more often than there are records";
        records -= p->top[i];
    }
    law->ids = p->distinct - p->tops;
    law->records = records;
    if (records < law->ids) return "--top leaves fewer records than distinct ids that need one";
    law->limit = p->tops ? p->top[p->tops - 1] : UINT64_MAX;
    if ((u128)law->ids * law->limit < records)
        return "--top leaves more records than the other ids may have, each at most the last of it";
    return NULL;
}

/* Classes 1 .. limit, above the base that keeps the mean within reach of few classes. */
static void scale(struct law *law) {
    uint64_t mean = law->ids ? law->records / law->ids : 0;
    law->base = mean > MAX_MEAN ? mean - MAX_MEAN : 0;
    law->records -= law->base * law->ids;
    law->limit -= law->base;
    uint64_t most = law->records - law->ids + 1; /* all repeats on one id */
    law->classes = most < law->limit ? most : law->limit;
    if (law->classes > MAX_CLASSES) law->classes = MAX_CLASSES;
    /* Below the last top id, so that it stands out, unless the records need its count. */
    if (law->classes == law->limit && law->limit > 1 &&
        (u128)law->ids * (law->limit - 1) >= law->records)
        law->classes--;
}

static void add_class(struct repeats *p, uint64_t *slot, uint64_t *id, uint64_t ids,
                      uint64_t count) {
    if (!ids) return;
    p->class[p->n++] = (struct repeat_class){*slot, *id, count};
    *slot += ids * count;
    *id += ids;
}

static void index_classes(struct repeats *p, const struct law *law) {
    uint64_t slot = 0, id = 0;
    for (uint64_t r = 1; law->ids && r <= law->classes; r++)
        add_class(p, &slot, &id, law->n[r], law->base + r);
    for (uint64_t i = p->tops; i-- > 0;) add_class(p, &slot, &id, 1, p->top[i]);
    p->class[p->n] = (struct repeat_class){slot, id, 0};
    for (uint32_t g = 0, c = 0; g <= GUIDES; g++) {
        uint64_t begin = (uint64_t)((u128)p->records * g / GUIDES);
        while (c + 1 < p->n && p->class[c + 1].first_slot <= begin) c++;
        p->guide[g] = c;
    }
}

const char *repeats_make(struct repeats *p) {
    struct law law = {0};
    const char *why = remainder_of(&law, p);
    if (why) return why;
    scale(&law);
    uint64_t *room = calloc(3 * (law.classes + 1), sizeof *room);
    p->class = calloc(law.classes + p->tops + 1, sizeof *p->class);
    p->n = 0;
    if (!room || !p->class) {
        free(room);
        return "there is no memory for the repeat counts";
    }
    law.log = room, law.weight = room + law.classes + 1, law.n = law.weight + law.classes + 1;
    for (uint64_t r = 1; r <= law.classes; r++) law.log[r] = fixed_log2(r);
    if (law.ids) {
        solve(&law);
        put_right(&law, lay_out(&law));
    }
    p->exponent = (double)law.exponent / (1 << EXPONENT_BITS);
    index_classes(p, &law);
    free(room);
    return NULL;
}

void repeats_free(struct repeats *p) { free(p->class); }
