/* merge.h - several files, each in order of time, read as one: --merge. */
#ifndef SEEN_MERGE_H
#define SEEN_MERGE_H

#include "records/input_options.h"

#include <sys/types.h>

struct merge;

/* Opens all files, or dies with a sentence. */
struct merge *merge_new(const struct input_options *);
void merge_free(struct merge *); /* NULL is fine */

bool merge_blocks(const struct merge *); /* a read may wait: a file is a pipe or a device */

/* As read(2): records in order of their times, none of them cut by a file's end; the header comes
 * once.  EAGAIN: a file must be waited for; EBADMSG: merge_trouble says what is wrong with which.
 */
ssize_t merge_read(struct merge *, char *out, size_t room);
const char *merge_trouble(const struct merge *, const char **name);

/* As input_ready, of the file that is waited for. */
bool merge_ready(const struct merge *, int wake, bool wait);

#endif
