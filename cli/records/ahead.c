/* ahead.c - chunks of whole records, split ahead of their turn. */
#include "records/ahead.h"

#include "base/cli.h"
#include "records/reader.h"

#include <errno.h>
#include <stdlib.h>

/* Batches of a chunk that are ready before its turn: enough for records of 16 bytes.  If records
 * are shorter, the rest of the chunk is split after these were handed on. */
enum { BATCHES = 8 };

struct chunk {
    struct job job;
    struct reader *reader;
    char *buf;         /* the input's own, and then the input's again; NULL: not yet made */
    size_t begin, end; /* bytes not yet split */
    seen_time now;
    struct splitter splitter;
    struct batch *batch[BATCHES]; /* NULL: not yet needed */
    size_t took[BATCHES];         /* bytes of each */
    size_t n;                     /* batches ready */
    uint64_t position;            /* in the file, of those not yet handed on */
};

struct ahead {
    struct reader *reader;
    struct job fill;
    ssize_t got; /* what it came to */
    int error;
    size_t room, first, pushed; /* of the ring: chunks, the oldest of those pushed, how many */
    struct chunk ring[];
};

/* -- jobs, on any thread ------------------------------------------------------------------ */

static void split(void *ctx, unsigned who) {
    struct chunk *c = ctx;
    const struct reader *r = c->reader;
    const char *end = c->buf + c->end;
    for (c->n = 0; c->n < BATCHES && c->begin < c->end; c->n++) {
        struct batch **b = &c->batch[c->n];
        if (!*b) *b = reader_new_batch(r);
        /* The chunk ends with a record, so its end may be taken for the file's. */
        size_t took = c->splitter.format->split(&c->splitter, c->buf + c->begin, end, true, *b);
        if (r->on->ahead) r->on->ahead(r->ctx, who, *b, c->now);
        c->took[c->n] = took;
        c->begin += took;
    }
}

static void fill(void *ctx, unsigned who) {
    struct ahead *a = ctx;
    (void)who;
    a->got = input_fill(&a->reader->in);
    a->error = errno;
}

/* -- in order, on the calling thread ------------------------------------------------------ */

static struct chunk *oldest(struct ahead *a) { return &a->ring[a->first]; }

uint64_t ahead_position(const struct ahead *a) {
    return a->pushed ? a->ring[a->first].position : input_offset(&a->reader->in);
}

static void hand_on(struct chunk *c) {
    struct reader *r = c->reader;
    for (size_t i = 0; i < c->n && !(r->on->ending && r->on->ending(r->ctx)); i++) {
        reader_hand_on(r, c->batch[i], c->now);
        c->position += c->took[i];
    }
}

/* Hands on the oldest chunk, which may have to be waited for. */
static void pop(struct ahead *a) {
    struct chunk *c = oldest(a);
    for (;;) {
        pool_wait(a->reader->pool, &c->job, NULL);
        hand_on(c);
        if (c->begin == c->end || (a->reader->on->ending && a->reader->on->ending(a->reader->ctx)))
            break;
        pool_start_urgent(a->reader->pool, &c->job);
    }
    a->first = (a->first + 1) % a->room;
    a->pushed--;
}

bool ahead_settle(struct ahead *a) {
    if (!a->pushed) return false;
    while (a->pushed) pop(a);
    return true;
}

bool ahead_push(struct ahead *a) {
    struct reader *r = a->reader;
    const char *begin = r->in.buf + r->in.begin, *end = r->in.buf + r->in.end;
    if (input_grown(&r->in)) return false;
    struct splitter before = r->splitter;
    size_t n = splitter_cut(&r->splitter, begin, end);
    if (!n) return true;
    if (a->pushed == a->room) pop(a);
    struct chunk *c = &a->ring[(a->first + a->pushed++) % a->room];
    c->position = input_offset(&r->in);
    c->begin = r->in.begin;
    c->end = c->begin + n;
    c->buf = input_trade(&r->in, c->buf, c->end);
    c->now = r->now;
    c->splitter = before;
    pool_start(r->pool, &c->job);
    return true;
}

ssize_t ahead_fill(struct ahead *a) {
    struct pool *pool = a->reader->pool;
    pool_start(pool, &a->fill);
    while (!pool_done(pool, &a->fill)) {
        struct chunk *c = a->pushed ? oldest(a) : NULL;
        if (c && pool_done(pool, &c->job))
            pop(a);
        else
            pool_wait(pool, &a->fill, c ? &c->job : NULL);
    }
    errno = a->error;
    return a->got;
}

/* -- life --------------------------------------------------------------------------------- */

/* Two chunks more than threads: one being handed on, one complete behind it. */
struct ahead *ahead_new(struct reader *r) {
    size_t room = pool_size(r->pool) + 2;
    struct ahead *a = calloc(1, sizeof *a + room * sizeof *a->ring);
    if (!a) die("out of memory for reading ahead");
    a->reader = r;
    a->room = room;
    a->fill = (struct job){.run = fill, .ctx = a};
    for (size_t i = 0; i < room; i++) {
        a->ring[i].reader = r;
        a->ring[i].job = (struct job){.run = split, .ctx = &a->ring[i]};
    }
    return a;
}

void ahead_free(struct ahead *a) {
    if (!a) return;
    for (size_t i = 0; i < a->room; i++) {
        free(a->ring[i].buf);
        for (size_t j = 0; j < BATCHES; j++) reader_free_batch(a->ring[i].batch[j]);
    }
    free(a);
}
