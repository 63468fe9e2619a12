/* blocks.c - splits blocks of input on any thread and hands their batches on in order. */
#include "records/blocks.h"

#include "base/cli.h"

#include <errno.h>
#include <stdlib.h>

/* Batches of a block that are ready before its turn: enough for records of 16 bytes.  If records
 * are shorter, the rest of the block is split after these were handed on. */
enum { BATCHES = 8 };

struct block {
    struct job job;
    struct blocks *all;
    char *buf;                    /* NULL: not yet made */
    size_t begin, end;            /* bytes not yet split */
    bool whole;                   /* the block ends with a record */
    size_t most;                  /* batches that are split before they are handed on */
    struct splitter splitter;     /* as it was before the first record */
    seen_time now;                /* when the bytes came */
    struct batch *batch[BATCHES]; /* NULL: not yet needed */
    size_t took[BATCHES];         /* bytes of each */
    size_t n;                     /* batches ready */
    uint64_t position;            /* in the file, of those not yet handed on */
};

struct blocks {
    struct pool *pool;
    struct input *in;
    const struct layout *layout;
    const struct block_events *on;
    void *ctx;
    struct job fill;
    ssize_t got; /* what `fill` returned, and errno */
    int error;
    struct block lent;          /* the input's own buffer */
    size_t room, first, pushed; /* of the ring: its blocks, the oldest one pushed, how many */
    struct block ring[];
};

/* -- jobs, on any thread ------------------------------------------------------------------ */

static struct batch *new_batch(const struct blocks *a) {
    struct batch *b = malloc(sizeof *b);
    if (!b) die("out of memory for a batch of records");
    b->field = malloc((BATCH * a->layout->slots + 1) * sizeof *b->field);
    if (!b->field) die("out of memory for %u fields a record", a->layout->slots);
    b->result = malloc(a->on->result_size + 1);
    if (!b->result) die("out of memory for a batch of records");
    return b;
}

static void split(void *ctx, unsigned who) {
    struct block *b = ctx;
    const struct blocks *a = b->all;
    const char *end = b->buf + b->end;
    for (b->n = 0; b->n < b->most && b->begin < b->end; b->n++) {
        struct batch **batch = &b->batch[b->n];
        if (!*batch) *batch = new_batch(a);
        /* A block that ends with a record may end like a file. */
        size_t took =
            b->splitter.format->split(&b->splitter, b->buf + b->begin, end, b->whole, *batch);
        if (!took) break;
        if (a->on->ahead) a->on->ahead(a->ctx, who, *batch, b->now);
        b->took[b->n] = took;
        b->begin += took;
    }
}

static void fill(void *ctx, unsigned who) {
    struct blocks *a = ctx;
    (void)who;
    a->got = input_fill(a->in);
    a->error = errno;
}

/* -- in order, on the calling thread ------------------------------------------------------ */

static bool ending(const struct blocks *a) { return a->on->ending && a->on->ending(a->ctx); }

static void hand_on(struct block *b) {
    for (size_t i = 0; i < b->n && !ending(b->all); i++) {
        b->all->on->batch(b->all->ctx, b->batch[i], b->now);
        b->position += b->took[i];
    }
}

/* Hands on the oldest block of the ring, after a wait if need be. */
static void pop(struct blocks *a) {
    struct block *b = &a->ring[a->first];
    for (;;) {
        pool_wait(a->pool, &b->job, NULL);
        hand_on(b);
        if (b->begin == b->end || ending(a)) break;
        pool_start(a->pool, &b->job, true);
    }
    a->first = (a->first + 1) % a->room;
    a->pushed--;
}

bool blocks_settle(struct blocks *a) {
    if (!a->pushed) return false;
    while (a->pushed) pop(a);
    return true;
}

uint64_t blocks_position(const struct blocks *a) {
    return a->pushed ? a->ring[a->first].position : input_offset(a->in);
}

bool blocks_push(struct blocks *a, struct splitter *s, seen_time now) {
    struct input *in = a->in;
    if (!a->pool || input_grown(in)) return false;
    struct splitter before = *s;
    size_t n = splitter_cut(s, in->buf + in->begin, in->buf + in->end);
    if (!n) return true;
    if (a->pushed == a->room) pop(a);
    struct block *b = &a->ring[(a->first + a->pushed++) % a->room];
    b->position = input_offset(in);
    b->begin = in->begin;
    b->end = b->begin + n;
    b->buf = input_trade(in, b->buf, b->end);
    b->now = now;
    b->splitter = before;
    pool_start(a->pool, &b->job, false);
    return true;
}

void blocks_pass(struct blocks *a, struct splitter *s, bool last, seen_time now) {
    struct block *b = &a->lent;
    struct input *in = a->in;
    b->buf = in->buf;
    b->begin = in->begin;
    b->end = in->end;
    b->whole = last;
    b->now = now;
    b->splitter = *s;
    while (!ending(a)) {
        split(b, 0);
        if (!b->n) break;
        hand_on(b);
        in->begin = b->begin;
    }
    *s = b->splitter;
    if (a->pool) input_shrink(in);
}

ssize_t blocks_fill(struct blocks *a) {
    if (!a->pool || a->in->waits) return input_fill(a->in);
    pool_start(a->pool, &a->fill, false);
    while (!pool_done(a->pool, &a->fill)) {
        struct block *oldest = a->pushed ? &a->ring[a->first] : NULL;
        if (oldest && pool_done(a->pool, &oldest->job))
            pop(a);
        else
            pool_wait(a->pool, &a->fill, oldest ? &oldest->job : NULL);
    }
    errno = a->error;
    return a->got;
}

/* -- life --------------------------------------------------------------------------------- */

static void init_block(struct block *b, struct blocks *a, bool whole, size_t most) {
    *b = (struct block){.all = a, .whole = whole, .most = most, .job = {.run = split, .ctx = b}};
}

struct blocks *blocks_new(struct pool *pool, struct input *in, const struct layout *layout,
                          const struct block_events *on, void *ctx) {
    /* Two blocks more than threads: one that is handed on, and a complete one behind it. */
    size_t room = pool ? pool_size(pool) + 2 : 0;
    struct blocks *a = calloc(1, sizeof *a + room * sizeof *a->ring);
    if (!a) die("out of memory for blocks of records");
    a->pool = pool;
    a->in = in;
    a->layout = layout;
    a->on = on;
    a->ctx = ctx;
    a->room = room;
    a->fill = (struct job){.run = fill, .ctx = a};
    init_block(&a->lent, a, false, 1);
    for (size_t i = 0; i < room; i++) init_block(&a->ring[i], a, true, BATCHES);
    return a;
}

static void free_batches(struct block *b) {
    for (size_t i = 0; i < BATCHES && b->batch[i]; i++) {
        free(b->batch[i]->result);
        free(b->batch[i]->field);
        free(b->batch[i]);
    }
}

void blocks_free(struct blocks *a) {
    if (!a) return;
    free_batches(&a->lent);
    for (size_t i = 0; i < a->room; i++) {
        free(a->ring[i].buf);
        free_batches(&a->ring[i]);
    }
    free(a);
}
