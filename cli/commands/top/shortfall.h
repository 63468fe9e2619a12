/* shortfall.h - what the rows of `seen top` lack, for want of memory, and what is said of it. */
#ifndef SEEN_TOP_SHORTFALL_H
#define SEEN_TOP_SHORTFALL_H

#include "commands/top/missing.h"

struct shortfall {
    uint64_t left_out;         /* rows that say nothing */
    uint64_t twice;            /* pairs that may have been counted twice */
    double missed, most_pairs; /* expected: of all windows; that came in one */
    bool missed_most;          /* `missed` is a bound */
};

/* Notes that a window ends.  At most `twice` of its pairs were counted twice. */
void shortfall_note(struct shortfall *, const struct missing *, uint64_t twice);

/* The detectors of pairs follow that plan; `keep` counters count keys. */
void shortfall_tell(const struct shortfall *, const struct seen_plan *pairs, uint64_t keep);

#endif
