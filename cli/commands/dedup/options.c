/* options.c - reads the options of `seen dedup` and refuses those that do not go together. */
#include "commands/dedup/dedup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
enum {
    DUPLICATES = 1, CONFIRMED, STATS, EXIT_CODE, REORDER, HOLD, KEEP, QUERY_KEY, ADD_KEY,
    WITHIN, TAG, TAG_COLUMN, AUDIT, OUTPUT, GROUP_BY, SUM, MAX_GROUPS, FORGET
};
/* clang-format on */

static const struct option_row judging_rows[] = {
    {"Records out of order", 0, NULL, NULL, 0},
    {"reorder", 0, "SPAN",
     "hold records back this long, and judge them in the order of their times", REORDER},
    {"hold", 0, "SIZE", "memory for --reorder and --keep last (default: 256MiB)", HOLD},
    {"Output (default: records not seen before)", 0, NULL, NULL, 0},
    {"duplicates", 0, NULL, "print the duplicates instead", DUPLICATES},
    {"confirmed", 0, NULL, "drop (show) only what verify= confirms: never a new record", CONFIRMED},
    {"keep", 0, "first|last", "which record of a key goes through (last: held back)", KEEP},
    {"query-key", 0, "LIST", "fields of the key to ask about; needs --add-key", QUERY_KEY},
    {"add-key", 0, "LIST", "fields of the key to remember (a news feed)", ADD_KEY},
    {"within", 0, "SPAN|N", "a key counts only if it was seen this recently", WITHIN},
    {"tag", 0, "[=LIST]", "all, with new, dup, sure or - in front (tables: last)", TAG},
    {"tag-column", 0, "NAME", "name of that column in a table (default: seen)", TAG_COLUMN},
    {"audit", 0, NULL, "print the duplicates, each with its first occurrence; exact", AUDIT},
    {"output", 'o', "text|json", "records as they are, or as JSON objects", OUTPUT},
    {"group-by", 0, "LIST", "counts for each value of the fields, on stderr", GROUP_BY},
    {"sum", 0, "LIST", "gross, duplicate and net of amounts, exactly, on stderr", SUM},
    {"max-groups", 0, "N", "count N groups, all others together (default: 10000)", MAX_GROUPS},
    {0},
};

static const struct option_row stats_rows[] = {
    {"stats", 0, "[=text|json]", "counts, expected errors, memory, on stderr", STATS},
    {0},
};

static const struct option_row exit_rows[] = {
    {"exit-code", 0, NULL, "exit 1 if there were duplicates", EXIT_CODE},
    {0},
};

static const struct option_row forget_rows[] = {
    {"forget", 0, "FILE", "first take the keys listed in FILE out of the state", FORGET},
    {0},
};

static const struct option_row engine_heading[] = {
    {"The same as in SPEC, and stronger", 0, NULL, NULL, 0},
    {0},
};

/* -- values ------------------------------------------------------------------------------- */

static uint64_t between(const char *name, const char *text, uint64_t n, uint64_t most,
                        const char *range) {
    if (!n || n > most) die("%s %s: give it between %s", name, text, range);
    return n;
}

static void take(void *options, const struct option_row *row, const char *value) {
    struct dedup_options *o = options;
    switch (row->id) {
    case DUPLICATES: o->duplicates = true; break;
    case CONFIRMED: o->confirmed = true; break;
    case STATS: o->report = value && option_is_json(value) ? REPORT_JSON : REPORT_TEXT; break;
    case EXIT_CODE: o->exit_code = true; break;
    case REORDER:
        o->reorder = between("--reorder", value, option_span("--reorder", value),
                             UINT64_C(1000000000000000), "1ms and 1653w");
        break;
    case HOLD: o->hold = option_size("--hold", o->hold_given = value); break;
    case KEEP: o->keep_last = !strcmp(value, "last"); break;
    case QUERY_KEY: o->query_key = value; break;
    case ADD_KEY: o->add_key = value; break;
    case WITHIN: o->within_given = value; break;
    case TAG:
        o->tag = true;
        if (value) tags_parse(&o->tags, value);
        break;
    case TAG_COLUMN: o->tag_column = tags_column(value); break;
    case AUDIT: o->audit = true; break;
    case OUTPUT: o->json = option_is_json(value); break;
    case GROUP_BY: o->group_by = value; break;
    case SUM: {
        char *before = o->sum;
        if (asprintf(&o->sum, "%s%s%s", before ? before : "", before ? "," : "", value) < 0)
            die("out of memory for the list of --sum");
        free(before);
        break;
    }
    case MAX_GROUPS:
        o->max_groups = (uint32_t)between(
            "--max-groups", value, option_count("--max-groups", value), 100000000, "1 and 1e8");
        break;
    case FORGET: o->forget = value; break;
    }
}

