/* ndjson.c - one JSON text a line.  A malformed line has no fields, not even those before the
 * error.
 */
#include "records/format/json.h"
#include "records/format/record.h"
#include "records/format/scan.h"

#include "base/cli.h"

#include <stdlib.h>
#include <string.h>

static void forget(const struct layout *l, struct slice *slot) {
    for (uint32_t i = 0; i < l->slots; i++) slot[i].at = NULL;
}

static bool find(const struct layout *l, const struct record *r, bool escapes, struct slice *slot) {
    const char *at = r->at;
    size_t len = r->bare;
    if (len >= 3 && !memcmp(at, "\xef\xbb\xbf", 3)) at += 3, len -= 3; /* a byte order mark */
    enum json_found found = json_find(at, len, escapes, l->paths, l->slot_of, slot);
    if (found == JSON_NO_MEMORY) die("out of memory for a JSON text of %zu bytes", len);
    return found == JSON_VALID;
}

static bool valid(const struct layout *l, const struct record *r) {
    struct slice *slot = malloc(l->slots * sizeof *slot);
    if (!slot) die("out of memory for %u fields a record", l->slots);
    bool is = find(l, r, memchr(r->at, '\\', r->bare), slot);
    free(slot);
    return is;
}

static size_t split(struct splitter *s, const char *p, const char *end, bool last,
                    struct batch *b) {
    const struct layout *l = s->layout;
    struct cursor c = cursor_at(p, end, needles(s->end, '\\', '\\'));
    const char *at = p;
    size_t n = 0;
    for (; n < BATCH && at < end; n++) {
        bool escapes = false;
        const char *stop;
        while ((stop = cursor_next(&c)) < end && *stop == '\\') escapes = true;
        if (stop == end && !last) break;
        b->record[n] = record_of(at, stop, end, s->strip_cr);
        struct slice *slot = b->field + n * l->slots;
        if (!find(l, &b->record[n], escapes, slot)) forget(l, slot);
        at += b->record[n].len;
    }
    b->n = n;
    return (size_t)(at - p);
}

const struct format ndjson_format = {
    .split = split, .tail = line_tail, .valid = valid, .invalid = CAUSE_NOT_JSON};
