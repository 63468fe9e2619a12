/* merge.c - merges sorted runs with a heap. */
#include "commands/diff/merge.h"

#include <string.h>

/* Reads the lane's next entry; false at its end. */
static bool advance(struct merge_lane *l) {
    char bytes[8] = {0};
    if (!spill_next(&l->in)) return false;
    memcpy(bytes, l->in.at.key, l->in.at.len < sizeof bytes ? l->in.at.len : sizeof bytes);
    memcpy(&l->begin, bytes, sizeof bytes);
    l->begin = __builtin_bswap64(l->begin);
    return true;
}

/* No key is the beginning of another one. */
static int compare(const struct entry *a, const struct entry *b) {
    return memcmp(a->key, b->key, a->len < b->len ? a->len : b->len);
}

static bool before(const struct merge_lane *a, const struct merge_lane *b) {
    return a->begin != b->begin ? a->begin < b->begin : compare(&a->in.at, &b->in.at) < 0;
}

static void sift_down(struct merge *m, size_t i) {
    struct merge_lane **heap = m->heap, *l = heap[i];
    for (size_t child; (child = 2 * i + 1) < m->n; i = child) {
        child += child + 1 < m->n && before(heap[child + 1], heap[child]);
        if (!before(heap[child], l)) break;
        heap[i] = heap[child];
    }
    heap[i] = l;
}

void merge_begin(struct merge *m, struct merge_lane *lane, struct merge_lane **heap, size_t n,
                 char *key) {
    *m = (struct merge){heap, 0, key};
    for (size_t i = 0; i < n; i++)
        if (advance(&lane[i])) heap[m->n++] = &lane[i];
    for (size_t i = m->n / 2; i-- > 0;) sift_down(m, i);
}

/* The first lane moves on. */
static void step(struct merge *m) {
    if (!advance(m->heap[0])) m->heap[0] = m->heap[--m->n];
    if (m->n) sift_down(m, 0);
}

bool merge_next(struct merge *m, struct entry *e) {
    if (!m->n) return false;
    *e = m->heap[0]->in.at;
    e->key = memcpy(m->key, e->key, e->len);
    for (step(m); m->n; step(m)) {
        const struct entry *next = &m->heap[0]->in.at;
        if (next->len != e->len || memcmp(next->key, e->key, e->len) != 0) break;
        entry_add(e, next);
    }
    return true;
}
