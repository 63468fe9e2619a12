/* value.h - what a key of ours holds: one detector, or the growing chain of them of BF.*. */
#ifndef MODULE_VALUE_H
#define MODULE_VALUE_H

#include "memory.h"
#include "redis_api.h"
#include "seen.h"

#include <stdbool.h>

struct transfer;
struct value;
struct few;

#define VALUE_TYPE           "seenfiltr"
#define SPEC_TEXT_MOST       1024
#define LINKS_MOST           64
#define CHAIN_CAPACITY_MOST  ((uint64_t)1 << 30)
#define CHAIN_EXPANSION_MOST 32768

/* What BF.RESERVE asked; capacity 0: no chain. */
struct chain {
    double error;
    uint64_t capacity, expansion; /* expansion 0: does not grow */
};

/* A dump under way. */
struct dump {
    struct dump *next;
    struct transfer *transfer; /* NULL: ended */
    void (*end)(struct transfer **);
    uint64_t version; /* of the contents when it began */
    long long cursor; /* that it goes on with */
};

/* A load under way.  load.c keeps more behind this head. */
struct load {
    void (*free)(struct value *); /* ends it and frees its chunks; value->load becomes NULL */
    size_t bytes;                 /* of the chunks so far */
};

/* A part of a value: one of the two. */
struct link {
    seen_detector *filter;
    struct few *few; /* of a chain */
};

struct value {
    struct memory memory;
    struct dump *dumps; /* under way */
    struct load *load;  /* under way, and no link yet */
    uint64_t version;   /* of the contents: no two are the same, of any values of this process */
    uint64_t life;      /* of the value, from its making or its last SEEN.CLEAR on: the same */
    uint64_t repeats;   /* duplicates that changed nothing and reached no detector */
    seen_time last;     /* of a timed window: when the last effect happened */
    long long warned;   /* the server's log, last (ms) */
    uint16_t unlooked;  /* items added since its statistics were looked at */
    bool timed;         /* its clock is time */
    bool quiet;         /* a duplicate changes nothing */
    bool plain;         /* any bytes are a key */
    bool claims;        /* takes claims */
    uint8_t links, room;
    struct chain chain;
    uint64_t seed;            /* of a chain: of all links */
    uint64_t items, youngest; /* of a chain: in all links, in the last */
    struct link *link;        /* the youngest last; `first` while there is one */
    struct link first;
};

extern RedisModuleType *value_type;

/* The most bytes that one value may take; what the server itself replays is taken as it is. */
extern long long value_bytes_most;

/* No links yet; NULL without memory.  Freed with value_free. */
struct value *value_new(const struct chain *);
void value_free(void *value);

/* The contents are others; all of them are gone. */
void value_changed(struct value *);
void value_reborn(struct value *);

/* Moves it to where the server would rather have it, and its links too; returns where it is.  A
 * dump or a load under way knows where its value is: then it stays. */
struct value *value_move(struct value *, RedisModuleDefragCtx *);

/* Makes room for one more link; false without memory. */
bool value_room(struct value *);

/* Takes the detector; there is room for it. */
void value_link(struct value *, seen_detector *);

/* The only detector of a filter; of a chain the youngest link, if that is a detector. */
static inline seen_detector *value_filter(const struct value *v) {
    return v->link[v->links - 1].filter;
}

/* Refuses keys of several digests. */
int value_takes(const struct seen_plan *, struct seen_error *);

/* Refuses what takes `bytes` more.  `limit`: bytes allowed for the whole value, 0 any. */
int value_fits(const struct value *, uint64_t bytes, uint64_t limit, struct seen_error *);

/* The plan of a spec, until the next call; NULL on failure.  Planning takes longer than all else
 * about a small key, and few specs are in use, so the last plans are kept.  A structure that would
 * grow without end grows to `limit` bytes (0: no end). */
const struct seen_plan *value_plan(const char *spec, uint64_t limit, struct seen_error *);

/* Makes a detector and links it. */
int value_make(struct value *, const struct seen_plan *, uint64_t limit, struct seen_error *);

/* Ends all dumps, or those that ended already. */
void value_end_dumps(struct value *, bool all);

/* After a load: sets the time of the last effect again. */
void value_look(struct value *);

/* Everything about the value, in bytes. */
size_t value_bytes(const struct value *);

/* Bytes allowed to whom we serve now. */
uint64_t value_limit(RedisModuleCtx *);

/* seen_query as of `now`, which only windows of time look at; 0: the newest time. */
void value_query(const struct value *, size_t n, const seen_digest *, seen_time now,
                 uint64_t within, uint8_t *verdict);

/* After an item was added at `now` otherwise: a replica that gets the next effect without a time
 * takes it to happen then. */
void value_added(struct value *, seen_time now);

/* Test and add: returns whether anything changed.  Where nothing did, no replica need know. */
bool value_add(struct value *, size_t n, const seen_digest *, seen_time now, uint8_t *verdict);

#endif
