/* persist.h - a value as bytes and back, and the data type that saves values so.
 *
 * A filter is a snapshot of the library's, and nothing else (doc/snapshot.md).  A chain is a header
 * and its links: snapshots, or small parts (few.h). */
#ifndef MODULE_PERSIST_H
#define MODULE_PERSIST_H

#include "value.h"

int persist_write(const struct value *, struct seen_writer);

/* On hostile bytes.  limit: bytes it may take, 0 any.  NULL on failure. */
struct value *persist_read(struct seen_reader, uint64_t limit, struct seen_error *);

/* Equal for values that answer alike from now on. */
seen_digest persist_digest(const struct value *);

/* Registers the data type with the server. */
int type_register(RedisModuleCtx *);

#endif
