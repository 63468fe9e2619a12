/* state.c - `seen state FILE`: prints what a state or a snapshot of SEEN.DUMP or libseen holds. */
#include "state/state.h"

#include "commands/count/count.h"
#include "commands/dedup/dedup.h"
#include "records/run_stats.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OUTPUT = 1, STATS };

static const struct option_row own_rows[] = {
    {"output", 'o', "text|json", "json: one object", OUTPUT},
    {"stats", 0, "[=text|json]", "bytes of the file, how fast, on stderr", STATS},
    {0},
};

struct view {
    const char *name;
    struct stat st;
    int user;         /* the process that uses the state; 0: unknown, -1: none */
    bool state;       /* a state; otherwise a snapshot alone */
    bool more;        /* something follows the snapshot */
    bool counts;      /* a state of seen count or seen top, whose detector judges nothing */
    struct kept kept; /* what such a state counts */
    struct saved saved;
    struct groups groups;
    struct seen_stats stats;
    char spec[512];
    char written[40], last[40]; /* times as text; empty: there is none */
};

/* -- reading ------------------------------------------------------------------------------ */

static void put_time(seen_time t, char *text, size_t cap) {
    *text = '\0';
    if (t) time_text(t / 1000000 * 1000000, text, cap);
}

static void look(struct view *v) {
    struct saved *s = &v->saved;
    s->detector = state_file_look(v->name, &s->blob, &s->len, &v->more, &v->st, &v->user);
    v->state = saved_command(s->blob, s->len);
    if (v->state) saved_unpack(s, v->name);
    bool dedup = v->state && !strcmp(s->command, "dedup");
    v->counts = v->state && !dedup;
    if (v->more != v->counts)
        die("the state %s cannot be used: %s its end", v->name,
            v->more ? "more follows behind" : "it lacks");
    if (v->counts && !kept_unpack(&v->kept, s->extra, s->extra_len)) saved_refuse(v->name);
    if (dedup && !groups_unpack_fresh(&v->groups, s->extra, s->extra_len)) saved_refuse(v->name);
    seen_stats(s->detector, &v->stats);
    if (s->judge.fed.unique || s->judge.fed.duplicates) { /* verdicts of --query-key */
        v->stats.unique = s->judge.fed.unique;
        v->stats.duplicates = s->judge.fed.duplicates;
    }
    seen_spec_print(seen_spec_of(s->detector), v->spec, sizeof v->spec);
    seen_time last = saved_last(s);
    put_time((seen_time)v->st.st_mtime * 1000000, v->written, sizeof v->written);
    put_time(last, v->last, sizeof v->last);
}

/* In a compressed file the place counts unpacked bytes, and the bytes remembered are its first
 * ones, not those before the place. */
static bool is_plain(const struct place *f) { return f->at + f->len == f->offset; }

/* Says whether the file of a place is still there.  *unread: the bytes behind the place, or -1 if
 * their number is not known. */
static const char *standing(const struct place *f, int64_t *unread) {
    struct stat st;
    *unread = -1;
    if (!strcmp(f->name, "standard input")) return "standard input";
    if (stat(f->name, &st)) return "not there";
    if (st.st_ino != f->ino || st.st_dev != f->dev) return "another file";
    if (!is_plain(f)) return "there";
    if ((uint64_t)st.st_size < f->offset) return "shorter";
    *unread = (int64_t)((uint64_t)st.st_size - f->offset);
    return "there";
}

