/* judge.h - the verdict on each record of a batch: key and time in, the detector asked, landmarks
 * set where days begin in a zone or a pattern says so. */
#ifndef SEEN_JUDGE_H
#define SEEN_JUDGE_H

#include "judge/key.h"
#include "judge/time.h"

#include <regex.h>

enum zone_window { ZONE_NONE, ZONE_DAY, ZONE_WEEK };

struct judge {
    seen_detector *detector;
    struct keyer keyer;
    const struct layout *layout;
    bool timed;             /* the detector wants times */
    enum zone_window zone;  /* landmarks where days or weeks begin in the process's time zone */
    const regex_t *pattern; /* landmarks before records that match; NULL: none */
    bool due;               /* a landmark is to come before the next readable record */
    seen_time last, next;   /* with a zone: the latest time, and the first of the next window */
    uint64_t late, late_most, unreadable;
    seen_digest digest[BATCH]; /* of the readable records of a batch, as are the following */
    seen_time time[BATCH];
    uint16_t order[BATCH];
    bool landmark[BATCH];
};

/* Detector, layout, zone and pattern stay the caller's. */
void judge_init(struct judge *, seen_detector *, const struct layout *, uint32_t max_record);
void judge_free(struct judge *);

/* The two halves of judge_batch, for those who look between: what of the batch can be judged (n
 * records, in digest, time, order and, if there are landmarks at all, landmark), and the verdicts.
 */
size_t judge_read(struct judge *, const struct batch *, seen_time now);
void judge_observe(struct judge *, struct batch *, size_t n);
bool judge_landmarks(const struct judge *);

/* Fills the batch's verdicts.  `now` is the time of records that carry none. */
void judge_batch(struct judge *, struct batch *, seen_time now);

#endif