const struct option_group dedup_groups[] = {
    {window_spec_rows, window_take, offsetof(struct dedup_options, window)},
    {input_time_rows, input_options_take, offsetof(struct dedup_options, input)},
    {window_time_rows, window_take, offsetof(struct dedup_options, window)},
    {input_key_rows, input_options_take, offsetof(struct dedup_options, input)},
    {input_format_rows, input_options_take, offsetof(struct dedup_options, input)},
    {judging_rows, take, 0},
    {input_thread_rows, input_options_take, offsetof(struct dedup_options, input)},
    {stats_rows, take, 0},
    {input_quiet_rows, input_options_take, offsetof(struct dedup_options, input)},
    {exit_rows, take, 0},
    {input_strict_rows, input_options_take, offsetof(struct dedup_options, input)},
    {input_reject_rows, input_options_take, offsetof(struct dedup_options, input)},
    {state_rows, state_take, offsetof(struct dedup_options, state)},
    {forget_rows, take, 0},
    {server_option_rows, server_take, offsetof(struct dedup_options, server)},
    {help_rows, NULL, 0},
    {engine_heading, NULL, 0},
    {window_engine_rows, window_take_engine, offsetof(struct dedup_options, window)},
    {0},
};

/* -- what options ask of the window --------------------------------------------------------- */

static bool has(const struct dedup_options *o, enum tag tag) { return tags_have(&o->tags, tag); }

static bool tells_occurrences(const struct dedup_options *o) {
    return has(o, TAG_FIRST) || has(o, TAG_FIRST_TIME) || has(o, TAG_LAST) || has(o, TAG_LAST_TIME);
}

/* Dies if an option needs an exact detector and the spec names another filter; sets filter=exact if
 * the spec names none. */
static void ask_exact(const char *what, struct window_options *a) {
    struct seen_spec spec;
    char filter[32];
    window_spec(a, 0, &spec);
    seen_spec_get(&spec, "filter", filter, sizeof filter);
    if (spec.window == SEEN_WINDOW_DECAYING)
        die("%s needs filter=exact, and so a window: decaying has none", what);
    if (*filter && strcmp(filter, "exact") != 0)
        die("%s needs filter=exact: filter=%s does not know which records a key had", what, filter);
    if (!*filter) window_set(a, "filter", "exact");
}

/* Adds what the options need to the window, which is not planned yet, and to the records. */
static void ask(struct dedup_options *o) {
    if (!o->add_key != !o->query_key)
        die("--query-key decides and --add-key is remembered: both are needed");
    if (o->add_key && o->input.keys)
        die("-k is the key for both; leave it out with --query-key and --add-key");
    if (o->add_key) o->input.keys = o->query_key; /* the flow adds the other key */
    if (o->audit) tags_parse(&o->tags, "number,first,first-time");
    /* A JSON object always has number and verdict. */
    if (o->json) {
        static const enum tag always[] = {TAG_VERDICT, TAG_NUMBER};
        for (size_t i = 0; i < 2; i++) {
            if (has(o, always[i])) continue;
            memmove(o->tags.list + 1, o->tags.list, o->tags.n++ * sizeof *o->tags.list);
            o->tags.list[0] = always[i];
        }
    }
    if (tells_occurrences(o))
        ask_exact(o->audit ? "--audit" : "--tag with first and last occurrences", &o->window);
    if (o->keep_last && !o->server.url) ask_exact("--keep last", &o->window);
    bool times = has(o, TAG_TIME) || has(o, TAG_FIRST_TIME) || has(o, TAG_LAST_TIME);
    o->window.times |= times || o->reorder > 0;
    o->window.outlives = o->state.name || o->server.url;
    o->window.wide = !o->server.url;
}

/* -- options that exclude each other -------------------------------------------------------- */

/* Two options of a pair exclude each other.  doc/scaling.md lists those of --redis. */
struct exclusion {
    bool one;
    const char *one_name;
    bool other;
    const char *other_name, *why;
};

