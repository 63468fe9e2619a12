/* share.h - what one of n shards has to be, for all of them together to be what was asked. */
#ifndef SEEN_SHARE_H
#define SEEN_SHARE_H

#include "seen.h"

/* The plan of one shard of `whole`, which has shards=n.  Dies if there is none. */
void share_plan(struct seen_plan *one, const struct seen_plan *whole);

#endif
