/* stats.c - prints the statistics of a run: for people as aligned text, for programs as JSON.
 *
 * records = unique + duplicates + unparseable.  Rates and times are of the whole run. */
#include "base/text.h"
#include "commands/dedup/dedup.h"

#include "base/cli.h"
#include "records/run_stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the statistics.  With a feed the verdicts come from the feed's own counts: the detector
 * counts the keys that were added, and cannot tell how many false duplicates there are among the
 * keys that were asked about. */
static void read_stats(const struct run_counts *c, struct seen_stats *s) {
    judge_stats(c->judge, s);
    if (!c->fed) return;
    s->unique = c->fed->unique;
    s->duplicates = c->fed->duplicates;
    s->records = s->unique + s->duplicates + c->fed->only_added;
    s->expected_false = s->expected_missed = NAN;
}

/* -- text helpers ------------------------------------------------------------------------- */

/* Small expectations are printed with their digits, large ones as whole numbers. */
static struct number expected(double x) {
    if (x >= 100 || x <= 0) return number_grouped((uint64_t)(x + 0.5));
    struct number out;
    snprintf(out.text, sizeof out.text, x < 0.001 ? "%.1e" : x < 10 ? "%.3f" : "%.1f", x);
    return out;
}

static struct number span_of(uint64_t us) {
    struct number out;
    if (us > 1000000) us -= us % 1000000; /* microseconds of an hour are only noise */
    seen_print_span(us, out.text, sizeof out.text);
    return out;
}

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double per_second(uint64_t records, double seconds) {
    return seconds > 0 ? (double)records / seconds : 0;
}

static void row(const char *name, const char *value, const char *note) {
    fprintf(stderr, "  %-18s %14s%s%s\n", name, value, *note ? "   " : "", note);
}

/* The window that was asked for.  With --zone the detector has explicit landmarks instead. */
static void window_text(const struct seen_spec *spec, const struct run_counts *c, char *buf,
                        size_t cap) {
    char text[512];
    seen_spec_print(spec, text, sizeof text);
    if (c->zone)
        snprintf(buf, cap, "landmark:%s", c->weeks ? "1w" : "1d");
    else
        snprintf(buf, cap, "%.*s", (int)strcspn(text, " "), text);
}

/* -- for people --------------------------------------------------------------------------- */

/* Judged by a later time than their own. */
static uint64_t clamped(const struct seen_stats *s, const struct run_counts *c) {
    if (c->reorder) return c->reorder->clamped;
    return c->zone ? c->lateness->late : s->clamped;
}

static void print_lateness(const struct seen_stats *s, const struct run_counts *c) {
    const struct lateness *l = c->lateness;
    char note[128];
    if (!l->late) return;
    snprintf(note, sizeof note, "%.2f %%, by %s at most; %s judged by a later time than their own",
             percent(l->late, l->records), span_of(l->most).text,
             number_grouped(clamped(s, c)).text);
    row("late", number_grouped(l->late).text, note);
    for (size_t i = 0; i < LATENESS_SPANS; i++) {
        char name[32];
        bool last = i == LATENESS_SPANS - 1;
        snprintf(name, sizeof name, last ? "  by more" : "  by less than %s",
                 lateness_spans[i].name);
        snprintf(note, sizeof note, "%.2f %%", percent(l->by[i], l->late));
        if (l->by[i]) row(name, number_grouped(l->by[i]).text, note);
    }
}

static void print_hold(const char *why, size_t peak, uint64_t early) {
    char note[128];
    snprintf(note, sizeof note, "at most, %s", why);
    if (early)
        snprintf(note, sizeof note, "at most, %s; %s records were let go before their time", why,
                 number_grouped(early).text);
    row("held back", number_size(peak).text, note);
}

static void print_held(const struct run_counts *c) {
    if (c->reorder) print_hold("to sort", c->reorder->peak, c->reorder->early);
    if (c->keep) print_hold("to keep the last", c->keep->peak, c->keep->early);
}

/* Prints the expected errors: new records called duplicates, and duplicates called new. */
static void print_errors(const struct seen_stats *s, bool confirms) {
    char note[200], source[96];
    if (!isfinite(s->expected_false)) return;
    if (s->source == SEEN_FROM_SAMPLE)
        snprintf(source, sizeof source, "measured on %s records of sampled keys",
                 number_grouped(s->sampled_records).text);
    else
        snprintf(source, sizeof source, "expected among the %s",
                 confirms ? "others" : "duplicates");
    snprintf(note, sizeof note, "%s; 95 %%: %s to %s", source, number_grouped(s->false_lo).text,
             number_grouped(s->false_hi).text);
    row("false duplicates", expected(s->expected_false).text, note);
    if (!s->missed_hi) return;
    snprintf(note, sizeof note, "duplicates let through; 95 %%: %s to %s",
             number_grouped(s->missed_lo).text, number_grouped(s->missed_hi).text);
    row("missed", expected(s->expected_missed).text, note);
}

