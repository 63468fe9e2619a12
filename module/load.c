/* load.c - keeps the chunks of a value while it is loaded. */
#include "load.h"

#include "transfer.h"

#include <string.h>

struct load {
    struct transfer *transfer;
    struct load_chunk *first, **last;
    size_t bytes;
};

struct value *load_begin(uint64_t limit) {
    struct value *v = value_new(&(struct chain){0});
    struct load *l = v ? RedisModule_TryAlloc(sizeof *l) : NULL;
    if (l) {
        *l = (struct load){.last = &l->first};
        v->load = l;
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

static int keep(struct load *l, const char *bytes, size_t len, struct seen_error *e) {
    struct load_chunk *c = RedisModule_TryAlloc(sizeof *c + len);
    if (!c) return fail(e, SEEN_ENOMEM, "no memory for the chunk");
    c->next = NULL;
    c->len = len;
    memcpy(c->bytes, bytes, len);
    *l->last = c;
    l->last = &c->next;
    l->bytes += len;
    return 0;
}

int load_feed(struct value *v, const char *bytes, size_t len, bool last, uint64_t limit,
              struct value **done, struct seen_error *e) {
    struct load *l = v->load;
    *done = NULL;
    if (limit && len > limit - (l->bytes < limit ? l->bytes : limit))
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

size_t load_bytes(const struct value *v) { return v->load->bytes; }

const struct load_chunk *load_chunks(const struct value *v) { return v->load->first; }

void load_free(struct value *v) {
    struct load *l = v->load;
    if (!l) return;
    transfer_end(&l->transfer);
    v->load = NULL;
    for (struct load_chunk *c = l->first, *next; c; c = next) {
        next = c->next;
        RedisModule_Free(c);
    }
    RedisModule_Free(l);
}
