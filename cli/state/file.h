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

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Huge pages after a fork.
 *
 * While a child shares our memory, the system splits each huge page that we change into 512 small
 * ones, and never mends that in a time that matters: from then on a table that is touched at random
 * pays for it in TLB misses, and the next fork for each small page.  So a thread of ours asks for
 * it, page by page, which takes about as long as copying the table. */

enum { MAX_HUGE_SPANS = 64 };

struct huge_pages {
    struct {
        uintptr_t at, end;
    } span[MAX_HUGE_SPANS]; /* mappings that asked for huge pages */
    size_t n;
    atomic_bool mending; /* the thread is at it, and the above is its own */
};

void huge_pages_find(
    struct huge_pages *); /* before the fork: later it takes longer by the pages split */
void huge_pages_restore(struct huge_pages *); /* no child shares our memory any more */

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

/* Its snapshot, or dies.  The blob is freed by the caller. */
seen_detector *state_file_load(struct state_file *, void **blob, size_t *len);

/* The machine's memory.  Loading never allocates more, regardless of what a file claims. */
size_t state_file_memory(void);

/* What follows the snapshot loaded last; then dies unless all of that was read. */
struct seen_reader state_file_more(void);
void state_file_end(const char *name);

/* Reads a state without taking it, or ends the process with a sentence.  *more: blocks (blocks.h)
 * follow the snapshot, and are sound.  *user: the process that holds it, 0 if that is not known, -1
 * if there is none. */
struct stat;
seen_detector *state_file_look(const char *name, void **blob, size_t *len, bool *more,
                               struct stat *, int *user);

/* Writes, and returns 0 or an errno: at once, ... */
int state_file_save(struct state_file *, const struct state_content *);
/* ... or begins to, in a child ... */
int state_file_begin(struct state_file *, const struct state_content *);
/* ... that may have ended since: false if it has not; *error is then 0 or an errno. */
bool state_file_done(struct state_file *, int *error);

/* Lets go of the state; a child that still writes is ended. */
void state_file_close(struct state_file *);

#endif
