/* blocks.c - bytes in blocks, each with its checksum. */
#include "state/state.h"

#include <string.h>

/* -- writing ------------------------------------------------------------------------------ */

void blocks_out_begin(struct blocks_out *b, struct seen_writer to) {
    b->to = to;
    b->number = b->n = 0;
    b->bad = false;
}

static void pass_on(struct blocks_out *b, const void *bytes, size_t len) {
    b->bad = b->bad || b->to.write(b->to.ctx, bytes, len);
}

static void put_block(struct blocks_out *b) {
    uint64_t len = b->n, sum = seen_hash(b->bytes, b->n, b->number++).lo;
    pass_on(b, &len, sizeof len);
    pass_on(b, b->bytes, b->n);
    pass_on(b, &sum, sizeof sum);
    b->n = 0;
}

void blocks_put(struct blocks_out *b, const void *bytes, size_t len) {
    for (const char *p = bytes; len > 0;) {
        size_t n = len < BLOCK - b->n ? len : BLOCK - b->n;
        memcpy(b->bytes + b->n, p, n);
        b->n += n;
        p += n;
        len -= n;
        if (b->n == BLOCK) put_block(b);
    }
}

void blocks_put_number(struct blocks_out *b, uint64_t n) { blocks_put(b, &n, sizeof n); }

static int write_part(void *ctx, const void *bytes, size_t len) {
    struct blocks_out *b = ctx;
    blocks_put(b, bytes, len);
    return b->bad;
}

struct seen_writer blocks_writer(struct blocks_out *b) {
    return (struct seen_writer){write_part, b};
}

int blocks_out_end(struct blocks_out *b) {
    const uint64_t end = 0;
    if (b->n) put_block(b);
    pass_on(b, &end, sizeof end);
    return b->bad;
}

/* -- reading ------------------------------------------------------------------------------ */

void blocks_in_begin(struct blocks_in *b, struct seen_reader from) {
    b->from = from;
    b->number = b->at = b->n = 0;
    b->bad = b->ended = false;
}

static bool take(struct blocks_in *b, void *to, size_t len) {
    b->bad = b->bad || b->from.read(b->from.ctx, to, len);
    return !b->bad;
}

/* Reads the next block; false at the end, or if the block is damaged. */
static bool next_block(struct blocks_in *b) {
    uint64_t len, sum;
    if (b->ended || !take(b, &len, sizeof len)) return false;
    b->ended = len == 0;
    if (b->ended) return false;
    if (len > BLOCK || !take(b, b->bytes, len) || !take(b, &sum, sizeof sum) ||
        seen_hash(b->bytes, len, b->number).lo != sum) {
        b->bad = true;
        return false;
    }
    b->number++;
    b->at = 0;
    b->n = len;
    return true;
}

bool blocks_get(struct blocks_in *b, void *to, size_t len) {
    for (char *p = to; len > 0 && !b->bad;) {
        if (b->at == b->n && !next_block(b)) {
            b->bad = true;
            break;
        }
        size_t n = len < b->n - b->at ? len : b->n - b->at;
        memcpy(p, b->bytes + b->at, n);
        b->at += n;
        p += n;
        len -= n;
    }
    return !b->bad;
}

uint64_t blocks_get_number(struct blocks_in *b) {
    uint64_t n;
    return blocks_get(b, &n, sizeof n) ? n : 0;
}

static int read_part(void *ctx, void *to, size_t len) { return !blocks_get(ctx, to, len); }

struct seen_reader blocks_reader(struct blocks_in *b) {
    return (struct seen_reader){read_part, b};
}

bool blocks_in_end(struct blocks_in *b) {
    return !b->bad && b->at == b->n && !next_block(b) && b->ended;
}

void blocks_skip(struct blocks_in *b) {
    b->at = b->n;
    while (next_block(b)) b->at = b->n;
}
