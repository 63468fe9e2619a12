/* count.h - the parts of `seen count`: windows, counters, rows; `seen top` shares the windows. */
#ifndef SEEN_COMMAND_COUNT_H
#define SEEN_COMMAND_COUNT_H

#include "group/group.h"
#include "records/reader.h"
#include "records/run_stats.h"
#include "seen_counter.h"
#include "state/state.h"

/* -- windows (windows.c) ----------------------------------------------------------------------- */

/* --state of `seen count` and `seen top`.
 *
 * A run prints what one run over all records so far would print.  The windows that are open when
 * its input ends are printed as they stand, and stay open in the state.  Windows that ended before
 * are printed once. */

/* What the blob of a state says about the counts; `seen state` prints it. */
struct kept {
    uint64_t records; /* that were judged */
    uint64_t open;    /* open windows */
    uint64_t done;    /* rows printed (count), or windows that ended (top) */
    bool headed;      /* the heading of the table is printed */
};

/* Writes all rows that wait in a buffer.  False: they have not arrived. */
bool kept_deliver(void *);

/* Does a detector from a state follow that plan?  Its seed may differ. */
bool kept_same_plan(const struct seen_plan *, const seen_detector *);

void kept_pack(const struct kept *, struct packer *);
bool kept_unpack(struct kept *, const char *bytes, size_t len);

struct window {
    uint64_t number; /* grows with time; sub-windows that follow one another differ by 1 */
    uint64_t from;   /* its earliest record: the number from 1, or the time */
    seen_time begin, end;
    void *counts; /* what the caller counts in it */
};

struct windows_events {
    void *(*begin)(void *ctx); /* a window begins: returns what is counted in it */
    /* A window ends: the last of these n.  Before it stand, the oldest first, the sub-windows that
     * ended earlier and are in the same jumping window.  They end in the order of their numbers. */
    void (*end)(void *ctx, const struct window *, size_t n);
    void (*drop)(void *ctx,
                 void *counts); /* no later row holds it: `counts` is the caller's again */
    /* Write what is counted in a window to a state and read it back; NULL if that cannot be
     * right. */
    void (*save)(const void *ctx, const void *counts, struct blocks_out *);
    void *(*load)(void *ctx, struct blocks_in *);
};

struct windows {
    struct judge judge; /* keys, times and landmarks of a batch */
    seen_detector *detector;
    const struct windows_events *on;
    void *ctx;
    /* Set before windows_init: */
    bool by_order;     /* jumping windows follow the order of records */
    bool may_slide;    /* sliding windows are allowed */
    const char *every; /* the period of a sliding window's rows; NULL: one row */

