/* sample.h - what a sample of a stream counted (gaps.c), for those who plan with it. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "gaps/gap_law.h"

#define GAP_DECADES 16 /* of seen_gaps_stats */

const struct gap_counts *sample_counts(const seen_gaps *);

#endif
