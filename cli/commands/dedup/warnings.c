/* warnings.c - tells of the errors of a run, and which options would avoid them. */
#include "commands/dedup/dedup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The end of a sentence that says which options to raise. */
static const char *room_more(const struct seen_plan *plan) {
    bool items = seen_spec_has(&plan->asked, "items"), mem = seen_spec_has(&plan->asked, "mem");
    bool lasting = !plan->spec.length;
    if (items && mem) return "give more items= and mem=, as many keys as the window holds";
    if (items) return "give more items=, as many keys as the window holds";
    return lasting ? "give more mem=" : "give more mem=, or a shorter window";
}

/* True if the spec makes a plan whose window holds `keys` keys. */
static bool holds(const struct seen_spec *spec, uint64_t keys) {
    struct seen_plan plan;
    if (seen_plan_make(&plan, spec, NULL)) return false;
    return !plan.capacity || plan.capacity >= keys;
}

/* Writes the options that make a window hold `keys` keys: "mem=128MiB", "items=2000000". */
static void fix_for(const struct seen_spec *asked, uint64_t keys, char *text, size_t cap) {
    struct seen_spec spec = *asked;
    char size[40] = "", count[32];
    uint64_t given = seen_spec_get_count(asked, "mem");
    bool rate = seen_spec_has(asked, "rate"), counted = seen_spec_has(asked, "items") || rate;
    *text = 0;
    snprintf(count, sizeof count, "%ju", (uintmax_t)keys);
    seen_spec_unset(&spec, "rate");
    if (counted && seen_spec_set(&spec, "items", count, NULL)) return;
    for (uint64_t mem = given; mem && mem < UINT64_C(1) << 48; mem += mem / 16 + 1024) {
        uint64_t grain = mem < 4 << 20 ? 1024 : 1 << 20;
        seen_print_size((mem + grain - 1) / grain * grain, size, sizeof size);
        if (!seen_spec_set(&spec, "mem", size, NULL) && holds(&spec, keys)) break;
        *size = 0;
    }
    if (given && !*size) return;
    snprintf(text, cap, "%s%s%s%s%s%s", counted ? "items=" : "", counted ? count : "",
             counted && *size ? " and " : "", *size ? "mem=" : "", size,
             rate ? " instead of rate=" : "");
}

/* The number of keys that a window must hold, with a tenth to spare.  It is the least of three
 * upper bounds: keys kept, forgotten and taken for duplicates; all keys that were ever new; and, at
 * an even pace, the keys kept times the window over the stretch that was kept. */
static uint64_t keys_needed(const struct seen_stats *s, uint64_t length) {
    double kept = (double)(s->kept ? s->kept : 1);
    double held = (double)(s->capacity > s->stored ? s->capacity : s->stored);
    double lost = s->expected_false > 0 ? s->expected_false : 0;
    double need = held + (double)s->forgotten + lost, paced = INFINITY;
    if (length && s->kept != SEEN_NEVER) paced = held * (double)length / kept;
    if (paced + lost < need) need = paced + lost;
    if ((double)s->unique + lost < need) need = (double)s->unique + lost;
    return (uint64_t)(1.1 * need) + 1;
}

/* Writes the options that would have kept all of a window that was cut short, such as "mem=128MiB"
 * or "items=2000000 and mem=128MiB"; they were planned with.  Empty where none would. */
static void room_fix(const struct seen_plan *plan, const struct seen_stats *s, char *text,
                     size_t cap) {
    uint64_t keys = keys_needed(s, plan->spec.length);
    if (plan->spec.unit == SEEN_UNIT_RECORDS && keys > plan->spec.length) keys = plan->spec.length;
    fix_for(&plan->asked, keys, text, cap);
}

/* -- while it runs ------------------------------------------------------------------------ */

/* The first warning comes when a full window errs more than planned, the next ones when the rate
 * passes these values. */
static const double warned_rates[] = {1e-3, 1e-2, .1, .5};
#define WARNINGS (sizeof warned_rates / sizeof *warned_rates)

/* The rate is read once every LOOK_EVERY records, at the end of a batch.  So messages do not depend
 * on -j, and reading it costs little. */
enum { LOOK_EVERY = 4 * BATCH };

/* The number of warnings that are due.  A window that is full, but gives up its oldest keys,
 * is no reason for a warning. */
static unsigned warnings_due(const struct seen_plan *plan, const struct seen_stats *s,
                             double rate) {
    bool full = s->capacity && s->stored >= s->capacity &&
                seen_spec_get_count(&plan->spec, "overload") != SEEN_OVERLOAD_SHRINK;
    if (plan->traits & (SEEN_NO_FP | SEEN_GROWS) || rate <= plan->fp_full) return 0;
    unsigned due = full;
    for (unsigned i = 0; i < WARNINGS; i++)
        if (rate >= warned_rates[i] && plan->fp_full < warned_rates[i]) due = i + 2;
    return due;
}

static void describe_share(double rate, char text[16]) {
    if (rate < .995)
        snprintf(text, 16, "%.2g", rate);
    else
        strcpy(text, "nearly all");
}

