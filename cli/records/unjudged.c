/* unjudged.c - counts the records that cannot be judged, describes the first of each cause, and
 * writes --rejects. */
#include "records/unjudged.h"

#include "records/format/fields.h"
#include "records/format/json.h"
#include "time/time.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN = 60 }; /* bytes of a value that a sentence shows */

/* A record that cannot be judged, and all that its message may need. */
struct reject {
    const struct unjudged *all;
    const struct record *record;
    const struct slice *field; /* by slot; NULL: the record came in pieces */
    uintmax_t number;
    seen_time now; /* what the clock said */
};

struct value {
    char text[SHOWN + 4];
};

/* -- values in sentences ------------------------------------------------------------------ */

/* The first bytes of a value, without control characters and bytes that are not UTF-8. */
static struct value shown(const char *p, size_t len) {
    struct value v;
    size_t n = len > SHOWN ? SHOWN : len;
    while (n < len && n > 0 && ((unsigned char)p[n] & 0xc0) == 0x80) n--; /* no half character */
    memcpy(v.text, p, n);
    for (size_t i = 0; i < n; i++)
        if (!v.text[i]) v.text[i] = '?';
    strcpy(v.text + n, n < len ? "..." : "");
    text_tame(v.text);
    for (char *c = v.text; *c && !json_is_text(v.text, n); c++)
        if (*c & 0x80) *c = '?';
    return v;
}

static struct value shown_field(const struct slice *f) {
    char *value = malloc((size_t)f->len + 1);
    if (!value) die("out of memory for a field of %u bytes", f->len);
    struct value v = shown(value, slice_value(f, value));
    free(value);
    return v;
}

/* -- the causes --------------------------------------------------------------------------- */

/* The first slot, besides key and time, whose field is missing; NULL: none is. */
static const uint32_t *missing_slot(const struct unjudged *u, const struct slice *field) {
    for (uint32_t i = 0; i < u->slots; i++)
        if (!field[u->slot[i]].at) return &u->slot[i];
    return NULL;
}

/* How many fields a slot needs: its column's number from 1, or that of the end of a span. */
static uint64_t fields_for(const struct layout *l, uint32_t slot) {
    uint32_t column = 0;
    for (uint32_t i = 0; i < l->spans; i++) {
        const struct span *s = &l->span[i];
        if ((uint32_t)s->slot == slot)
            return 1 + (uint64_t)(s->first.n > s->last.n ? s->first.n : s->last.n);
    }
    while (l->slot_of[column] != (int32_t)slot) column++;
    return column + 1;
}

/* How many fields the record needs, if some are missing, and the option that needs them. */
static uint64_t wanted_fields(const struct reject *r, const char **option) {
    const struct layout *l = r->all->layout;
    uint64_t most = 0;
    *option = "-k";
    for (uint32_t i = 0; i < l->keys; i++) {
        if (r->field[l->key[i]].at) continue;
        uint64_t n = fields_for(l, l->key[i]);
        if (n > most) most = n;
    }
    if (most) return most;
    *option = "--time";
    if (l->time != NO_SLOT && !r->field[l->time].at) return fields_for(l, (uint32_t)l->time);
    *option = r->all->slot_option;
    return fields_for(l, *missing_slot(r->all, r->field));
}

static void tell_named_field(const struct reject *r, uint32_t column, const char *option,
                             char *text) {
    const struct layout *l = r->all->layout;
    char name[SHOWN];
    if (l->paths)
        json_paths_name(l->paths, column, name, sizeof name);
    else
        snprintf(name, sizeof name, "%s", clf_names.name[column]);
    snprintf(text, UNJUDGED_TEXT, "record %ju has no %s%s, which %s asks for", r->number,
             l->paths ? "value at " : "", shown(name, strlen(name)).text, option);
}

