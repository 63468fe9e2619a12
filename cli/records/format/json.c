/* json.c - the format of one JSON text a line: its paths, and the values of strings and numbers.  A
 * malformed line has no fields, not even those before the error. */
#include "records/format/json.h"

#include "base/cli.h"
#include "records/format/record.h"
#include "records/format/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- paths, as one tree ------------------------------------------------------------------- */

/* Prepares the comparison of eight bytes at once.  A name with a quote always needs escapes, so it
 * never equals the bytes of a text. */
static void set_begin(struct json_node *n) {
    char begin[8] = {0}, mask[8] = {0};
    for (uint32_t i = 0; i < 8 && i <= n->len; i++) {
        begin[i] = i < n->len ? n->name[i] : '"';
        mask[i] = (char)0xff;
    }
    memcpy(&n->begin, begin, 8);
    memcpy(&n->mask, mask, 8);
    if (memchr(n->name, '"', n->len)) n->begin = 1, n->mask = 0;
}

static int32_t add_node(struct json_paths *t, const char *name, size_t len) {
    t->node = realloc(t->node, (t->nodes + 1) * sizeof *t->node);
    char *copy = malloc(len + 1);
    if (!t->node || !copy) die("out of memory for the paths of keys");
    memcpy(copy, name, len);
    copy[len] = '\0';
    bool digits = len > 0 && len < 10 && strspn(copy, "0123456789") == len;
    bool element = digits && (len == 1 || copy[0] != '0');
    t->node[t->nodes] = (struct json_node){.name = copy,
                                           .len = (uint32_t)len,
                                           .element = element ? atoi(copy) : JSON_NONE,
                                           .column = JSON_NONE,
                                           .child = JSON_NONE,
                                           .next = JSON_NONE};
    set_begin(&t->node[t->nodes]);
    return (int32_t)t->nodes++;
}

static int32_t child_named(struct json_paths *t, int32_t parent, const char *name, size_t len) {
    int32_t i = t->node[parent].child;
    while (i != JSON_NONE && (t->node[i].len != len || memcmp(t->node[i].name, name, len) != 0))
        i = t->node[i].next;
    if (i != JSON_NONE) return i;
    i = add_node(t, name, len);
    t->node[i].next = t->node[parent].child;
    t->node[parent].child = i;
    return i;
}

void json_paths_init(struct json_paths *t) {
    *t = (struct json_paths){0};
    add_node(t, "", 0);
}

void json_paths_free(struct json_paths *t) {
    for (uint32_t i = 0; i < t->nodes; i++) free(t->node[i].name);
    free(t->node);
    *t = (struct json_paths){0};
}

/* The parent of a node; JSON_NONE: it is the root. */
static int32_t parent_of(const struct json_paths *t, int32_t node) {
    for (uint32_t i = 0; i < t->nodes; i++)
        for (int32_t c = t->node[i].child; c != JSON_NONE; c = t->node[c].next)
            if (c == node) return (int32_t)i;
    return JSON_NONE;
}

static size_t put_name(const struct json_paths *t, int32_t node, char *text, size_t cap) {
    int32_t parent = parent_of(t, node);
    if (parent == JSON_NONE) return 0;
    size_t at = put_name(t, parent, text, cap);
    const char *dot = at ? "." : "";
    if (at < cap) at += (size_t)snprintf(text + at, cap - at, "%s%s", dot, t->node[node].name);
    return at;
}

void json_paths_name(const struct json_paths *t, uint32_t column, char *text, size_t cap) {
    int32_t node = 0;
    while (t->node[node].column != (int32_t)column) node++;
    put_name(t, node, text, cap);
}

