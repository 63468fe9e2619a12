/* window_options.c - reads the options of windows: -w SPEC, the engine's options, zones,
 * landmarks. */
#include "judge/window_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char window_grammar[] =
    "  SPEC    WINDOW [NAME=VALUE]...\n"
    "  WINDOW  landmark[:N|:SPAN] jumping:N/Q jumping:SPAN/Q sliding:N sliding:SPAN\n"
    "  N       records: 1e6 1_000_000; no unit\n"
    "  SPAN    20ms 90s 5m 1h 1d 1w, or in words: 5min 1hour 2days\n"
    "  SIZE    64KiB 64MiB 2GiB; 64M 2G are the same; 64MB 2GB are powers of 1000\n"
    "  X       0.001 1e-6 0.1%         RATE  records a second: 500, or 3e4/m 1e6/h 1e9/d\n"
    "  time    2020-11-06T18:10:51.5+01:00 (no offset: --zone, or UTC), 2020-11-06 18:10,\n"
    "          2020-11-06, Fri, 06 Nov 2020 18:10:51 +0100, 06/Nov/2020:18:10:51 +0100,\n"
    "          or since 1970: seconds, from 12 digits on ms, from 15 us, from 18 ns";

/* -- the table of options ----------------------------------------------------------------- */

enum { WINDOW = 1, LANDMARK_ON, TIME_FORMAT, ZONE };

const struct option_row window_spec_rows[] = {
    {"Window", 0, NULL, NULL, 0},
    {"window", 'w', "SPEC", "what counts as seen, e.g. 'sliding:1h fp=1e-6'", WINDOW},
    {"landmark-on", 0, "REGEX", "a line that matches begins a new landmark window", LANDMARK_ON},
    {0},
};

const struct option_row window_time_rows[] = {
    {"time-format", 0, "FORMAT", "how times are written (strptime(3)): '%d/%b/%Y %T %z'",
     TIME_FORMAT},
    {"zone", 0, "ZONE", "where times without an offset are, and days begin", ZONE},
    {0},
};

struct option_row window_engine_rows[SEEN_MAX_OPTIONS + 1];

static const char *placeholder(const struct seen_option *o, size_t i) {
    static char choices[SEEN_MAX_OPTIONS][64];
    static const char *const names[] = {
        [SEEN_KIND_COUNT] = "N",     [SEEN_KIND_SIZE] = "SIZE", [SEEN_KIND_REAL] = "X",
        [SEEN_KIND_NAME] = "FILTER", [SEEN_KIND_SPAN] = "SPAN", [SEEN_KIND_RATE] = "RATE"};
    if (o->kind != SEEN_KIND_CHOICE) return names[o->kind];
    char *text = choices[i];
    size_t n = 0;
    for (const char *const *c = o->choices; *c && n < sizeof choices[0]; c++)
        n += (size_t)snprintf(text + n, sizeof choices[0] - n, "%s%s", n ? "|" : "", *c);
    return text;
}

void window_prepare(void) {
    static char help[SEEN_MAX_OPTIONS][120];
    const struct seen_option *o;
    for (size_t i = 0; (o = seen_option(i)); i++) {
        /* The structures that the option is for stand before its help. */
        bool named = o->of && strlen(o->of) <= 30;
        snprintf(help[i], sizeof help[i], "%s%s%s", named ? o->of : "", named ? ": " : "", o->help);
        window_engine_rows[i] = (struct option_row){o->name, 0, placeholder(o, i),
                                                    named ? help[i] : o->help, (int)i + 1};
    }
}

void window_take(void *options, const struct option_row *row, const char *value) {
    struct window_options *o = options;
    switch (row->id) {
    case WINDOW:
        if (o->specs == MAX_SPECS) die("more than %d specs: give fewer -w", MAX_SPECS);
        o->spec[o->specs++] = value;
        break;
    case ZONE: o->zone = value; break;
    case TIME_FORMAT: o->time_format = value; break;
    case LANDMARK_ON: o->landmark_on = value; break;
    }
}

void window_take_engine(void *options, const struct option_row *row, const char *value) {
    window_set(options, row->name, value);
}

void window_set(struct window_options *a, const char *name, const char *value) {
    if (a->n == MAX_SPEC_OPTIONS) die("more than %d options of the spec", MAX_SPEC_OPTIONS);
    a->set[a->n].name = name;
    a->set[a->n++].value = value;
}

void window_compile(struct window_options *a, struct input_options *s) {
    if (a->time_format) {
        time_format_init(&a->format, a->time_format);
        s->time_format = &a->format;
    }
    if (!a->landmark_on) return;
    for (; a->patterns < s->threads; a->patterns++) {
        char why[128];
        regex_t *pattern = &a->pattern[a->patterns];
        int code = regcomp(pattern, a->landmark_on, REG_EXTENDED);
        if (!code) continue;
        regerror(code, pattern, why, sizeof why);
        die("--landmark-on '%s' is not a regular expression: %s", a->landmark_on, why);
    }
}

void window_free(struct window_options *a) {
    while (a->patterns) regfree(&a->pattern[--a->patterns]);
    time_format_free(&a->format);
}

