/* room.h - what to ask for instead, where a window held more keys than its plan has room for. */
#ifndef ROOM_H
#define ROOM_H

#include "seen.h"

#include <stddef.h>

/* Which options to raise: the end of a sentence. */
const char *room_more(const struct seen_plan *);

/* The options that would have kept a window whole which was cut short, such as "mem=128MiB" or
 * "items=2000000 and mem=128MiB"; they were planned with.  Empty where none would. */
void room_fix(const struct seen_plan *, const struct seen_stats *, char *text, size_t cap);

#endif
