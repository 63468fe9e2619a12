/* compare.c - `seen compare`: runs several detectors beside exact windows and counts their
 * errors. */
#include "commands/compare/compare.h"

#include "judge/window_options.h"
#include "records/reader.h"
#include "records/run_stats.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The longest window a spec may have, in records. */
#define FOREVER UINT64_C(1000000000000000)

/* -- the exact window ----------------------------------------------------------------------- */

/* N(1+slack): a key that was last seen longer ago is certainly new. */
static uint64_t band(const struct seen_plan *plan) {
    double more = ceil((double)plan->spec.length * plan->slack * (1 - 1e-12));
    return plan->spec.length + (uint64_t)more;
}

static void window_of(char *buf, size_t cap, const struct seen_plan *plan, bool forever) {
    char span[64];
    const struct seen_spec *s = &plan->spec;
    if (forever || s->window == SEEN_WINDOW_DECAYING) {
        snprintf(buf, cap, "sliding:%" PRIu64, FOREVER);
    } else if (s->window == SEEN_WINDOW_LANDMARK) {
        struct seen_spec window = {.window = s->window, .unit = s->unit, .length = s->length};
        seen_spec_print(&window, buf, cap);
    } else if (s->unit == SEEN_UNIT_MICROSECONDS) {
        seen_print_span((band(plan) + 999) / 1000 * 1000, span, sizeof span);
        snprintf(buf, cap, "sliding:%s", span);
    } else {
        snprintf(buf, cap, "sliding:%" PRIu64, band(plan));
    }
}

/* Writes the spec of the exact window for a plan whose seed is set.  `forever`: it holds all
 * records, and ages count records. */
static void true_window_spec(char *spec, size_t cap, const struct seen_plan *plan, bool forever) {
    char window[128], hash[16];
    seen_spec_get(&plan->spec, "hash", hash, sizeof hash);
    window_of(window, sizeof window, plan, forever);
    snprintf(spec, cap, "%s items=1 filter=exact hash=%s seed=%" PRIu64, window, hash,
             seen_spec_get_count(&plan->spec, "seed"));
}

/* Makes the window of that spec, or dies if memory is short.  The layout stays the caller's. */
static void true_window_init(struct true_window *t, const char *text, const struct layout *layout,
                             uint32_t max_record) {
    struct seen_error e;
    struct seen_spec spec;
    memset(t, 0, sizeof *t);
    snprintf(t->spec, sizeof t->spec, "%s", text);
    if (seen_spec_parse(&spec, text, &e) || seen_plan_make(&t->plan, &spec, &e) ||
        seen_new(&t->detector, &t->plan, NULL, &e))
        die("the truth cannot be kept: %s", e.text);
    judge_init(&t->judge, t->detector, layout, max_record);
}

/* Fills `read` and `age` for a batch.  `verdict`: the candidate's, if the window is not shared. */
static void true_window_batch(struct true_window *t, const struct batch *b, seen_time now,
                              const uint8_t *verdict) {
    static const seen_digest no_key = {UINT64_C(0x6e6f626f64793a3a), UINT64_C(0x6e6f626f64793b3b)};
    struct judge *j = &t->judge;
    uint8_t ignored;
    size_t n = judge_read(j, b, now);
    bool landmarks = judge_landmarks(j);
    memset(t->read, 0, sizeof t->read);
    for (size_t m = 0; m < n; m++) {
        uint16_t i = j->in->order[m];
        if (landmarks && j->in->landmark[m]) seen_landmark(t->detector);
        const seen_time *time = j->timed ? &j->in->time[m] : NULL;
        observe_ages(t->detector, 1, &j->in->digest[m], time, &t->age[i]);
        t->read[i] = true;
        /* A record that was not stored advances the clock as a key that no record has. */
        bool stored = t->shared || verdict[i] == SEEN_NEW;
        observe_records(t->detector, 1, stored ? &j->in->digest[m] : &no_key, time, &ignored);
    }
}

/* The right answer in the window of a plan, for a key that was last seen `age` ago. */
static enum truth_of_key truth_of_key(const struct seen_plan *plan, uint64_t age) {
    const struct seen_spec *s = &plan->spec;
    if (age == SEEN_NEVER) return TRUTH_NEW;
    if (s->window == SEEN_WINDOW_LANDMARK || s->window == SEEN_WINDOW_DECAYING)
        return TRUTH_DUPLICATE;
    bool inside = s->unit == SEEN_UNIT_MICROSECONDS ? age < s->length : age <= s->length;
    return inside ? TRUTH_DUPLICATE : TRUTH_EITHER;
}

/* Judges a batch and adds the time that this took. */
static void candidate_judge(struct candidate *c, struct batch *b, seen_time now) {
    size_t n = judge_read(&c->judge, b, now);
    double begun = time_monotonic();
    judge_observe(&c->judge, b, n);
    c->seconds += time_monotonic() - begun;
    for (size_t i = 0; i < b->n; i++) c->verdict[i] = b->verdict[i];
}

/* Counts the errors of a batch, after its true window has seen it.  `ever`: the true window of all
 * records, which knows how many records ago each key came. */
