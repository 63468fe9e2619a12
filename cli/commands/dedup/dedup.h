/* dedup.h - the parts of `seen dedup`: options, groups and sums, occurrences, the flow of records,
 * warnings and statistics. */
#ifndef SEEN_COMMAND_DEDUP_H
#define SEEN_COMMAND_DEDUP_H

#include "base/pack.h"
#include "base/text.h"
#include "group/group.h"
#include "judge/clock.h"
#include "judge/holding.h"
#include "judge/judge.h"
#include "judge/redis/server.h"
#include "judge/window_options.h"
#include "output/sink.h"
#include "output/tags.h"
#include "records/columns.h"
#include "records/unjudged.h"
#include "seen.h"
#include "state/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* -- first and last occurrences (occurrences.c) ------------------------------------------------ */

struct occurrences {
    struct entry *entries; /* by key, and in order of age */
    struct window_clock clock;
    uint64_t most; /* keys; 0: any number */
};

/* For a detector of filter=exact, which stays the caller's. */
void occurrences_init(struct occurrences *, const seen_detector *);
void occurrences_free(struct occurrences *);

/* The next record and its verdict: fills the details' age, first and last. */
void occurrences_note(struct occurrences *, seen_digest, uint8_t verdict, struct details *);

/* A window began: the first `noted` records are not in it. */
void occurrences_landmark(struct occurrences *, uint64_t noted);

/* -- options (options.c) ----------------------------------------------------------------------- */

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

/* -- groups and sums (groups.c, sums.c) -------------------------------------------------------- */

/* -- amounts ------------------------------------------------------------------------------ */

/* --sum LIST: exact sums of the amounts in fields, such as the cost of clicks, by verdict.
 *
 * gross = net + dropped + unjudged: `net` is the amount of the records that were not seen before,
 * `dropped` that of duplicates.  An amount that cannot be read counts as nothing, and is counted.
 *
 * A record's amounts are read before its verdict is known.  They wait under a ticket, a number that
 * the record carries along even if it is held back for a while. */

/* The amounts of one field in one group. */
struct sum {
    decimal of[VERDICTS];
    uint64_t unreadable;
    bool too_large; /* a sum did not fit */
};

/* The first amount of a field that could not be read. */
struct misread {
    uint64_t number; /* of its record; 0: there is none */
    bool absent;     /* the record has no such field */
    char value[44];  /* its beginning */
};

struct sums {
    struct fields fields;
    bool confirmed; /* only confirmed duplicates are dropped */
    bool confirms;  /* some duplicates are confirmed */
    unsigned *places;
    struct misread *misread;
    decimal *waiting; /* of each ticket, one amount a field, ... */
    uint32_t *group;  /* ... and the record's group */
    uint32_t *ticket; /* those not in use, a stack */
    uint32_t tickets, unused;
    char *value; /* scratch */
    size_t value_room;
};

/* Prepares the sums of the fields, whose columns are known; dies if memory is short. */
void sums_init(struct sums *);
void sums_free(struct sums *);

/* Reads the amounts of record `number` and returns their ticket.  `field`: its fields by slots.
 * Those that cannot be read are counted in `sum`, which is the group's, one a field. */
uint32_t sums_read(struct sums *, uint32_t group, struct sum *sum, const struct slice *field,
                   uint64_t number);
static inline uint32_t sums_group(const struct sums *s, uint32_t ticket) {
    return s->group[ticket];
}

/* Counts a record whose fields are not known: none of its amounts can be read. */
void sums_lacking(struct sums *, struct sum *, uint64_t number);

/* Adds the amounts of a ticket to the sums of that verdict, and frees the ticket. */
void sums_count(struct sums *, struct sum *, uint8_t verdict, uint32_t ticket);

/* Adds one group's sums to another's. */
void sums_add(const struct sums *, struct sum *into, const struct sum *from);

/* Print the columns of a table: the names, then the amounts of a group.  `total` decides which
 * columns the table has. */
void sums_put_names(const struct sums *, const struct sum *total, FILE *);
void sums_put_row(const struct sums *, const struct sum *total, const struct sum *group, FILE *);

/* Writes the member "sums":{"cost":{"gross":"4.50",…}}: decimal strings, or null for a sum that did
 * not fit. */
void sums_put_json(const struct sums *, const struct sum *group, struct json *);

/* What the totals lack, more than `misread` amounts that are known of: says so unless `quiet`. True
 * if they lack anything. */
bool sums_lack(const struct sums *, const struct sum *total, uint64_t misread, bool quiet);
uint64_t sums_misread(const struct sums *, const struct sum *total);

/* -- groups ------------------------------------------------------------------------------- */

struct group_counts {
    uint64_t of[VERDICTS]; /* records by verdict */
};

struct groups {
    bool grouped, summed; /* asked for */
    struct fields by;
    struct names names;
    struct sums sums;
    struct group_counts *group; /* by number */
    struct sum *sum;            /* likewise, one a field */
    uint32_t room;
    size_t most_bytes; /* in a state; 0: no bound */
    uint64_t misread;  /* amounts that earlier runs could not read */
};

