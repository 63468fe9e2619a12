/* stream.c - passes bytes on and computes their checksum. */
#include "base/stream.h"

#include "base/bits.h"
#include "base/error.h"

#include <string.h>

#define PIECE ((size_t)64 << 10) /* summed and passed on at once, while it is in the cache */

void stream_begin(struct stream *s) { hash_sum_begin(&s->sum); }

int stream_write(void *ctx, const void *buf, size_t len) {
    struct stream *s = ctx;
    int bad = 0;
    for (size_t at = 0, n; at < len && !bad; at += n) {
        n = bits_min(len - at, PIECE);
        hash_sum_add(&s->sum, (const char *)buf + at, n);
        bad = s->writer.write(s->writer.ctx, (const char *)buf + at, n);
    }
    return bad;
}

int stream_read(void *ctx, void *buf, size_t len) {
    struct stream *s = ctx;
    int bad = 0;
    for (size_t at = 0, n; at < len && !bad; at += n) {
        n = bits_min(len - at, PIECE);
        bad = s->reader.read(s->reader.ctx, (char *)buf + at, n);
        if (!bad) hash_sum_add(&s->sum, (char *)buf + at, n);
    }
    return bad;
}

int stream_write_sum(struct stream *s) {
    uint64_t sum = hash_sum_end(&s->sum);
    hash_sum_begin(&s->sum);
    return s->writer.write(s->writer.ctx, &sum, sizeof sum);
}

int stream_check_sum(struct stream *s, const char *part, struct seen_error *e) {
    uint64_t stored, sum = hash_sum_end(&s->sum);
    hash_sum_begin(&s->sum);
    if (s->reader.read(s->reader.ctx, &stored, sizeof stored))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends before the checksum of its %s",
                         part);
    if (stored != sum)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's %s is damaged: its checksum is wrong",
                         part);
    return 0;
}

int stream_read_header(struct stream *s, void *header, size_t len, const char *letters,
                       uint32_t version, const char *other, struct seen_error *e) {
    uint32_t found;
    if (stream_read(s, header, len))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends in its header");
    if (memcmp(header, letters, 4) != 0)
        return error_set(e, SEEN_EFORMAT, 0, "%s: it does not begin with %s", other, letters);
    memcpy(&found, (const char *)header + 4, sizeof found);
    if (found != version)
        return error_set(e, SEEN_EFORMAT, 0,
                         "the snapshot has format version %u, and this program reads %u", found,
                         version);
    return 0;
}
