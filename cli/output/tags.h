/* tags.h - --tag=LIST: what is told of each record, and how it is written. */
#ifndef SEEN_TAGS_H
#define SEEN_TAGS_H

#include "seen.h"

#include <stdbool.h>
#include <stddef.h>

/* What is known of a record beside its verdict. */
#define NO_TIME UINT64_MAX

struct occurrence {
    uint64_t number; /* of the record, from 1; 0: there is none, or it is not known */
    seen_time time;  /* NO_TIME: not needed */
};

struct fact {
    struct occurrence itself;
    uint64_t age;            /* since its key was last seen, by the detector; SEEN_NEVER */
    struct occurrence first; /* that was let through: the one it is a duplicate of */
    struct occurrence last;  /* before this one */
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
    bool spans; /* ages are microseconds, told as seconds; else records */
};

enum { TAGS_TEXT = TAG_KINDS * 48, TAGS_COLUMN = 32 };

/* "verdict,age,first"; NULL: the verdict alone.  Dies if a name is not known, or given twice. */
void tags_parse(struct tags *, const char *list);
bool tags_have(const struct tags *, enum tag);

const char *verdict_name(uint8_t verdict);

/* Writes the values with `separator` between them, "-" for a missing value; and their names, made
 * from the verdict's (`column`). */
void tags_text(const struct tags *, uint8_t verdict, const struct fact *, char separator,
               char text[TAGS_TEXT]);
void tags_heading(const struct tags *, const char *column, char separator, char text[TAGS_TEXT]);

/* The value of --tag-column, or dies: a name that can stand in a header line as it is, of up to
 * TAGS_COLUMN bytes.  The verdict's column has that name, the others begin with it. */
const char *tags_column(const char *name);

/* Writes "name":value,"name":value, with null for a missing value. */
void tags_json(const struct tags *, uint8_t verdict, const struct fact *, char text[TAGS_TEXT]);

#endif