/* Makes empty groups.  `confirmed` and `confirms`: as in struct sums. */
void groups_init(struct groups *, const char *by, const char *sum, bool confirmed, bool confirms);
/* Bounds the bytes that all groups take in a state; to be called after groups_init.  When these are
 * full, new groups are counted together. */
void groups_bound(struct groups *, size_t bytes);
/* Sets the columns of `--group-by by` and `--sum sum`, once the header is known.  `by` and `sum`
 * may be NULL.  `most` bounds the groups with values of their own. */
void groups_columns(struct groups *, struct layout *, const char *by, const char *sum,
                    const struct header *, uint32_t most);
void groups_free(struct groups *);

/* Finds the group of record `number`.  `field`: its fields by slots.  Returns a number under which
 * groups_count knows its group and its amounts. */
uint32_t groups_find(struct groups *, const struct slice *field, uint64_t number);
/* Counts a record that groups_find found, once. */
void groups_count(struct groups *, uint32_t found, uint8_t verdict);
/* Counts a record with no known fields. */
void groups_count_lacking(struct groups *, uint64_t number);

/* Print the groups; the one with most records comes first. */
void groups_print_text(const struct groups *, FILE *);
void groups_print_json(const struct groups *, struct json *); /* group_by, groups, sums */

/* Pack the groups for a state, and unpack them into groups of the same options, or into fresh ones,
 * which are then only good for printing.  Believes nothing: false if the bytes cannot be right. */
void groups_pack(const struct groups *, struct packer *);
bool groups_unpack(struct groups *, const char *bytes, size_t len);
bool groups_unpack_fresh(struct groups *, const char *bytes, size_t len);

/* True if amounts of this run are missing in the sums or sums are too large; warns unless
 * `quiet`. */
bool groups_lack(const struct groups *, bool quiet);

/* -- the flow of records (flow.c) -------------------------------------------------------------- */

struct flow {
    const struct dedup_options *options;
    const struct input_options *input;
    struct layout *layout, added; /* of a feed: the other key */
    seen_detector *detector;      /* NULL: a server judges */
    struct judge *judge;
    struct sink *sink;
    struct reorder reorder;
    struct keep keep;
    struct released sorted, kept; /* let go by reorder and by keep */
    struct occurrences occurrences;
    struct groups groups;
    struct unjudged ungrouped; /* records that lack a field of --group-by: judged all the same */
    uint64_t number;           /* records so far */
    uint64_t landmarks;        /* that `occurrences` knows of */
    uint64_t age[BATCH];
    struct details details[BATCH];
    char heading[TAGS_TEXT];
};

/* All but the flow itself stays the caller's.  The sink is ready; layout and judge are not yet. */
void flow_init(struct flow *, const struct dedup_options *, seen_detector *, struct layout *,
               struct judge *, struct sink *);

/* Starts the steps that need the judge, which is ready now. */
void flow_begin(struct flow *);
void flow_free(struct flow *);

/* Events of the reader (records/reader.h).  flow_batch takes a batch whose keys were read ahead. */
void flow_columns(struct flow *, const struct header *);
void flow_batch(struct flow *, struct batch *);
void flow_unreadable(struct flow *, const char *p, size_t n, bool first, bool last);

/* Lets all records go that are held back. */
void flow_end(struct flow *);

/* True, after a message, if every record of the run lacks a field of --group-by. */
bool flow_has_no_groups(const struct flow *);

/* The part of a flow that --state keeps: groups and sums, in at most FLOW_STATE_GROUPS bytes. */
enum { FLOW_STATE_GROUPS = 8 << 20 };
extern const struct state_kind flow_kept;

/* -- warnings (warnings.c) --------------------------------------------------------------------- */

struct warnings {
    const seen_detector *detector;
    bool quiet;      /* nothing is told */
    bool certain;    /* only confirmed duplicates are dropped, so that no rate is told */
    bool shortened;  /* it was told that memory does not hold the window */
    unsigned told;   /* warnings of the rate */
    uint64_t looked; /* records before the last look at the rate */
};

/* Before the first record.  Without a detector nothing is told.  What an earlier run of the same
 * state told is not told again. */
void warnings_begin(struct warnings *, const seen_detector *, bool quiet, bool certain);

/* Comes after each batch, with the number of records so far; looks at the rate now and then. */
void warnings_after(struct warnings *, uint64_t records);

/* Comes before the run waits for input; looks at the rate if records came since the last look. */
void warnings_now(struct warnings *, uint64_t records);

/* At the end, with the number of records.  dropped: duplicates were dropped, so that it is told how
 * many of them were new. */
void warnings_end(struct warnings *, uint64_t records, bool dropped);

/* -- statistics (stats.c) ---------------------------------------------------------------------- */

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