static void print_counts(const struct seen_stats *s, const struct run_counts *c, bool confirms) {
    char note[128];
    uint64_t records = s->records + c->unreadable;
    snprintf(note, sizeof note, "in %.1f s, %s a second", c->seconds,
             number_grouped((uint64_t)per_second(records, c->seconds)).text);
    row("records", number_grouped(records).text, note);
    snprintf(note, sizeof note, "%.2f %%", percent(s->unique, records));
    row("unique", number_grouped(s->unique).text, note);
    snprintf(note, sizeof note, "%.2f %%", percent(s->duplicates, records));
    row("duplicates", number_grouped(s->duplicates).text, note);
    if (confirms) {
        snprintf(note, sizeof note, "%.2f %% of the duplicates, none of them false",
                 percent(s->confirmed, s->duplicates));
        row("confirmed", number_grouped(s->confirmed).text, note);
    }
    print_errors(s, confirms);
    if (c->fed && c->feeds)
        row("only added", number_grouped(c->fed->only_added).text, "nothing was asked");
    const struct unjudged *u = c->unjudged;
    const char *fate = !c->unreadable ? "" : u->rejects ? "went to --rejects" : "passed through";
    row("unparseable", number_grouped(c->unreadable).text, fate);
    for (enum cause i = 0; i < CAUSES; i++)
        if (u->by[i]) row("", number_grouped(u->by[i]).text, u->first[i]);
    if (u->n && c->unreadable > u->n)
        row("", number_grouped(c->unreadable - u->n).text, "in earlier runs");
    print_lateness(s, c);
    print_held(c);
}

static void print_state(const seen_detector *d, const struct seen_stats *s,
                        const struct run_counts *c) {
    struct seen_plan plan = seen_plan_of(d);
    char note[256], window[64], planned[64] = "";
    window_text(&plan.spec, c, window, sizeof window);
    struct number kept = {"all of it"};
    if (plan.spec.window == SEEN_WINDOW_DECAYING)
        kept = (struct number){"what memory reaches"};
    else if (s->forgotten && s->kept == SEEN_NEVER)
        kept = (struct number){"not all of it"};
    else if (s->forgotten)
        kept =
            plan.spec.unit == SEEN_UNIT_MICROSECONDS ? span_of(s->kept) : number_grouped(s->kept);
    snprintf(note, sizeof note, "kept: %s%s%.64s", kept.text, c->zone ? "; days of " : "",
             c->zone ? c->zone : "");
    row("window", window, note);
    if (s->capacity)
        snprintf(planned, sizeof planned, " of %s planned", number_grouped(s->capacity).text);
    snprintf(note, sizeof note, "%s keys%s", number_grouped(s->stored).text, planned);
    row("memory", number_size(s->bytes).text, note);
    char fp[32] = "none";
    if (!(plan.traits & SEEN_NO_FP)) snprintf(fp, sizeof fp, "%.2g", s->fp_now);
    snprintf(note, sizeof note, "now, %.2g at worst; %.2g planned for a full window", s->fp_worst,
             plan.fp_full);
    row("fp rate", fp, plan.traits & SEEN_NO_FP ? "keys are kept as they are" : note);
    if (s->landmarks) row("windows begun", number_grouped(s->landmarks).text, "after the first");
    if (s->forgotten)
        row("forgotten", number_grouped(s->forgotten).text, "keys, for want of memory");
    if (s->saturated)
        row("saturated", number_grouped(s->saturated).text,
            strcmp(plan.filter, "counting") ? "keys found no place; others then counted as seen"
                                            : "counters, at their top");
    if (s->rebuilt) row("rebuilt", number_grouped(s->rebuilt).text, "of them, counted again");
}

/* -- with a server ------------------------------------------------------------------------ */

struct server_row {
    const char *name, *key; /* for people, for programs */
    uint64_t value;
};

enum { SERVER_COUNTS = 10 };