static void candidate_count(struct candidate *c, const struct batch *b,
                            const struct true_window *ever) {
    for (size_t i = 0; i < b->n; i++) {
        if (!c->truth->read[i]) continue;
        enum truth_of_key truth = truth_of_key(&c->plan, c->truth->age[i]);
        bool missed = c->verdict[i] == SEEN_NEW, duplicate = !missed;
        c->truths[truth]++;
        bool confirmed = c->verdict[i] == SEEN_CONFIRMED;
        c->confirmed += confirmed;
        c->duplicates += duplicate;
        if (truth == TRUTH_NEW) c->fp += duplicate, c->confirmed_fp += confirmed;
        if (truth != TRUTH_DUPLICATE) continue;
        c->fn += missed;
        unsigned d = 0;
        for (uint64_t gap = ever->age[i]; gap >= 10 && d < DECADES - 1; gap /= 10) d++;
        c->gap[d].duplicates++;
        c->gap[d].missed += missed;
    }
}

struct rate rate_of(uint64_t x, uint64_t n) {
    if (n == 0) return (struct rate){0, 0, 1};
    const double z = 1.959963984540054;
    double trials = (double)n, p = (double)x / trials, zz = z * z / trials;
    double middle = (p + zz / 2) / (1 + zz);
    double half = z * sqrt(p * (1 - p) / trials + zz / (4 * trials)) / (1 + zz);
    double low = x == 0 ? 0 : middle - half, high = x == n ? 1 : middle + half;
    return (struct rate){p, low > 0 ? low : 0, high < 1 ? high : 1};
}

double candidate_expected(const struct candidate *c) {
    struct seen_stats s;
    seen_stats(c->detector, &s);
    double trials = s.expected_false + (double)s.unique;
    return trials > 0 ? s.expected_false / trials : 0;
}

/* -- options ------------------------------------------------------------------------------ */

enum { OUTPUT = 1, STATS };

static const struct option_row output_rows[] = {
    {"Output", 0, NULL, NULL, 0},
    {"output", 'o', "text|json|csv", "a table to read, or to compute with (default: text)", OUTPUT},
    {"stats", 0, "[=text|json]", "records, how fast, what could not be judged, on stderr", STATS},
    {0},
};

static const struct option_row engine_heading[] = {
    {"The same as in SPEC, for every SPEC, and stronger", 0, NULL, NULL, 0},
    {0},
};

struct run {
    struct input_options input;
    struct window_options window;
    struct reader reader;
    struct candidate candidate[MAX_SPECS];
    struct true_window *truth[MAX_SPECS + 1]; /* truth[0] knows all records */
    size_t n, truths;
    uint64_t records;
    struct run_stats stats;
    void (*report)(const struct comparison *);
};

static struct run this_run;

static void take(void *options, const struct option_row *row, const char *value) {
    struct run *r = options;
    if (row->id == STATS) run_stats_take(&r->stats, value);
    if (row->id != OUTPUT) return;
    r->report = *value == 't' ? report_text : *value == 'j' ? report_json : report_csv;
}

static const struct option_group groups[] = {
    {window_spec_rows, window_take, offsetof(struct run, window)},
    {input_time_rows, input_options_take, offsetof(struct run, input)},
    {window_time_rows, window_take, offsetof(struct run, window)},
    {input_key_rows, input_options_take, offsetof(struct run, input)},
    {input_format_rows, input_options_take, offsetof(struct run, input)},
    {output_rows, take, 0},
    {input_quiet_rows, input_options_take, offsetof(struct run, input)},
    {input_strict_rows, input_options_take, offsetof(struct run, input)},
    {input_reject_rows, input_options_take, offsetof(struct run, input)},
    {help_rows, NULL, 0},
    {engine_heading, NULL, 0},
    {window_engine_rows, window_take_engine, offsetof(struct run, window)},
    {0},
};

static void begin(void) {
    input_options_init(&this_run.input);
    this_run.report = report_text;
}

/* -- candidates and their truths ----------------------------------------------------------- */

static struct true_window *truth_for(struct run *r, const struct candidate *c, bool forever) {
    char spec[512];
    bool shared = forever || seen_spec_get_count(&c->plan.spec, "refresh") != SEEN_REFRESH_FIRST;
    true_window_spec(spec, sizeof spec, &c->plan, forever);
    for (size_t i = 0; shared && i < r->truths; i++)
        if (r->truth[i]->shared && r->truth[i]->judge.zone == c->zone &&
            !strcmp(r->truth[i]->spec, spec))
            return r->truth[i];
    struct true_window *t = malloc(sizeof *t);
    if (!t)
        die("out of memory for exact windows; compare a part of the stream, as head -n 1000000 "
            "cuts");
    true_window_init(t, spec, &r->reader.layout, r->input.max_record);
    t->shared = shared;
    if (!forever) window_of_judge(&r->window, &r->input, c->zone, &t->judge);
    return r->truth[r->truths++] = t;
}

