/* law_late - lateness= against its definition: a record is a duplicate iff an accepted record of
 * its key has |t - t'| < W, t being its time, or the newest less L where it is later than that. */
#include "../any_window.h"
#include "law.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS 4000
#define KEYS    60

/* -- the definition ----------------------------------------------------------------------- */

/* All that was ever accepted, a list a key. */
struct naive {
    uint64_t window, lateness, newest, since; /* accepted[since …] lie behind the landmark */
    size_t n;
    struct {
        seen_digest key;
        seen_time time;
    } accepted[RECORDS];
};

static uint64_t distance(uint64_t a, uint64_t b) { return a < b ? b - a : a - b; }

static seen_time clamped(const struct naive *o, seen_time t) {
    uint64_t newest = t > o->newest ? t : o->newest;
    uint64_t least = newest > o->lateness ? newest - o->lateness : 0;
    return t < least ? least : t;
}

static uint64_t nearest(const struct naive *o, seen_digest key, seen_time t) {
    uint64_t best = SEEN_NEVER;
    for (size_t i = o->since; i < o->n; i++)
        if (o->accepted[i].key.lo == key.lo && o->accepted[i].key.hi == key.hi &&
            distance(o->accepted[i].time, t) < o->window && distance(o->accepted[i].time, t) < best)
            best = distance(o->accepted[i].time, t);
    return best;
}

static uint8_t judge(struct naive *o, seen_digest key, seen_time t) {
    t = clamped(o, t);
    o->newest = t > o->newest ? t : o->newest;
    if (nearest(o, key, t) != SEEN_NEVER) return SEEN_DUPLICATE;
    o->accepted[o->n].key = key;
    o->accepted[o->n++].time = t;
    return SEEN_NEW;
}

static void forget(struct naive *o, seen_digest key) {
    for (size_t i = o->since; i < o->n; i++)
        if (o->accepted[i].key.lo == key.lo && o->accepted[i].key.hi == key.hi)
            o->accepted[i] = o->accepted[--o->n], i--;
}

/* -- streams ------------------------------------------------------------------------------ */

static const char *const specs[] = {
    "sliding:10s lateness=25s",          "sliding:10s lateness=3s",
    "sliding:10s lateness=10s shards=3", "sliding:1ms lateness=70ms",
    "sliding:1h lateness=1h hash=int",   "sliding:1s lateness=1w",
};

#define SPECS (sizeof specs / sizeof *specs)

struct replay {
    struct seen_plan plan;
    seen_detector *d;
    struct naive *o;
    uint64_t rng, span;
    seen_time front;
};

static struct replay begin(size_t i, const char *more) {
    struct replay r = {.rng = law_seed() + i};
    law_plan(&r.plan, "%s seed=%llu %s", specs[i], (unsigned long long)(law_next(&r.rng) >> 1),
             more);
    r.d = law_new(&r.plan, NULL);
    r.o = calloc(1, sizeof *r.o);
    r.o->window = r.plan.spec.length;
    r.o->lateness = seen_spec_get_count(&r.plan.spec, "lateness");
    r.span = r.o->window + r.o->lateness;
    r.front = law_below(&r.rng, 2) ? 0 : 1400000000000000;
    return r;
}

static void end(struct replay *r) {
    seen_free(r->d);
    free(r->o);
}

/* On time, late by up to the lateness, exactly by it, a little or far beyond it. */
static seen_time next_time(struct replay *r) {
    uint64_t back = 0, late = r->o->lateness;
    switch (law_below(&r->rng, 8)) {
    case 0: r->front += law_below(&r->rng, r->span / 4 + 2); break;
    case 1: back = late; break;
    case 2: back = late + law_below(&r->rng, 2); break;
    case 3: back = late + law_below(&r->rng, r->span + 1); break;
    case 4: r->front += law_below(&r->rng, 30) ? 1 : r->span * 3; break;
    default: back = law_below(&r->rng, late + 1); break;
    }
    r->front += law_below(&r->rng, r->o->window / 8 + 2);
    return r->front > back ? r->front - back : 0;
}

static seen_digest next_key(struct replay *r) {
    uint64_t key = law_below(&r->rng, KEYS);
    if (seen_spec_get_count(&r->plan.spec, "hash") == SEEN_HASH_INT) return (seen_digest){key, 0};
    return law_digest(key, 7);
}

/* -- laws --------------------------------------------------------------------------------- */