static void server_rows(const struct run_counts *c, struct server_row rows[SERVER_COUNTS]) {
    const struct server *s = c->server;
    uint64_t records = s->unique + s->duplicates + s->uncertain + c->unreadable;
    const struct server_row now[SERVER_COUNTS] = {
        {"records", "records", records},
        {"unique", "unique", s->unique},
        {"duplicates", "duplicates", s->duplicates},
        {"uncertain", "uncertain", s->uncertain},
        {"unparseable", "unparseable", c->unreadable},
        {"a second", "records_per_second", (uint64_t)per_second(records, c->seconds)},
        {"redirected", "redirected", s->redirected},
        {"connections lost", "connections_lost", s->lost},
        {"shards made again", "shards_remade", s->remade},
        {"unreplicated", "unreplicated", s->unreplicated},
    };
    memcpy(rows, now, sizeof now);
}

static void print_server(const struct run_counts *c) {
    struct server_row rows[SERVER_COUNTS];
    const struct server *s = c->server;
    server_rows(c, rows);
    fprintf(stderr, "seen " SEEN_VERSION ": %u shard%s at %s:%d, each %s\n", s->shards,
            s->shards == 1 ? "" : "s", s->url.at[0].host, s->url.at[0].port, s->spec);
    for (size_t i = 0; i < SERVER_COUNTS; i++)
        row(rows[i].name, number_grouped(rows[i].value).text, "");
    print_held(c);
}

/* -- text, all of it ---------------------------------------------------------------------- */

void stats_print_text(const struct run_counts *c) {
    const seen_detector *d = c->detector;
    struct seen_stats s;
    char spec[512];
    message_transient(NULL);
    if (d) {
        read_stats(c, &s);
        seen_spec_print(seen_spec_of(d), spec, sizeof spec);
        fprintf(stderr, "seen " SEEN_VERSION ": %s\n", spec);
        print_counts(&s, c, seen_spec_has(seen_spec_of(d), "verify"));
        print_state(d, &s, c);
    } else {
        print_server(c);
    }
    stats_print_groups(c, false);
}

/* Standard error has no buffer, and there may be many groups: they are printed at once. */
static FILE *begin_text(char **text, size_t *n) {
    FILE *out = open_memstream(text, n);
    if (!out) die("out of memory for statistics");
    return out;
}

static void end_text(FILE *out, char **text, const size_t *n) {
    if (fclose(out)) die("out of memory for statistics");
    fwrite(*text, 1, *n, stderr);
    free(*text);
}

void stats_print_groups(const struct run_counts *c, bool json) {
    char *text;
    size_t n;
    if (!c->groups) return;
    message_transient(NULL);
    struct json j = {.out = begin_text(&text, &n)};
    if (json) {
        json_open(&j, NULL, '{');
        groups_print_json(c->groups, &j);
        fputs("}\n", j.out);
    } else {
        groups_print_text(c->groups, j.out);
    }
    end_text(j.out, &text, &n);
}

void stats_progress(const struct run_counts *c, char *line, size_t cap) {
    struct seen_stats s;
    read_stats(c, &s);
    uint64_t records = s.records + c->unreadable;
    snprintf(line, cap, "%s records, %s a second, %.1f %% duplicates", number_grouped(records).text,
             number_grouped((uint64_t)per_second(records, c->seconds)).text,
             percent(s.duplicates, records));
}

/* -- for programs ------------------------------------------------------------------------- */

static void json_held(struct json *j, const struct run_counts *c) {
    const struct reorder none = {.peak = 0}, *reorder = c->reorder ? c->reorder : &none;
    const struct keep nothing = {.peak = 0}, *keep = c->keep ? c->keep : &nothing;
    if (!c->reorder && !c->keep) return;
    json_count(j, "held_most_bytes", reorder->peak + keep->peak);
    json_count(j, "let_go_early", reorder->early + keep->early);
}

