/* parts.h - the parts of a record's key, each decoded and as --trim and its like make it: for keys
 * that are not the bytes of their fields (form.h), for -k 2-, and for those who show keys. */
#ifndef SEEN_PARTS_H
#define SEEN_PARTS_H

#include "records/format/record.h"
#include "records/key_form.h"

struct key_part {
    size_t at, len; /* in the text */
};

/* All zero to begin with. */
struct parts {
    char *text;
    size_t used, cap;
    struct key_part *part;
    size_t n, room;
    regex_t pattern; /* of the layout's form, once it was needed */
    bool compiled;
    bool some; /* set by the caller: a record has a key if it has any of the fields */
};

void parts_free(struct parts *);

/* Finds those of a record whose fields are `slot`.  False if it has no key. */
bool parts_find(struct parts *, const struct layout *, const struct record *,
                const struct slice *slot);

static inline const char *parts_text(const struct parts *p, size_t i) {
    return p->text + p->part[i].at;
}

/* How many a key has: PARTS_VARY where that depends on the record, 0 where it is the whole record.
 */
enum { PARTS_VARY = -1 };
int64_t parts_of_key(const struct layout *);

#endif
