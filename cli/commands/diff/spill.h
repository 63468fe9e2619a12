/* spill.h - temporary files, and sorted runs of entries in them.
 *
 * A file never has a name, or loses it at once, so its space is free again however the process
 * ends. Each failure ends the process with one sentence. */
#ifndef SEEN_DIFF_SPILL_H
#define SEEN_DIFF_SPILL_H

#include "commands/diff/entry.h"

#include <stdbool.h>
#include <stdint.h>

int spill_open(const char *folder);
void spill_write(int fd, const char *folder, const void *bytes, size_t n);
/* Reads up to n bytes; returns how many, 0 at the end. */
size_t spill_read(int fd, const char *folder, void *bytes, size_t n);
void spill_seek(int fd, const char *folder, uint64_t offset);

enum {
    SPILL_HEAD = 64,
    SPILL_BUFFER = 64 << 10
}; /* SPILL_HEAD: an entry without its key, at most */

/* -- writing a run ------------------------------------------------------------------------ */

struct spill_out {
    int fd;
    const char *folder;
    bool sums;
    uint64_t bytes; /* written */
    size_t n;       /* of the buffer's bytes */
    char *buf;      /* [SPILL_BUFFER], the caller's */
};

void spill_begin(struct spill_out *, const char *folder, bool sums, char *buf);
void spill_entry(struct spill_out *, const struct entry *);
int spill_end(struct spill_out *); /* the file, at its beginning */

/* -- reading one -------------------------------------------------------------------------- */

struct spill_in {
    int fd;
    const char *folder;
    bool sums;
    char *buf; /* [cap], the caller's: an entry must fit */
    size_t cap, begin, end;
    struct entry at; /* whose key is in the buffer */
};

void spill_in_init(struct spill_in *, int fd, const char *folder, bool sums, char *buf, size_t cap);
bool spill_next(struct spill_in *); /* false at the end, and the file is closed */

#endif
