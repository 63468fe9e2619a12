/* sums.c - reads the amounts of --sum, adds them up, and prints the sums. */
#include "base/text.h"
#include "commands/dedup/dedup.h"

#include "base/cli.h"

#include <stdlib.h>
#include <string.h>

static void *allocate(void *old, size_t n, size_t size) {
    void *p = realloc(old, (n ? n : 1) * size);
    if (!p) die("out of memory for sums; give less --max-groups, or less --hold");
    return p;
}

void sums_init(struct sums *s) {
    uint32_t n = s->fields.n;
    s->places = allocate(NULL, n, sizeof *s->places);
    s->misread = allocate(NULL, n, sizeof *s->misread);
    memset(s->places, 0, n * sizeof *s->places);
    memset(s->misread, 0, n * sizeof *s->misread);
}

void sums_free(struct sums *s) {
    columns_free_fields(&s->fields);
    free(s->places);
    free(s->misread);
    free(s->waiting);
    free(s->group);
    free(s->ticket);
    free(s->value);
    *s = (struct sums){0};
}

/* -- amounts that wait for their verdict -------------------------------------------------- */

static uint32_t take_ticket(struct sums *s) {
    if (!s->unused) {
        uint32_t more = s->tickets + BATCH;
        s->waiting =
            allocate(s->waiting, (size_t)(s->tickets + more) * s->fields.n, sizeof *s->waiting);
        s->group = allocate(s->group, s->tickets + more, sizeof *s->group);
        s->ticket = allocate(s->ticket, s->tickets + more, sizeof *s->ticket);
        while (s->unused < more) s->ticket[s->unused++] = s->tickets++;
    }
    return s->ticket[--s->unused];
}

static void note_misread(struct misread *m, const char *value, size_t len, uint64_t number) {
    if (m->number) return;
    m->number = number;
    m->absent = !value;
    snprintf(m->value, sizeof m->value, "%.*s", len < sizeof m->value ? (int)len : 40,
             value ? value : "");
    if (len >= sizeof m->value) strcpy(m->value + 40, "...");
    text_tame(m->value);
}

uint32_t sums_read(struct sums *s, uint32_t group, struct sum *sum, const struct slice *field,
                   uint64_t number) {
    uint32_t ticket = take_ticket(s), n = s->fields.n;
    s->group[ticket] = group;
    decimal *amount = s->waiting + (size_t)ticket * n;
    for (uint32_t i = 0; i < n; i++) {
        const struct slice *f = &field[s->fields.slot[i]];
        size_t len = f->at ? f->len : 0;
        const char *value = f->at;
        if (value && f->escaped) {
            if (s->value_room < f->len) {
                s->value_room = 2 * (size_t)f->len;
                s->value = allocate(s->value, s->value_room, 1);
            }
            len = slice_value(f, s->value);
            value = s->value;
        }
        if (value && decimal_parse(&amount[i], &s->places[i], value, len)) continue;
        amount[i] = 0;
        sum[i].unreadable++;
        note_misread(&s->misread[i], value, len, number);
    }
    return ticket;
}

void sums_lacking(struct sums *s, struct sum *sum, uint64_t number) {
    for (uint32_t i = 0; i < s->fields.n; i++) {
        sum[i].unreadable++;
        note_misread(&s->misread[i], NULL, 0, number);
    }
}

static void add(struct sum *sum, uint8_t verdict, decimal amount) {
    if (!decimal_add(&sum->of[verdict], amount)) sum->too_large = true;
}

void sums_count(struct sums *s, struct sum *sum, uint8_t verdict, uint32_t ticket) {
    const decimal *amount = s->waiting + (size_t)ticket * s->fields.n;
    for (uint32_t i = 0; i < s->fields.n; i++) add(&sum[i], verdict, amount[i]);
    s->ticket[s->unused++] = ticket;
}

void sums_add(const struct sums *s, struct sum *into, const struct sum *from) {
    for (uint32_t i = 0; i < s->fields.n; i++) {
        for (int v = 0; v < VERDICTS; v++) add(&into[i], (uint8_t)v, from[i].of[v]);
        into[i].unreadable += from[i].unreadable;
        into[i].too_large |= from[i].too_large;
    }
}

/* -- printing ----------------------------------------------------------------------------- */

/* A part of a gross amount: the verdicts that add up to it. */
struct part {
    const char *name;
    bool of[VERDICTS];
};

enum { MAX_PARTS = 5 };