static void start(struct run *r, const struct reader_events *events) {
    uint64_t seed;
    struct seen_error e;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        die("the system gave no random seed: %s; give --seed", strerror(errno));
    for (; r->n == 0 || r->n < r->window.specs; r->n++) {
        struct candidate *c = &r->candidate[r->n];
        c->asked = r->window.spec[r->n];
        c->zone = window_plan(&r->window, r->n, &r->input, &c->plan);
        if (seen_spec_get_count(&c->plan.spec, "lateness"))
            die("%s: with lateness= only exact windows serve: there is nothing to compare",
                c->asked);
        struct seen_spec spec = c->plan.asked;
        if (!seen_spec_has(&spec, "seed")) { /* all such candidates get one seed */
            seen_spec_set_count(&spec, "seed", seed, NULL);
            if (seen_plan_make(&c->plan, &spec, &e)) die("%s", e.text);
        }
        if (seen_new(&c->detector, &c->plan, NULL, &e)) die("%s: %s", c->asked, e.text);
    }
    reader_init(&r->reader, &r->input, events, r);
    r->reader.unjudged.detector = r->candidate[0].detector;
    truth_for(r, &r->candidate[0], true);
    for (size_t i = 0; i < r->n; i++) {
        struct candidate *c = &r->candidate[i];
        judge_init(&c->judge, c->detector, &r->reader.layout, r->input.max_record);
        window_of_judge(&r->window, &r->input, c->zone, &c->judge);
        c->truth = truth_for(r, c, false);
    }
}

/* -- records ------------------------------------------------------------------------------ */

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct run *r = ctx;
    for (size_t i = 0; i < r->n; i++) candidate_judge(&r->candidate[i], b, now);
    for (size_t i = 0; i < r->truths; i++)
        if (r->truth[i]->shared) true_window_batch(r->truth[i], b, now, NULL);
    for (size_t i = 0; i < r->n; i++) {
        struct candidate *c = &r->candidate[i];
        if (!c->truth->shared) true_window_batch(c->truth, b, now, c->verdict);
        candidate_count(c, b, r->truth[0]);
    }
    const struct readable *in = r->candidate[0].judge.in;
    unjudged_batch(&r->reader.unjudged, b, now, in->n, in->order, in->cause);
    r->records += b->n;
}

static const struct reader_events events = {.batch = on_batch};

/* -- a run -------------------------------------------------------------------------------- */

static int compare_main(const struct args *args) {
    struct run *r = &this_run;
    if (!r->window.specs) die("compare needs the specs to compare: -w SPEC -w SPEC ...");
    input_options_files(&r->input, args);
    window_check_files(&r->window, &r->input);
    window_compile(&r->window, &r->input);
    run_stats_begin(&r->stats);
    start(r, &events);
    bool read = reader_run(&r->reader);
    uint64_t unreadable = r->reader.unreadable + r->candidate[0].judge.unreadable;
    r->records -= r->candidate[0].judge.unreadable;
    r->report(&(struct comparison){r->candidate, r->n, r->records, unreadable});
    judge_tell(&r->candidate[0].judge, r->candidate[0].judge.lateness.run_late);
    bool bad = unjudged_end(&r->reader.unjudged, "left out", r->stats.wanted);
    run_stats_print(&r->stats, &r->reader.unjudged);
    for (size_t i = 0; i < r->truths; i++) {
        judge_free(&r->truth[i]->judge);
        seen_free(r->truth[i]->detector);
        free(r->truth[i]);
    }
    for (size_t i = 0; i < r->n; i++) {
        judge_free(&r->candidate[i].judge);
        seen_free(r->candidate[i].detector);
    }
    reader_free(&r->reader);
    window_free(&r->window);
    if (signals_stop()) fflush(stdout), signals_die(signals_stop());
    return !read || bad ? EXIT_TROUBLE : EXIT_FINE;
}

static const struct example examples[] = {
    {"seen compare -w 'landmark mem=64KiB' -w sliding:1e5 big.txt",
     "how often each would be wrong"},
    {"seen compare -w sliding:1e5 -w jumping:1e5/8 --fp 1e-3 big.txt", "one error rate for all"},
    {"seen compare -w 'decaying mem=1MiB' -w 'decaying mem=1MiB filter=stable' big.txt",
     "what each forgets in the same memory"},
    {"seen compare -w landmark:1d -w sliding:1h --csv -k user --time when -o json clicks.csv",
     "an object for a program"},
    {0},
};

const struct command compare_command = {
    .name = "compare",
    .run = compare_main,
    .help = "errors, memory and speed of several specs on your data",
    .usage = "-w SPEC [-w SPEC]... [OPTION]... [FILE]...",
    .about =
        "Runs several detectors on the records of FILE... (default: standard input) and says "
        "how many records each would drop wrongly or let through. An exact window, which keeps "
        "every key in memory, gives the right answers.\n\n"
        "Specs without a seed get the same seed, so that they differ in their structure and not "
        "by chance. Options on the command line set what the specs of `-w` leave open.",
    .examples = examples,
    .groups = groups,
    .options = &this_run,
    .begin = begin,
    .often = "window keys csv no-quotes tsv ndjson clf time output fp mem",
};
