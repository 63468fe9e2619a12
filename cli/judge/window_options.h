/* window_options.h - the options of windows: -w SPEC, each option of the engine by its own name,
 * days of a time zone, and landmarks before records that match a pattern. */
#ifndef SEEN_WINDOW_OPTIONS_H
#define SEEN_WINDOW_OPTIONS_H

#include "judge/judge.h"
#include "records/input_options.h"

enum { MAX_SPECS = 32, MAX_SPEC_OPTIONS = 48 };

struct window_options {
    const char *spec[MAX_SPECS]; /* if there is none, "landmark" is taken */
    size_t specs;
    const char *zone;             /* NULL: none */
    const char *landmark_on;      /* NULL: none */
    regex_t pattern[MAX_THREADS]; /* of landmark_on, one a thread: regexec locks its own */
    unsigned patterns;
    const char *time_format; /* NULL: every form that time.h lists */
    struct time_format format;
    bool times;      /* an option other than the window needs the records' times */
    bool wide;       /* keys of more than 128 bits can be judged */
    bool outlives;   /* --state or --redis: the window exists before and after the run */
    uint64_t window; /* of time, as planned, or 0 */
    struct {
        const char *name, *value;
    } set[MAX_SPEC_OPTIONS];
    size_t n;
};

/* Rows for a subcommand's groups, taken by window_take, and one row for each option of the engine,
 * taken by window_take_engine: valid once window_prepare was called. */
extern const struct option_row window_spec_rows[], window_time_rows[];
extern struct option_row window_engine_rows[];
void window_prepare(void);

/* The grammar of specs, for --help=all and manual pages. */
extern const char window_grammar[];

/* Sets the time zone of the process, or dies if this machine does not know it. */
void window_set_zone(const char *zone);

/* Takes one of the rows above into a struct window_options (struct option_group). */
void window_take(void *options, const struct option_row *, const char *value);
void window_take_engine(void *options, const struct option_row *, const char *value);

/* Dies if a FILE that does not exist looks like an option of a spec that was not quoted. */
void window_check_files(const struct window_options *, const struct input_options *);

/* Reads the i-th spec and sets the options that were given beside it, or dies. */
void window_spec(const struct window_options *, size_t i, struct seen_spec *);

/* Adds an option of the engine, as if --name value had been given. */
void window_set(struct window_options *, const char *name, const char *value);

/* Plans the i-th spec, or dies.  If windows are days or weeks of a time zone, the judge finds their
 * boundaries, and their kind is returned.  May set the input's `time`: web logs go by their own
 * times unless --arrival is given. */
enum zone_window window_plan(struct window_options *, size_t i, struct input_options *,
                             struct seen_plan *);

/* Compiles the pattern of --landmark-on and the format of --time-format, or dies. */
void window_compile(struct window_options *, struct input_options *);
void window_free(struct window_options *);

/* Hands the options of windows and times to a judge. */
void window_of_judge(const struct window_options *, const struct input_options *, enum zone_window,
                     struct judge *);

#endif
