/* fields.h - walks over the fields of one record, for headers, for messages, and for -k last and
 * -k 2-, which need to know how many there are.  Formats that read at full speed do not use it. */
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

/* The next field; false: there is none left. */
bool fields_next(struct walk *, struct slice *);

/* -- places: 3, 2-4, 2-, last, last-1, 2-last-1 -------------------------------------------- */

enum { MAX_PLACE = 65536 }; /* the largest number of a field */

/* Reads a place.  False if the word is a name.  Dies with a sentence if the word can only be a
 * place, and that place cannot exist. */
bool span_parse(const char *word, struct span *);

/* The numbers of the first and the last field of a span, from 0, in a record of n fields.  False: n
 * fields are too few. */
bool span_among(const struct span *, uint64_t n, uint64_t *first, uint64_t *last);

/* Are both ends counted from the first field, so that their numbers are the same in all records? */
static inline bool span_is_fixed(const struct span *s) {
    return !s->first.from_end && !s->last.from_end;
}

/* Fills the slots of the layout's spans for all records of a batch.  Formats call it once a batch,
 * because a call within their loops would cost them registers. */
void fields_count(const struct layout *, struct batch *);

/* Finds the option, such as "-d ';'", under which this line has at least `columns` fields, one of
 * them called `name` (NULL: any).  NULL: no delimiter does that.  `table`: the line is a header, as
 * in --csv. */
const char *guess_delimiter(const char *line, size_t len, const struct cutting *now, bool table,
                            uint64_t columns, const char *name);

#endif
