/* judge.h - the verdict on each record of a batch: key and time in, verdict out.
 *
 *     judge_ahead     keys and times of a batch by itself; several threads may do this
 *     judge_take      the batch's turn: landmarks are placed where days begin or a pattern matches
 *     judge_observe   the verdicts, by a detector of this process or by a server (--redis)
 *
 * Only judge_observe knows whether a detector or a server gives the verdicts. */
#ifndef SEEN_JUDGE_H
#define SEEN_JUDGE_H

#include "base/pool.h"
#include "judge/clock.h"
#include "judge/key.h"
#include "judge/redis/server.h"
#include "records/format/record.h"
#include "time/time.h"

#include <regex.h>

/* --add-key and --query-key: a feed remembers one key of a record and asks about another.
 *
 * A news feed: rows (user, shown, candidate).  What was shown is added under (user, shown); whether
 * a candidate was shown to the user before is asked under (user, candidate).
 *
 *     ann,story1,          adds ann+story1; asks nothing, so that it is not judged
 *     ann,,story1          asks about ann+story1: a duplicate; adds nothing
 *     ann,story2,story2    asks, then adds: new, because a record does not find itself
 *
 * A record lacks a key if one of the key's fields is missing or empty. */

enum { FEED_ASKS = 1, FEED_ADDS = 2 };

/* Counts the verdicts of a feed or of --within, which differ from those that the detector
 * counts. */
struct feed_counts {
    uint64_t unique, duplicates, only_added;
};

/* A batch observed by several threads, for detectors with shards=: each thread takes the keys of
 * some shards.  The verdicts are the same as with one thread. */

struct shard_job {
    struct job job;
    struct shard_jobs *all;
    uint64_t from, to; /* shards */
};

struct shard_jobs {
    seen_detector *detector;
    struct pool *pool;
    unsigned n; /* jobs; 1: the calling thread observes alone */
    struct shard_job job[MAX_THREADS];
    uint64_t at[BATCH];
    /* The batch in work: */
    size_t records;
    const seen_digest *digest;
    uint8_t *verdict;
};

/* The n records of a batch that can be judged, in order. */
struct readable {
    size_t n;
    seen_time now; /* what the clock said */
    seen_digest digest[BATCH];
    seen_time time[BATCH];
    uint16_t order[BATCH];  /* its place among all */
    bool landmark[BATCH];   /* a window begins before it; unset where there are no landmarks */
    bool due;               /* one begins before the next batch's first */
    uint64_t number[BATCH]; /* of the record in the whole input; only where needed, as ... */
    uint32_t group[BATCH];  /* ... with --group-by */
    seen_digest add[BATCH]; /* of a feed: the digest is what is asked; likewise */
    uint8_t parts[BATCH];   /* ... which of them there are */
    uint8_t cause[BATCH];   /* why not, at the places of the others (records/unjudged.h) */
    struct slice *key;      /* keys of records that were held back, whose fields are gone, by
                               their places in `order`; NULL: keys are read from the fields */
};

/* All that was read of one record, for code that holds records back. */
struct reading {
    seen_digest digest;
    seen_time time;
    uint64_t number;
    uint32_t group;
    seen_digest add;
    uint8_t parts;
    struct slice key; /* where it is needed when the record is judged later */
};

