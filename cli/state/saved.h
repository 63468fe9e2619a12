/* saved.h - what a state says beside its snapshot: what was asked, how far each file was read, what
 * was printed last (doc/state.md). */
#ifndef SEEN_STATE_SAVED_H
#define SEEN_STATE_SAVED_H

#include "judge/feed.h"
#include "judge/lateness.h"
#include "state/places.h"
#include "state/wishes.h"

enum { SAVED_FORMAT = 2 };
enum { SPEC_MOST = 1024 };
#define SAVED_NO_OUTPUT UINT64_MAX

extern const char *const saved_commands[]; /* those that keep a state, ended by NULL */

struct saved {
    void *blob; /* texts and bytes point into it; the owner's to free */
    size_t len;
    seen_detector *detector;
    const char *command;        /* of saved_commands; NULL: the blob is not that of a state */
    const char *version, *spec; /* of the program that wrote it; as asked, in canonical writing */
    struct wishes wishes;
    bool ended;      /* the run came to an end of its own */
    uint64_t output; /* how long standard output was, if a file */
    uint64_t number; /* of the last record */
    uint64_t unreadable;
    struct lateness lateness;
    struct feed_counts fed;
    seen_time last, next;
    bool due, unended;
    const char *header; /* NULL: none was read */
    size_t header_len;
    struct places places;
    const char *own; /* what the command adds */
    size_t own_len;
};

/* Which command wrote the blob?  NULL: none.  Snapshots of others have no blob, or their own. */
const char *saved_command(const void *blob, size_t len);

/* Reads the blob of the state called `name`, or ends the process with a sentence. */
void saved_unpack(struct saved *, const char *name);

/* The latest time of a record; 0: none. */
seen_time saved_last(const struct saved *);

/* The sentence for what cannot be. */
_Noreturn void saved_refuse(const char *name);

#endif
