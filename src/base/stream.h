/* stream.h - passes bytes to a writer or from a reader, and computes their checksum. */
#ifndef STREAM_H
#define STREAM_H

#include "base/hash.h"

struct stream {
    struct seen_writer writer; /* or ... */
    struct seen_reader reader;
    struct hash_sum sum;
};

/* Begins the sum; writer or reader are set already. */
void stream_begin(struct stream *);

/* For struct seen_writer and seen_reader: ctx is a stream. */
int stream_write(void *ctx, const void *buf, size_t len);
int stream_read(void *ctx, void *buf, size_t len);

/* Write, or read and check, the sum of all bytes since the last begin; then begin again.  A wrong
 * sum is SEEN_EFORMAT, and the sentence names the part: "header". */
int stream_write_sum(struct stream *);
int stream_check_sum(struct stream *, const char *part, struct seen_error *);

/* Reads a header of `len` bytes, which begins with four letters and a version of 32 bits, and
 * refuses others.  `other` begins the sentence for other letters: "this is not a snapshot". */
int stream_read_header(struct stream *, void *header, size_t len, const char *letters,
                       uint32_t version, const char *other, struct seen_error *);

#endif
