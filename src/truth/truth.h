/* truth.h - what a detector knows of its own errors: by the formulas (model.h), and from a sample
 * of keys whose truth it knows (control.h).  Each shard has both; their sums are the detector's.
 *
 * The model speaks while the window is as it was planned, for its figures are finer where errors
 * are rare; and only as long as the sample does not contradict it.  Else the sample speaks. */
#ifndef TRUTH_H
#define TRUTH_H

#include "truth/control.h"
#include "truth/model.h"

/* At window.truth, in the detector's block; without a sample (control=0) it ends before it. */
struct truth {
    struct model model;
    struct control control;
};

/* Decides control= for a plan that takes plan->bytes without it; false where there is nothing to
 * be known, because the structure neither errs nor forgets. */
bool truth_plan(struct seen_plan *);

/* Bytes a shard. */
uint64_t truth_bytes(const struct seen_spec *);

void truth_init(struct window *, uint32_t cpu);

/* The window's verdicts on n records, noted. */
void truth_observe(struct window *, size_t n, const seen_digest *, const uint64_t *at,
                   uint8_t *verdict);

/* Around changes of the window: `at` is its clock. */
void truth_before(struct window *, uint64_t at);
void truth_after(struct window *, uint64_t at);
void truth_landmark(struct window *);
void truth_forget(struct window *, seen_digest);
void truth_clear(struct window *);

/* A merge begins and ends: the figures are added at once, the keys at the end. */
void truth_merge_begin(struct window *, const struct window *from, uint64_t from_at);
void truth_merge_end(struct window *, uint64_t at, const struct window *from, uint64_t from_at);

/* Fills what seen_stats says of errors. */
void truth_stats(const seen_detector *, struct seen_stats *);

int truth_save(const struct window *, struct seen_writer);
int truth_load(struct window *, uint64_t at, struct seen_reader, struct seen_error *);

#endif
