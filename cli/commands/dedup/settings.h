/* settings.h - what the command line of `seen dedup` asks for. */
#ifndef SEEN_SETTINGS_H
#define SEEN_SETTINGS_H

#include "commands/dedup/wanted.h"
#include "judge/asked.h"
#include "judge/redis/remote.h"
#include "output/sink.h"
#include "state/state.h"

enum report { REPORT_NONE, REPORT_TEXT, REPORT_JSON };

struct settings {
    struct input_options input;
    struct asked asked;
    struct wanted wanted;
    struct remote remote;
    struct seen_plan plan;
    enum zone_window zone; /* days or weeks whose boundaries are found here */
    bool exit_code;
    bool confirmed; /* only confirmed duplicates are dropped, or shown */
    enum sink_mode mode;
    enum report report;
    struct state state;
};

const struct option_row *settings_rows(void);

/* Reads the options, or dies with a sentence. */
void settings_read(struct settings *, int argc, char **argv);
void settings_free(struct settings *);

#endif
