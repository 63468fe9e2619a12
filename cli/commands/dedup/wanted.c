/* wanted.c - reads and checks the options of `seen dedup` that say more of each record. */
#include "commands/dedup/wanted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wanted_init(struct wanted *w) { *w = (struct wanted){.hold = 256 << 20}; }

void wanted_free(struct wanted *w) {
    free(w->sum);
    w->sum = NULL;
}

static uint64_t span(const char *name, const char *text) {
    struct seen_error e;
    uint64_t us;
    if (seen_parse_span(&us, text, &e)) die("--%s %s: %s", name, text, e.text);
    if (!us || us > UINT64_C(1000000000000000))
        die("--%s %s: give it between 1ms and 1653w", name, text);
    return us;
}

static uint64_t size(const char *name, const char *text) {
    struct seen_error e;
    uint64_t bytes;
    if (seen_parse_size(&bytes, text, &e)) die("--%s %s: %s", name, text, e.text);
    return bytes;
}

static uint32_t count(const char *name, const char *text) {
    struct seen_error e;
    uint64_t n;
    if (seen_parse_count(&n, text, &e)) die("--%s %s: %s", name, text, e.text);
    if (!n || n > 100000000) die("--%s %s: give it between 1 and 1e8", name, text);
    return (uint32_t)n;
}

static void add_sum(struct wanted *w, const char *list) {
    char *before = w->sum;
    int n = asprintf(&w->sum, "%s%s%s", before ? before : "", before ? "," : "", list);
    if (n < 0) die("out of memory for the list of --sum");
    free(before);
}

bool wanted_take(struct wanted *w, int id, const char *value) {
    switch (id) {
    case WANTED_REORDER: w->reorder = span("reorder", value); break;
    case WANTED_HOLD: w->hold = size("hold", w->hold_given = value); break;
    case WANTED_TAG:
        w->tag = true;
        if (value) tags_parse(&w->tags, value);
        break;
    case WANTED_TAG_COLUMN: w->tag_column = tags_column(value); break;
    case WANTED_AUDIT: w->audit = true; break;
    case WANTED_OUTPUT: w->json = option_is_json(value); break;
    case WANTED_ADD_KEY: w->add_key = value; break;
    case WANTED_QUERY_KEY: w->query_key = value; break;
    case WANTED_FORGET: w->forget = value; break;
    case WANTED_WITHIN: w->within_given = value; break;
    case WANTED_KEEP: w->keep_last = !strcmp(value, "last"); break;
    case WANTED_GROUP_BY: w->group_by = value; break;
    case WANTED_SUM: add_sum(w, value); break;
    case WANTED_MAX_GROUPS: w->max_groups = count("max-groups", value); break;
    default: return false;
    }
    return true;
}

/* -- what follows from it ------------------------------------------------------------------ */

static bool has(const struct wanted *w, enum tag tag) { return tags_have(&w->tags, tag); }

static bool tells_occurrences(const struct wanted *w) {
    return has(w, TAG_FIRST) || has(w, TAG_FIRST_TIME) || has(w, TAG_LAST) || has(w, TAG_LAST_TIME);
}

/* A JSON object always tells number and verdict. */
static void complete_json(struct wanted *w) {
    static const enum tag always[] = {TAG_VERDICT, TAG_NUMBER};
    for (size_t i = 0; i < 2; i++) {
        if (has(w, always[i])) continue;
        memmove(w->tags.list + 1, w->tags.list, w->tags.n++ * sizeof *w->tags.list);
        w->tags.list[0] = always[i];
    }
}

/* Dies if an option needs an exact detector and the spec names another filter; sets filter=exact if
 * the spec names none. */
static void ask_exact(const char *what, struct asked *a) {
    struct seen_spec spec;
    asked_spec(a, 0, &spec);
    if (spec.window == SEEN_DECAYING)
        die("%s needs filter=exact, and so a window: decaying has none", what);
    if (*spec.filter && strcmp(spec.filter, "exact") != 0)
        die("%s needs filter=exact: filter=%s does not know which records a key had", what,
            spec.filter);
    if (!*spec.filter) asked_set(a, "filter", "exact");
}

/* The key of a record is that which decides; the other one is looked after here. */
static void ask_feed(const struct wanted *w, struct input_options *s) {
    if (!w->add_key && !w->query_key) return;
    if (!w->add_key || !w->query_key)
        die("--query-key decides and --add-key is remembered: both are needed");
    if (s->keys) die("-k is the key for both; leave it out with --query-key and --add-key");
    s->keys = w->query_key;
}

void wanted_ask(struct wanted *w, struct asked *a, struct input_options *s) {
    ask_feed(w, s);
    if (w->audit) tags_parse(&w->tags, "number,first,first-time");
    if (w->json) complete_json(w);
    if (tells_occurrences(w))
        ask_exact(w->audit ? "--audit" : "--tag with first and last occurrences", a);
    if (w->keep_last) ask_exact("--keep last", a);
    bool times = has(w, TAG_TIME) || has(w, TAG_FIRST_TIME) || has(w, TAG_LAST_TIME);
    a->times |= times || w->reorder > 0;
}

/* -- what does not go together ------------------------------------------------------------- */

