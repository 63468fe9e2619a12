/* file.h - a state on disk: one process at a time, and always a whole one.
 *
 *     FILE       the last complete snapshot, held by flock
 *     FILE.new   the next one while it is written, then the one before; held as well
 *
 * They change places by a rename, and FILE.new goes at the end.  Both locks are needed: FILE is not
 * there in the first run, and others may open FILE just before it changes.  A
 * snapshot in passing is written by a forked child, which sees memory as it was at that instant
 * while the parent goes on; the pages that the parent changes meanwhile are copied by the system.
 */
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

/* Takes the state for this process, or dies with a sentence.  False: there is none yet. */
bool state_file_open(struct state_file *, const char *name);

/* What it holds, or dies.  The blob is freed by the caller. */
seen_detector *state_file_load(struct state_file *, void **blob, size_t *len);

/* As state_file_load, of any open file: NULL, or a sentence that says what is wrong with it.  The
 * detector and the blob are then not there. */
const char *state_file_read(int fd, const char *name, seen_detector **, void **blob, size_t *len);

/* Reads a state without taking it, or ends the process with a sentence.  *user: the process that
 * holds it, 0 if that is not known, -1 if there is none. */
struct stat;
seen_detector *state_file_look(const char *name, void **blob, size_t *len, struct stat *,
                               int *user);

/* Writes, and returns 0 or an errno: at once, ... */
int state_file_save(struct state_file *, const seen_detector *, const void *blob, size_t len);
/* ... or begins to, in a child ... */
int state_file_begin(struct state_file *, const seen_detector *, const void *blob, size_t len);
/* ... that may have ended since: false if it has not; *error is then 0 or an errno. */
bool state_file_done(struct state_file *, int *error);

/* Lets go of the state; a child that still writes is ended. */
void state_file_close(struct state_file *);

#endif
