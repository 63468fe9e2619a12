/* columns.h - finds the fields that options name: -k 2,4-6, -k last, -k user,ad and --time
 * FIELD. */
#ifndef SEEN_COLUMNS_H
#define SEEN_COLUMNS_H

#include "records/format/record.h"

/* Reads a header line (without its line end). */
void columns_read_header(struct header *, const char *line, size_t len, char delimiter,
                         bool quotes);
void columns_free_header(struct header *);

/* Gives the fields of -k and --time (NULL: not given) their slots in the layout.  `header` is NULL
 * if columns have no names.  Dies with a sentence if a column is missing or its name is
 * ambiguous. */
void columns_resolve(struct layout *, const char *keys, const char *time,
                     const struct header *header);

/* From now on columns are paths into JSON texts.  Call it before all functions that find fields. */
void columns_of_json(struct layout *);

/* The slot of one more field, which `option` names.  Dies if it names several. */
uint32_t columns_slot(struct layout *, const char *option, const char *field,
                      const struct header *);

/* Fields besides key and time, as an option's LIST names them. */
struct fields {
    uint32_t n;
    uint32_t *slot;
    char **name; /* as given; of a range, each column's name or number */
};
void columns_fields(struct layout *, const char *option, const char *list, const struct header *,
                    struct fields *);
void columns_free_fields(struct fields *);

/* A second key of the same records: makes `other` a layout with these keys.  The caller frees its
 * `key`.  No slot may be added afterwards. */
void columns_other_key(struct layout *, const char *keys, const struct header *,
                       struct layout *other);

/* Frees all that the functions above have allocated in the layout. */
void columns_free(struct layout *);

#endif
