/* part.h - what `seen count` counts in one window or in one part of a jumping window, and the rows
 * that are printed of it. */
#ifndef SEEN_COUNT_PART_H
#define SEEN_COUNT_PART_H

#include "group/group.h"
#include "seen_counter.h"
#include "state/blocks.h"

/* What --exact may take, and whether it asked for more. */
struct memory {
    const char *given;
    uint64_t most, used;
    bool out;
};

/* How a run counts. */
struct counting {
    uint32_t kind; /* of seen_counter_new, as are ... */
    double error;
    uint64_t seed;
    bool exact;
    struct memory memory;      /* of exact sets */
    const uint64_t *records;   /* so far, for the message */
    const char *by;            /* --group-by; NULL: no groups */
    struct fields fields;      /* of a group, once the columns are known */
    const seen_counter *empty; /* for counting_load */
};

/* Takes --mem's value, or dies. */
void counting_take_memory(struct counting *, const char *value);

seen_counter *counting_new(struct counting *);

/* Dies if a set had no room for a key: it does not count that key. */
void counting_check(const struct counting *);

/* For a state; and back again: NULL if the bytes cannot be right, or the counter is of another kind
 * than the run's. */
void counting_save(const seen_counter *, struct blocks_out *);
seen_counter *counting_load(struct counting *, struct blocks_in *);

/* Likewise of a sliding window; *counter is the run's, and is replaced. */
seen_sliding_counter *counting_new_sliding(struct counting *, uint64_t window);
void counting_save_sliding(const seen_sliding_counter *, struct blocks_out *);
bool counting_load_sliding(struct counting *, struct blocks_in *, seen_sliding_counter **counter);

struct group {
    seen_counter *counter; /* NULL: none yet */
    uint64_t records;
};

struct part {
    seen_counter *counter; /* NULL: there are groups */
    uint64_t records;
    struct names names;  /* of its groups */
    struct group *group; /* by number */
    uint32_t room;
};

struct part *part_new(struct counting *);
void part_free(struct part *);

/* One record; its fields stand at `field`, by slots, and are looked at where there are groups. */
void part_add(struct counting *, struct part *, const seen_digest *, const struct slice *field);

/* Adds what another part counted, so that this one counts the records of both. */
void part_merge(struct counting *, struct part *, const struct part *from);
void part_clear(struct counting *, struct part *);

/* For a state; and back again: NULL if the bytes cannot be right. */
void part_save(const struct part *, struct blocks_out *);
struct part *part_load(struct counting *, struct blocks_in *);

/* -- what is printed: a row for each window or group ------------------------------------- */

struct counts {
    bool json, value;           /* value: the one count is all that is printed */
    const struct counting *how; /* the names of groups' fields */
    uint64_t n;                 /* so far */
    bool headed;                /* the heading of the table is printed */
};

struct figures {
    uint64_t records;
    double distinct, error; /* error: relative, standard */
};

struct figures counts_figures(uint64_t records, const seen_counter *);

/* A group of those names; a number below GROUP_FIRST stands for all. */
void counts_put(struct counts *, const char *from, const struct names *, uint32_t group,
                struct figures);

/* All groups of a part, the most distinct first. */
void counts_put_groups(struct counts *, const char *from, const struct part *);

#endif
