/* line_trial.h - an adversary's stream for `line`.  The adversary chooses the digests and repeats
 * some.  The trial knows which repeats lie in the window, and the detector must find these. */
#ifndef LINE_TRIAL_H
#define LINE_TRIAL_H

#include "detector/block.h"
#include "law/law.h"

#define TRIAL_BATCH   256
#define TRIAL_WINDOWS 24

enum shape { RANDOM, ONE_LINE, ONE_PRINT, ONE_CLASS, FEW_OF_ALL, CHAINED, TRIAL_SHAPES };
extern const char *const trial_shapes[TRIAL_SHAPES];
extern const char *const trial_windows[TRIAL_WINDOWS]; /* specs */

struct past {
    seen_digest key;
    uint64_t clock;
    bool stored; /* under refresh=first: it was called new */
};

struct trial {
    seen_detector *d;
    struct seen_plan plan;
    enum shape shape;
    uint64_t rng, n, clock, window;
    uint64_t batch; /* at most */
    struct past *past;
    uint64_t room;               /* of past, a power of two */
    uint64_t duplicates, misses; /* in the window */
    uint64_t from[TRIAL_BATCH];  /* the record that each of a batch repeats; itself: none */
    seen_digest key[TRIAL_BATCH];
    uint64_t time[TRIAL_BATCH];
    uint8_t verdict[TRIAL_BATCH];
};

struct trial trial_begin(enum shape, uint64_t seed, const char *spec);
void trial_end(struct trial *);

struct past *trial_past(struct trial *, uint64_t record);
seen_digest trial_fresh(struct trial *); /* of its shape */

/* The i-th record of a batch; `repeats` in sixteen repeat one. */
void trial_draw(struct trial *, uint64_t i, uint64_t repeats);

/* Observes `records` records; a duplicate in the window that is called new fails the test. */
void trial_play(struct trial *, uint64_t records, uint64_t repeats);

struct seen_stats trial_stats(const seen_detector *);

#endif
