/* rows.c - prints the rows of `seen diff` as a table or as JSON. */
#include "commands/diff/rows.h"

#include "base/cli.h"
#include "base/json.h"
#include "commands/diff/packed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- one value ---------------------------------------------------------------------------- */

/* A table's rows are lines, so a byte that would end a value or a row is written as an escape. */
static void put_escaped(const char *p, size_t n) {
    static const char from[] = "\t\n\r\\\0", to[] = "tnr\\0";
    for (size_t i = 0; i < n; i++) {
        const char *known = memchr(from, p[i], sizeof from - 1);
        if (known) putchar_unlocked('\\');
        putchar_unlocked(known ? to[known - from] : p[i]);
    }
}

static void put_quoted(const struct rows *r, const char *p, size_t n) {
    bool bare = !memchr(p, r->delimiter, n);
    for (size_t i = 0; i < n && bare; i++) bare = p[i] != '"' && p[i] != '\n' && p[i] != '\r';
    if (bare) {
        fwrite(p, 1, n, stdout);
        return;
    }
    putchar_unlocked('"');
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '"') putchar_unlocked('"');
        putchar_unlocked(p[i]);
    }
    putchar_unlocked('"');
}

static void put_value(const struct rows *r, const char *p, size_t n) {
    if (r->format == ROWS_CSV)
        put_quoted(r, p, n);
    else
        put_escaped(p, n);
}

/* The next field of a key, in r->value behind `used` bytes. */
static size_t next_field(struct rows *r, const char **at, const struct entry *e, size_t used) {
    if (r->room < e->len) {
        r->room = 2 * e->len;
        r->value = realloc(r->value, r->room);
        if (!r->value) die("out of memory for a key of %zu bytes", e->len);
    }
    return packed_get(at, r->value + used);
}

static bool more_fields(const char *at, const struct entry *e) { return at < e->key + e->len; }

/* What stands in the next column of a key: a field, or all of them. */
static size_t next_column(struct rows *r, const char **at, const struct entry *e) {
    size_t n = next_field(r, at, e, 0);
    while (r->varies && more_fields(*at, e)) {
        r->value[n++] = r->joint;
        n += next_field(r, at, e, n);
    }
    return n;
}

/* -- tables ------------------------------------------------------------------------------- */

static char between(const struct rows *r) { return r->format == ROWS_CSV ? r->delimiter : '\t'; }

void rows_head(const struct rows *r) {
    static const char *const of_all[] = {"left", "right"}, *const of_sums[] = {"left_sum",
                                                                               "right_sum"};
    char c = between(r);
    if (r->format == ROWS_JSON) return;
    for (uint32_t i = 0; i < r->columns; i++) {
        put_value(r, r->name[i], strlen(r->name[i]));
        putchar_unlocked(c);
    }
    printf("%s%c%s", of_all[LEFT], c, of_all[RIGHT]);
    if (r->matched) printf("%cmatched", c);
    if (r->sums) printf("%c%s%c%s", c, of_sums[LEFT], c, of_sums[RIGHT]);
    putchar_unlocked('\n');
}

static void put_row(struct rows *r, const struct pair *p) {
    const struct entry *e = &p->entry;
    const char *at = e->key;
    char c = between(r), text[DECIMAL_TEXT];
    for (uint32_t i = 0; i < r->columns; i++) {
        size_t n = next_column(r, &at, e);
        put_value(r, r->value, n);
        putchar_unlocked(c);
    }
    printf("%" PRIu64 "%c%" PRIu64, e->n[LEFT], c, e->n[RIGHT]);
    if (r->matched) printf("%c%" PRIu64, c, p->matched);
    for (int side = LEFT; r->sums && side <= RIGHT; side++) {
        decimal_text(e->sum[side], r->places, text);
        printf("%c%s", c, text);
    }
    putchar_unlocked('\n');
}

/* -- JSON --------------------------------------------------------------------------------- */

static bool is_text(struct rows *r, const struct entry *e) {
    const char *at = e->key;
    while (more_fields(at, e)) {
        size_t n = next_field(r, &at, e, 0);
        if (!json_is_text(r->value, n)) return false;
    }
    return true;
}

/* One value alone, several as an array; in base64 where one of them is not UTF-8. */
static void put_json_key(struct rows *r, const struct entry *e) {
    bool text = is_text(r, e), array = r->columns > 1 || r->varies;
    const char *at = e->key;
    printf("\"key%s\": %s", text ? "" : "_base64", array ? "[" : "");
    while (more_fields(at, e)) {
        if (at > e->key) printf(", ");
        size_t n = next_field(r, &at, e, 0);
        if (text)
            json_print(r->value, n, stdout);
        else
            json_print_base64(r->value, n, stdout);
    }
    if (array) putchar_unlocked(']');
}

static void put_object(struct rows *r, const struct pair *p) {
    const struct entry *e = &p->entry;
    char text[2][DECIMAL_TEXT];
    putchar_unlocked('{');
    put_json_key(r, e);
    printf(", \"left\": %" PRIu64 ", \"right\": %" PRIu64, e->n[LEFT], e->n[RIGHT]);
    if (r->matched) printf(", \"matched\": %" PRIu64, p->matched);
    if (r->sums) {
        for (int side = LEFT; side <= RIGHT; side++)
            decimal_text(e->sum[side], r->places, text[side]);
        printf(", \"left_sum\": \"%s\", \"right_sum\": \"%s\"", text[LEFT], text[RIGHT]);
    }
    printf("}\n");
}

/* -- rows --------------------------------------------------------------------------------- */

void rows_put(struct rows *r, const struct pair *p) {
    if (r->format == ROWS_JSON)
        put_object(r, p);
    else
        put_row(r, p);
}

void rows_free(struct rows *r) { free(r->value); }
