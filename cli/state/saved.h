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

extern const char saved_magic[];

struct saved {
    void *blob; /* texts and bytes point into it; the owner's to free */
    size_t len;
    seen_detector *detector;
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
    const char *groups; /* for groups_unpack */
    size_t groups_len;
};

/* Is the blob that of a state?  Snapshots of others have none, or one of their own. */
bool saved_is_state(const struct saved *);

/* Reads the blob of the state called `name`, or ends the process with a sentence. */
void saved_unpack(struct saved *, const char *name);

/* The sentence for what cannot be. */
_Noreturn void saved_refuse(const char *name);

#endif
