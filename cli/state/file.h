/* file.h - a state on disk: one process at a time, and always a whole one.
 *
 *     FILE       the last complete snapshot, held by flock
 *     FILE.new   the next one while it is written, then the one before; held as well
 *
 * They change places by a rename, and FILE.new goes at the end.  Both locks are needed: FILE is not
 * there in the first run, and others may open FILE just before it changes.  A snapshot in passing
 * is written by a forked child, which sees memory as it was at that instant while the parent goes
 * on. The system copies the pages that the parent changes meanwhile. */
#ifndef SEEN_STATE_FILE_H
#define SEEN_STATE_FILE_H

#include "seen.h"

#include <stdbool.h>
#include <sys/types.h>

struct state_file {
    const char *name;       /* as given, for messages */
    char *path, *fresh;     /* FILE, behind symbolic links, and FILE.new */
    int held, next, folder; /* FILE, FILE.new, the folder; -1: not open */
    pid_t writer;           /* the child that writes, or 0 */
};

/* What a state consists of. */
struct state_content {
    const seen_detector *detector;
    const void *blob;
    size_t len;
    int (*more)(const void *ctx, struct seen_writer); /* what follows the snapshot; NULL: nothing */
    const void *ctx;
};

/* Takes the state for this process, or dies with a sentence.  False: there is none yet. */
bool state_file_open(struct state_file *, const char *name);

/* Loads the snapshot, or dies.  The caller frees the blob. */
seen_detector *state_file_load(struct state_file *, void **blob, size_t *len);

/* The machine's memory.  Loading never allocates more, regardless of what a file claims. */
size_t state_file_memory(void);

/* state_file_more reads what follows the snapshot that was loaded last.  state_file_end dies unless
 * all of it was read. */
struct seen_reader state_file_more(void);
void state_file_end(const char *name);

/* Reads a state without taking it, or ends the process with a sentence.  *more: blocks (blocks.h)
 * follow the snapshot, and are sound.  *user: the process that holds it, 0 if that is not known, -1
 * if there is none. */
struct stat;
seen_detector *state_file_look(const char *name, void **blob, size_t *len, bool *more,
                               struct stat *, int *user);

/* Writes a state and returns 0 or an errno. */
int state_file_save(struct state_file *, const struct state_content *);
/* Begins to write a state in a child process; returns 0 or an errno. */
int state_file_begin(struct state_file *, const struct state_content *);
/* True if the child has ended; *error is then 0 or an errno. */
bool state_file_done(struct state_file *, int *error);

/* Releases the state.  A child that still writes is killed. */
void state_file_close(struct state_file *);

#endif
