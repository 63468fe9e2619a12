/* json.h - what is wanted of a JSON text: the paths asked for, and one text's values at them.
 *
 *     user.id     member "id" of member "user"
 *     items.0     the first element of an array (or member "0" of an object)
 *     a\.b        member "a.b"; \, and \\ likewise
 *
 * json_find is simdjson's work behind json.cpp, the only C++ here; everything else is C. */
#ifndef SEEN_RECORDS_JSON_H
#define SEEN_RECORDS_JSON_H

#include "records/format/slice.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { JSON_NONE = -1, JSON_MAX_DEPTH = 1024, JSON_MAX_NAME = 256 };

/* The paths as one tree; node 0 is the text itself.  A path is a column, in the order asked. */
struct json_node {
    uint64_t begin, mask; /* the first 8 bytes of the name and a quote, and which of them count */
    char *name;
    uint32_t len;
    int32_t element;     /* the name as an array index, or JSON_NONE */
    int32_t column;      /* JSON_NONE: only on the way to others */
    int32_t child, next; /* node numbers, or JSON_NONE */
};

struct json_paths {
    struct json_node *node;
    uint32_t nodes, columns;
};

void json_paths_init(struct json_paths *);
void json_paths_free(struct json_paths *);

/* The path of a column, for messages; cut where it does not fit. */
void json_paths_name(const struct json_paths *, uint32_t column, char *text, size_t cap);

/* The column of a path, a new one if it was not asked for before. */
uint32_t json_paths_add(struct json_paths *, const char *path);

enum json_found { JSON_VALID, JSON_INVALID, JSON_NO_MEMORY };

/* Fills the slots of the columns that the text has; slot_of[column] is a slot.  A column that is
 * missing or null gets NULL; of several members of one name the last one counts.  READ_SLACK bytes
 * behind the text must be readable; `escapes`: it may hold a backslash. */
enum json_found json_find(const char *text, size_t len, bool escapes, const struct json_paths *,
                          const int32_t *slot_of, struct slice *slot);

bool json_built_in(void);

/* -- values ------------------------------------------------------------------ */

/* The bytes of a string, given what stands between its quotes; or -1 if an escape is none.  `out`
 * may be NULL: only checked.  A surrogate without its other half becomes three bytes all the same,
 * so that different strings stay different. */
ptrdiff_t json_unescape(const char *p, size_t len, char *out);

/* An object or array without the white space outside its strings. */
size_t json_minify(const char *p, size_t len, char *out);

bool json_is_number(const char *p, size_t len);

#ifdef __cplusplus
}
#endif

#endif
