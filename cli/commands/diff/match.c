/* match.c - matches the times of a key's left and right records one to one. */
#include "commands/diff/match.h"

#include "base/cli.h"
#include "commands/diff/spill.h"

#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 4096 }; /* moments */

/* -- the queue ---------------------------------------------------------------------------- */

static void write_tail(struct queue *q) {
    if (q->fd < 0) q->fd = spill_open(q->folder);
    const size_t size = BLOCK * sizeof *q->tail;
    spill_seek(q->fd, q->folder, q->written++ * size);
    spill_write(q->fd, q->folder, q->tail, size);
    q->tail_n = 0;
}

static void read_head(struct queue *q) {
    const size_t size = BLOCK * sizeof *q->head;
    size_t at = 0;
    spill_seek(q->fd, q->folder, q->read++ * size);
    for (size_t got = 1; got && at < size; at += got)
        got = spill_read(q->fd, q->folder, (char *)q->head + at, size - at);
    if (at < size) die("the temporary data in %s ends too soon", q->folder);
    q->front = 0;
    q->head_n = BLOCK;
}

static void push(struct queue *q, seen_time time, uint64_t n) {
    if (q->tail_n == BLOCK) write_tail(q);
    q->tail[q->tail_n++] = (struct moment){time, n};
}

/* The oldest, or NULL if there is none. */
static struct moment *front(struct queue *q) {
    if (q->front < q->head_n) return &q->head[q->front];
    if (q->read < q->written) {
        read_head(q);
    } else if (q->tail_n) {
        struct moment *spare = q->head;
        q->head = q->tail;
        q->tail = spare;
        q->front = 0;
        q->head_n = q->tail_n;
        q->tail_n = 0;
        q->read = q->written = 0; /* the file's space is used again */
    } else {
        return NULL;
    }
    return &q->head[q->front];
}

/* -- matching ----------------------------------------------------------------------------- */

void match_init(struct match *m, uint64_t tolerance, const char *folder) {
    *m = (struct match){.tolerance = tolerance};
    m->waiting.fd = -1;
    m->waiting.folder = folder;
    m->waiting.head = malloc(BLOCK * sizeof(struct moment));
    m->waiting.tail = malloc(BLOCK * sizeof(struct moment));
    if (!m->waiting.head || !m->waiting.tail) die("out of memory for matching times");
}

void match_free(struct match *m) {
    free(m->waiting.head);
    free(m->waiting.tail);
    if (m->waiting.fd >= 0) close(m->waiting.fd);
}

void match_begin(struct match *m) {
    struct queue *q = &m->waiting;
    q->front = q->head_n = q->tail_n = 0;
    q->read = q->written = 0;
    m->matched = 0;
}

static void arrive(struct match *m, int side, seen_time time, uint64_t n) {
    struct moment *oldest;
    while (n && m->side != side && (oldest = front(&m->waiting))) {
        uint64_t pairs = oldest->n < n ? oldest->n : n;
        m->matched += pairs;
        oldest->n -= pairs;
        n -= pairs;
        if (!oldest->n) m->waiting.front++;
    }
    if (!n) return;
    m->side = side;
    push(&m->waiting, time, n);
}

void match_add(struct match *m, seen_time time, const uint64_t n[2]) {
    for (struct moment *oldest; (oldest = front(&m->waiting));) {
        if (time - oldest->time <= m->tolerance) break;
        m->waiting.front++;
    }
    arrive(m, LEFT, time, n[LEFT]);
    arrive(m, RIGHT, time, n[RIGHT]);
}
