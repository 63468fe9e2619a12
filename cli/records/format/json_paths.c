/* json_paths.c - the paths that were asked for, as one tree. */
#include "records/format/json.h"

#include "base/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name with a quote never stands in a text without escapes. */
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

/* JSON_NONE: it is the root. */
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
