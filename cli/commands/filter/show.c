/* show.c - a tag is the lists' names joined by +, and under --any a second column with the key that
 * is in each of them, joined likewise. */
#include "commands/filter/show.h"

#include "base/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void open_text(struct show_text *t) {
    t->stream = open_memstream(&t->bytes, &t->len);
    if (!t->stream) die("out of memory for tags");
}

static void close_text(struct show_text *t) {
    if (t->stream) fclose(t->stream);
    free(t->bytes);
}

void show_init(struct show *s, const struct lists *lists, struct any *any, struct sink *sink,
               const char *column, bool quotes) {
    *s = (struct show){.lists = lists, .any = any, .sink = sink, .quotes = quotes};
    open_text(&s->text);
    open_text(&s->value);
    open_text(&s->names);
    const char *name = column ? column : "lists";
    char between = sink->column ? sink->column : '\t';
    snprintf(s->heading, sizeof s->heading, "%s", name);
    if (any) snprintf(s->heading, sizeof s->heading, "%s%c%s_key", name, between, name);
    sink->heading = s->heading;
}

void show_free(struct show *s) {
    close_text(&s->text);
    close_text(&s->value);
    close_text(&s->names);
}

static void begin(struct show_text *t) { rewind(t->stream); }

/* The text so far, ended. */
static const char *end(struct show_text *t) {
    putc('\0', t->stream);
    if (fflush(t->stream)) die("out of memory for tags");
    return t->bytes;
}

/* -- tags --------------------------------------------------------------------------------- */

/* Joins what is told of a record's lists. */
struct joining {
    FILE *stream;
    const char *between;
};

/* As a terminal and a row can take it. */
static void join_text(void *ctx, const char *value, size_t len) {
    struct joining *j = ctx;
    fputs(j->between, j->stream);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)value[i];
        putc(c < 0x20 || c == 0x7f ? '?' : c, j->stream);
    }
    j->between = "+";
}

static const char *joined_keys(struct show *s, const struct batch *b, size_t i, uint64_t lists) {
    struct joining j = {s->value.stream, ""};
    begin(&s->value);
    any_keys(s->any, b, i, lists, join_text, &j);
    return end(&s->value);
}

static void put_value(const struct show *s, const char *value, FILE *stream) {
    bool quotes = s->quotes && (strchr(value, s->sink->column) || strchr(value, '"'));
    if (quotes) putc('"', stream);
    for (; *value; value++) {
        if (quotes && *value == '"') putc('"', stream);
        putc(*value, stream);
    }
    if (quotes) putc('"', stream);
}

/* Neighbours often are in the same lists. */
static const char *joined_names(struct show *s, uint64_t lists) {
    struct joining j = {s->value.stream, ""};
    if (s->named == lists) return s->names.bytes;
    s->named = lists;
    begin(&s->value);
    for (; lists; lists &= lists - 1) {
        const char *name = s->lists->list[__builtin_ctzll(lists)].name;
        join_text(&j, name, strlen(name));
    }
    begin(&s->names);
    put_value(s, end(&s->value), s->names.stream);
    return end(&s->names);
}

void show_tag(struct show *s, const struct batch *b, size_t i, uint64_t lists) {
    const char *tag = joined_names(s, lists);
    if (s->any) {
        begin(&s->text);
        fputs(tag, s->text.stream);
        putc(s->sink->column ? s->sink->column : '\t', s->text.stream);
        put_value(s, joined_keys(s, b, i, lists), s->text.stream);
        tag = end(&s->text);
    }
    sink_tagged(s->sink, &b->record[i], tag);
}

/* -- JSON --------------------------------------------------------------------------------- */

static void join_json(void *ctx, const char *value, size_t len) {
    struct joining *j = ctx;
    fputs(j->between, j->stream);
    json_print(value, len, j->stream);
    j->between = ",";
}

void show_json(struct show *s, const struct batch *b, size_t i, uint64_t lists, uint64_t number) {
    struct joining names = {s->text.stream, ""}, keys = {s->text.stream, ""};
    begin(&s->text);
    fprintf(s->text.stream, "\"number\":%" PRIu64 ",\"lists\":[", number);
    for (uint64_t left = lists; left; left &= left - 1) {
        const char *name = s->lists->list[__builtin_ctzll(left)].name;
        join_json(&names, name, strlen(name));
    }
    if (s->any) fputs("],\"keys\":[", s->text.stream);
    if (s->any) any_keys(s->any, b, i, lists, join_json, &keys);
    putc(']', s->text.stream);
    sink_object(s->sink, &b->record[i], end(&s->text));
}

void show_json_unjudged(struct show *s, const char *p, size_t n, uint64_t number, bool first,
                        bool last) {
    begin(&s->text);
    fprintf(s->text.stream, "\"number\":%" PRIu64 ",\"lists\":null", number);
    if (s->any) fputs(",\"keys\":null", s->text.stream);
    sink_object_piece(s->sink, p, n, end(&s->text), first, last);
}
