/* lab.h - what the papers' experiments share: detectors from text, streams, and rows of results.
 *
 * An experiment is a program that prints rows on standard output, one measurement each:
 *
 *     series,x,y,sd,runs,seed,spec
 *
 * y is the mean of `runs` runs, sd the standard deviation of one run (0 where there was one), seed
 * the first run's, spec the canonical spec of the detector that was measured.  papers.py adds what
 * it asked for and the version, keeps the rows, and holds them against what is printed. */
#ifndef LAB_H
#define LAB_H

#include "seen.h"

#include <stdbool.h>

/* -- failing: one sentence, exit 2 -------------------------------------------------------- */

_Noreturn void lab_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *lab_alloc(size_t n, size_t size); /* zeroed */

/* -- detectors ---------------------------------------------------------------------------- */

void lab_plan(struct seen_plan *, const char *format, ...) __attribute__((format(printf, 2, 3)));
seen_detector *lab_new(const struct seen_plan *);
seen_detector *lab_make(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *lab_spec(const seen_detector *); /* canonical; good until the next call */

/* Shows it the keys first … first+n-1, hashed with the seed; returns how many it calls seen. */
uint64_t lab_show(seen_detector *, uint64_t first, uint64_t n, uint64_t seed);

/* -- chance ------------------------------------------------------------------------------- */

uint64_t lab_next(uint64_t *rng);              /* SplitMix64 */
uint64_t lab_below(uint64_t *rng, uint64_t n); /* uniform in [0, n) */
double lab_uniform(uint64_t *rng);             /* in [0, 1) */
seen_digest lab_digest(uint64_t key, uint64_t seed);

/* -- measurements ------------------------------------------------------------------------- */

struct lab_mean {
    double sum, squares;
    uint64_t runs;
};
void lab_add(struct lab_mean *, double value);
double lab_mean(const struct lab_mean *);
double lab_sd(const struct lab_mean *); /* of one run */

double lab_seconds(void); /* monotonic */

void lab_row(const char *series, double x, const struct lab_mean *, uint64_t seed,
             const char *spec);
void lab_one(const char *series, double x, double value, uint64_t seed, const char *spec);

/* -- the command line: EXPERIMENT [NAME=VALUE]... ------------------------------------------ */

struct lab_experiment {
    const char *name;
    void (*run)(void);
};
int lab_main(int argc, char **argv, const struct lab_experiment *, size_t n);

/* The value of NAME=VALUE, or what it is otherwise. */
double lab_number(const char *name, double otherwise);
const char *lab_text(const char *name, const char *otherwise);

#endif
