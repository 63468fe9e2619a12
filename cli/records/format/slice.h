/* slice.h - a field as a pointer into the buffer, for C and C++. */
#ifndef SEEN_SLICE_H
#define SEEN_SLICE_H

#include <stddef.h>
#include <stdint.h>

enum { READ_SLACK = 64 }; /* readable bytes behind the end of every buffer of records */

/* How the bytes of a field become its value; slice_value does it. */
enum writing {
    AS_IT_IS,
    CSV_QUOTED,
    JSON_STRING,
    JSON_NESTED,
    CLF_QUOTED,
    SEVERAL_FIELDS /* with the bytes between them: see fields.h */
};

struct slice {
    const char *at; /* NULL: the record has no such field */
    uint32_t len;
    uint32_t escaped; /* enum writing: its value is not the bytes themselves */
};

#endif