static void tell_field(const struct reject *r, char *text) {
    const struct input_options *s = r->all->input;
    const struct cutting *cutting = &r->all->layout->cutting;
    const char *option, *guess;
    uintmax_t wanted = wanted_fields(r, &option), n = 0;
    if (s->shape == SHAPE_NDJSON || s->shape == SHAPE_CLF) {
        tell_named_field(r, (uint32_t)wanted - 1, option, text);
        return;
    }
    struct walk w = fields_of(cutting, r->record->at, r->record->bare);
    for (struct slice f; fields_next(&w, &f);) n++;
    guess = guess_delimiter(r->record->at, r->record->bare, cutting, input_options_column(s),
                            wanted, NULL);
    snprintf(text, UNJUDGED_TEXT, "record %ju has %ju field%s, %s asks for %ju%s%s", r->number, n,
             n == 1 ? "" : "s", option, wanted, guess ? ": try " : "", guess ? guess : "");
}

static struct value shown_key(const struct reject *r) {
    const struct layout *l = r->all->layout;
    const struct slice whole = {r->record->at, r->record->bare, AS_IT_IS};
    return shown_field(l->keys ? &r->field[l->key[0]] : &whole);
}

static void tell_time(const struct reject *r, char *text) {
    const struct time_format *f = r->all->input->time_format;
    struct value v = shown_field(&r->field[r->all->layout->time]);
    if (f)
        snprintf(text, UNJUDGED_TEXT, "time '%s' does not match '%s%s%s', record %ju", v.text,
                 f->before, f->after ? "%f" : "", f->after ? f->after : "", r->number);
    else
        snprintf(text, UNJUDGED_TEXT,
                 "time '%s' cannot be read, record %ju: --time-format says how times are written",
                 v.text, r->number);
}

static const char *text_of(seen_time t, char buf[40]) {
    return time_text(t, buf, 40) ? buf : "a year beyond 9999";
}

/* A record from the future is not judged: it would make each later record of its key a duplicate
 * until that time has come. */
static void tell_future(const struct reject *r, char *text) {
    char time[40], now[40];
    seen_time t = SEEN_NEVER;
    slice_time(&r->field[r->all->layout->time], r->all->input->time_format, &t);
    snprintf(text, UNJUDGED_TEXT,
             "record %ju says %s, the clock %s, more than a day before it; --allow-future takes "
             "such times, and --zone says where times without an offset were written",
             r->number, text_of(t, time), text_of(r->now, now));
}

/* Describes what is wrong with a record. */
static void tell(enum cause cause, const struct reject *r, char *text) {
    const struct unjudged *u = r->all;
    const struct record *record = r->record;
    char most[32];
    switch (cause) {
    case CAUSE_LONG:
        seen_print_size(u->input->max_record, most, sizeof most);
        snprintf(text, UNJUDGED_TEXT, "record %ju is longer than --max-record (%s)", r->number,
                 most);
        break;
    case CAUSE_QUOTED:
        snprintf(text, UNJUDGED_TEXT,
                 "record %ju has a quote that is not closed, and all that follows is part of it",
                 r->number);
        break;
    case CAUSE_NOT_JSON:
        snprintf(text, UNJUDGED_TEXT, "record %ju is not a JSON object or array: '%s'", r->number,
                 shown(record->at, record->bare).text);
        break;
    case CAUSE_NOT_LOG:
        snprintf(text, UNJUDGED_TEXT, "record %ju is not a line of a web log: '%s'", r->number,
                 shown(record->at, record->bare).text);
        break;
    case CAUSE_PATTERN:
        snprintf(text, UNJUDGED_TEXT, "key '%s' does not match --key-regex '%.60s', record %ju",
                 shown_key(r).text, u->layout->form->regex, r->number);
        break;
    case CAUSE_EMPTY:
        snprintf(text, UNJUDGED_TEXT, "record %ju has neither a --query-key nor an --add-key",
                 r->number);
        break;
    case CAUSE_KEY:
        snprintf(text, UNJUDGED_TEXT, "key '%s' %s, record %ju", shown_key(r).text,
                 u->detector &&
                         seen_spec_get_count(seen_spec_of(u->detector), "hash") == SEEN_HASH_INT
                     ? "is not a decimal integer that hash=int takes"
                     : "is longer than hash=raw takes",
                 r->number);
        break;
    case CAUSE_ROOM:
        snprintf(text, UNJUDGED_TEXT, "record %ju has a key that is too long for --mem: raise it",
                 r->number);
        break;
    case CAUSE_FIELD: tell_field(r, text); break;
    case CAUSE_TIME: tell_time(r, text); break;
    default: tell_future(r, text);
    }
}

