/* show.c - prints the records of `seen filter` and the statistics of its run. */
#include "commands/filter/filter.h"

#include "records/format/json.h"

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

/* Ends the text and returns it. */
static const char *end(struct show_text *t) {
    putc('\0', t->stream);
    if (fflush(t->stream)) die("out of memory for tags");
    return t->bytes;
}

/* -- tags --------------------------------------------------------------------------------- */

/* Writes names or keys with something between them. */
struct joining {
    FILE *stream;
    const char *between;
};

/* Writes a value without control characters. */
static void join_text(void *ctx, const char *value, size_t len) {
    struct joining *j = ctx;
    fputs(j->between, j->stream);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)value[i];
        putc(c < 0x20 || c == 0x7f ? '?' : c, j->stream);
    }
    j->between = "+";
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

/* The names of lists, joined.  They are kept, because neighbours are often in the same lists. */
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
        struct joining keys = {s->value.stream, ""};
        begin(&s->value);
        any_keys(s->any, b, i, lists, join_text, &keys);
        put_value(s, end(&s->value), s->text.stream);
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

/* The probability that a record of this run passes a list that has none of its keys. */
static double record_fp(const struct filter_run *f, double e) {
    return f->chance ? chance_record(f->chance, e) : e;
}

static double keys_a_record(const struct chance *c) {
    return c->records ? (double)c->keys / (double)c->records : 0;
}

/* -- --stats ------------------------------------------------------------------------------ */

static void put_json(const struct filter_run *f) {
    struct json j = {.out = stderr};
    json_open(&j, NULL, '{');
    run_stats_json(&j, f->unjudged);
    json_count(&j, "matched", f->passed);
    if (f->chance) {
        json_count(&j, "keys", f->chance->keys);
        json_put(&j, "fp_record", "%.9g", record_fp(f, chance_key(f->lists)));
    }
    json_open(&j, "lists", '[');
    for (size_t i = 0; i < f->lists->n && f->lists->list[i].set; i++) {
        const struct list *l = &f->lists->list[i];
        struct seen_stats s;
        seen_stats(l->set, &s);
        json_open(&j, NULL, '{');
        json_text(&j, "list", l->name);
        json_count(&j, "keys", l->n);
        json_count(&j, "bytes", s.bytes);
        json_count(&j, "matches", l->matches);
        json_put(&j, "fp", "%.9g", s.fp_now);
        if (f->chance) json_put(&j, "fp_record", "%.9g", record_fp(f, s.fp_now));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    run_stats_json_end(f->stats, &j, f->unjudged->records);
}

void report_stats(const struct filter_run *f) {
    if (f->stats->json) {
        put_json(f);
        return;
    }
    fprintf(stderr, "%s records, ", number_grouped(f->unjudged->records).text);
    fprintf(stderr, "%s in a list, ", number_grouped(f->passed).text);
    fprintf(stderr, "%s without a readable key\n", number_grouped(f->unjudged->n).text);
    if (f->chance)
        fprintf(stderr,
                "%s keys, %.1f a record; of m keys a record of no list passes with "
                "1-(1-e)^m\n",
                number_grouped(f->chance->keys).text, keys_a_record(f->chance));
    for (size_t i = 0; i < f->lists->n && f->lists->list[i].set; i++) {
        const struct list *l = &f->lists->list[i];
        struct seen_stats s;
        seen_stats(l->set, &s);
        fprintf(stderr, "  %s: %s keys in ", l->name, number_grouped(l->n).text);
        fprintf(stderr, "%s, %s matches; ", number_size(s.bytes).text,
                number_grouped(l->matches).text);
        if (f->chance)
            fprintf(stderr, "e = %.2g, %.2g of the others pass\n", s.fp_now,
                    record_fp(f, s.fp_now));
        else
            fprintf(stderr, "%.2g of the others pass\n", s.fp_now);
    }
}

/* -- warnings ----------------------------------------------------------------------------- */

void report_chance(const struct filter_run *f) {
    if (!f->chance) return;
    double e = chance_key(f->lists), rate = record_fp(f, e);
    double others = (double)(f->chance->records - f->passed), n = others * rate / (1 - rate);
    if (rate >= 1 || n > (double)f->passed) n = (double)f->passed;
    if (n < 1) return;
    warn("about %.0f of the %" PRIu64 " records that are in a list probably hold no key of it: a "
         "record has %.1f keys, and each is taken for one of a list with %.2g; give a smaller "
         "--fp, or --exact",
         n, f->passed, keys_a_record(f->chance), e);
}

static void tell_field(const struct layout *l, uint32_t slot) {
    char name[128];
    uint32_t column = 0;
    while (column < l->width && l->slot_of[column] != (int32_t)slot) column++;
    if (column == l->width) return; /* of a span */
    if (l->paths)
        json_paths_name(l->paths, column, name, sizeof name);
    else
        snprintf(name, sizeof name, "%u", column + 1);
    text_tame(name);
    warn("no record has a field %s, which -k asks for; the others were looked at", name);
}

void report_fields(const struct any *any, const struct input_options *input) {
    const struct layout *l = any->layout;
    if (input->quiet || l->keys < 2) return;
    for (uint32_t i = 0; i < l->keys; i++) {
        bool met = false, looked = false;
        for (int who = 0; who < MAX_THREADS; who++) {
            looked |= any[who].met != NULL;
            met |= any[who].met && any[who].met[i];
        }
        if (looked && !met) tell_field(l, l->key[i]);
    }
}