/* -- for people --------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void row(const char *name, const char *format, ...) {
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    text_tame(text);
    printf("  %-12s %s\n", name, text);
}

static void put_file(const struct place *f) {
    int64_t unread;
    const char *now = standing(f, &unread);
    char more[80] = "";
    if (unread == 0)
        snprintf(more, sizeof more, ", to its end");
    else if (unread > 0)
        snprintf(more, sizeof more, ", %s unread", number_grouped((uint64_t)unread).text);
    else if (!strcmp(now, "not there"))
        snprintf(more, sizeof more, "; it is not there now");
    else if (!strcmp(now, "another file"))
        snprintf(more, sizeof more, "; another file has this name now");
    else if (!strcmp(now, "shorter"))
        snprintf(more, sizeof more, "; it is shorter now");
    row("file", "%s: %s bytes%s read%s", f->name, number_grouped(f->offset).text,
        is_plain(f) ? "" : " of what it holds", more);
}

static void put_run(const struct view *v) {
    const struct saved *s = &v->saved;
    row("as asked", "%s", s->spec);
    char text[2048] = "";
    size_t at = 0;
    for (size_t i = 0; i < s->options.n && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s%s", i ? ", " : "",
                               s->options.option[i].name, *s->options.option[i].value ? " " : "",
                               s->options.option[i].value);
    if (s->options.n) row("options", "%s", text);
    row("run", "%s",
        s->ended ? "ended" : "saved in passing; what it printed afterwards comes again");
    if (s->output != SAVED_NO_OUTPUT)
        row("output", "%s bytes by then", number_grouped(s->output).text);
    if (s->header) row("header", "%.*s", (int)s->header_len, s->header);
}

/* Prints the part about the snapshot's detector. */
static void put_detector(const struct view *v) {
    const struct seen_stats *st = &v->stats;
    struct seen_plan plan = seen_plan_of(v->saved.detector);
    row("window", "%.*s", (int)strcspn(v->spec, " "), v->spec);
    row("filter", "%s", plan.filter ? plan.filter : "none");
    row("memory", "%s; the file has %s", number_size(st->bytes).text,
        number_size((uint64_t)v->st.st_size).text);
    row("unique", "%s", number_grouped(st->unique).text);
    row("duplicates", "%s", number_grouped(st->duplicates).text);
    row("keys", "%s of %s planned", number_grouped(st->stored).text,
        number_grouped(st->capacity).text);
    if (!(plan.traits & SEEN_NO_FP)) row("fp rate", "%.2g now", st->fp_now);
}

static void put_text(const struct view *v) {
    uint64_t records = v->state ? v->saved.number : v->stats.records;
    if (v->state)
        printf("%s: a state of seen %s\n", v->name, v->saved.command);
    else
        printf("%s: a snapshot, as SEEN.DUMP and libseen write it\n", v->name);
    row("written", v->state ? "%s, by seen %.20s" : "%s", v->written, v->saved.version);
    if (v->user > 0) row("in use", "by process %d", v->user);
    if (v->user == 0) row("in use", "by another process");
    if (!v->counts) row("spec", "%s", v->spec);
    if (v->state) put_run(v);
    row("records", "%s", number_grouped(records).text);
    if (v->state) row("unparseable", "%s", number_grouped(v->saved.judge.unreadable).text);
    if (v->counts) {
        bool top = !strcmp(v->saved.command, "top");
        row("counted", "%s", number_grouped(v->kept.records).text);
        row("open", "%s window%s", number_grouped(v->kept.open).text, v->kept.open == 1 ? "" : "s");
        row(top ? "ended" : "printed", "%s %s", number_grouped(v->kept.done).text,
            top ? "windows" : "rows of windows that ended");
        row("file size", "%s", number_size((uint64_t)v->st.st_size).text);
    } else {
        put_detector(v);
    }
    if (*v->last) row("last time", "%s", v->last);
    for (size_t i = 0; i < v->saved.places.n; i++) put_file(&v->saved.places.place[i]);
    if (v->groups.grouped || v->groups.summed) groups_print_text(&v->groups, stdout);
}

/* -- for programs ------------------------------------------------------------------------- */

