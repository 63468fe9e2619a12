/* pack.h - numbers and texts as bytes of a state, and back again.
 *
 * Numbers take eight bytes, little-endian.  Reading trusts no byte: where bytes are missing or
 * wrong, `bad` becomes true, and 0 or an empty text is returned. */
#ifndef SEEN_PACK_H
#define SEEN_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packer {
    char *buf; /* freed with pack_free; grows, or dies */
    size_t n, cap;
};

void pack_number(struct packer *, uint64_t);
void pack_bytes(struct packer *, const void *, size_t len); /* length, bytes, a zero byte */
void pack_text(struct packer *, const char *);
void pack_free(struct packer *);

struct unpacker {
    const char *at, *end;
    bool bad;
};

uint64_t unpack_number(struct unpacker *);

/* A pointer into the packed bytes; a zero byte follows the text. */
const char *unpack_bytes(struct unpacker *, size_t *len);
const char *unpack_text(struct unpacker *); /* a zero byte within the text is bad, too */

/* Reads how many parts follow, each of at least `size` bytes.  `bad` becomes true if fewer bytes
 * are left than these parts take. */
size_t unpack_count(struct unpacker *, size_t size);

#endif
