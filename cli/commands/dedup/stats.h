/* stats.h - the statistics of a run, on stderr. */
#ifndef SEEN_STATS_H
#define SEEN_STATS_H

#include "commands/dedup/groups.h"
#include "judge/holding.h"
#include "judge/judge.h"
#include "records/unjudged.h"

/* All that the statistics of a run are made of. */
struct run_counts {
    const struct judge *judge;
    const seen_detector *detector;   /* NULL: ... */
    const struct server *server;     /* ... a server gives the verdicts */
    uint64_t unreadable;             /* records passed through unjudged, in earlier runs as well */
    const struct unjudged *unjudged; /* those of this run, by cause */
    const struct lateness *lateness;
    const struct reorder *reorder; /* NULL: nothing is held back; likewise */
    const struct keep *keep;
    const struct feed_counts *fed; /* verdicts of a feed or --within; NULL: the detector's count */
    bool feeds;                    /* there are records that only add */
    const struct groups *groups;   /* NULL: no --group-by */
    double seconds;
    const char *zone; /* days and weeks begin at its midnight; NULL: no --zone */
    bool weeks;
};

void stats_print_text(const struct run_counts *);
void stats_print_json(const struct run_counts *);

/* Prints the groups alone, if --group-by or --sum is given. */
void stats_print_groups(const struct run_counts *, bool json);

/* Writes a line for a terminal: records, rate, share of duplicates. */
void stats_progress(const struct run_counts *, char *line, size_t cap);

#endif
