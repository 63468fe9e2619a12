#include "stream.h"

#include "../lab.h"
#include "stack.h"

#include <math.h>
#include <stdlib.h>

enum { KNOTS = 16, DRAWS = 50 };

struct stream {
    struct stack *stack;
    double new_share, depth[KNOTS], deeper[KNOTS]; /* depth: logarithms */
    uint64_t n, rng;
    uint32_t keys, *last, knots; /* last: when each key came, from 1 */
};

static void read_knots(struct stream *s, const char *text) {
    for (char *end;; text = end + 1) {
        if (s->knots == KNOTS) lab_die("more than %d knots", KNOTS);
        s->depth[s->knots] = log(strtod(text, &end));
        if (*end != ':') lab_die("knots are DEPTH:SHARE,…, not %s", text);
        s->deeper[s->knots++] = strtod(end + 1, &end);
        if (*end != ',') break;
    }
}

struct stream *stream_new(uint64_t elements, double new_share, const char *knots, uint64_t seed) {
    struct stream *s = lab_alloc(1, sizeof *s);
    double mean = (double)elements * new_share;
    uint64_t most = (uint64_t)(mean + 8 * sqrt(mean) + 8);
    if (elements >= UINT32_MAX) lab_die("elements=%llu are too many", (unsigned long long)elements);
    read_knots(s, knots);
    s->stack = stack_new(most);
    s->last = lab_alloc(most, sizeof *s->last);
    s->new_share = new_share;
    s->rng = seed;
    return s;
}

void stream_free(struct stream *s) {
    stack_free(s->stack);
    free(s->last);
    free(s);
}

static uint64_t draw_depth(struct stream *s) {
    double u = lab_uniform(&s->rng);
    uint32_t j = 0;
    if (u >= s->deeper[0]) return 1;
    while (j + 2 < s->knots && u < s->deeper[j + 1]) j++;
    double way = (s->deeper[j] - u) / (s->deeper[j] - s->deeper[j + 1]);
    return (uint64_t)ceil(exp(s->depth[j] + way * (s->depth[j + 1] - s->depth[j])));
}

static uint64_t depth_within(struct stream *s, uint64_t size) {
    for (int i = 0; i <= DRAWS; i++) {
        uint64_t depth = draw_depth(s);
        if (depth <= size) return depth;
    }
    return 1 + lab_below(&s->rng, size);
}

struct element stream_next(struct stream *s) {
    struct element e = {0};
    uint64_t size = stack_size(s->stack);
    e.duplicate = size && lab_uniform(&s->rng) >= s->new_share;
    s->n++;
    if (e.duplicate) {
        e.depth = depth_within(s, size);
        e.key = stack_use(s->stack, e.depth);
        e.gap = s->n - s->last[e.key] - 1;
    } else {
        e.key = s->keys++;
        stack_push(s->stack, e.key);
    }
    s->last[e.key] = (uint32_t)s->n;
    return e;
}
