/* plans.h - planning takes longer than all else about a small key, and the specs in use are few:
 * the last plans are kept. */
#ifndef MODULE_PLANS_H
#define MODULE_PLANS_H

#include "seen.h"

#define SPEC_TEXT_MOST 1024

/* The plan of a spec, until the next call; NULL on failure.  Where structures would grow without an
 * end of their own, `limit` bytes are their end (0: none). */
const struct seen_plan *plans_get(const char *spec, uint64_t limit, struct seen_error *);

#endif
