/* judge.h - the verdict on each record of a batch: key and time in, the detector asked, landmarks
 * set where days begin in a zone or a pattern says so. */
#ifndef SEEN_JUDGE_H
#define SEEN_JUDGE_H

#include "judge/calendar.h"
#include "judge/clocks.h"
#include "judge/feed.h"
#include "judge/key.h"
#include "judge/lateness.h"
#include "judge/shares.h"
#include "judge/time.h"
#include "judge/time_format.h"

#include <regex.h>

/* What of a batch can be judged: n of its records, in order. */
struct readable {
    size_t n;
    seen_time now; /* what the clock said */
    seen_digest digest[BATCH];
    seen_time time[BATCH];
    uint16_t order[BATCH];  /* its place among all */
    bool landmark[BATCH];   /* a window begins before it; unset where there are no landmarks */
    bool due;               /* one begins before the next batch's first */
    uint64_t number[BATCH]; /* of the record in the whole input; if somebody wants it, as ... */
    uint32_t group[BATCH];  /* ... with --group-by */
    seen_digest add[BATCH]; /* of a feed: the digest is what is asked; likewise */
    uint8_t parts[BATCH];   /* ... which of them there are */
    uint8_t cause[BATCH];   /* why not, at the places of the others (read/unjudged.h) */
};

/* All that was read of one record, for those who keep records back. */
struct reading {
    seen_digest digest;
    seen_time time;
    uint64_t number;
    uint32_t group;
    seen_digest add;
    uint8_t parts;
};

static inline struct reading readable_get(const struct readable *r, size_t m) {
    return (struct reading){r->digest[m], r->time[m], r->number[m],
                            r->group[m],  r->add[m],  r->parts[m]};
}

static inline void readable_put(struct readable *r, size_t m, const struct reading *one) {
    r->digest[m] = one->digest;
    r->time[m] = one->time;
    r->number[m] = one->number;
    r->group[m] = one->group;
    r->add[m] = one->add;
    r->parts[m] = one->parts;
}

struct judge {
    seen_detector *detector;
    struct keyer keyer[CREW_MOST]; /* one a thread */
    struct shares shares;
    const struct layout *layout;
    struct keyer
        wide; /* of keys that take several digests, which are made when they are asked for */
    struct keyer *adder; /* likewise, of the key that a feed adds; NULL: no feed */
    uint64_t within;     /* only what was seen at most so long ago counts; 0: the whole window */
    struct feed_counts fed;
    bool timed;                       /* the detector wants times */
    bool times;                       /* records have times: it does, or somebody else */
    const struct time_format *format; /* of their field; NULL: those of time.h */
    enum zone_window zone;  /* landmarks where days or weeks begin in the process's time zone */
    const regex_t *pattern; /* landmarks before records that match, one a thread; NULL: none */
    bool due;               /* a landmark is to come before the next readable record */
    seen_time last, next;   /* with a zone: the latest time, and the first of the next window */
    uint64_t unreadable;
    uint64_t window;             /* of time, as asked for; else 0 */
    const struct source *source; /* of the records; NULL: any time will do */
    struct clocks clocks;
    struct lateness lateness;
    struct readable *in; /* the batch in work: either `own` or the caller's */
    struct readable own;
};

/* Detector, layout, zone and pattern stay the caller's.  judge_feed: a record's other key, by that
 * layout, is added, and its first only asked about. */
void judge_feed(struct judge *, const struct layout *added);
void judge_init(struct judge *, seen_detector *, const struct layout *, uint32_t max_record);
void judge_free(struct judge *);

/* For verdicts that others give: all but judge_observe, and digests are seen_hash's. */
void judge_init_elsewhere(struct judge *, uint64_t seed, bool timed, const struct layout *,
                          uint32_t max_record);

/* The crew takes part in observing, where there are shards; NULL: it does not. */
void judge_share(struct judge *, struct crew *);

/* What can be said of a batch without those before it: keys, times, patterns.  Several threads may
 * read batches at once, each under a number of its own.  `now` is the time of records that carry
 * none. */
void judge_ahead(struct judge *, unsigned who, const struct batch *, seen_time now,
                 struct readable *);

/* Then batches come in order.  judge_note counts what cannot be judged, and what is to be told of
 * times, in the order in which records are read. */
void judge_note(struct judge *, const struct batch *, const struct readable *);

/* In the order in which they are judged (--reorder changes it), judge_take says how many records
 * can be judged, and what is known of them stands in judge->in; judge_observe fills the batch's
 * verdicts. */
size_t judge_take(struct judge *, struct readable *);
void judge_observe(struct judge *, struct batch *, size_t n);
/* ... and how long ago each key was last seen, by seen_last_seen. */
void judge_observe_ages(struct judge *, struct batch *, size_t n, uint64_t *age);
bool judge_landmarks(const struct judge *);

/* Verdicts are not the detector's own: `fed` counts them. */
bool judge_counts(const struct judge *);

/* At the end of a run: what went wrong with times.  `later` of its records were judged at a later
 * time than their own. */
void judge_tell(const struct judge *, uint64_t later);

/* The n verdicts at the front of the batch's go to the places of its n readable records. */
void judge_spread(const struct judge *, struct batch *, size_t n);

/* judge_ahead, judge_note and judge_take in one. */
size_t judge_read(struct judge *, const struct batch *, seen_time now);

#endif
