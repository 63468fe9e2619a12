/* truth.h - what a detector knows of its own errors: by the formulas (struct model), and from a
 * sample of keys whose truth it knows (control.h).  Each shard has both; their sums are the
 * detector's.
 *
 * The model's figures are finer if errors are rare.  They count while the window is as it was
 * planned and the sample does not contradict them.  Otherwise the sample's figures count. */
#ifndef TRUTH_H
#define TRUTH_H

#include "truth/control.h"

/* -- the model ---------------------------------------------------------------------------- */

/* How many duplicates were false, by the formulas.  If the false-positive rate is p, each record
 * called new stands for p/(1-p) that were new and called duplicates.  The stream of a shard is cut
 * into stretches.  A stretch is an eighth as long as the number of keys stored at its begin, and
 * ends when the window rotates.  The structure's rate is computed at both ends of a stretch; in
 * between the odds p/(1-p) follow a power of the load.  Stretches end at numbers of records, so
 * that the sum does not depend on batches.  A snapshot keeps this struct. */
struct model {
    uint64_t records;  /* of the shard, so far */
    uint64_t began;    /* number of the record that began this stretch */
    uint64_t until;    /* number of the record that begins the next stretch */
    uint64_t fresh;    /* records called new in this stretch */
    double odds, load; /* p/(1-p) and the keys stored when the stretch began */
    double expected;   /* false duplicates of the stretches before */
    double worst;      /* greatest rate met at the ends of stretches */
    double fullest;    /* greatest number of keys stored, likewise */
};

/* -- the truth of a shard ----------------------------------------------------------------- */

/* At window.truth, in the detector's block.  Without a sample (control=0) it ends before `control`.
 */
struct truth {
    struct model model;
    struct control control;
};

/* Decides control= for a plan that takes plan->bytes without it.  False: the structure neither errs
 * nor forgets, so that a detector needs no truth. */
bool truth_plan(struct seen_plan *);

/* The bytes that a shard's truth takes. */
uint64_t truth_bytes(const struct seen_spec *);

/* Begins the truth of a new shard. */
void truth_init(struct window *, uint32_t cpu);

/* Has the window judge n records, and notes its verdicts. */
void truth_observe(struct window *, size_t n, const seen_digest *, const uint64_t *at,
                   uint8_t *verdict);

/* To be called before and after every other change of the window; `at` is its clock.  Then the kind
 * of change: a landmark, a key forgotten, statistics that begin again. */
void truth_before(struct window *, uint64_t at);
void truth_after(struct window *, uint64_t at);
void truth_landmark(struct window *);
void truth_forget(struct window *, seen_digest);
void truth_clear(struct window *);

/* To be called when a merge begins and when it ends.  The figures are added when it begins, the
 * keys of the sample when it ends. */
void truth_merge_begin(struct window *, const struct window *from, uint64_t from_at);
void truth_merge_end(struct window *, uint64_t at, const struct window *from, uint64_t from_at);

/* Fills in what seen_stats says of errors, from all shards of a detector whose clock is `at`. */
void truth_stats(const struct window *shards, uint64_t at, struct seen_stats *);

int truth_save(const struct window *, struct seen_writer);
int truth_load(struct window *, uint64_t at, struct seen_reader, struct seen_error *);

#endif