/* Runs before the state is loaded, when no spec is planned, and again with the plan. */
static void check_pairs(const struct dedup_options *o) {
    const struct seen_spec *s = &o->plan.spec;
    const char *history = o->audit               ? "--audit"
                          : tells_occurrences(o) ? "--tag with first and last occurrences"
                                                 : "--tag=age";
    bool redis = o->server.url, state = o->state.name, details = o->occurrences || has(o, TAG_AGE);
    bool feed = o->add_key, within = o->within_given;
    const char *begins = "a server begins windows itself, and all clients share them";
    const char *held = "a state does not keep records that are held back";
    const char *renewed = "which record was accepted decides there, and when it was seen here";
    const struct exclusion pairs[] = {
        {redis, "--redis", state, "--state", "the server keeps the window from run to run"},
        {redis, "--redis", o->zone, "--zone", begins},
        {redis, "--redis", o->window.landmark_on, "--landmark-on", begins},
        {redis, "--redis", o->confirmed, "--confirmed", "the server says only new or seen before"},
        {redis, "--redis", details, history, "first and last may be another client's records"},
        {redis, "--redis", feed, "--query-key",
         "the server asks about a key and adds it in one step"},
        {redis, "--redis", within, "--within", "the server answers for its whole window"},
        {redis, "--redis", seen_spec_get_count(s, "hash") == SEEN_HASH_INT, "hash=int",
         "keys are sent to it as bytes"},
        {redis, "--redis", seen_spec_get_count(s, "hash") == SEEN_HASH_RAW, "hash=raw",
         "keys are sent to it as bytes"},
        {state, "--state", o->input.merge, "--merge",
         "a state keeps a place in one file at a time"},
        {state, "--state", o->reorder, "--reorder", held},
        {state, "--state", o->keep_last, "--keep last", held},
        {state, "--state", o->occurrences, history,
         "a state does not keep when each key was first and last seen, some 130 bytes a key"},
        {o->audit, "--audit", o->tag, "--tag", "--tag=verdict,first tells it of all records"},
        {o->tag, "--tag", o->duplicates, "--duplicates", "--tag prints all records"},
        {o->tag, "--tag", o->confirmed, "--confirmed", "--tag tells confirmed duplicates as sure"},
        {o->reorder, "--reorder", o->window.landmark_on, "--landmark-on",
         "it marks a place in the order of arrival, which --reorder changes"},
        {o->reorder, "--reorder", seen_spec_get_count(s, "lateness"), "--lateness",
         "one sorts records first, the other judges late ones as they come"},
        {o->keep_last, "--keep last", details, history,
         "--keep last tells verdict, number and time"},
        {feed, "--query-key", o->keep_last, "--keep last", "a feed tells verdict, number and time"},
        {feed, "--query-key", details, history, "a feed tells verdict, number and time"},
        {feed, "--query-key", seen_spec_has(s, "verify"), "--verify",
         "the cache confirms keys that were added"},
        {within, "--within", seen_spec_get_count(s, "lateness"), "--lateness", renewed},
        {within, "--within", seen_spec_has(s, "verify"), "--verify",
         "the cache confirms for the whole window"},
        {within, "--within", o->keep_last, "--keep last", "records are held for the whole window"},
        {within, "--within", tells_occurrences(o), history,
         "the first occurrence may be longer ago"},
        {within, "--within", seen_spec_get_count(s, "refresh") == SEEN_REFRESH_FIRST,
         "refresh=first", renewed},
        {seen_spec_get_count(s, "lateness"), "--lateness", o->occurrences, history,
         "a record may be a duplicate of a later one, so no occurrence is the first"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].one && pairs[i].other)
            die("%s and %s exclude each other: %s", pairs[i].one_name, pairs[i].other_name,
                pairs[i].why);
}

static void check_details(struct dedup_options *o) {
    const struct seen_plan *plan = &o->plan;
    o->tags.spans = plan->spec.unit == SEEN_UNIT_MICROSECONDS;
    if (has(o, TAG_AGE) && plan->traits & SEEN_NO_AGES)
        die("--tag=age: filter=%s does not know since when a key is in the window; filter=exact "
            "does",
            plan->filter);
    bool exact = !strcmp(plan->filter, "exact");
    if (has(o, TAG_AGE) && plan->spec.window == SEEN_WINDOW_LANDMARK && !exact)
        die("--tag=age: filter=%s does not know since when a key is in a landmark window; "
            "filter=exact "
            "does",
            plan->filter);
    if (o->tag_column && (o->json || !input_options_column(&o->input) || (!o->tag && !o->audit)))
        die("--tag-column names the column that --tag and --audit add to --csv and --tsv");
    if (o->max_groups && !o->group_by) die("--max-groups bounds the groups of --group-by");
    if (!o->max_groups) o->max_groups = 10000;
}

