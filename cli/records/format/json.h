/* json.h - the paths that options ask for in JSON texts, and the values of a text at these paths.
 *
 *     user.id     member "id" of member "user"
 *     items.0     the first element of an array (or member "0" of an object)
 *     a\.b        member "a.b"; \, and \\ likewise
 *
 * json_find stands in json.cpp, which calls simdjson and is the only C++ of seen. */
#ifndef SEEN_RECORDS_JSON_H
#define SEEN_RECORDS_JSON_H

#include "records/format/slice.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { JSON_NONE = -1, JSON_MAX_DEPTH = 1024, JSON_MAX_NAME = 256 };

/* The paths as one tree; node 0 is the text itself.  Each path is a column, in the order in which
 * paths were added. */
struct json_node {
    uint64_t begin, mask; /* the first 8 bytes of name and quote; the mask says which bytes count */
    char *name;
    uint32_t len;
    int32_t element;     /* the name as an array index, or JSON_NONE */
    int32_t column;      /* JSON_NONE: no path ends here */
    int32_t child, next; /* node numbers, or JSON_NONE */
};

struct json_paths {
    struct json_node *node;
    uint32_t nodes, columns;
};

void json_paths_init(struct json_paths *);
void json_paths_free(struct json_paths *);

/* Writes the path of a column, for messages.  A path that does not fit is cut. */
void json_paths_name(const struct json_paths *, uint32_t column, char *text, size_t cap);

/* The column of a path.  A new path gets a new column.  Dies if it is not a path. */
uint32_t json_paths_add(struct json_paths *, const char *path);

enum json_found { JSON_VALID, JSON_INVALID, JSON_NO_MEMORY };

/* Fills the slots of the columns that the text has; slot_of[column] is a slot.  A column that is
 * missing or null gets NULL; of several members of one name the last one counts.  READ_SLACK bytes
 * behind the text must be readable; `escapes`: it may hold a backslash. */
enum json_found json_find(const char *text, size_t len, bool escapes, const struct json_paths *,
                          const int32_t *slot_of, struct slice *slot);

bool json_built_in(void);

/* -- values ------------------------------------------------------------------ */

/* Writes the value of a string, given the bytes between its quotes.  Returns its length, or -1 if
 * an escape is malformed.  `out` may be NULL, to check the escapes only.  A surrogate without its
 * other half also becomes three bytes, so that different strings stay different. */
ptrdiff_t json_unescape(const char *p, size_t len, char *out);

/* An object or array without the white space outside its strings. */
size_t json_minify(const char *p, size_t len, char *out);

bool json_is_number(const char *p, size_t len);

#ifdef __cplusplus
}
#endif

#endif
