/* fields.h - the fields of one record, for code that must know how many there are: -k last, -k 2-,
 * and for messages.  Formats that read at full speed do not use it. */
#ifndef SEEN_FIELDS_H
#define SEEN_FIELDS_H

#include "records/format/record.h"

/* -- one after the other ------------------------------------------------------------------ */

struct walk {
    const struct cutting *cutting;
    const char *at, *end; /* NULL: no field is left */
};

/* Over the fields of `text`: a record without its line end, or a part of it from the first byte of
 * a field to the last of another. */
struct walk fields_of(const struct cutting *, const char *text, size_t len);

/* The next one; false behind the last. */
bool fields_next(struct walk *, struct slice *);

/* -- places: 3, 2-4, 2-, last, last-1, 2-last-1 -------------------------------------------- */

enum { MAX_PLACE = 65536 }; /* the largest number of a field */

/* Reads a place.  False if the word is a name.  Dies with a sentence if the word can only be a
 * place, and that place cannot exist. */
bool span_parse(const char *word, struct span *);

/* The numbers of the first and the last field of a span, from 0, in a record of n fields.  False: n
 * fields are too few. */
bool span_among(const struct span *, uint64_t n, uint64_t *first, uint64_t *last);

/* Both ends are counted from the first field: the numbers are the same in all records. */
static inline bool span_is_fixed(const struct span *s) {
    return !s->first.from_end && !s->last.from_end;
}

/* Fills the slots of the layout's spans for the records of a batch.  Not a record at a time: a call
 * within the loops that split would keep their masks out of registers. */
void fields_count(const struct layout *, struct batch *);

/* The option under which this line has `columns` fields or more, and (NULL: any) one of that name,
 * such as "-d ';'".  NULL: no delimiter does that.  `table`: the line is one of a table, as in
 * --csv. */
const char *guess_delimiter(const char *line, size_t len, const struct cutting *now, bool table,
                            uint64_t columns, const char *name);

#endif