static inline struct reading readable_get(const struct readable *r, size_t m) {
    return (struct reading){r->digest[m], r->time[m],  r->number[m], r->group[m],
                            r->add[m],    r->parts[m], {0}};
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
    seen_detector *detector;         /* NULL: the server gives the verdicts */
    struct server *server;           /* NULL: the detector does */
    struct keyer keyer[MAX_THREADS]; /* one a thread */
    struct shard_jobs jobs;
    const struct layout *layout;
    struct keyer
        wide; /* of keys that take several digests, which are made when they are asked for */
    struct keyer *adder; /* likewise, of the key that a feed adds; NULL: no feed */
    uint64_t within;     /* only what was seen at most so long ago counts; 0: the whole window */
    struct feed_counts fed;
    bool timed;                       /* the detector wants times */
    bool times;                       /* the detector or another option needs records' times */
    const struct time_format *format; /* of their field; NULL: those of time.h */
    enum zone_window zone;  /* landmarks where days or weeks begin in the process's time zone */
    const regex_t *pattern; /* landmarks before records that match, one a thread; NULL: none */
    bool due;               /* a landmark is to come before the next readable record */
    seen_time last, next;   /* with a zone: the latest time, and the first of the next window */
    uint64_t unreadable;
    uint64_t window;                   /* of time, as asked for; else 0 */
    const struct input_options *input; /* of the records; NULL: any time will do */
    struct clocks clocks;
    struct lateness lateness;
    struct readable *in; /* the batch in work: either `local` or the caller's */
    struct readable local;
};

/* Detector, layout, zone and pattern stay the caller's.  judge_feed: a record's other key, by that
 * layout, is added, and its first only asked about. */
void judge_feed(struct judge *, const struct layout *added);
void judge_init(struct judge *, seen_detector *, const struct layout *, uint32_t max_record);
void judge_free(struct judge *);

/* The same with a server in place of a detector.  judge_feed, judge_use_pool and judge_observe_ages
 * need a detector. */
void judge_init_server(struct judge *, struct server *, const struct layout *, uint32_t max_record);

/* The window of the detector, or that of all shards of the server together. */
const struct seen_spec *judge_window(const struct judge *);

/* Lets the pool's threads observe shards in parallel, if there are several shards.  NULL: this
 * thread does all. */
void judge_use_pool(struct judge *, struct pool *);

/* Reads all of a batch that does not depend on earlier batches: keys, times, patterns.  Several
 * threads may read batches at once, each under its own number `who`.  `now` is the time of records
 * that carry none. */
void judge_ahead(struct judge *, unsigned who, const struct batch *, seen_time now,
                 struct readable *);

/* Then batches come in the order in which records are read.  judge_note counts the records that
 * cannot be judged, and notes times for later messages. */
void judge_note(struct judge *, const struct batch *, const struct readable *);

/* Then records are judged, in an order that --reorder may change.  judge_take returns how many can
 * be judged and sets judge->in, which holds their keys and times.  judge_observe fills in the
 * batch's verdicts. */
size_t judge_take(struct judge *, struct readable *);
void judge_observe(struct judge *, struct batch *, size_t n);
/* ... and how long ago each key was last seen, by seen_last_seen. */
void judge_observe_ages(struct judge *, struct batch *, size_t n, uint64_t *age);
bool judge_landmarks(const struct judge *);

/* True: the verdicts are not the detector's own, and `fed` counts them. */
bool judge_counts(const struct judge *);

/* Prints what went wrong with times, at the end of a run.  `later` records of the run were judged
 * at a later time than their own. */
void judge_tell(const struct judge *, uint64_t later);

/* The bytes of the key of readable record m, good until the next call; and whether the verdict on a
 * record needs them, because its digest alone will not do. */
const char *judge_key(struct judge *, const struct batch *, const struct readable *, size_t m,
                      size_t *len);
bool judge_needs_keys(const struct judge *);

/* Fills the statistics that verdicts have in common, of the detector or of the server: records,
 * unique, duplicates. */
void judge_stats(const struct judge *, struct seen_stats *);

/* What a state keeps of a judge. */
struct judge_kept {
    uint64_t unreadable; /* records, those that the reader refused included */
    struct lateness lateness;
    struct feed_counts fed;
    seen_time last, next;
    bool due;
};

/* Packs it; `unreadable`: records that the reader refused.  judge_unpack sets `bad` if the bytes
 * cannot be right.  judge_resume comes before the first record. */
void judge_pack(const struct judge *, uint64_t unreadable, struct packer *);
void judge_unpack(struct judge_kept *, struct unpacker *);
void judge_resume(struct judge *, const struct judge_kept *);

/* judge_ahead, judge_note and judge_take in one. */
size_t judge_read(struct judge *, const struct batch *, seen_time now);

#endif
