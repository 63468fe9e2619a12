/* tally.h - a measurement that each seed repeats, against what it should be. */
#ifndef TALLY_H
#define TALLY_H

struct tally {
    double sum, squares;
    int n;
};

void tally_add(struct tally *, double value);
double tally_mean(const struct tally *);

/* Standard error of the mean, `least` where the seeds show less. */
double tally_error(const struct tally *, double least);

/* Standard error of the share of `coins` coins that fall on one side, if the expected share is
 * `expected`: seeds may agree by chance. */
double tally_coins(double expected, double coins);

/* Fails the test at more than five standard errors; SEEN_VERBOSE=1 prints all. */
void tally_agree(const char *what, const struct tally *, double expected, double least);

#endif