static void warn_of_rate(struct warnings *w, const struct seen_stats *s) {
    struct seen_plan plan = seen_plan_of(w->detector);
    /* The rate by the formulas, or the one that was certainly measured if it is greater. */
    double measured = (double)s->false_lo / ((double)s->false_lo + (double)s->unique + 1);
    double rate = s->source == SEEN_FROM_SAMPLE ? fmax(measured, s->fp_now) : s->fp_now;
    unsigned due = warnings_due(&plan, s, rate);
    if (w->certain || due <= w->told) return;
    w->told = due;
    char share[16];
    describe_share(rate, share);
    warn("%s of the new records are now taken for duplicates, and %.2g were planned (%ju keys in "
         "the window, and %ju planned); %s",
         share, plan.fp_full, (uintmax_t)s->stored, (uintmax_t)s->capacity, room_more(&plan));
}

/* "kept for 5s of 1h"; structures that do not know for how long say how many keys they forgot. */
static void describe_shortage(const struct seen_stats *s, const struct seen_spec *spec, char *text,
                              size_t cap) {
    char kept[32], asked[32];
    if (s->kept == SEEN_NEVER) {
        snprintf(text, cap, "%ju keys were forgotten before their time", (uintmax_t)s->forgotten);
        return;
    }
    if (spec->unit == SEEN_UNIT_MICROSECONDS) {
        uint64_t whole = s->kept / 1000000 * 1000000;
        seen_print_span(whole ? whole : s->kept, kept, sizeof kept);
        seen_print_span(spec->length, asked, sizeof asked);
    } else {
        snprintf(kept, sizeof kept, "%ju", (uintmax_t)s->kept);
        snprintf(asked, sizeof asked, "%ju records", (uintmax_t)spec->length);
    }
    snprintf(text, cap, "at its busiest the window was kept for %s of %s", kept, asked);
}

static void look(struct warnings *w, uint64_t records) {
    struct seen_stats s;
    w->looked = records;
    if (w->quiet) return;
    struct seen_plan plan = seen_plan_of(w->detector);
    bool decays = plan.spec.window == SEEN_WINDOW_DECAYING; /* it forgets by design */
    bool roomy = plan.spec.unit == SEEN_UNIT_RECORDS && plan.capacity >= plan.spec.length;
    if (decays || roomy) return;
    if (w->told > WARNINGS && w->shortened) return;
    seen_stats(w->detector, &s);
    warn_of_rate(w, &s);
    if (!s.forgotten || w->shortened) return;
    /* Warns as soon as memory is short, because a run may go on for long.  How much memory would
     * be enough is not known yet. */
    char trouble[128];
    w->shortened = true;
    describe_shortage(&s, &plan.spec, trouble, sizeof trouble);
    warn("memory is short: %s; %s", trouble, room_more(&plan));
}

void warnings_begin(struct warnings *w, const seen_detector *d, bool quiet, bool certain) {
    struct seen_stats s = {0};
    if (d) seen_stats(d, &s);
    *w = (struct warnings){
        .detector = d, .quiet = quiet || !d, .certain = certain, .shortened = s.forgotten};
}

void warnings_after(struct warnings *w, uint64_t records) {
    if (records - w->looked >= LOOK_EVERY + w->looked / 64) look(w, records);
}

void warnings_now(struct warnings *w, uint64_t records) {
    if (w->looked < records) look(w, records);
}

/* -- at its end --------------------------------------------------------------------------- */

/* The worst rate is printed if it is this many times the planned rate of a full window. */
#define TOLD_WORST 1.25

static void report_losses(const struct warnings *w) {
    struct seen_stats s;
    seen_stats(w->detector, &s);
    if (s.expected_false < 0.5) return;
    struct seen_plan plan = seen_plan_of(w->detector);
    char source[80] = "", worst[48] = "", share[16];
    if (!s.sampled_records && s.duplicates > 10 && !s.false_lo && s.false_hi == s.duplicates) {
        warn("any of the %ju duplicates may have been new records; this memory is too small to "
             "measure how many: %s",
             (uintmax_t)s.duplicates, room_more(&plan));
        return;
    }
    if (s.source == SEEN_FROM_SAMPLE)
        snprintf(source, sizeof source, "; measured on %ju records of sampled keys",
                 (uintmax_t)s.sampled_records);
    describe_share(s.fp_worst, share);
    if (s.fp_worst > TOLD_WORST * plan.fp_full)
        snprintf(worst, sizeof worst, "; %s of the new records at worst", share);
    warn("about %.0f of the %ju duplicates were probably new records (95 %%: %ju to %ju%s%s)",
         s.expected_false, (uintmax_t)s.duplicates, (uintmax_t)s.false_lo, (uintmax_t)s.false_hi,
         source, worst);
}

/* Reports a window that was cut short because memory was, and roughly what would have held it. */
static void report_shortage(const struct warnings *w) {
    struct seen_stats s;
    char trouble[128], fix[100], missed[96] = "";
    struct seen_plan plan = seen_plan_of(w->detector);
    seen_stats(w->detector, &s);
    if (!s.forgotten || plan.spec.window == SEEN_WINDOW_DECAYING) return;
    describe_shortage(&s, &plan.spec, trouble, sizeof trouble);
    room_fix(&plan, &s, fix, sizeof fix);
    if (s.expected_missed >= .5)
        snprintf(missed, sizeof missed,
                 "; about %.0f duplicates were let through (95 %%: %ju to %ju)", s.expected_missed,
                 (uintmax_t)s.missed_lo, (uintmax_t)s.missed_hi);
    warn("memory was short: %s%s%s%s%s", trouble, missed, *fix ? "; about " : "", fix,
         *fix ? " would keep it all" : "");
}

void warnings_end(struct warnings *w, uint64_t records, bool dropped) {
    look(w, records);
    if (w->quiet) return;
    if (dropped && !w->certain) report_losses(w);
    report_shortage(w);
}