const char *cause_name(enum cause cause) {
    static const char *const names[CAUSES] = {
        [CAUSE_LONG] = "too_long",     [CAUSE_QUOTED] = "open_quote",
        [CAUSE_NOT_JSON] = "not_json", [CAUSE_NOT_LOG] = "not_a_log_line",
        [CAUSE_FIELD] = "no_field",    [CAUSE_PATTERN] = "no_match",
        [CAUSE_EMPTY] = "empty_key",   [CAUSE_KEY] = "key",
        [CAUSE_TIME] = "time",         [CAUSE_FUTURE] = "future",
        [CAUSE_ROOM] = "key_too_long",
    };
    return names[cause];
}

enum cause cause_of_missing(const struct layout *l, const struct record *r) {
    const struct format *f = l->format;
    return f->valid && !f->valid(l, r) ? f->invalid : CAUSE_FIELD;
}

void unjudged_describe(const struct unjudged *u, enum cause cause, const struct batch *b, size_t i,
                       uint64_t number, seen_time now, char text[UNJUDGED_TEXT]) {
    const struct slice *field = b->field + i * u->layout->slots;
    tell(cause, &(struct reject){u, &b->record[i], field, number, now}, text);
}

/* -- records ------------------------------------------------------------------------------ */

/* Writes a record, or a piece of it, to --rejects. */
static void reject(struct unjudged *u, const char *p, size_t n, bool first, bool last) {
    struct stat st;
    if (!u->rejects) return;
    bool empty = !u->begun && !fstat(u->rejects->fd, &st) && !st.st_size;
    u->begun = true;
    if (empty && u->header) {
        sink_put(u->rejects, u->header, u->header_len);
        sink_put(u->rejects, "\n", 1);
    }
    sink_unreadable(u->rejects, p, n, first, last);
}

static void note(struct unjudged *u, enum cause cause, const struct batch *b, size_t i,
                 seen_time now) {
    const struct record *r = &b->record[i];
    if (!u->by[cause]) unjudged_describe(u, cause, b, i, b->before + i + 1, now, u->first[cause]);
    u->n++;
    u->by[cause]++;
    reject(u, r->at, r->len, true, true);
}

void unjudged_batch(struct unjudged *u, const struct batch *b, seen_time now, size_t n,
                    const uint16_t *order, const uint8_t *cause) {
    const struct slice *field = b->field;
    u->records += b->n;
    if (n == b->n && !u->slots) return;
    for (size_t i = 0, m = 0; i < b->n; i++, field += u->layout->slots) {
        bool has = !order || (m < n && order[m] == i);
        m += has;
        if (!has)
            note(u, cause[i], b, i, now);
        else if (missing_slot(u, field))
            note(u, CAUSE_FIELD, b, i, now);
    }
}

void unjudged_piece(struct unjudged *u, enum cause cause, uint64_t number, const char *p, size_t n,
                    bool first, bool last) {
    if (first && !u->by[cause])
        tell(cause, &(struct reject){.all = u, .number = number}, u->first[cause]);
    u->n += first;
    u->by[cause] += first;
    u->records += first;
    reject(u, p, n, first, last);
}

/* -- the file of rejects ------------------------------------------------------------------ */

static void refuse_input(const struct input_options *s, const struct stat *file) {
    struct stat other;
    if (!S_ISREG(file->st_mode)) return;
    for (size_t i = 0; i <= s->file_count; i++) {
        const char *name = i < s->file_count ? s->files[i] : "standard output";
        bool std = i == s->file_count || !strcmp(name, "-");
        if (std ? fstat(i == s->file_count, &other) : stat(name, &other)) continue;
        if (other.st_dev == file->st_dev && other.st_ino == file->st_ino)
            die("%s is %s and --rejects; write rejects to another file", s->rejects,
                i < s->file_count ? "input" : "standard output");
    }
}