static void one_by_one(struct replay *r) {
    uint64_t late = 0, overdue = 0, most = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        seen_time t = next_time(r);
        seen_digest key = next_key(r);
        uint8_t verdict, query;
        uint64_t age, by = r->o->newest > t ? r->o->newest - t : 0;
        late += by > 0, overdue += by > r->o->lateness, most = by > most ? by : most;
        if (!law_below(&r->rng, 300)) seen_landmark(r->d), r->o->since = r->o->n;
        if (!law_below(&r->rng, 20)) {
            seen_digest gone = next_key(r);
            law_check(!seen_forget(r->d, 1, &gone, NULL), "it cannot forget");
            forget(r->o, gone);
        }
        any_query(r->d, 1, &key, t, 0, &query);
        any_last_seen(r->d, 1, &key, t, &age);
        law_check(age == nearest(r->o, key, clamped(r->o, t)), "record %zu: an age of %llu", i,
                  (unsigned long long)age);
        any_observe(r->d, 1, &key, &t, &verdict);
        uint8_t truth = judge(r->o, key, t);
        law_check(verdict == truth && query == truth, "record %zu is %d, was called %d, asked %d",
                  i, truth, verdict, query);
    }
    struct seen_stats s;
    seen_stats(r->d, &s);
    law_check(s.late == late && s.clamped == overdue && s.max_late == most,
              "%llu late, %llu clamped, by %llu at most", (unsigned long long)s.late,
              (unsigned long long)s.clamped, (unsigned long long)s.max_late);
    law_check(s.unique == r->o->n || s.unique > r->o->n, "fewer accepted than there are");
}

static void late_records_are_judged_by_their_own_time(const struct law_case *c) {
    (void)c;
    for (size_t i = 0; i < SPECS; i++)
        for (int more = 0; more < 2; more++) {
            struct replay r = begin(i, more ? "mem=64MiB" : "");
            one_by_one(&r);
            end(&r);
        }
}

/* In batches, saved and loaded between them. */
static void batches_and_snapshots_change_nothing(const struct law_case *c) {
    (void)c;
    for (size_t i = 0; i < SPECS; i++) {
        struct replay r = begin(i, "");
        seen_detector *whole = law_new(&r.plan, NULL);
        for (size_t done = 0; done < RECORDS;) {
            seen_digest key[400];
            seen_time time[400];
            uint8_t one[400], all[400];
            size_t n = 1 + law_below(&r.rng, 400);
            if (n > RECORDS - done) n = RECORDS - done;
            for (size_t j = 0; j < n; j++) key[j] = next_key(&r), time[j] = next_time(&r);
            any_observe(whole, n, key, time, all);
            for (size_t j = 0; j < n; j++) any_observe(r.d, 1, &key[j], &time[j], &one[j]);
            law_check(!memcmp(one, all, n), "verdicts differ in a batch");
            for (size_t j = 0; j < n; j++)
                law_check(judge(r.o, key[j], time[j]) == all[j], "a verdict is wrong in a batch");
            law_check(law_alike(r.d, whole), "bytes differ");
            law_reload(&r.d);
            done += n;
        }
        seen_free(whole);
        end(&r);
    }
}

static void hostile_snapshots_do_no_harm(const struct law_case *c) {
    (void)c;
    struct replay r = begin(0, "");
    for (size_t i = 0; i < 50; i++) {
        seen_time t = next_time(&r);
        seen_digest key = next_key(&r);
        uint8_t verdict;
        any_observe(r.d, 1, &key, &t, &verdict);
    }
    struct law_bytes bytes = law_save(r.d, NULL);
    for (size_t i = 0; i < bytes.len; i++) {
        seen_detector *d;
        struct seen_error e = {0};
        struct law_bytes cut = bytes;
        cut.len = i;
        law_check(law_load_error(&d, &cut, 1 << 22, NULL, &e) && !d, "accepted when cut to %zu", i);
        bytes.data[i] ^= (unsigned char)(1 << law_below(&r.rng, 8));
        law_check(law_load_error(&d, &bytes, 1 << 22, NULL, &e) && !d, "accepted with byte %zu", i);
        bytes.data[i] = 0;
        if (!law_load_error(&d, &bytes, 1 << 22, NULL, &e)) seen_free(d);
        law_bytes_free(&bytes);
        bytes = law_save(r.d, NULL);
    }
    law_bytes_free(&bytes);
    end(&r);
}

