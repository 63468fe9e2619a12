/* columns.h - which fields of a record are wanted: -k 2,4-6 or -k last or -k user,ad, and --time
 * FIELD. */
#ifndef SEEN_COLUMNS_H
#define SEEN_COLUMNS_H

#include "records/format/record.h"

/* Reads a header line (without its line end). */
void columns_read_header(struct header *, const char *line, size_t len, char delimiter,
                         bool quotes);
void columns_free_header(struct header *);

/* Turns what was asked into columns and slots; NULL: not asked for.  `header` is NULL where columns
 * have no names.  Dies, saying why, if a column is not there or its name is ambiguous. */
void columns_resolve(struct layout *, const char *keys, const char *time,
                     const struct header *header);

/* Comes before the functions above and below: columns are paths into JSON texts. */
void columns_of_json(struct layout *);

/* Asks for one more field and returns its slot. */
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
/* Another key of the same records: `other` is the layout with these keys instead; its `key` is the
 * caller's to free.  No slot may be added afterwards. */
void columns_other_key(struct layout *, const char *keys, const struct header *,
                       struct layout *other);

/* Frees what the functions above have allocated in the layout; it then wants no columns. */
void columns_free(struct layout *);

#endif