void window_of_judge(const struct window_options *a, const struct input_options *input,
                     enum zone_window zone, struct judge *j) {
    j->input = input;
    j->zone = zone;
    j->window = a->window;
    if (!input->time && !input->arrival && !a->outlives) j->clocks.window = a->window;
    const struct seen_spec *s = judge_window(j);
    bool calendar = j->timed && s->window == SEEN_WINDOW_LANDMARK;
    if (zone || calendar)
        j->lateness.calendar = (struct calendar){zone ? a->window : s->length, zone};
    j->times |= zone || a->times;
    if (a->landmark_on) j->pattern = a->pattern;
    if (a->time_format) j->format = &a->format;
}

/* -- the spec ----------------------------------------------------------------------------- */

static bool is_option(const char *word) {
    char name[32];
    size_t len = strcspn(word, "=");
    if (!word[len] || len >= sizeof name) return false;
    memcpy(name, word, len);
    name[len] = '\0';
    return seen_option_find(name) && access(word, F_OK) != 0;
}

void window_check_files(const struct window_options *a, const struct input_options *s) {
    char text[256];
    const char *window = a->specs ? a->spec[a->specs - 1] : "landmark";
    int at = snprintf(text, sizeof text, "%s", window);
    for (size_t i = 0; i < s->file_count && (size_t)at < sizeof text; i++)
        if (is_option(s->files[i]))
            at += snprintf(text + at, sizeof text - (size_t)at, " %s", s->files[i]);
    if ((size_t)at > strlen(window))
        die("a window and its options are one text; quote the spec: -w '%s'", text);
}

void window_set_zone(const char *zone) {
    if (!time_set_zone(zone))
        die("the time zone '%s' is not known on this machine; it takes a name such as "
            "Europe/Berlin",
            zone);
}

/* A day of that zone has 23, 24 or 25 hours, so the engine gets landmarks instead of a length. */
static enum zone_window take_zone(struct seen_spec *spec) {
    const uint64_t day = UINT64_C(86400000000);
    bool days = spec->window == SEEN_WINDOW_LANDMARK && spec->unit == SEEN_UNIT_MICROSECONDS;
    if (!days || (spec->length != day && spec->length != 7 * day)) return ZONE_NONE;
    enum zone_window kind = spec->length == day ? ZONE_DAY : ZONE_WEEK;
    double rate = seen_spec_get_real(spec, "rate");
    uint64_t hour_more = spec->length / 1000000 + 3600;
    if (rate > 0 && !seen_spec_has(spec, "items"))
        seen_spec_set_count(spec, "items", (uint64_t)(rate * (double)hour_more) + 1, NULL);
    seen_spec_unset(spec, "rate");
    seen_spec_set(spec, "window", "landmark", NULL);
    return kind;
}

static void check(const struct window_options *a, const struct seen_plan *plan, bool zone,
                  const struct input_options *input) {
    bool windows_of_time = plan->spec.unit == SEEN_UNIT_MICROSECONDS || zone;
    if (a->time_format && !input->time)
        die("--time-format says how the field of --time is written");
    if (input->time_given && !windows_of_time && !a->times && !input->merge)
        die("--time serves windows of time, such as sliding:1h or landmark:1d");
    const char *file = input_options_regular_file(input);
    if (windows_of_time && !input->time && !input->arrival && !a->outlives && file)
        die("a window of time needs the time of each record, for %s is a file: name its field "
            "with --time FIELD, or give --arrival to go by when records are read",
            file);
    if (input->arrival && !windows_of_time && !a->times)
        die("--arrival serves windows of time, such as sliding:1h or landmark:1d");
    if (a->landmark_on && plan->spec.window != SEEN_WINDOW_LANDMARK)
        die("--landmark-on serves landmark windows, such as -w landmark");
}

void window_spec(const struct window_options *a, size_t i, struct seen_spec *spec) {
    const char *text = i < a->specs ? a->spec[i] : "landmark";
    struct seen_error e;
    if (seen_spec_parse(spec, text, &e)) die_at(text, e.where, e.text);
    for (size_t o = 0; o < a->n; o++)
        if (seen_spec_set(spec, a->set[o].name, a->set[o].value, &e))
            die("--%s %s: %s", a->set[o].name, a->set[o].value, e.text);
}

enum zone_window window_plan(struct window_options *a, size_t i, struct input_options *input,
                             struct seen_plan *plan) {
    struct seen_error e;
    struct seen_spec spec;
    char printed[512];
    enum zone_window zone = ZONE_NONE;
    window_spec(a, i, &spec);
    uint64_t length = spec.length;
    if (a->zone) window_set_zone(a->zone);
    if (a->zone) zone = take_zone(&spec);
    seen_spec_print(&spec, printed, sizeof printed);
    if (seen_plan_make(plan, &spec, &e)) die_at(printed, e.where, e.text);
    if (plan->digests > 1 && !a->wide)
        die("bits=%ju: keys of more than 128 bits serve seen by itself, and seen plan; give "
            "bits=128 "
            "at most here",
            (uintmax_t)seen_spec_get_count(&plan->spec, "bits"));
    bool own = input->shape == SHAPE_CLF && !input->arrival;
    bool windows_of_time = plan->spec.unit == SEEN_UNIT_MICROSECONDS || zone;
    if (own && !input->time && (windows_of_time || a->times)) input->time = "time";
    if (a->zone && !zone && !input->time)
        die("--zone serves landmark:1d and landmark:1w, whose days begin at midnight there, and "
            "--time FIELD, for times without an offset");
    check(a, plan, zone, input);
    if (windows_of_time) a->window = length;
    return zone;
}