/* With --confirmed a duplicate that is not confirmed goes through, and counts in `net`. */
static size_t parts_of(const struct sums *s, bool unjudged, struct part parts[MAX_PARTS]) {
    size_t n = 0;
    parts[n++] = (struct part){"gross", {true, true, true, true}};
    parts[n++] = (struct part){"duplicate", {[SEEN_DUPLICATE] = true, [SEEN_CONFIRMED] = true}};
    if (s->confirms) parts[n++] = (struct part){"confirmed", {[SEEN_CONFIRMED] = true}};
    if (unjudged) parts[n++] = (struct part){"unjudged", {[UNREADABLE] = true}};
    parts[n++] = (struct part){"net", {[SEEN_NEW] = true, [SEEN_DUPLICATE] = s->confirmed}};
    return n;
}

/* False if it does not fit. */
static bool amount_of(const struct sum *sum, const struct part *part, decimal *amount) {
    bool fits = !sum->too_large;
    *amount = 0;
    for (int v = 0; v < VERDICTS; v++)
        if (part->of[v]) fits &= decimal_add(amount, sum->of[v]);
    return fits;
}

/* A table has a column for unjudged amounts if there are any. */
static size_t columns_of(const struct sums *s, const struct sum *total, struct part *parts) {
    bool unjudged = false;
    for (uint32_t i = 0; i < s->fields.n; i++) unjudged |= total[i].of[UNREADABLE] != 0;
    return parts_of(s, unjudged, parts);
}

enum { COLUMN = 16 };

void sums_put_names(const struct sums *s, const struct sum *total, FILE *out) {
    struct part parts[MAX_PARTS];
    size_t n = columns_of(s, total, parts);
    for (uint32_t i = 0; i < s->fields.n; i++) {
        for (size_t p = 0; p < n; p++) {
            char name[80];
            snprintf(name, sizeof name, "%.60s %s", s->fields.name[i], parts[p].name);
            text_tame(name);
            fprintf(out, " %*s", COLUMN, name);
        }
    }
}

/* Each column is as wide as its name. */
void sums_put_row(const struct sums *s, const struct sum *total, const struct sum *group,
                  FILE *out) {
    struct part parts[MAX_PARTS];
    size_t n = columns_of(s, total, parts);
    for (uint32_t i = 0; i < s->fields.n; i++) {
        for (size_t p = 0; p < n; p++) {
            decimal amount;
            char text[DECIMAL_TEXT] = "too large";
            size_t width = strnlen(s->fields.name[i], 60) + 1 + strlen(parts[p].name);
            if (amount_of(&group[i], &parts[p], &amount)) decimal_text(amount, s->places[i], text);
            fprintf(out, " %*s", width > COLUMN ? (int)width : COLUMN, text);
        }
    }
}

void sums_put_json(const struct sums *s, const struct sum *group, struct json *j) {
    struct part parts[MAX_PARTS];
    size_t n = parts_of(s, true, parts);
    json_open(j, "sums", '{');
    for (uint32_t i = 0; i < s->fields.n; i++) {
        json_open(j, s->fields.name[i], '{');
        for (size_t p = 0; p < n; p++) {
            decimal amount;
            char text[DECIMAL_TEXT];
            bool fits = amount_of(&group[i], &parts[p], &amount);
            if (fits) decimal_text(amount, s->places[i], text);
            json_text(j, parts[p].name, fits ? text : NULL);
        }
        json_count(j, "unreadable", group[i].unreadable);
        json_close(j, '}');
    }
    json_close(j, '}');
}

/* -- amounts that are missing in the sums ------------------------------------------------- */

static void warn_misread(const char *name, uint64_t n, const struct misread *m) {
    if (m->absent)
        warn("%ju amount%s of '%s' cannot be read and count%s as nothing: record %ju, the first, "
             "has no such field",
             (uintmax_t)n, n == 1 ? "" : "s", name, n == 1 ? "s" : "", (uintmax_t)m->number);
    else
        warn("%ju amount%s of '%s' cannot be read and count%s as nothing: the first is '%s' in "
             "record %ju; write an amount as 1234.50",
             (uintmax_t)n, n == 1 ? "" : "s", name, n == 1 ? "s" : "", m->value,
             (uintmax_t)m->number);
}

uint64_t sums_misread(const struct sums *s, const struct sum *total) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->fields.n; i++) n += total[i].unreadable;
    return n;
}

bool sums_lack(const struct sums *s, const struct sum *total, uint64_t misread, bool quiet) {
    bool more = sums_misread(s, total) > misread, large = false;
    for (uint32_t i = 0; i < s->fields.n; i++) {
        struct part parts[MAX_PARTS];
        decimal amount;
        bool this = false;
        for (size_t n = parts_of(s, true, parts); n-- > 0;)
            this |= !amount_of(&total[i], &parts[n], &amount);
        large |= this;
        if (more && total[i].unreadable && !quiet)
            warn_misread(s->fields.name[i], total[i].unreadable, &s->misread[i]);
        if (this && !quiet)
            warn("a sum of '%s' is not told: it does not fit into 20 digits before the point",
                 s->fields.name[i]);
    }
    return more || large;
}