static void json_lateness(struct json *j, const struct seen_stats *s, const struct run_counts *c) {
    const struct lateness *l = c->lateness;
    json_count(j, "late", l->late);
    json_count(j, "late_most_us", l->most);
    json_count(j, "last_time_us", l->newest);
    json_count(j, "clamped", clamped(s, c));
    json_open(j, "late_by", '['); /* each span begins where the one before ends */
    for (size_t i = 0; i < LATENESS_SPANS; i++) {
        json_open(j, NULL, '{');
        if (i < LATENESS_SPANS - 1)
            json_count(j, "below_us", lateness_spans[i].below);
        else
            json_text(j, "below_us", NULL);
        json_count(j, "records", l->by[i]);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_held(j, c);
}

static void json_range(struct json *j, const char *name, uint64_t low, uint64_t high) {
    json_put(j, name, "[%" PRIu64 ",%" PRIu64 "]", low, high);
}

static void json_counts(struct json *j, const struct seen_stats *s, const struct run_counts *c,
                        bool confirms) {
    uint64_t records = s->records + c->unreadable;
    json_count(j, "records", records);
    json_count(j, "unique", s->unique);
    json_count(j, "duplicates", s->duplicates);
    if (confirms) json_count(j, "confirmed", s->confirmed);
    json_real(j, "expected_false_duplicates", s->expected_false);
    if (isfinite(s->expected_false))
        json_range(j, "expected_false_duplicates_95", s->false_lo, s->false_hi);
    else
        json_text(j, "expected_false_duplicates_95", NULL);
    json_text(j, "expected_false_duplicates_source",
              s->source == SEEN_FROM_SAMPLE ? "sample" : "model");
    json_real(j, "expected_missed_duplicates", s->expected_missed);
    json_range(j, "expected_missed_duplicates_95", s->missed_lo, s->missed_hi);
    json_count(j, "sampled_keys", s->sampled_keys);
    json_count(j, "sampled_records", s->sampled_records);
    if (c->fed && c->feeds) json_count(j, "only_added", c->fed->only_added);
    json_count(j, "unparseable", c->unreadable);
    run_stats_json_causes(j, c->unjudged, c->unreadable - c->unjudged->n);
    json_lateness(j, s, c);
    json_real(j, "seconds", c->seconds);
    json_real(j, "records_per_second", per_second(records, c->seconds));
}

static void json_state(struct json *j, const seen_detector *d, const struct seen_stats *s,
                       const struct run_counts *c) {
    struct seen_plan plan = seen_plan_of(d);
    bool bounded = plan.spec.unit != SEEN_UNIT_NONE;
    char window[64];
    window_text(&plan.spec, c, window, sizeof window);
    json_text(j, "window", window);
    if (c->zone) json_text(j, "zone", c->zone);
    /* The window asked for and the window kept, in one unit; null: no length, or not known. */
    bool timed = plan.spec.unit == SEEN_UNIT_MICROSECONDS;
    json_text(j, "window_unit", !bounded ? NULL : timed ? "us" : "records");
    if (bounded)
        json_count(j, "window_asked", plan.spec.length);
    else
        json_text(j, "window_asked", NULL);
    if (s->forgotten ? s->kept != SEEN_NEVER : bounded)
        json_count(j, "window_kept", s->forgotten ? s->kept : plan.spec.length);
    else
        json_text(j, "window_kept", NULL);
    json_text(j, "filter", plan.filter ? plan.filter : "");
    json_count(j, "memory_bytes", s->bytes);
    json_count(j, "stored", s->stored);
    json_count(j, "capacity", s->capacity);
    json_real(j, "fp_now", s->fp_now);
    json_real(j, "fp_worst", s->fp_worst);
    json_real(j, "fp_full", plan.fp_full);
    json_count(j, "landmarks", s->landmarks);
    json_count(j, "forgotten", s->forgotten);
    json_count(j, "saturated", s->saturated);
    json_count(j, "rebuilt", s->rebuilt);
}

static void json_server(struct json *j, const struct run_counts *c) {
    struct server_row rows[SERVER_COUNTS];
    server_rows(c, rows);
    for (size_t i = 0; i < SERVER_COUNTS; i++) json_count(j, rows[i].key, rows[i].value);
    json_held(j, c);
    json_put(j, "seconds", "%.6f", c->seconds);
    json_count(j, "shards", c->server->shards);
    json_text(j, "spec", c->server->spec);
}

void stats_print_json(const struct run_counts *c) {
    const seen_detector *d = c->detector;
    struct seen_stats s;
    char spec[512], *text;
    size_t n;
    message_transient(NULL);
    struct json j = {.out = begin_text(&text, &n)};
    json_open(&j, NULL, '{');
    if (d) {
        read_stats(c, &s);
        seen_spec_print(seen_spec_of(d), spec, sizeof spec);
        json_counts(&j, &s, c, seen_spec_has(seen_spec_of(d), "verify"));
        json_state(&j, d, &s, c);
        json_text(&j, "spec", spec);
    } else {
        json_server(&j, c);
    }
    if (c->groups) groups_print_json(c->groups, &j);
    if (d) json_put(&j, "seed", "\"%" PRIu64 "\"", seen_seed(d));
    json_text(&j, "version", SEEN_VERSION);
    fputs("}\n", j.out);
    end_text(j.out, &text, &n);
}
