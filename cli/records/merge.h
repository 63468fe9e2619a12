/* merge.h - several files, each in order of time, read as one: --merge. */
#ifndef SEEN_MERGE_H
#define SEEN_MERGE_H

#include "records/input.h"
#include "records/input_options.h"

/* Opens all files of the options as one input, or dies with a sentence.  Records come in order of
 * their times, none of them cut by a file's end; the header line comes once. */
void merge_open(struct input *, const struct input_options *);

#endif
