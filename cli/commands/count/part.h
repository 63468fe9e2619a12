/* part.h - what `seen count` counts in one window or in one part of a jumping window, and the rows
 * that are printed of it. */
#ifndef SEEN_COUNT_PART_H
#define SEEN_COUNT_PART_H

#include "group/group.h"
#include "seen_counter.h"
#include "state/blocks.h"

/* The memory of --exact: its bound, what is used, and whether it was not enough. */
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

/* Write a counter to a state and read it back; NULL if the bytes cannot be right, or if the counter
 * is of another kind than the run's. */
void counting_save(const seen_counter *, struct blocks_out *);
seen_counter *counting_load(struct counting *, struct blocks_in *);

/* The same for sliding windows.  *counter, the run's, is replaced. */
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

/* Counts one record.  `field`: its fields by slots; they matter with --group-by only. */
void part_add(struct counting *, struct part *, const seen_digest *, const struct slice *field);

/* Adds the counts of another part, so that this part counts the records of both. */
void part_merge(struct counting *, struct part *, const struct part *from);
void part_clear(struct counting *, struct part *);

/* Write a part to a state and read it back; NULL if the bytes cannot be right. */
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

/* Prints the row of one group.  A number below GROUP_FIRST stands for all records. */
void counts_put(struct counts *, const char *from, const struct names *, uint32_t group,
                struct figures);

/* Prints the rows of all groups of a part; the group with most distinct keys comes first. */
void counts_put_groups(struct counts *, const char *from, const struct part *);

#endif
