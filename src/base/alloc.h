/* alloc.h - the library's own allocator, used where the caller gives none. */
#ifndef ALLOC_H
#define ALLOC_H

#include "seen.h"

/* Zeroed, 64-byte aligned; from 2 MiB on, straight from the system on huge pages if it gives them.
 */
extern const struct seen_allocator alloc_default;

#endif
