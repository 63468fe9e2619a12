/* interval.h - how many records of a kind there were: from a sample of keys, or from the model.
 *
 * The sample's sum is a total of weighted counts; its interval is the gamma interval of Fay and
 * Feuer (Statistics in Medicine 16, 1997), with the greater of two variances: that of independent
 * records, and that seen between groups of keys. */
#ifndef INTERVAL_H
#define INTERVAL_H

#include "truth/control.h"

struct estimate {
    double value, lo, hi;
};

/* Estimates how many of `all` verdicts are of one kind, from a sample's sums of this kind and of
 * the other one (`others`); both kinds together make `all`.  alpha: the chance that the truth lies
 * outside the interval.
 *
 * The two sums contradict each other where a few keys have most of the records and none of them is
 * in the sample.  `even`, one of the two, is then believed: the sum that a few keys make up least.
 */
struct estimate interval_sample(const struct control_sum *, const struct control_sum *others,
                                const struct control_sum *even, double all, double alpha);

/* The model's figure, given that the model is right to about a tenth. */
struct estimate interval_model(double expected, double alpha);

#endif
