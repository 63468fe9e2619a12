/* key_list.h - a file of keys: a table of the key's fields alone, in the order that -k gives them;
 * a key a line where it is one field, or a whole record. */
#ifndef SEEN_KEY_LIST_H
#define SEEN_KEY_LIST_H

#include "judge/key.h"
#include "records/input_options.h"

/* Reads a list of keys.  Hands each key to `look` (NULL: does not) and then the digests to `take`,
 * up to BATCH at once.  Dies if a key cannot be read.  `of` is the layout of the records' key;
 * `hasher` is the detector that hashes keys. */
void key_list_read(const char *name, const struct input_options *, const struct layout *of,
                   const seen_detector *hasher,
                   void (*take)(void *ctx, size_t n, const seen_digest *),
                   void (*look)(void *ctx, const char *key, size_t len), void *ctx);

#endif
