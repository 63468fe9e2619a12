/* tags.h - --tag=LIST: what is printed with each record, as columns or as JSON. */
#ifndef SEEN_TAGS_H
#define SEEN_TAGS_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>

/* What is known of a record besides its verdict. */
#define NO_TIME UINT64_MAX

struct occurrence {
    uint64_t number; /* of the record, from 1; 0: there is no such record, or it is not known */
    seen_time time;  /* NO_TIME: no tag needs it */
};

struct details {
    struct occurrence itself;
    uint64_t age;            /* since its key was last seen, as the detector says; or SEEN_NEVER */
    struct occurrence first; /* the record with this key that was let through */
    struct occurrence last;  /* the latest record with this key before this one */
};

enum tag {
    TAG_VERDICT,
    TAG_NUMBER,
    TAG_TIME,
    TAG_AGE,
    TAG_FIRST,
    TAG_FIRST_TIME,
    TAG_LAST,
    TAG_LAST_TIME,
    TAG_KINDS
};

struct tags {
    enum tag list[TAG_KINDS];
    size_t n;
    bool spans; /* ages are microseconds, printed as seconds; else records */
};

enum { TAGS_TEXT = TAG_KINDS * 48, TAGS_COLUMN = 32 };

/* Reads "verdict,age,first"; NULL means the verdict alone.  Dies if a name is unknown or twice
 * there. */
void tags_parse(struct tags *, const char *list);
bool tags_have(const struct tags *, enum tag);

const char *verdict_name(uint8_t verdict);

/* Writes the values with `separator` between them, and "-" for a missing value.  tags_heading
 * writes the names of their columns, which begin with `column`. */
void tags_text(const struct tags *, uint8_t verdict, const struct details *, char separator,
               char text[TAGS_TEXT]);
void tags_heading(const struct tags *, const char *column, char separator, char text[TAGS_TEXT]);

/* Checks the value of --tag-column: up to TAGS_COLUMN bytes, without delimiters and quotes.  The
 * verdict's column has that name, and the names of the others begin with it. */
const char *tags_column(const char *name);

/* Writes "name":value,"name":value, with null for a missing value. */
void tags_json(const struct tags *, uint8_t verdict, const struct details *, char text[TAGS_TEXT]);

#endif