static void memory_is_bounded_and_what_is_forgotten_counted(const struct law_case *c) {
    (void)c;
    struct law_memory memory;
    struct seen_plan plan;
    struct seen_stats s;
    law_memory_init(&memory);
    law_plan(&plan, "sliding:10s lateness=20s mem=1MiB seed=3");
    seen_detector *d = law_new(&plan, &memory.allocator);
    uint64_t rng = law_seed();
    for (uint64_t i = 0; i < 200000; i++) { /* 3,000,000 records in what is kept */
        seen_time t = 1000000000 + i * 10 - law_below(&rng, 20000000);
        seen_digest key = law_fresh(&rng);
        uint8_t verdict;
        any_observe(d, 1, &key, &t, &verdict);
        law_check(verdict == SEEN_NEW, "a fresh key was called a duplicate");
    }
    seen_stats(d, &s);
    law_check(memory.most <= plan.bytes && s.bytes <= (1 << 20), "%llu bytes, planned %llu",
              (unsigned long long)memory.most, (unsigned long long)plan.bytes);
    law_check(s.forgotten > 100000 && s.stored == s.capacity, "%llu forgotten",
              (unsigned long long)s.forgotten);
    seen_free(d);
    law_check(!memory.live && !memory.mismatch, "memory leaked");
}

/* What is kept leaves once it cannot matter: the store stays as large as the plan says. */
static void what_is_past_leaves(const struct law_case *c) {
    (void)c;
    struct seen_plan plan;
    struct seen_stats s;
    law_plan(&plan, "sliding:1s lateness=3s rate=1100 seed=3"); /* 1000 come */
    seen_detector *d = law_new(&plan, NULL);
    uint64_t rng = law_seed(), most = 0;
    for (uint64_t i = 0; i < 40000; i++) {
        seen_time t = 10000000 + i * 1000 - law_below(&rng, 3000001);
        seen_digest key = law_fresh(&rng);
        uint8_t verdict;
        any_observe(d, 1, &key, &t, &verdict);
        seen_stats(d, &s);
        most = s.stored > most ? s.stored : most;
    }
    /* The newest of them runs behind by chance. */
    law_check(most >= 3900 && most <= 4400, "%llu kept, of 4000 in 4 s", (unsigned long long)most);
    law_check(plan.bytes >= s.bytes, "%llu bytes, planned %llu", (unsigned long long)s.bytes,
              (unsigned long long)plan.bytes);
    seen_free(d);
}

static void what_it_cannot_serve_is_refused(const struct law_case *c) {
    (void)c;
    static const char *const refused[][2] = {
        {"landmark:1d lateness=1h", "sliding windows of time"},
        {"sliding:1000 lateness=1h", "sliding windows of time"},
        {"sliding:1h lateness=1h filter=line rate=10", "filter=exact"},
        {"sliding:1h lateness=1h filter=timing rate=10", "filter=exact"},
        {"sliding:1h lateness=1h refresh=last", "refresh=last"},
        {"sliding:1ms lateness=1w", "1000000 windows"},
        {"sliding:1h lateness=0ms", "out of range"},
        {"sliding:1h lateness=5", "needs a unit"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct seen_spec spec;
        struct seen_plan plan;
        struct seen_error e = {0};
        int bad = seen_spec_parse(&spec, refused[i][0], &e);
        if (!bad) bad = seen_plan_make(&plan, &spec, &e);
        law_check(bad && strstr(e.text, refused[i][1]), "%s: '%s'", refused[i][0], e.text);
    }
    struct seen_plan plan;
    struct seen_error e = {0};
    law_plan(&plan, "sliding:1h lateness=1h seed=1");
    law_check(!strcmp(plan.filter, "exact") &&
                  seen_spec_get_count(&plan.spec, "refresh") == SEEN_REFRESH_FIRST,
              "%s", plan.filter);
    seen_detector *a = law_new(&plan, NULL), *b = law_new(&plan, NULL);
    law_check(seen_merge(a, b, &e) == SEEN_EREFUSED && *e.text, "a merge was not refused");
    seen_free(a);
    seen_free(b);
}

int main(void) {
    static const struct law laws[] = {
        {"late records are judged by their own time", late_records_are_judged_by_their_own_time,
         true},
        {"batches and snapshots change nothing", batches_and_snapshots_change_nothing, true},
        {"hostile snapshots do no harm", hostile_snapshots_do_no_harm, true},
        {"memory is bounded, and what is forgotten counted",
         memory_is_bounded_and_what_is_forgotten_counted, true},
        {"what is past leaves", what_is_past_leaves, true},
        {"what it cannot serve is refused", what_it_cannot_serve_is_refused, true},
    };
    return law_main("late", laws, sizeof laws / sizeof *laws);
}
