#include "oracle.h"

#include <stdlib.h>

#define DAY ((int64_t)86400 * 1000000)

/* The last stored occurrence of a key. */
struct seat {
    seen_digest key;
    uint64_t clock; /* its position or its time */
    uint64_t era;   /* explicit landmarks before it */
    bool taken;
};

struct oracle {
    struct oracle_rules rules;
    struct seat *seats; /* open addressing, never more than half full */
    size_t room, held;
    uint64_t position; /* of the next record */
    uint64_t base;     /* position at the last explicit landmark */
    uint64_t era;
    seen_time last;
};

struct oracle *oracle_new(struct oracle_rules rules) {
    struct oracle *o = calloc(1, sizeof *o);
    o->rules = rules;
    o->room = 64;
    o->seats = calloc(o->room, sizeof *o->seats);
    return o;
}

void oracle_free(struct oracle *o) {
    free(o->seats);
    free(o);
}

static struct seat *seat_of(const struct oracle *o, seen_digest key) {
    size_t i = (key.lo ^ key.hi * 31) % o->room;
    while (o->seats[i].taken && (o->seats[i].key.lo != key.lo || o->seats[i].key.hi != key.hi))
        i = (i + 1) % o->room;
    return &o->seats[i];
}

static void make_room(struct oracle *o) {
    if (o->held * 2 < o->room) return;
    struct seat *old = o->seats;
    size_t n = o->room;
    o->room = n * 2 + 1;
    o->seats = calloc(o->room, sizeof *o->seats);
    for (size_t i = 0; i < n; i++)
        if (old[i].taken) *seat_of(o, old[i].key) = old[i];
    free(old);
}

static uint64_t clock_at(const struct oracle *o, seen_time now) {
    if (o->rules.unit != SEEN_UNIT_MICROSECONDS) return o->position;
    return now > o->last ? now : o->last; /* a late record counts as the last */
}

/* The number of the landmark window around a clock. */
static int64_t window_of(const struct oracle *o, uint64_t clock) {
    if (o->rules.unit == SEEN_UNIT_NONE) return 0;
    if (o->rules.unit == SEEN_UNIT_RECORDS) return (int64_t)((clock - o->base) / o->rules.length);
    int64_t length = (int64_t)o->rules.length, t = (int64_t)clock;
    if (length % (7 * DAY) == 0) t -= 4 * DAY; /* 1970-01-01 was a Thursday */
    return t >= 0 ? t / length : -1 - (-1 - t) / length;
}

enum oracle_truth oracle_judge(const struct oracle *o, seen_digest key, seen_time now,
                               uint64_t *age) {
    const struct seat *s = seat_of(o, key);
    uint64_t clock = clock_at(o, now), past = clock - s->clock;
    bool time = o->rules.unit == SEEN_UNIT_MICROSECONDS;
    enum oracle_truth truth = ORACLE_NEW;
    if (!s->taken || s->era != o->era)
        truth = ORACLE_NEW;
    else if (o->rules.window == SEEN_WINDOW_LANDMARK)
        truth = window_of(o, clock) == window_of(o, s->clock) ? ORACLE_DUPLICATE : ORACLE_NEW;
    else if (o->rules.window == SEEN_WINDOW_DECAYING)
        truth = ORACLE_DUPLICATE;
    else if (past < o->rules.length + !time)
        truth = ORACLE_DUPLICATE;
    else if (past < o->rules.band + !time)
        truth = ORACLE_EITHER;
    if (age) *age = truth == ORACLE_NEW ? SEEN_NEVER : past;
    return truth;
}

void oracle_observe(struct oracle *o, seen_digest key, seen_time now, uint8_t verdict) {
    uint64_t clock = clock_at(o, now);
    if (verdict == SEEN_NEW || !o->rules.refresh_first) {
        make_room(o);
        struct seat *s = seat_of(o, key);
        o->held += !s->taken;
        *s = (struct seat){key, clock, o->era, true};
    }
    o->position++;
    if (now > o->last) o->last = now;
}

void oracle_landmark(struct oracle *o) {
    o->era++;
    o->base = o->position;
}

void oracle_forget(struct oracle *o, seen_digest key) {
    struct seat *s = seat_of(o, key);
    s->era = UINT64_MAX; /* an era that never is */
}

uint64_t oracle_held(const struct oracle *o, seen_time now) {
    uint64_t n = 0;
    for (size_t i = 0; i < o->room; i++)
        n += o->seats[i].taken && oracle_judge(o, o->seats[i].key, now, NULL) == ORACLE_DUPLICATE;
    return n;
}
