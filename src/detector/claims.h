/* claims.h - the table of claims beside a window (claims=), as the detector sees it.
 *
 * include/seen_claims.h says what claims are, and claims.c how they are kept. */
#ifndef CLAIMS_H
#define CLAIMS_H

#include "detector/block.h"

/* Bytes of a table of `most` claims; 0 for 0. */
uint64_t claims_bytes(uint64_t most);

/* Refuses claims= where an acked key could be new again inside the window, or a new one seen. */
int claims_plan(const struct seen_plan *, struct seen_error *);

/* The rest is for detectors that have a table. */
void claims_init(seen_detector *);

/* Keys that were observed: their claims end. */
void claims_observe(seen_detector *, size_t n, const seen_digest *);

/* Ends all claims and resets the counters, at constant cost.  Tokens go on where they were. */
void claims_clear(seen_detector *);

int claims_save(const seen_detector *, struct seen_writer);
int claims_load(seen_detector *, struct seen_reader, struct seen_error *);

#endif
