/* clock.h - how late records came, how their times compare with the clock, and the clock of a
 * window. */
#ifndef SEEN_JUDGE_CLOCK_H
#define SEEN_JUDGE_CLOCK_H

#include "base/pack.h"
#include "records/input_options.h"
#include "time/time.h"

#include <stddef.h>

enum { LATENESS_SPANS = 8 };

/* The spans that late records are sorted into: each ends at `below`; the last has no end. */
extern const struct lateness_span {
    const char *name;
    uint64_t below; /* microseconds */
} lateness_spans[LATENESS_SPANS];

struct lateness {
    /* Saved with the detector: */
    seen_time newest;
    uint64_t records, late, most;
    uint64_t by[LATENESS_SPANS];
    /* Counted for this run only: */
    struct calendar calendar; /* of landmark windows of time; set by the judge */
    seen_time begin, end;     /* the window of `newest` */
    uint64_t run_records, run_late, run_most;
    uint64_t strayed; /* late records that belong to an earlier window */
};

/* Counts the next n records by their times, in the order of the input. */
void lateness_note(struct lateness *, size_t n, const seen_time *);

/* Packs the counts for a state, and reads them back.  lateness_unpack sets `bad` if the bytes
 * cannot be right. */
void lateness_pack(const struct lateness *, struct packer *);
void lateness_unpack(struct lateness *, struct unpacker *);

/* The clock of a window, for code that follows a detector's window: the number of the record, or
 * its time.  It never runs backwards. */
struct window_clock {
    bool timed, refresh_first;
    uint64_t reach; /* a key counts as long as the clock is at most this much later */
    uint64_t now;   /* the clock of the current record */
    uint64_t noted; /* records so far */
};

/* Starts the clock of that window.  `slack`: the plan's; it matters to jumping windows only. */
void window_clock_init(struct window_clock *, const struct seen_spec *, double slack);
/* Moves the clock to the next record. */
void window_clock_step(struct window_clock *, seen_time);

struct clocks {
    bool unset;            /* the clock was before 2020 */
    uint64_t window;       /* of records that are judged by when they arrive; otherwise 0 */
    uint64_t records;      /* so far */
    seen_time first, last; /* what the clock said at the first and at the last of them */
};

/* Notes that the next batch has n records and was read at `now`. */
void clocks_note(struct clocks *, uint64_t n, seen_time now);

/* Warns, at the end of a run, of a clock that is not set and of records judged by when they
 * arrived. Says nothing with --quiet. */
void clocks_tell(const struct clocks *, const struct input_options *);

/* Warns that `later` records were judged at a later time than their own.  `window` is the window's
 * length in microseconds. */
void clocks_tell_late(const struct lateness *, const struct input_options *, uint64_t later,
                      uint64_t window);

/* -- calls of a detector whose window may or may not be one of time ------------------------ */

/* Like seen_observe_at, seen_query_at and seen_last_seen_at.  Without a time (NULL) like
 * seen_observe, seen_query and seen_last_seen. */
static inline void observe_records(seen_detector *d, size_t n, const seen_digest *digest,
                                   const seen_time *time, uint8_t *verdict) {
    if (time)
        seen_observe_at(d, n, digest, time, verdict);
    else
        seen_observe(d, n, digest, verdict);
}

static inline void observe_query(const seen_detector *d, size_t n, const seen_digest *digest,
                                 const seen_time *now, uint64_t within, uint8_t *verdict) {
    if (now)
        seen_query_at(d, n, digest, *now, within, verdict);
    else
        seen_query(d, n, digest, within, verdict);
}

static inline void observe_ages(const seen_detector *d, size_t n, const seen_digest *digest,
                                const seen_time *now, uint64_t *age) {
    if (now)
        seen_last_seen_at(d, n, digest, *now, age);
    else
        seen_last_seen(d, n, digest, age);
}

#endif
