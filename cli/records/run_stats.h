/* run_stats.h - --stats of the subcommands that count or look up: how many records were read, how
 * many of them could not be judged and why, and how fast it went. */
#ifndef SEEN_RUN_STATS_H
#define SEEN_RUN_STATS_H

#include "records/unjudged.h"

#define ACCOUNT_ROW(id, what)                                                                      \
    { "stats", 0, "[=text|json]", what ", on stderr", id }

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
