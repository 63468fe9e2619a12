/* run_stats.h - tells how a run goes: the line of progress on a terminal, with percent and time
 * left if the size of the input is known, and --stats at the end. */
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

/* Is a line due?  A quarter of a second has to pass between two lines. */
bool progress_due(struct progress *);

/* Shows the caller's text, and how much of the input was read. */
void progress_show(struct progress *, const struct reader *, const char *text);

/* -- --stats: how many records were read, how many could not be judged and why, how fast --- */

struct run_stats {
    bool wanted, json;
    double started; /* seconds, on the monotonic clock */
};

/* Takes the value of --stats; NULL: it has none. */
void run_stats_take(struct run_stats *, const char *value);
void run_stats_begin(struct run_stats *);

/* Prints these statistics, for a command that adds none of its own. */
void run_stats_print(const struct run_stats *, const struct unjudged *);

/* Prints the statistics of a command that reads no records but made n things: "3 plans, 0.002 s".
 * In JSON, `what` is the name of the member. */
void run_stats_print_work(const struct run_stats *, const char *what, uint64_t n);

/* The rate so far: n things a second. */
double run_stats_rate(const struct run_stats *, uint64_t n);

/* Members of a JSON object: "records", "unparseable" and "unparseable_causes".  The second writes
 * the last of them alone; `earlier` counts records of runs before this one. */
struct json;
void run_stats_json(struct json *, const struct unjudged *);
void run_stats_json_causes(struct json *, const struct unjudged *, uint64_t earlier);

/* The last members, "seconds", the rate of n records and "version", and the end of the line. */
void run_stats_json_end(const struct run_stats *, struct json *, uint64_t n);

#endif
