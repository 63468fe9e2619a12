/* options.h - what the command line of `seen dedup` asks for. */
#ifndef SEEN_DEDUP_OPTIONS_H
#define SEEN_DEDUP_OPTIONS_H

#include "judge/redis/server.h"
#include "judge/window_options.h"
#include "output/sink.h"
#include "state/state.h"

enum report { REPORT_NONE, REPORT_TEXT, REPORT_JSON };

struct dedup_options {
    struct input_options input;
    struct window_options window;
    struct server_options server;
    struct state state;
    struct seen_plan plan;
    enum zone_window zone; /* days or weeks whose boundaries are found here */

    /* What is printed. */
    enum sink_mode mode;
    bool duplicates, tag, audit, json;
    struct tags tags;       /* n = 0: the verdict at most */
    const char *tag_column; /* NULL: not given */
    bool confirmed;         /* only confirmed duplicates are dropped, or shown */
    bool keep_last;   /* the last record of each key in a window goes through, not the first */
    bool occurrences; /* first and last occurrences have to be known */
    enum report report;
    bool exit_code;
    const char *group_by; /* NULL: not given */
    uint32_t max_groups;  /* 0: not given */
    char *sum;            /* all lists that were given, joined by commas; NULL: none */

    /* What is judged. */
    uint64_t reorder; /* microseconds; 0: records are judged as they come */
    uint64_t hold;    /* bytes for records held back */
    const char *hold_given;
    const char *add_key, *query_key; /* NULL: one key is both */
    const char *forget;              /* NULL: no file */
    const char *within_given;
    uint64_t within; /* records or microseconds; 0: the whole window */
};

extern const struct option_group dedup_groups[];

/* Sets the defaults; `kept` is what a run adds to its state.  And once all options are known:
 * checks them, loads the state and plans the window, or dies with a sentence. */
void dedup_options_init(struct dedup_options *, const struct state_kind *kept);
void dedup_options_settle(struct dedup_options *, const struct args *);
void dedup_options_free(struct dedup_options *);

/* Dies if --keep last does not know where windows of this kind end. */
void dedup_check_keep(const struct dedup_options *, const struct seen_spec *window);

/* Groups are counted, or amounts added up. */
static inline bool wants_groups(const struct dedup_options *o) { return o->group_by || o->sum; }

/* More is printed of a record than `new` or `dup`. */
static inline bool wants_details(const struct dedup_options *o) { return o->tags.n > 0; }

#endif
