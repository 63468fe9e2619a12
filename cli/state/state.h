/* state.h - `--state FILE`: a run that goes on where the last one stopped, or was stopped.
 *
 * A state is the detector's snapshot and, as its blob, all that the command line adds: what was
 * asked, how far each file was read, what was printed last (doc/state.md).  What a command counts
 * besides may follow in blocks (blocks.h).  It is written at the end of a run, and while it runs,
 * at the intervals of --state-every. */
#ifndef SEEN_STATE_H
#define SEEN_STATE_H

#include "judge/judge.h"
#include "judge/window_options.h"
#include "records/reader.h"
#include "state/blocks.h"
#include "state/file.h"
#include "state/huge_pages.h"
#include "state/saved.h"

/* Rows of one group, taken into a struct state (struct option_group). */
extern const struct option_row state_rows[];
void state_take(void *state, const struct option_row *, const char *value);

/* What a command adds to its state. */
struct state_kind {
    const char *command; /* one of saved_commands */
    /* Writes all output that waits in buffers; false if it has not arrived. */
    bool (*deliver)(void *ctx);
    /* Pack into the blob, in some 8 MiB at most, and unpack; false if the bytes cannot be right. */
    void (*pack)(const void *ctx, struct packer *);
    bool (*unpack)(void *ctx, const char *bytes, size_t len);
    /* Write and read what follows the snapshot; NULL: nothing follows.  `save` must not
     * allocate. */
    void (*save)(const void *ctx, struct blocks_out *);
    bool (*load)(void *ctx, struct blocks_in *);
};

/* The parts of a run whose state is kept. */
struct state_of {
    seen_detector *detector;
    struct reader *reader;
    struct judge *judge;
    uint64_t *number; /* of the last record */
    bool *unended;    /* the last record printed had no such end, ... */
    char end;         /* ... a newline or NUL */
    void *ctx;        /* of the kind */
};

struct state {
    const char *name; /* NULL: none is kept */
    const struct state_kind *kind;
    uint64_t every; /* microseconds */
    bool from_start, quiet;
    struct saved_options options; /* of this run */
    struct state_file file;
    struct huge_pages huge_pages; /* pages that the last child's copy split */
    struct places places;         /* of files read so far, in this run or before */
    struct state_of of;
    struct saved *before; /* what was loaded; NULL: nothing */
    char spec[MAX_SPEC];  /* as asked, in canonical writing */
    double flushed;       /* when, on the monotonic clock, output last went out for our sake */
    uint64_t saved;       /* records that the last snapshot counts */
    bool due;             /* one is asked for */
    bool failing;         /* the last one could not be written, and that was said */
};

void state_init(struct state *, const struct state_kind *);

/* Loads the state if there is one; all options are known.  If no window was asked for, the state's
 * window is taken.  Its text stays the state's. */
void state_load(struct state *, struct window_options *);

/* Dies if the planned window or another option differs from those of the state. */
void state_check(struct state *, const struct window_options *);

/* The detector loaded, now the caller's; NULL: there was no state. */
seen_detector *state_detector(struct state *);

/* Gives the parts of the run what the state kept of them.  Comes before the first record is
 * read. */
void state_begin(struct state *, struct state_of);

/* This run's output goes on behind what the run before printed. */
bool state_goes_on(const struct state *);

void state_opened(struct state *); /* of reader_events */
void state_closed(struct state *);
void state_attend(struct state *);
void state_judged(struct state *); /* a batch */

/* Saves at the end of a run.  False, after a message, if that failed. */
bool state_end(struct state *);
void state_free(struct state *);

#endif