uint32_t json_paths_add(struct json_paths *t, const char *path) {
    char *name = malloc(strlen(path) + 1);
    if (!name) die("out of memory for the paths of keys");
    int32_t at = 0;
    size_t n = 0, depth = 0;
    for (const char *p = path;; p++) {
        if (*p == '\\' && p[1] && strchr(".,\\", p[1])) {
            name[n++] = *++p;
        } else if (*p && *p != '.') {
            name[n++] = *p;
        } else {
            if (!n) die("'%s' is not a path: write names with a dot between, as in user.id", path);
            if (n > JSON_MAX_NAME) die("the path '%.40s...' has a name too long", path);
            if (++depth > JSON_MAX_DEPTH) die("the path '%.40s...' is too deep", path);
            at = child_named(t, at, name, n);
            n = 0;
            if (!*p) break;
        }
    }
    free(name);
    struct json_node *node = &t->node[at];
    if (node->column == JSON_NONE) node->column = (int32_t)t->columns++;
    return (uint32_t)node->column;
}

/* -- values ------------------------------------------------------------------------------- */

/* The four digits behind \u, or -1. */
static int32_t unit(const char *p, const char *end) {
    int32_t value = 0;
    if (end - p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

static size_t put_utf8(char *out, int32_t c) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(0xf00 >> n | c); /* 110x, 1110, 1111 0xxx */
    return n;
}

/* Reads one character behind \u at p; two escapes may be a surrogate pair.  Returns the bytes read,
 * or 0 if the escape is malformed. */
static size_t get_unicode(const char *p, const char *end, int32_t *c) {
    *c = unit(p, end);
    if (*c < 0) return 0;
    if (*c < 0xd800 || *c >= 0xdc00 || end - p < 10 || p[4] != '\\' || p[5] != 'u') return 4;
    int32_t low = unit(p + 6, end);
    if (low < 0xdc00 || low >= 0xe000) return 4;
    *c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
    return 10;
}

ptrdiff_t json_unescape(const char *p, size_t len, char *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *end = p + len;
    char scrap[4];
    size_t n = 0;
    while (p < end) {
        const char *stop = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((stop ? stop : end) - p);
        if (out) memmove(out + n, p, plain);
        n += plain;
        p += plain;
        if (!stop) break;
        if (end - p < 2) return -1;
        const char *known = p[1] ? strchr(from, p[1]) : NULL;
        int32_t c = known ? to[known - from] : 0;
        size_t used = known ? 2 : 0;
        if (p[1] == 'u') {
            size_t digits = get_unicode(p + 2, end, &c);
            used = digits ? 2 + digits : 0;
        }
        if (!used) return -1;
        n += put_utf8(out ? out + n : scrap, c);
        p += used;
    }
    return (ptrdiff_t)n;
}

size_t json_minify(const char *p, size_t len, char *out) {
    bool inside = false;
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (!inside && strchr(" \t\r\n", p[i])) continue;
        if (p[i] == '"') inside = !inside;
        out[n++] = p[i];
        if (inside && p[i] == '\\' && i + 1 < len) out[n++] = p[++i];
    }
    return n;
}

static const char *skip_digits(const char *p, const char *end) {
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p;
}

bool json_is_number(const char *p, size_t len) {
    const char *end = p + len, *from = p += len > 0 && *p == '-';
    p = skip_digits(p, end);
    if (p == from || (*from == '0' && p - from > 1)) return false;
    if (p < end && *p == '.') {
        from = ++p;
        p = skip_digits(p, end);
        if (p == from) return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        from = p;
        p = skip_digits(p, end);
        if (p == from) return false;
    }
    return p == end;
}

/* -- the format --------------------------------------------------------------------------- */

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
        if (!find(l, &b->record[n], escapes, slot))
            for (uint32_t i = 0; i < l->slots; i++) slot[i].at = NULL;
        at += b->record[n].len;
    }
    b->n = n;
    return (size_t)(at - p);
}

const struct format ndjson_format = {
    .split = split, .tail = line_tail, .valid = valid, .invalid = CAUSE_NOT_JSON};

#ifndef HAVE_SIMDJSON /* in place of json.cpp */
bool json_built_in(void) { return false; }

enum json_found json_find(const char *text, size_t len, bool escapes,
                          const struct json_paths *paths, const int32_t *slot_of,
                          struct slice *slot) {
    (void)text, (void)len, (void)escapes, (void)paths, (void)slot_of, (void)slot;
    return JSON_INVALID;
}
#endif
