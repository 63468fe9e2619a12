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

/* Of `all` verdicts, those of a kind; `others` are the verdicts of the other kind, so that both
 * sums make `all`.  alpha: the chance of a truth outside. */
struct estimate interval_sample(const struct control_sum *, const struct control_sum *others,
                                double all, double alpha);

/* The model's figure, given that the model is right to about a tenth. */
struct estimate interval_model(double expected, double alpha);

#endif
