/* json_none.c - in place of json.cpp where simdjson was not there to build with. */
#include "records/format/json.h"

bool json_built_in(void) { return false; }

enum json_found json_find(const char *text, size_t len, bool escapes,
                          const struct json_paths *paths, const int32_t *slot_of,
                          struct slice *slot) {
    (void)text, (void)len, (void)escapes, (void)paths, (void)slot_of, (void)slot;
    return JSON_INVALID;
}