void dedup_check_keep(const struct dedup_options *o, const struct seen_spec *window) {
    if (!o->keep_last) return;
    if (window->window == SEEN_WINDOW_JUMPING || window->window == SEEN_WINDOW_DECAYING)
        die("--keep last serves landmark and sliding windows, whose ends are known");
    if (seen_spec_get_count(window, "lateness"))
        die("--keep last and --lateness exclude each other; --reorder will do");
}

static void check_within(struct dedup_options *o) {
    const struct seen_plan *plan = &o->plan;
    const struct seen_spec *s = &plan->spec;
    struct seen_error e;
    if (!o->within_given) return;
    if (s->window != SEEN_WINDOW_SLIDING && s->window != SEEN_WINDOW_JUMPING)
        die("--within serves sliding and jumping windows, which know how long ago a key was seen");
    if (plan->traits & SEEN_NO_AGES)
        die("--within: filter=%s does not know since when a key is in the window; filter=exact "
            "does",
            plan->filter);
    bool timed = s->unit == SEEN_UNIT_MICROSECONDS;
    if (timed ? seen_parse_span(o->within_given, &o->within, &e)
              : seen_parse_count(o->within_given, &o->within, &e))
        die("--within %s: %s", o->within_given, e.text);
    if (!o->within || o->within > s->length)
        die("--within %s: give it more than nothing, and at most the window's length",
            o->within_given);
}

static void check(struct dedup_options *o) {
    const struct seen_plan *plan = &o->plan;
    /* Detectors know the ages of keys, except exact windows that do not slide.  There the
     * occurrences of a key give its age. */
    bool ages = strcmp(plan->filter, "exact") != 0 || plan->spec.window == SEEN_WINDOW_SLIDING;
    o->occurrences = tells_occurrences(o) || (has(o, TAG_AGE) && !ages);
    check_pairs(o);
    if (o->hold_given && !o->reorder && !o->keep_last)
        die("--hold bounds what --reorder and --keep last hold back");
    if (o->reorder && !o->input.time)
        die("--reorder sorts by the records' own time: --time FIELD says where it stands");
    if (o->keep_last) dedup_check_keep(o, &o->plan.spec);
    check_details(o);
    check_within(o);
    if (o->forget && !o->state.name)
        die("--forget takes keys out of what --state remembers; give --state FILE");
    if (o->forget && !(plan->traits & SEEN_DELETABLE))
        die("--forget: filter=%s cannot take single keys out of %s windows; filter=%s can",
            plan->filter, plan->window,
            plan->spec.window == SEEN_WINDOW_DECAYING ? "lru" : "exact");
    const char *narrow = o->add_key ? "--query-key" : o->within ? "--within" : NULL;
    if (plan->digests > 1 && narrow) /* these look up one digest */
        die("bits=%ju: keys of more than 128 bits are judged as they come; leave out %s, or give "
            "bits=128 at most",
            (uintmax_t)seen_spec_get_count(&plan->spec, "bits"), narrow);
    server_check(&o->server);
    if (seen_spec_has(&o->plan.asked, "claims"))
        die("claims= is for programs and for SEEN.CLAIM of a server; leave it out");
    if (o->confirmed && !seen_spec_get_count(&o->plan.spec, "verify"))
        die("--confirmed needs a cache of the keys called duplicates, such as --verify 1e5");
}

/* -- all options ---------------------------------------------------------------------------- */

void dedup_options_init(struct dedup_options *o, const struct state_kind *kept) {
    *o = (struct dedup_options){.hold = 256 << 20};
    input_options_init(&o->input);
    state_init(&o->state, kept);
}

void dedup_options_settle(struct dedup_options *o, const struct args *args) {
    if (o->window.specs > 1)
        die("-w is given twice; a spec is one text: -w '%s ...'", o->window.spec[0]);
    saved_options_take(&o->state.options, args);
    if (o->sum) saved_options_put(&o->state.options, "--sum", o->sum);
    input_options_files(&o->input, args);
    o->input.rejects_go_on = o->state.name;
    window_check_files(&o->window, &o->input);
    if (o->json && o->report) o->report = REPORT_JSON;
    o->mode = o->tag ? SINK_TAG : o->audit || o->duplicates ? SINK_DUPLICATES : SINK_UNIQUE;
    check_pairs(o);
    state_load(&o->state, &o->window);
    ask(o);
    o->zone = window_plan(&o->window, 0, &o->input, &o->plan);
    state_check(&o->state, &o->window);
    check(o);
    window_compile(&o->window, &o->input);
}

void dedup_options_free(struct dedup_options *o) {
    window_free(&o->window);
    free(o->sum);
    state_free(&o->state);
}
