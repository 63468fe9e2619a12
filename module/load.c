/* load.c - keeps the chunks of a value while it is loaded. */
#include "load.h"

#include "transfer.h"

#include <string.h>

struct loading {
    struct load head; /* which the value points to */
    struct transfer *transfer;
    struct load_chunk *first, **last;
};

static struct loading *loading_of(const struct value *v) { return (struct loading *)v->load; }

static void load_free(struct value *v) {
    struct loading *l = loading_of(v);
    transfer_end(&l->transfer);
    v->load = NULL;
    for (struct load_chunk *c = l->first, *next; c; c = next) {
        next = c->next;
        RedisModule_Free(c);
    }
    RedisModule_Free(l);
}

struct value *load_begin(uint64_t limit) {
    struct value *v = value_new(&(struct chain){0});
    struct loading *l = v ? RedisModule_TryAlloc(sizeof *l) : NULL;
    if (l) {
        *l = (struct loading){.head = {.free = load_free}, .last = &l->first};
        v->load = &l->head;
        if (transfer_load(&l->transfer, limit)) return v;
    }
    if (v) value_free(v);
    return NULL;
}

static int fail(struct seen_error *e, int code, const char *text) {
    *e = (struct seen_error){.code = code};
    strcpy(e->text, text);
    return code;
}

static int keep(struct loading *l, const char *bytes, size_t len, struct seen_error *e) {
    struct load_chunk *c = RedisModule_TryAlloc(sizeof *c + len);
    if (!c) return fail(e, SEEN_ENOMEM, "no memory for the chunk");
    c->next = NULL;
    c->len = len;
    memcpy(c->bytes, bytes, len);
    *l->last = c;
    l->last = &c->next;
    l->head.bytes += len;
    return 0;
}

int load_feed(struct value *v, const char *bytes, size_t len, bool last, uint64_t limit,
              struct value **done, struct seen_error *e) {
    struct loading *l = loading_of(v);
    *done = NULL;
    if (limit && len > limit - (l->head.bytes < limit ? l->head.bytes : limit))
        return fail(e, SEEN_EREFUSED, "the snapshot is larger than seen.max-bytes");
    int bad = last ? 0 : keep(l, bytes, len, e);
    if (!bad) bad = transfer_feed(l->transfer, bytes, len, done, e);
    if (bad) return bad;
    if (last && !*done)
        return fail(e, SEEN_EFORMAT, "the snapshot is not complete with its last chunk");
    if (!last && *done) {
        value_free(*done);
        *done = NULL;
        return fail(e, SEEN_EFORMAT, "the snapshot is complete before its last chunk");
    }
    return 0;
}

const struct load_chunk *load_chunks(const struct value *v) { return loading_of(v)->first; }
