/* settings.c - what the command line of `seen dedup` asks for. */
#include "commands/dedup/settings.h"

#include "commands/dedup/flow.h"

#include <stdio.h>
#include <string.h>

enum { DUPLICATES = 1, CONFIRMED, STATS, EXIT_CODE };

static const struct option_row own_rows[] = {
    ASKED_ROWS,
    SOURCE_ROWS,
    {"Records out of order", 0, NULL, NULL, 0},
    WANTED_ROWS,
    {"Output (default: records not seen before)", 0, NULL, NULL, 0},
    {"duplicates", 0, NULL, "the others instead", DUPLICATES},
    {"confirmed", 0, NULL, "drop (show) only what cache= confirms: never a new record", CONFIRMED},
    WANTED_KEEP_ROW,
    WANTED_FEED_ROWS,
    WANTED_WITHIN_ROW,
    WANTED_OUTPUT_ROWS,
    SOURCE_THREADS_ROW,
    {"stats", 0, "[=text|json]", "counts, expected errors, memory, on stderr", STATS},
    SOURCE_QUIET_ROW,
    {"exit-code", 0, NULL, "exit 1 if there were duplicates", EXIT_CODE},
    SOURCE_UNJUDGED_ROWS,
    STATE_ROWS,
    WANTED_FORGET_ROW,
    REMOTE_ROWS,
    HELP_ROWS,
    {"The same as in SPEC, and stronger", 0, NULL, NULL, 0},
};

const struct option_row *settings_rows(void) {
    return asked_rows(own_rows, sizeof own_rows / sizeof *own_rows);
}

static enum report report_of(const char *format) {
    return format && option_is_json(format) ? REPORT_JSON : REPORT_TEXT;
}

static void set_mode(struct settings *s, enum sink_mode mode) {
    if (s->mode && s->mode != mode) die_both("--duplicates", "--tag");
    s->mode = mode;
}

static void take(struct settings *s, int id, const char *value) {
    if (input_options_take(&s->input, id, value)) return;
    if (state_take(&s->state, id, value)) return;
    if (wanted_take(&s->wanted, id, value)) return;
    if (id == ASKED_WINDOW && s->asked.specs)
        die("-w is given twice; a spec is one text: -w '%s ...'", s->asked.spec[0]);
    if (asked_take(&s->asked, id, value) || remote_take(&s->remote, id, value)) return;
    switch (id) {
    case DUPLICATES: set_mode(s, SINK_DUPLICATES); break;
    case CONFIRMED: s->confirmed = true; break;
    case STATS: s->report = report_of(value); break;
    case EXIT_CODE: s->exit_code = true; break;
    }
}

void settings_read(struct settings *s, int argc, char **argv) {
    struct args a = {.argc = argc, .argv = argv, .command = &dedup_command};
    *s = (struct settings){0};
    input_options_init(&s->input);
    state_init(&s->state, &flow_kept);
    wanted_init(&s->wanted);
    for (int id; (id = args_next(&a));) {
        take(s, id, a.value);
        wishes_note(&s->state.wishes, a.row, a.value);
    }
    if (s->wanted.sum) wishes_put(&s->state.wishes, "--sum", s->wanted.sum);
    input_options_files(&s->input, &a);
    s->input.rejects_go_on = s->state.name;
    asked_check_files(&s->asked, &s->input);
    if (s->state.name && s->input.merge) die_both("--state", "--merge");
    if (s->wanted.json && s->report) s->report = REPORT_JSON;
    if (s->wanted.audit && s->wanted.tag)
        die("--audit and --tag exclude each other; --tag=verdict,first tells it of all records");
    if (s->wanted.tag) set_mode(s, SINK_TAG);
    if (s->wanted.audit) set_mode(s, SINK_DUPLICATES);
    state_load(&s->state, &s->asked);
    wanted_ask(&s->wanted, &s->asked, &s->input);
    s->asked.outlives = s->state.name || s->remote.url;
    s->asked.wide = !s->remote.url;
    s->zone = asked_plan(&s->asked, 0, &s->input, &s->plan);
    state_check(&s->state, &s->asked);
    wanted_check(&s->wanted, &s->asked, &s->input, &s->plan, s->state.name);
    if (s->confirmed && s->mode == SINK_TAG) die_both("--confirmed", "--tag");
    if (s->confirmed && !s->plan.spec.cache)
        die("--confirmed needs a cache of the keys called duplicates, such as --cache 1e5");
    asked_compile(&s->asked, &s->input);
    remote_check(s);
}

void settings_free(struct settings *s) {
    asked_free(&s->asked);
    wanted_free(&s->wanted);
    state_free(&s->state);
}