static void check_details(struct wanted *w, const struct input_options *s,
                          const struct seen_plan *plan) {
    w->tags.spans = plan->spec.unit == SEEN_MICROSECONDS;
    if (has(w, TAG_AGE) && plan->traits & SEEN_NO_AGES)
        die("--tag=age: filter=%s does not know since when a key is in the window; filter=exact "
            "does",
            plan->filter);
    bool exact = !strcmp(plan->filter, "exact"), sliding = plan->spec.window == SEEN_SLIDING;
    if (has(w, TAG_AGE) && plan->spec.window == SEEN_LANDMARK && !exact)
        die("--tag=age: filter=%s does not know since when a key is in a landmark window; "
            "filter=exact "
            "does",
            plan->filter);
    w->ledger = tells_occurrences(w) || (has(w, TAG_AGE) && exact && !sliding);
    if (w->ledger && plan->spec.lateness)
        die("with --lateness a record may be a duplicate of a later one, so that there is no "
            "first");
    if (w->tag_column && (w->json || !input_options_column(s) || (!w->tag && !w->audit)))
        die("--tag-column names the column that --tag and --audit add to --csv and --tsv");
    if (w->max_groups && !w->group_by) die("--max-groups bounds the groups of --group-by");
    if (!w->max_groups) w->max_groups = 10000;
}

static void check_reorder(const struct wanted *w, const struct asked *a,
                          const struct input_options *s, const struct seen_plan *plan) {
    if (w->hold_given && !w->reorder && !w->keep_last)
        die("--hold bounds what --reorder and --keep last hold back");
    if (!w->reorder) return;
    if (!s->time)
        die("--reorder sorts by the records' own time: --time FIELD says where it stands");
    if (a->landmark_on)
        die("--landmark-on marks a place in the order of arrival, which --reorder changes");
    if (plan->spec.lateness)
        die("--reorder sorts what --lateness judges as it comes; give one of them");
}

static void check_keep(const struct wanted *w, const struct seen_plan *plan) {
    if (!w->keep_last) return;
    if (plan->spec.window == SEEN_JUMPING)
        die("--keep last serves landmark and sliding windows, whose ends are known");
    if (plan->spec.lateness)
        die("--keep last and --lateness exclude each other; --reorder will do");
    if (w->ledger || has(w, TAG_AGE))
        die("--keep last tells verdict, number and time; leave out %s",
            w->audit ? "--audit" : "the other tags");
}

static void check_feed(const struct wanted *w, const struct seen_plan *plan) {
    if (!w->add_key) return;
    if (w->keep_last || w->ledger || has(w, TAG_AGE))
        die("--query-key and --add-key tell verdict, number and time; leave out %s",
            w->keep_last ? "--keep last"
            : w->audit   ? "--audit"
                         : "the other tags");
    if (plan->spec.cache) die_both("--query-key", "--cache");
}

/* What --within cannot go with: verdicts that follow from which records were accepted, or from what
 * is known of all of the window. */
static void check_within_others(const struct wanted *w, const struct seen_plan *plan) {
    if (plan->spec.lateness) die_both("--within", "--lateness");
    if (plan->spec.cache) die_both("--within", "--cache");
    if (w->keep_last) die_both("--within", "--keep last");
    if (tells_occurrences(w))
        die("--within and %s exclude each other: the first occurrence may be longer ago",
            w->audit ? "--audit" : "--tag with first and last occurrences");
    if (plan->spec.refresh == SEEN_REFRESH_FIRST)
        die("--within asks when a key was last seen, and refresh=first remembers when it was last "
            "accepted; leave one out");
}

static void check_within(struct wanted *w, const struct seen_plan *plan) {
    const struct seen_spec *s = &plan->spec;
    struct seen_error e;
    if (!w->within_given) return;
    if (s->window != SEEN_SLIDING && s->window != SEEN_JUMPING)
        die("--within serves sliding and jumping windows, which know how long ago a key was seen");
    if (plan->traits & SEEN_NO_AGES)
        die("--within: filter=%s does not know since when a key is in the window; filter=exact "
            "does",
            plan->filter);
    check_within_others(w, plan);
    bool timed = s->unit == SEEN_MICROSECONDS;
    if (timed ? seen_parse_span(&w->within, w->within_given, &e)
              : seen_parse_count(&w->within, w->within_given, &e))
        die("--within %s: %s", w->within_given, e.text);
    if (!w->within || w->within > s->length)
        die("--within %s: give it more than nothing, and at most the window's length",
            w->within_given);
}

static void check_forget(const struct wanted *w, const struct seen_plan *plan, bool state) {
    if (!w->forget) return;
    if (!state) die("--forget takes keys out of what --state remembers; give --state FILE");
    if (!(plan->traits & SEEN_DELETABLE))
        die("--forget: filter=%s cannot take single keys out of %s windows; filter=%s can",
            plan->filter, plan->window, plan->spec.window == SEEN_DECAYING ? "lru" : "exact");
}

/* Records held back are there without their fields, and lists of keys hold one digest each. */
static void check_wide(const struct wanted *w, const struct seen_plan *plan) {
    const char *what = w->reorder     ? "--reorder"
                       : w->keep_last ? "--keep last"
                       : w->add_key   ? "--query-key"
                       : w->within    ? "--within"
                                      : NULL;
    if (plan->digests > 1 && what)
        die("bits=%ju: keys of more than 128 bits are judged as they come; leave out %s, or give "
            "bits=128 at most",
            (uintmax_t)plan->spec.bits, what);
}

void wanted_check(struct wanted *w, const struct asked *a, const struct input_options *s,
                  const struct seen_plan *plan, bool state) {
    check_reorder(w, a, s, plan);
    check_details(w, s, plan);
    check_keep(w, plan);
    check_feed(w, plan);
    check_within(w, plan);
    check_forget(w, plan, state);
    check_wide(w, plan);
    if (state && (w->reorder || w->keep_last))
        die("--state does not keep records held back; leave out %s",
            w->reorder ? "--reorder" : "--keep last");
    if (state && w->ledger)
        die("--state does not keep when each key was first and last seen, some 130 bytes a key; "
            "leave out %s",
            w->audit ? "--audit, or --state" : "such tags, or --state");
}
