/* sample.h - gives planners the counts of a sample of a stream (gaps.c). */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "seen_gaps.h"
#include "theory/gaps.h"

#define GAP_DECADES 16 /* of seen_gaps_stats */

const struct gap_counts *sample_counts(const seen_gaps *);

#endif
