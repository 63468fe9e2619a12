/* run_stats.h - how a run goes: the line of progress on a terminal, with percent and time left if
 * the size of the input is known; and --stats of the subcommands that count or look up. */
#ifndef SEEN_RUN_STATS_H
#define SEEN_RUN_STATS_H

#include "records/reader.h"

/* -- progress ------------------------------------------------------------------------------ */

struct progress {
    bool wanted; /* by the options, on a terminal that gets no records */
    double started, shown;
    uint64_t total, first; /* bytes of all files (0: not known); where the run began in them */
};

void progress_init(struct progress *, const struct input_options *);

/* A quarter of a second has passed since the last line. */
bool progress_due(struct progress *);

/* The caller's text, and how much of the input was read. */
void progress_show(struct progress *, const struct reader *, const char *text);

/* -- --stats: how many records were read, how many could not be judged and why, how fast --- */

struct run_stats {
    bool wanted, json;
    double started; /* seconds, on the monotonic clock */
};

/* The option's value; NULL: it has none. */
void run_stats_take(struct run_stats *, const char *value);
void run_stats_begin(struct run_stats *);

/* The whole account, of a command that has no more to say. */
void run_stats_print(const struct run_stats *, const struct unjudged *);

/* Prints the statistics of a command that reads no records but did n things: "3 plans, 0.002 s". In
 * JSON `what` is the name of the member. */
void run_stats_print_work(const struct run_stats *, const char *what, uint64_t n);

/* The rate so far: n things a second.  And the end of a JSON object: "seconds":… and so on. */
double run_stats_rate(const struct run_stats *, uint64_t n);
void run_stats_end_json(const struct run_stats *, uint64_t n);

/* Members of a JSON object, each with a comma behind: "records":…, "seconds":…, and so on. */
void run_stats_put_json(const struct run_stats *, const struct unjudged *);

/* "unparseable_causes":[…], likewise.  `earlier`: those of runs before this one. */
void run_stats_put_causes(const struct unjudged *, uint64_t earlier);

#endif
