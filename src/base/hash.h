/* hash.h - keys become digests of 128 bits, and streams of bytes get checksums.  The rest of the
 * library sees digests only, never the bytes of a key. */
#ifndef HASH_H
#define HASH_H

#include "seen.h"

#include <stdbool.h>

/* -- keys --------------------------------------------------------------------------------- */

/* Returns whether this build has hash= `kind`.  siphash needs libsodium. */
bool hash_available(uint32_t kind);

/* Writes `digests` digests of a key.  Those after the first use other seeds; with hash=raw they
 * hold the further bytes of the key.  Returns SEEN_EINVAL for keys that hash=int or raw cannot
 * take. */
int hash_key(uint32_t kind, uint64_t seed, const void *key, size_t len, seen_digest *out,
             uint32_t digests, struct seen_error *e);

/* A 64-bit checksum (XXH3-64) over bytes that come in pieces of any size. */
struct hash_sum {
    _Alignas(64) unsigned char state[640];
};
void hash_sum_begin(struct hash_sum *);
void hash_sum_add(struct hash_sum *, const void *bytes, size_t len);
uint64_t hash_sum_end(const struct hash_sum *);

/* -- streams with checksums --------------------------------------------------------------- */

struct stream {
    struct seen_writer writer; /* or ... */
    struct seen_reader reader;
    struct hash_sum sum;
};

/* Begins the sum.  The caller has set the writer or the reader. */
void stream_begin(struct stream *);

/* Functions for a struct seen_writer or seen_reader whose ctx is a stream. */
int stream_write(void *ctx, const void *buf, size_t len);
int stream_read(void *ctx, void *buf, size_t len);

/* Write, or read and check, the sum of all bytes since the stream began or since the last sum.  A
 * wrong sum is SEEN_EFORMAT with a sentence that names the part, such as "header". */
int stream_write_sum(struct stream *);
int stream_check_sum(struct stream *, const char *part, struct seen_error *);

/* Reads a header of `len` bytes, which begins with four letters and a version of 32 bits, and
 * refuses others.  `other` begins the sentence for other letters: "this is not a snapshot". */
int stream_read_header(struct stream *, void *header, size_t len, const char *letters,
                       uint32_t version, const char *other, struct seen_error *);

#endif