static void json_files(struct json *j, const struct places *p) {
    json_open(j, "files", '[');
    for (size_t i = 0; i < p->n; i++) {
        const struct place *f = &p->place[i];
        int64_t unread;
        const char *now = standing(f, &unread);
        json_open(j, NULL, '{');
        json_text(j, "name", f->name);
        json_count(j, "offset", f->offset);
        json_bool(j, "compressed", !is_plain(f));
        json_text(j, "now", now);
        json_put(j, "unread", unread < 0 ? "null" : "%" PRId64, unread);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* A missing text is null. */
static void json_known(struct json *j, const char *name, const char *text) {
    json_text(j, name, *text ? text : NULL);
}

static void json_run(struct json *j, const struct view *v) {
    const struct saved *s = &v->saved;
    json_known(j, "version", s->version);
    json_known(j, "asked", s->spec);
    json_open(j, "options", '{');
    for (size_t i = 0; i < s->options.n; i++)
        json_text(j, s->options.option[i].name, s->options.option[i].value);
    json_close(j, '}');
    json_bool(j, "ended", s->ended);
    json_put(j, "output_bytes", s->output == SAVED_NO_OUTPUT ? "null" : "%" PRIu64, s->output);
    json_count(j, "unparseable", s->judge.unreadable);
    json_count(j, "only_added", s->judge.fed.only_added);
    json_files(j, &s->places);
    groups_print_json(&v->groups, j);
}

static void json_detector(struct json *j, const struct view *v) {
    const struct seen_stats *st = &v->stats;
    struct seen_plan plan = seen_plan_of(v->saved.detector);
    json_known(j, "spec", v->spec);
    json_known(j, "filter", plan.filter ? plan.filter : "");
    json_count(j, "memory_bytes", st->bytes);
    json_count(j, "unique", st->unique);
    json_count(j, "duplicates", st->duplicates);
    json_count(j, "stored", st->stored);
    json_count(j, "capacity", st->capacity);
    json_real(j, "fp_now", st->fp_now);
}

static void put_json(const struct view *v) {
    struct json json = {.out = stdout}, *j = &json;
    json_open(j, NULL, '{');
    json_text(j, "file", v->name);
    json_text(j, "kind", v->state ? "state" : "snapshot");
    if (v->state) json_known(j, "command", v->saved.command);
    json_known(j, "written", v->written);
    json_bool(j, "in_use", v->user >= 0);
    json_put(j, "in_use_by", v->user > 0 ? "%d" : "null", v->user);
    json_count(j, "file_bytes", (uint64_t)v->st.st_size);
    json_count(j, "records", v->state ? v->saved.number : v->stats.records);
    if (v->counts) {
        bool top = !strcmp(v->saved.command, "top");
        json_count(j, "counted", v->kept.records);
        json_count(j, "open_windows", v->kept.open);
        json_count(j, top ? "ended_windows" : "printed_rows", v->kept.done);
    } else {
        json_detector(j, v);
    }
    json_known(j, "last_time", v->last);
    if (v->state) json_run(j, v);
    puts("}");
}

/* -- the command -------------------------------------------------------------------------- */

static struct {
    struct run_stats stats;
    bool json;
} asked;

static void take(void *options, const struct option_row *row, const char *value) {
    (void)options;
    if (row->id == OUTPUT) asked.json = option_is_json(value);
    if (row->id == STATS) run_stats_take(&asked.stats, value);
}

static const struct option_group groups[] = {
    {own_rows, take, 0},
    {help_rows, NULL, 0},
    {0},
};

static int state_main(const struct args *a) {
    static struct view v;
    run_stats_begin(&asked.stats);
    if (!a->operands) die("which state? seen state FILE");
    if (a->operands > 1) die("one state at a time: what is '%s'?", a->operand[1]);
    v.name = a->operand[0];
    look(&v);
    asked.json ? put_json(&v) : put_text(&v);
    run_stats_print_work(&asked.stats, "bytes", (uint64_t)v.st.st_size);
    groups_free(&v.groups);
    places_free(&v.saved.places);
    seen_free(v.saved.detector);
    free(v.saved.blob);
    return EXIT_FINE;
}

static const struct example examples[] = {
    {"seen state clicks.state", "what it holds, and where each file stands"},
    {"seen state -o json clicks.state", "the same for a program"},
    {0},
};

const struct command state_command = {
    .name = "state",
    .run = state_main,
    .help = "what a state or a snapshot holds",
    .usage = "[OPTION]... FILE",
    .about =
        "Prints what the state FILE of `seen --state` holds: the command and the options that "
        "it was made with, its spec and window, records and keys, memory, when it was written, "
        "how far each input file was read, and the groups and sums so far. A state of `seen "
        "count` or `seen top` has the windows that are open instead of keys.\n\n"
        "FILE may also be a snapshot that SEEN.DUMP or the library wrote. A run that uses the "
        "state is not disturbed. A damaged file gets one sentence and exit code 2.",
    .examples = examples,
    .groups = groups,
    .options = &asked,
    .often = "output",
};
