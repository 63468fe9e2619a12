/* plan.h - the planner's arithmetic: how large a structure is for given errors and memory, and what
 * to change in a spec that no structure serves.  It knows structures by their formulas only. */
#ifndef PLAN_H
#define PLAN_H

#include "spec/spec.h"
#include "theory/shape.h"

#include <stdbool.h>

/* -- sizes by search (fit.c) -------------------------------------------------------------- */

/* The task of a filter in one shard. */
struct fit {
    const struct filter_theory *filter;
    uint32_t live;     /* generations, the current one included */
    double generation; /* share of the window's keys that one may hold, e.g. 1 or 1/Q */
    uint64_t shards;   /* with several, the number of keys in each is random */
    bool fills;        /* the youngest generation begins empty; else all are always full */
    double all;        /* share that all generations hold together, if the filter is their sum */
};

/* The false-positive rate if every generation is full; and the mean while the current one fills, if
 * it does. */
double fit_fp(const struct fit *, const struct filter_shape *, double keys);
double fit_fp_mean(const struct fit *, const struct filter_shape *, double keys);

/* The fewest lines that a shape can have, and the largest valid shape with at most its lines (0
 * lines: there is none). */
uint64_t fit_least(const struct fit *, struct filter_shape);
struct filter_shape fit_whole(const struct fit *, struct filter_shape);

/* Finds the fewest lines for `keys` keys at rate fp, and sets shape->lines and ->k.  With k = 0 it
 * chooses k: the fewest probes that need at most 5 % more lines than the best number, and at most
 * `budget` lines (0: any) if some k fits.  False: no size is enough. */
bool fit_lines(const struct fit *, struct filter_shape *, double keys, double fp, uint32_t k,
               uint64_t budget);

/* The most keys that shape->lines hold at rate fp; with k = 0 it chooses ->k as well. */
double fit_keys(const struct fit *, struct filter_shape *, double fp, uint32_t k);

/* The least rate for `keys` keys in shape->lines; with k = 0 it chooses ->k as well. */
double fit_rate(const struct fit *, struct filter_shape *, double keys, uint32_t k);

/* -- what all windows share (plan.c) ------------------------------------------------------ */

#define PLAN_FP_DEFAULT  1e-9
#define PLAN_MEM_DEFAULT ((uint64_t)64 << 20)

/* Distinct keys expected in a window: items=, or rate= times the window, at most its records.  With
 * lateness=, the keys of all records that are kept.  0: no option gives it.  Refuses a rate= that
 * has no effect. */
int plan_keys(uint64_t *keys, const struct seen_spec *, struct seen_error *);

/* Records of a window divided by its distinct keys, at least 1.  A stretch x of the window, as a
 * share of it, holds at most a share of min(1, x plan_crowd) of its keys, for any repetition and
 * any bursts.  INFINITY: no option bounds the records of a window. */
double plan_crowd(const struct seen_spec *);

/* The keys that a stretch of length `span` holds beyond those of a window, as a share of the
 * latter. */
double plan_beyond(const struct seen_spec *, double span);

/* Decides overload= for a structure that can do only `does`, and refuses other values. */
int plan_overload(struct seen_plan *, uint32_t does, struct seen_error *);

/* The same for structures of sliding windows with a fixed size.  Refuses a spec that does not say
 * how many keys a window has. */
int plan_sliding(struct seen_plan *, uint32_t does, struct seen_error *);

/* Decides the lines and k of a filter, or for structures that grow the most keys, and predicts
 * errors and bytes.  `fixed` is the number of bytes that a detector takes besides the filters. */
int plan_filter(struct seen_plan *, const struct fit *, uint64_t fixed, struct seen_error *);

/* Rounds up to three digits, so that a spec stays readable.  The result is above 0 and below 1. */
double plan_round_up(double rate);

/* The number of digests of a key: a key of more than 128 bits has several. */
uint32_t plan_digests(const struct seen_spec *);

/* The geometry that a resolved spec describes. */
struct filter_shape plan_shape(const struct seen_spec *, uint32_t live);

/* -- advice (advise.c) -------------------------------------------------------------------- */

/* Whether a plan chosen by the planner keeps the whole window, and errs at most at fp= or, where
 * that is less or not asked, at one new record in ten. */
bool advise_accepts(const struct seen_plan *);

/* The most items=, of `keys` or fewer, with which the spec plans, to three digits; 0 if none. */
double advise_items(const struct seen_spec *asked, double keys);

/* Refuses a spec without filter=, and returns an error code.  `best` is the least bad plan.  If it
 * is NULL, *e holds the refusal of the first structure, and keeps it if no change would help. */
int advise_refuse(const struct seen_spec *asked, const struct seen_plan *best, struct seen_error *);

/* -- age-partitioned (age.c) -------------------------------------------------------------- */

#define AGE_GENERATIONS 255 /* the most in a window */

uint32_t age_slices(const struct filter_shape *); /* k plus the generations */
uint64_t age_step(const struct filter_shape *);   /* length of a generation on the clock */

/* Decides k=, blocks=, generations= and overload=, and predicts errors.  `fixed` is the number of
 * bytes needed besides lines. */
int age_plan(struct seen_plan *, uint64_t fixed, struct seen_error *);

/* -- decaying windows (decaying.c) -------------------------------------------------------- */

/* A decaying window has no length: memory decides how far back it reaches.  `reach` is how many
 * keys back a structure still remembers at least half of the keys.  The plan calls it capacity.
 * items= asks for a reach; mem=, 64 MiB by default, gives one.
 *
 * False negatives depend on the stream.  To compare structures the plan assumes that repeats come
 * at gaps from 1 to gap-max= records (1e9 unless told), every order of magnitude alike, and that
 * all records between are different keys. */
#define DECAYING_GAPS_DEFAULT 1000000000u

struct decaying {
    uint64_t state; /* bytes a shard takes besides its lines */
    uint64_t least; /* lines a shard takes at least */
    /* The reach of a shard of `lines` lines.  All other options of the spec are resolved.  It grows
     * with the lines. */
    double (*reach)(const struct seen_spec *, uint64_t lines);
    /* Bytes of a detector whose shards have a state of `state` bytes each (detector_fixed). */
    uint64_t (*bytes)(const struct seen_spec *, uint64_t state);
};

/* Refuses options that make no sense in decaying windows, and decides gap-max= and overload=. */
int decaying_settle(struct seen_plan *, struct seen_error *);

/* Decides blocks= from items= and mem=.  `d` describes the structure. */
int decaying_lines(struct seen_plan *, const struct decaying *, struct seen_error *);

/* Gaps as a shard sees them: records of other shards do not count. */
double decaying_gaps(const struct seen_spec *);

#endif