static void open_rejects(struct unjudged *u) {
    const struct input_options *s = u->input;
    struct stat st;
    int fd = open(s->rejects, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0 || fstat(fd, &st))
        die("cannot open --rejects %s: %s", s->rejects, file_trouble(errno));
    refuse_input(s, &st);
    if (!s->rejects_go_on && S_ISREG(st.st_mode) && ftruncate(fd, 0))
        die("cannot empty --rejects %s: %s", s->rejects, strerror(errno));
    u->rejects = malloc(sizeof *u->rejects);
    if (!u->rejects) die("out of memory for --rejects");
    sink_init(u->rejects, fd, SINK_UNIQUE, '\0');
    u->rejects->end = s->end;
}

void unjudged_init(struct unjudged *u, const struct input_options *s, const struct layout *l) {
    *u = (struct unjudged){.input = s, .layout = l};
    if (s->rejects) open_rejects(u);
}

void unjudged_wants(struct unjudged *u, const uint32_t *slot, uint32_t slots, const char *option) {
    u->slot = slot;
    u->slots = slots;
    u->slot_option = option;
}

void unjudged_free(struct unjudged *u) {
    if (!u->rejects) return;
    sink_free(u->rejects);
    free(u->rejects);
    u->rejects = NULL;
}

int unjudged_flush(struct unjudged *u) {
    if (!u->rejects) return 0;
    sink_flush(u->rejects);
    return u->rejects->error;
}

int unjudged_close(struct unjudged *u) {
    if (!u->rejects) return 0;
    sink_close(u->rejects);
    return u->rejects->error;
}

/* -- the end ------------------------------------------------------------------------------ */

/* What to do if no record could be judged; "" if the description already says so. */
static const char *advice(const struct unjudged *u, const char *causes) {
    static const char *const text[CAUSES] = {
        [CAUSE_LONG] = ": raise --max-record, or name the byte that ends records",
        [CAUSE_NOT_JSON] =
            (": --ndjson reads a JSON text a line, as jq -c . FILE or jq -c '.[]' FILE "
             "writes it; --csv, --tsv and --clf read other formats"),
        [CAUSE_NOT_LOG] = ": leave out --clf, or name the format (--csv, --tsv, --ndjson)",
        [CAUSE_FIELD] = ": -k counts fields from 1, -d names the byte between them",
        [CAUSE_PATTERN] = ": correct the expression",
        [CAUSE_EMPTY] = ": name fields that are not empty",
        [CAUSE_TIME] = ": correct --time-format",
    };
    const struct input_options *s = u->input;
    enum cause first = 0;
    while (first < CAUSES && !u->by[first]) first++;
    bool names = s->shape == SHAPE_NDJSON || s->shape == SHAPE_CLF;
    if (first == CAUSE_FIELD && names) return ": name a field that the records have";
    if (first == CAUSE_FIELD && strstr(causes, ": try ")) return "";
    if (first == CAUSE_TIME && !s->time_format) return "";
    return first < CAUSES && text[first] ? text[first] : "";
}

bool unjudged_end(struct unjudged *u, const char *fate, bool told) {
    const struct input_options *s = u->input;
    bool none = u->n > 0 && u->n == u->records, bad = none || (s->strict && u->n);
    char text[900], place[128];
    if (u->rejects) snprintf(place, sizeof place, "written to %.100s", s->rejects), fate = place;
    if (!u->n || !(bad || !(told || s->quiet))) return bad;
    size_t at = 0; /* of "3 as ...; 2 as ...", or the only cause alone */
    for (enum cause c = 0; c < CAUSES; c++) {
        if (u->by[c] == u->n) snprintf(text, sizeof text, "%s", u->first[c]);
        if (!u->by[c] || u->by[c] == u->n || at >= sizeof text) continue;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRIu64 " as %s", at ? "; " : "",
                               u->by[c], u->first[c]);
    }
    const char *of = u->side ? " of " : "", *side = u->side ? u->side : "";
    if (none)
        warn("none of the records%s%s could be judged (%" PRIu64 "): %s%s", of, side, u->n, text,
             advice(u, text));
    else
        warn("%" PRIu64 " record%s%s%s %s %s: %s", u->n, u->n == 1 ? "" : "s", of, side,
             u->n == 1 ? "was" : "were", fate, text);
    return bad;
}
