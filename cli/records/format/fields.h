/* fields.h - the fields of one record in turn, for what must know how many there are: -k last, -k
 * 2-.  Formats that read at full speed do not. */
#ifndef SEEN_FIELDS_H
#define SEEN_FIELDS_H

#include "records/record.h"

struct walk {
    const struct cutting *cutting;
    const char *at, *end; /* NULL: no field is left */
};

/* Over the fields of `text`: a record without its line end, or a part of it from the first byte of
 * a field to the last of another. */
struct walk fields_of(const struct cutting *, const char *text, size_t len);

/* The next one; false behind the last. */
bool fields_next(struct walk *, struct slice *);

/* Fills the slots of the layout's spans for the records of a batch.  Not a record at a time: a call
 * within the loops that split would keep their masks out of registers. */
void fields_count(const struct layout *, struct batch *);

#endif
