/* account.h - --stats of the subcommands that count or look up: how many records were read, how
 * many of them could not be judged and why, and how fast it went. */
#ifndef SEEN_ACCOUNT_H
#define SEEN_ACCOUNT_H

#include "records/unjudged.h"

#define ACCOUNT_ROW(id, what)                                                                      \
    { "stats", 0, "[=text|json]", what ", on stderr", id }

struct account {
    bool wanted, json;
    double started; /* seconds, on the monotonic clock */
};

/* The option's value; NULL: it has none. */
void account_take(struct account *, const char *value);
void account_begin(struct account *);

/* The whole account, of a command that has no more to say. */
void account_print(const struct account *, const struct unjudged *);

/* Prints the statistics of a command that reads no records but did n things: "3 plans, 0.002 s". In
 * JSON `what` is the name of the member. */
void account_print_work(const struct account *, const char *what, uint64_t n);

/* The rate so far: n things a second.  And the end of a JSON object: "seconds":… and so on. */
double account_rate(const struct account *, uint64_t n);
void account_end_json(const struct account *, uint64_t n);

/* Members of a JSON object, each with a comma behind: "records":…, "seconds":…, and so on. */
void account_put_json(const struct account *, const struct unjudged *);

/* "unparseable_causes":[…], likewise.  `earlier`: those of runs before this one. */
void account_put_causes(const struct unjudged *, uint64_t earlier);

#endif
