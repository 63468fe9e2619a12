/* flow.h - the way of a batch from the reader to the sink.
 *
 *     reader ─► [ reorder ] ─► judge ─► [ facts, groups ] ─► [ keep ] ─► sink
 *
 * The steps in brackets run only when an option asks for them. */
#ifndef SEEN_DEDUP_FLOW_H
#define SEEN_DEDUP_FLOW_H

#include "commands/dedup/groups.h"
#include "commands/dedup/options.h"
#include "judge/holding.h"
#include "judge/occurrences.h"
#include "output/sink.h"
#include "records/unjudged.h"

struct flow {
    const struct dedup_options *options;
    const struct input_options *input;
    struct layout *layout, added; /* of a feed: the other key */
    seen_detector *detector;      /* NULL: a server judges */
    struct judge *judge;
    struct sink *sink;
    struct reorder reorder;
    struct keep keep;
    struct outlet sorted, kept; /* let go by reorder and by keep */
    struct occurrences occurrences;
    struct groups groups;
    struct unjudged ungrouped; /* records that lack a field of --group-by: judged all the same */
    uint64_t number;           /* records so far */
    uint64_t landmarks;        /* that `occurrences` knows of */
    uint64_t age[BATCH];
    struct fact fact[BATCH];
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

#endif
