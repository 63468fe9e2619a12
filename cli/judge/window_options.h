/* window_options.h - which windows are asked for: -w SPEC, every option of the engine's table with
 * the same right, days of a time zone, landmarks where a pattern says so. */
#ifndef SEEN_WINDOW_OPTIONS_H
#define SEEN_WINDOW_OPTIONS_H

#include "judge/judge.h"
#include "records/input_options.h"

enum { MAX_SPECS = 32, MAX_SPEC_OPTIONS = 48 };

struct window_options {
    const char *spec[MAX_SPECS]; /* without any it is "landmark" */
    size_t specs;
    const char *zone;             /* NULL: none */
    const char *landmark_on;      /* NULL: none */
    regex_t pattern[MAX_THREADS]; /* of landmark_on, one a thread: regexec locks its own */
    unsigned patterns;
    const char *time_format; /* NULL: any that is known */
    struct time_format format;
    bool times;      /* an option other than the window needs the records' times */
    bool wide;       /* keys of more than 128 bits can be judged */
    bool outlives;   /* --state or --redis: the window is there before and after the run */
    uint64_t window; /* of time, as planned, or 0 */
    struct {
        const char *name, *value;
    } set[MAX_SPEC_OPTIONS];
    size_t n;
};

enum {
    WINDOW_WINDOW = 600,
    WINDOW_ZONE,
    WINDOW_LANDMARK_ON,
    WINDOW_TIME_FORMAT,
    WINDOW_ENGINE = 1000
};

#define WINDOW_ROWS                                                                                \
    {"Window", 0, NULL, NULL, 0},                                                                  \
        {"window", 'w', "SPEC", "what counts as seen, e.g. 'sliding:1h fp=1e-6'", WINDOW_WINDOW},  \
        {"landmark-on", 0, "REGEX", "a line that matches begins a new landmark window",            \
         WINDOW_LANDMARK_ON},                                                                      \
        SOURCE_TIME_ROWS,                                                                          \
        {"time-format", 0, "FORMAT", "how it is written, as in strptime(3): '%d/%b/%Y %T %z'",     \
         WINDOW_TIME_FORMAT},                                                                      \
    {                                                                                              \
        "zone", 0, "ZONE", "where times without an offset are, and days begin", WINDOW_ZONE        \
    }

/* What --help=all and manual pages say of specs. */
extern const char window_grammar[];

/* A subcommand's n rows, then one for each of the engine's options; valid until the next call. */
const struct option_row *window_rows(const struct option_row *own, size_t n);

/* Makes it the process's time zone, or dies with a sentence. */
void window_set_zone(const char *zone);

/* False if the option is none of these. */
bool window_take(struct window_options *, int id, const char *value);

/* Dies where a FILE that is not there is an option of a spec that was not quoted. */
void window_check_files(const struct window_options *, const struct input_options *);

/* The i-th spec as given, its options set, or one sentence and exit 2. */
void window_spec(const struct window_options *, size_t i, struct seen_spec *);

/* One more option of the engine, as if --name value had been given. */
void window_set(struct window_options *, const char *name, const char *value);

/* The plan of the i-th spec, or one sentence and exit 2.  Days and weeks of a zone are boundaries
 * that the judge finds: their kind is returned.  Web logs go by their own time unless told
 * otherwise, so that `time` of the input may be set. */
enum zone_window window_plan(struct window_options *, size_t i, struct input_options *,
                             struct seen_plan *);

/* The pattern and the format of times. */
void window_compile(struct window_options *, struct input_options *);
void window_free(struct window_options *);

/* Makes a judge see to it, and to the times of the input. */
void window_of_judge(const struct window_options *, const struct input_options *, enum zone_window,
                     struct judge *);

#endif
