/* pack.h - numbers and texts as bytes, and back again.  Reading believes nothing: what is not there
 * makes `bad` true, and gives 0 or an empty text. */
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
/* Points into the bytes unpacked; a zero byte follows. */
const char *unpack_bytes(struct unpacker *, size_t *len);
const char *unpack_text(struct unpacker *); /* bad as well if it holds a zero byte */
/* Reads how many parts follow, each of at least `size` bytes.  Sets `bad` if the bytes left are too
 * few for them. */
size_t unpack_count(struct unpacker *, size_t size);

#endif
