/* windows.h - which window a record belongs to, and when windows end.
 *
 * A record with a time of its own belongs to the window that holds this time, in any order of
 * arrival.  So several windows are open at once.  From regular files windows end at the end of the
 * input.  From pipes a window ends when a record comes that is later than its
 * end by --lateness.  Memory is bounded: with --open-windows N open, the earliest one ends before
 * another begins.  A record whose window has ended is outside of all, and counted.
 *
 * Other windows (of N records, by arrival, begun by a pattern) follow the order of records, and one
 * is open at a time.  A landmark detector that is shown one key over and over calls it new in each
 * window's first record.  So these windows mean here what they mean everywhere. */
#ifndef SEEN_COUNT_WINDOWS_H
#define SEEN_COUNT_WINDOWS_H

#include "state/state.h"

/* --state of `seen count` and `seen top`.
 *
 * A run prints what one run over all records so far would print.  The windows that are open when
 * its input ends are printed as they stand, and stay open in the state.  Windows that ended before
 * are printed once. */

/* What the blob of a state holds of the counts; `seen state` prints it. */
struct kept {
    uint64_t records; /* that were judged */
    uint64_t open;    /* windows */
    uint64_t done;    /* rows printed (count), or windows that ended (top) */
    bool headed;      /* the heading of the table is printed */
};

/* Loads the state, if there is one; all options are known.  Dies if options differ from the
 * state's. */
void kept_ask(struct state *, struct window_options *, struct input_options *);

/* Writes all rows that wait in a buffer; false if they have not arrived. */
bool kept_deliver(void *);

/* True if a detector from a state follows that plan.  Its seed may differ. */
bool kept_same_plan(const struct seen_plan *, const seen_detector *);

void kept_pack(const struct kept *, struct packer *);
bool kept_unpack(struct kept *, const char *bytes, size_t len);

/* Ends the line that an earlier run did not finish because it was killed. */
void kept_mend(bool *unended);

struct window {
    uint64_t number; /* grows with time; sub-windows that follow one another differ by 1 */
    uint64_t from;   /* its earliest record: the record's number from 1, or its time */
    seen_time begin, end;
    void *own; /* what the caller counts in it */
};

struct windows_events {
    void *(*begin)(void *ctx); /* a window begins: returns what is counted in it */
    /* A window ends: the last of these n.  Before it stand, the oldest first, the sub-windows that
     * ended earlier and are in the same jumping window.  They end in the order of their numbers. */
    void (*end)(void *ctx, const struct window *, size_t n);
    void (*drop)(void *ctx, void *own); /* no later row holds it: `own` is the caller's again */
    /* Write what is counted in a window to a state and read it back; NULL if that cannot be
     * right. */
    void (*save)(const void *ctx, const void *own, struct blocks_out *);
    void *(*load)(void *ctx, struct blocks_in *);
};

struct windows {
    struct judge judge; /* keys, times and landmarks of a batch */
    seen_detector *detector;
    const struct windows_events *on;
    void *ctx;
    bool by_order;       /* set before windows_init: jumping windows follow the order of records */
    bool may_slide;      /* set before windows_init: the caller takes sliding windows, and ... */
    const char *every;   /* ... the periods in which it tells of them; NULL: one */
    uint64_t slides;     /* a sliding window's length, whose periods the windows here are; or 0 */
    uint64_t length;     /* of a window or, jumping, a sub-window; 0: none */
    uint64_t subwindows; /* Q of a jumping window, else 1 */
    uint64_t records;    /* so far */
    uint64_t seed;
    bool timed;
    bool own;                  /* windows go by the records' own times */
    bool live;                 /* ... and end when they are over: some input is a pipe */
    uint64_t lateness;         /* --lateness, microseconds */
    uint64_t most;             /* --open-windows; 0: not given */
    struct calendar calendar;  /* of windows that go by the records' own times */
    seen_time newest, over;    /* the latest time; windows that end up to `over` have ended */
    struct window *open;       /* in order: open[first] to open[first + n - 1] */
    size_t first, n, room, at; /* at: the one of the record before */
    struct window *past;       /* sub-windows that ended and are in a later row, the oldest first */
    size_t pasts;
    uint64_t late, crowded; /* records outside: their windows were over, or too many are open */
};

/* Rows of one group, taken into a struct windows (struct option_group). */
extern const struct option_row windows_rows[];
void windows_take(void *windows, const struct option_row *, const char *value);

/* Reads the spec asked for, or dies: landmark and jumping windows only, unless it may slide.  The
 * state, which has been loaded, says where an earlier run stopped. */
void windows_init(struct windows *, struct window_options *, struct input_options *,
                  const struct layout *, struct state *);

/* Frees the memory; all windows have ended. */
void windows_free(struct windows *);

/* Sets what happens when windows begin and end.  At most `most` windows are open at once unless
 * --open-windows is given. */
void windows_begin(struct windows *, const struct windows_events *, void *ctx, uint64_t most);

/* The window of record m of the judge's batch; NULL: the record is outside of all windows.  Good
 * until the next call. */
struct window *windows_find(struct windows *, size_t m);

/* Write the open windows, and those that later rows need, to a state and read them back; false if
 * the bytes cannot be right. */
void windows_save(const struct windows *, struct blocks_out *);
bool windows_load(struct windows *, struct blocks_in *);

/* Ends all windows. */
void windows_end(struct windows *);

/* Warns how many records were outside of all windows, unless --quiet is given.  `where`: where they
 * are counted all the same. */
void windows_tell(const struct windows *, const struct input_options *, const char *where);

/* The beginning of a window as text: the number of a record, or a time in UTC. */
const char *windows_from(const struct windows *, uint64_t from, char buf[32]);

#endif