    uint64_t slides;     /* the length of a sliding window, whose periods are windows here; or 0 */
    uint64_t length;     /* of a window, or of a sub-window; 0: it has no length */
    uint64_t subwindows; /* Q of a jumping window, else 1 */
    uint64_t records;    /* so far */
    uint64_t seed;
    bool timed;
    bool own_times;            /* windows go by the records' own times */
    bool live;                 /* ... and end when they are over: some input is a pipe */
    uint64_t lateness;         /* --lateness, microseconds */
    uint64_t most;             /* --open-windows; 0: not given */
    struct calendar calendar;  /* of windows that go by the records' own times */
    seen_time newest, over;    /* the latest time; windows that end up to `over` have ended */
    struct window *open;       /* in order: open[first] to open[first + n - 1] */
    size_t first, n, room, at; /* at: the window of the last record */
    struct window *past;       /* ended sub-windows that a later row needs, the oldest first */
    size_t pasts;
    uint64_t late, crowded; /* records outside: their windows were over, or too many were open */
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

/* -- a run of `seen count` or `seen top` (run.c)
 * ------------------------------------------------- */

/* The first member of the context of all events. */
struct count_run {
    struct input_options input;
    struct window_options window;
    struct state state;
    struct reader reader;
    struct reader_events events;
    struct windows windows;
    struct run_stats stats;
    bool unended; /* an earlier run was killed inside a line of output */
};

/* Sets the defaults.  `kept` is what the command adds to a state. */
void count_run_init(struct count_run *, const struct state_kind *kept);

/* Checks the options, which are all known, and loads the state.  Dies with a sentence. */
void count_run_settle(struct count_run *, const struct args *);

/* Opens the reader.  The run handles its events, except the two given here. */
void count_run_open(struct count_run *, void (*columns)(void *ctx, const struct header *),
                    void (*batch)(void *ctx, struct batch *, seen_time now));

/* Gives all parts what the state kept of them.  Comes before the first record is read. */
void count_run_resume(struct count_run *);

/* Counts the records of a batch that cannot be judged.  Returns the number of the others, whose
 * keys and times are in windows.judge.in. */
size_t count_run_batch(struct count_run *, struct batch *, seen_time now);

/* Prints warnings and --stats, and returns the exit code.  `complete`: all input was read and the
 * state is saved.  `own_times`: late records count in the windows of their own times.  `where` says
 * where records outside of all windows are counted. */
int count_run_end(struct count_run *, bool complete, bool own_times, const char *where);

/* Frees everything.  If a signal has ended the run, the process ends by it. */
void count_run_close(struct count_run *);

/* -- counters and rows (part.c) ---------------------------------------------------------------- */

/* The memory of --exact: its bound, what is used, and whether it was not enough. */
struct memory {
    const char *given;
    uint64_t most, used;
    bool out;
};

/* How a run counts. */
struct counting {
    uint32_t kind; /* for seen_counter_new, like the next two */
    double error;
    uint64_t seed;
    bool exact;
    struct memory memory;      /* of exact sets */
    const uint64_t *records;   /* so far, for a message */
    const char *by;            /* --group-by; NULL: no groups */
    struct fields fields;      /* of a group, once the columns are known */
    const seen_counter *empty; /* for counting_load */
};

/* Takes the value of --mem, or dies with a sentence. */
void counting_take_memory(struct counting *, const char *value);

seen_counter *counting_new(struct counting *);

/* Dies if a set had no room for a key, because it has not counted that key. */
void counting_check(const struct counting *);

/* Write a counter to a state and read it back; NULL if the bytes cannot be right, or if the counter
 * is of another kind than the run's. */
void counting_save(const seen_counter *, struct blocks_out *);
seen_counter *counting_load(struct counting *, struct blocks_in *);

struct group {
    seen_counter *counter; /* NULL: the group has no record yet */
    uint64_t records;
};

struct part {
    seen_counter *counter; /* NULL: its groups have counters instead */
    uint64_t records;
    struct names names;  /* of its groups */
    struct group *group; /* by number */
    uint32_t room;
};

struct part *part_new(struct counting *);
void part_free(struct part *);

/* Counts one record.  `field` are its fields by slot, for --group-by. */
void part_add(struct counting *, struct part *, const seen_digest *, const struct slice *field);

/* Adds the counts of another part, so that this part counts the records of both. */
void part_merge(struct counting *, struct part *, const struct part *from);
void part_clear(struct counting *, struct part *);

/* Write a part to a state and read it back; NULL if the bytes cannot be right. */
void part_save(const struct part *, struct blocks_out *);
struct part *part_load(struct counting *, struct blocks_in *);

/* -- what is printed: a row for each window or group ------------------------------------- */

struct counts {
    bool json, value;           /* value: print one count and nothing else */
    const struct counting *how; /* has the names of the groups' fields */
    uint64_t n;                 /* rows so far */
    bool headed;                /* the heading of the table is printed */
};

struct figures {
    uint64_t records;
    double distinct, error; /* error: the relative standard error */
};

struct figures counts_figures(uint64_t records, const seen_counter *);

/* Prints the row of one group.  A number below GROUP_FIRST stands for all records. */
void counts_put(struct counts *, const char *from, const struct names *, uint32_t group,
                struct figures);

/* Prints the rows of all groups of a part; the group with most distinct keys comes first. */
void counts_put_groups(struct counts *, const char *from, const struct part *);

/* -- sliding windows (part.c) ---------------------------------------------------------------- */

enum { RECENT_CELLS = 1024 + 2 };

struct recent {
    uint64_t window; /* 0: the window does not slide, and nothing here is used */
    bool timed;
    struct counting *how;
    const struct windows *windows;
    struct counts *rows;
    seen_sliding_counter *counter;
    uint64_t records;        /* so far */
    seen_time first, newest; /* the earliest and the latest time */
    seen_time told;          /* the latest time when the last row was printed */
    uint64_t outside;        /* records older than the window */
    uint64_t late;           /* records that came after a row for their time was printed */
    struct {
        uint64_t number, records;
    } cell[RECENT_CELLS]; /* cell `number` of time is at number % RECENT_CELLS */
};

/* Prints a row at the end of each period.  The periods are the windows that `windows` opens and
 * ends. */
void recent_begin(struct recent *, struct counting *, struct windows *, struct counts *);
void recent_free(struct recent *);

/* Counts one record.  Its time matters in windows of time only. */
void recent_add(struct recent *, const seen_digest *, seen_time);

/* Write the counter to a state and read it back; false if the bytes cannot be right. */
void recent_save(const struct recent *, struct blocks_out *);
bool recent_load(struct recent *, struct blocks_in *);

/* Warns how many records are in no row, unless --quiet is given. */
void recent_tell(const struct recent *, const struct input_options *);

#endif
