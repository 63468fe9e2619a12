/* places.h - how far each regular file was read.
 *
 * A file is identified by device and inode, so that a rotated log continues under its new name.
 * Inodes are reused and files are overwritten in place.  So a hash of some bytes around the place
 * is kept as well: these bytes must still be the same. */
#ifndef SEEN_PLACES_H
#define SEEN_PLACES_H

#include "records/input.h"
#include "state/pack.h"

enum { PLACES_MOST = 1024 }; /* files remembered: the ones read last */

struct place {
    char *name; /* as it was given; ours */
    uint64_t dev, ino;
    uint64_t offset;          /* bytes of it, uncompressed, that are behind us */
    uint64_t lines;           /* newlines among them, where the format counts any */
    uint64_t at, len, digest; /* of the bytes that must not have changed */
};

struct places {
    struct place *place; /* the one read last is the last */
    size_t n;
};

void places_free(struct places *);
void places_pack(const struct places *, struct packer *);
void places_unpack(struct places *, struct unpacker *);

/* What became of the file that is now open as `in`: the place to go on from, NULL to begin at its
 * start.  Where a file was read before and is another now, `what` says so in words; else it is
 * empty. */
const struct place *places_find(const struct places *, const struct input *in, char *what,
                                size_t cap);

/* The open file is the one read last, and this is how far. */
void places_note(struct places *, const struct input *in, uint64_t offset, uint64_t lines);

#endif
