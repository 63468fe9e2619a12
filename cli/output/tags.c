/* tags.c - reads --tag=LIST and writes the tags of a record. */
#include "output/tags.h"

#include "base/cli.h"
#include "records/format/record.h"
#include "time/time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of the tags: on the command line, at the end of a column's name, in JSON. */
static const struct {
    const char *name, *column, *json;
} kinds[TAG_KINDS] = {
    [TAG_VERDICT] = {"verdict", "", "verdict"},
    [TAG_NUMBER] = {"number", "_number", "number"},
    [TAG_TIME] = {"time", "_time", "time"},
    [TAG_AGE] = {"age", "_age", "age"},
    [TAG_FIRST] = {"first", "_first", "first"},
    [TAG_FIRST_TIME] = {"first-time", "_first_time", "first_time"},
    [TAG_LAST] = {"last", "_last", "last"},
    [TAG_LAST_TIME] = {"last-time", "_last_time", "last_time"},
};

const char *verdict_name(uint8_t verdict) {
    static const char *const names[] = {[SEEN_NEW] = "new",
                                        [SEEN_DUPLICATE] = "dup",
                                        [SEEN_CONFIRMED] = "sure",
                                        [UNREADABLE] = "-",
                                        [UNCERTAIN] = "-"};
    return names[verdict];
}

/* -- which -------------------------------------------------------------------------------- */

bool tags_have(const struct tags *t, enum tag tag) {
    for (size_t i = 0; i < t->n; i++)
        if (t->list[i] == tag) return true;
    return false;
}

static const char *next_kind(void *ctx) {
    enum tag *at = ctx;
    return *at < TAG_KINDS ? kinds[(*at)++].name : NULL;
}

static enum tag tag_of(const char *word, const char *list) {
    enum tag first = 0;
    for (enum tag tag = 0; tag < TAG_KINDS; tag++)
        if (!strcmp(word, kinds[tag].name)) return tag;
    const char *near = nearest_name(word, next_kind, &first);
    if (near) die("--tag=%s: '%s' is not known; did you mean %s?", list, word, near);
    die("--tag=%s: '%s' is not one of verdict, number, time, age, first, first-time, last, "
        "last-time",
        list, word);
}

void tags_parse(struct tags *t, const char *list) {
    char *copy = strdup(list ? list : "verdict"), *rest = copy, *word;
    if (!copy) die("out of memory for a list of tags");
    t->n = 0;
    while ((word = strsep(&rest, ","))) {
        enum tag tag = tag_of(word, list);
        if (tags_have(t, tag)) die("--tag=%s names %s twice: leave one out", list, word);
        t->list[t->n++] = tag;
    }
    free(copy);
}

/* -- values ------------------------------------------------------------------------------- */

/* Microseconds as seconds, without zeros at the end. */
static int seconds_text(uint64_t us, char *out, size_t cap) {
    int n = snprintf(out, cap, "%" PRIu64, us / 1000000);
    if (us % 1000000) {
        n += snprintf(out + n, cap - (size_t)n, ".%06" PRIu64, us % 1000000);
        while (out[n - 1] == '0') out[--n] = '\0';
    }
    return n;
}

static int number_text(uint64_t n, char *out, size_t cap) {
    return n ? snprintf(out, cap, "%" PRIu64, n) : 0;
}

/* Returns the length of the value; 0: the tag has no value here.  *quoted: a string in JSON. */
static int value_text(enum tag tag, bool spans, uint8_t verdict, const struct details *f, char *out,
                      size_t cap, bool *quoted) {
    *quoted =
        tag == TAG_VERDICT || tag == TAG_TIME || tag == TAG_FIRST_TIME || tag == TAG_LAST_TIME;
    switch (tag) {
    case TAG_VERDICT:
        return verdict >= UNREADABLE ? 0 : snprintf(out, cap, "%s", verdict_name(verdict));
    case TAG_NUMBER: return number_text(f->itself.number, out, cap);
    case TAG_TIME: return time_text(f->itself.time, out, cap);
    case TAG_AGE:
        if (f->age == SEEN_NEVER) return 0;
        return spans ? seconds_text(f->age, out, cap) : number_text(f->age, out, cap);
    case TAG_FIRST: return number_text(f->first.number, out, cap);
    case TAG_FIRST_TIME: return time_text(f->first.time, out, cap);
    case TAG_LAST: return number_text(f->last.number, out, cap);
    default: return time_text(f->last.time, out, cap);
    }
}

void tags_text(const struct tags *t, uint8_t verdict, const struct details *f, char separator,
               char text[TAGS_TEXT]) {
    char *p = text;
    bool quoted;
    for (size_t i = 0; i < t->n; i++) {
        if (i) *p++ = separator;
        int n = value_text(t->list[i], t->spans, verdict, f, p, 47, &quoted);
        if (!n) *p++ = '-';
        p += n;
    }
    *p = '\0';
}

void tags_heading(const struct tags *t, const char *column, char separator, char text[TAGS_TEXT]) {
    char *p = text;
    for (size_t i = 0; i < t->n; i++)
        p += sprintf(p, "%.*s%s%s", i > 0, &separator, column, kinds[t->list[i]].column);
}

const char *tags_column(const char *name) {
    if (!*name || strlen(name) > TAGS_COLUMN)
        die("--tag-column '%s': a name has 1 to %d bytes", name, TAGS_COLUMN);
    if (name[strcspn(name, ",;|\t\r\n\"")])
        die("--tag-column '%s': a name without commas, quotes and other delimiters", name);
    return name;
}

void tags_json(const struct tags *t, uint8_t verdict, const struct details *f,
               char text[TAGS_TEXT]) {
    char *p = text, value[48];
    bool quoted;
    for (size_t i = 0; i < t->n; i++) {
        int n = value_text(t->list[i], t->spans, verdict, f, value, sizeof value, &quoted);
        const char *quote = n && quoted ? "\"" : "";
        p += sprintf(p, "%s\"%s\":%s%s%s", i ? "," : "", kinds[t->list[i]].json, quote,
                     n ? value : "null", quote);
    }
}
