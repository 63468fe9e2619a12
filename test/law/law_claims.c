/* law_claims - claims beside every window: what is acked is not done again inside the window, and
 * what is nacked or whose lease ends is not lost.
 *
 * An interleaving is a short story of three workers and six keys: claims, acks, nacks, workers that
 * die, leases that end, servers that are saved and loaded, keys that others add.  A naive model
 * follows it.  SEEN_LONG=1 runs a million of them over all structures, else a sample. */
#include "../any_window.h"
#include "law.h"
#include "seen_claims.h"

#include "base/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 6, WORKERS = 3, STEPS = 20, LIFE = 200 };

/* -- the model ---------------------------------------------------------------------------- */

/* What the table is to hold of a key. */
struct held {
    bool is;
    uint64_t token;
    seen_time until;
};

struct worker {
    int key; /* -1: idle, or it died and knows nothing any more */
    uint64_t token;
};

struct story {
    struct seen_plan plan;
    seen_detector *d;
    struct oracle *oracle;
    uint64_t rng, unit; /* unit: microseconds, a two-thousandth of a window of time */
    seen_time now;
    uint64_t token, serial;
    uint64_t claimed, again, acked, nacked, dropped;
    seen_digest key[KEYS];
    struct held held[KEYS];
    struct worker worker[WORKERS];
    uint64_t rest; /* places taken by claims of earlier interleavings, which have ended */
};

static uint64_t interleavings, false_positives, refusals, drops;

static uint64_t below(struct story *s, uint64_t n) { return law_below(&s->rng, n); }

static uint64_t places(const struct story *s) {
    return seen_spec_get_count(&s->plan.spec, "claims");
}

static bool is_open(const struct story *s, int k) {
    return s->held[k].is && s->held[k].until > s->now;
}

static uint64_t count(const struct story *s, bool open) {
    uint64_t n = 0;
    for (int k = 0; k < KEYS; k++) n += open ? is_open(s, k) : s->held[k].is;
    return n;
}

/* A lease whose end differs from all others, so that it is certain which claim ended first. */
static uint64_t draw_lease(struct story *s) {
    uint64_t lease = 1 + below(s, 4 * s->unit);
    for (int k = 0; k < KEYS; k++)
        if (s->held[k].is && s->held[k].until == s->now + lease) lease++, k = -1;
    return lease;
}

/* A new claim takes a place: a free one, one of earlier interleavings, or that of the claim that
 * ended first. */
static void take_place(struct story *s) {
    if (count(s, false) + s->rest < places(s)) return;
    s->dropped++;
    drops++;
    if (s->rest) {
        s->rest--;
        return;
    }
    int first = -1;
    for (int k = 0; k < KEYS; k++)
        if (s->held[k].is && (first < 0 || s->held[k].until < s->held[first].until)) first = k;
    s->held[first].is = false;
}

/* Whether the window has to know the key; *may: whether it may. */
static bool window_knows(const struct story *s, int k, bool *may) {
    uint64_t age;
    struct seen_stats stats;
    enum oracle_truth truth = oracle_judge(s->oracle, s->key[k], s->now, &age);
    seen_stats(s->d, &stats);
    *may = truth != ORACLE_NEW || !(s->plan.traits & SEEN_NO_FP);
    return truth == ORACLE_DUPLICATE && (stats.kept == SEEN_NEVER || age <= stats.kept);
}

static void forget_claim(struct story *s, int k) { s->held[k].is = false; }

/* -- what happens ------------------------------------------------------------------------- */

static void claim(struct story *s, int k, struct worker *w) {
    struct seen_error e = {0};
    uint64_t number, lease = draw_lease(s);
    bool may, must = window_knows(s, k, &may), ended = s->held[k].is && !is_open(s, k);
    int answer = seen_claim(s->d, &s->key[k], s->now, lease, &number, &e);
    if (is_open(s, k)) {
        law_check(answer == SEEN_CLAIM_PENDING && number == s->held[k].until - s->now,
                  "answer %d, %llu left", answer, (unsigned long long)number);
        return;
    }
    law_check(!ended || answer == SEEN_CLAIM_NEW, "an ended claim is lost: answer %d", answer);
    law_check(ended || !must || answer == SEEN_CLAIM_SEEN, "acked, and done again: %d", answer);
    law_check(ended || may || answer != SEEN_CLAIM_SEEN, "new, and said to be seen: %d", answer);
    if (answer == SEEN_CLAIM_SEEN) {
        false_positives += oracle_judge(s->oracle, s->key[k], s->now, NULL) == ORACLE_NEW;
        return;
    }
    bool full = !ended && count(s, true) == places(s);
    law_check(full == (answer == SEEN_EREFUSED), "answer %d with %llu of %llu open", answer,
              (unsigned long long)count(s, true), (unsigned long long)places(s));
    refusals += full;
    if (full) return;
    law_check(answer == SEEN_CLAIM_NEW && number > s->token && number >= s->now, "answer %d",
              answer);
    if (!ended) take_place(s);
    s->claimed++;
    s->again += ended;
    s->token = number;
    s->held[k] = (struct held){true, number, s->now + lease};
    *w = (struct worker){k, number};
}

static void finish(struct story *s, int k, uint64_t token, bool ack) {
    for (int i = 0; i < KEYS; i++) /* a nack ends at a moment of its own, as leases do */
        if (s->held[i].is && s->held[i].until == s->now) s->now++, i = -1;
    bool good = is_open(s, k) && s->held[k].token == token;
    int done = ack ? seen_ack(s->d, &s->key[k], s->now, token, NULL)
                   : seen_nack(s->d, &s->key[k], s->now, token);
    law_check(done == good, "%s %d, expected %d", ack ? "ack" : "nack", done, good);
    if (!good) return;
    s->acked += ack;
    s->nacked += !ack;
    s->held[k].until = s->now;
    if (!ack) return;
    forget_claim(s, k);
    oracle_observe(s->oracle, s->key[k], s->now, SEEN_NEW);
}

static void observe(struct story *s, seen_digest key) {
    uint8_t verdict;
    any_observe(s->d, 1, &key, &s->now, &verdict);
    oracle_observe(s->oracle, key, s->now, verdict);
}

static void step(struct story *s) {
    struct worker *w = &s->worker[below(s, WORKERS)];
    int k = (int)below(s, KEYS);
    uint64_t what = below(s, 100);
    s->now++;
    if (what < 35) {
        claim(s, k, w);
    } else if (what < 65) { /* of its own work: perhaps too late */
        if (w->key >= 0) finish(s, w->key, w->token, what < 55);
        w->key = -1;
    } else if (what < 70) {
        w->key = -1;        /* it dies */
    } else if (what < 74) { /* of another's work, or of none */
        finish(s, k, s->token - below(s, 3), what < 72);
    } else if (what < 90) {
        s->now += below(s, 2 * s->unit);
    } else if (what < 91) {
        s->now += 2200 * s->unit; /* the window passes */
    } else if (what < 92) {
        law_reload(&s->d); /* the server dies */
    } else if (what < 95) {
        observe(s, s->key[k]);
        forget_claim(s, k);
    } else {
        observe(s, law_fresh(&s->rng));
    }
}

/* All that was claimed and not done can still be done. */
static void finish_all(struct story *s) {
    uint64_t number;
    s->now += 5 * s->unit;
    for (int k = 0; k < KEYS; k++) {
        if (!s->held[k].is) continue;
        int answer = seen_claim(s->d, &s->key[k], s->now, 2, &number, NULL);
        law_check(answer == SEEN_CLAIM_NEW, "lost: answer %d", answer);
        s->claimed++, s->again++;
        s->held[k] = (struct held){true, s->token = number, s->now + 2};
        if (below(s, 2)) finish(s, k, number, true);
    }
    s->now += 3;
    s->rest += count(s, false);
}

static void check_stats(const struct story *s) {
    struct seen_claims_stats c;
    seen_claims_stats(s->d, &c);
    law_check(c.most == places(s) && c.held == s->rest && c.claimed == s->claimed &&
                  c.again == s->again && c.acked == s->acked && c.nacked == s->nacked &&
                  c.dropped == s->dropped,
              "%llu held, %llu claimed, %llu again, %llu acked, %llu nacked, %llu dropped",
              (unsigned long long)c.held, (unsigned long long)c.claimed,
              (unsigned long long)c.again, (unsigned long long)c.acked,
              (unsigned long long)c.nacked, (unsigned long long)c.dropped);
}

static void interleave(struct story *s) {
    for (int k = 0; k < KEYS; k++) {
        s->key[k] = law_key(&s->plan, law_next(&s->rng), 0);
        s->held[k] = (struct held){0};
    }
    for (int i = 0; i < WORKERS; i++) s->worker[i].key = -1;
    for (int i = 0; i < STEPS; i++) step(s);
    finish_all(s);
    check_stats(s);
    interleavings++;
}

/* -- the laws ----------------------------------------------------------------------------- */

static bool takes(const struct law_case *c) {
    return c->traits & SEEN_NO_FN && strncmp(c->structure, "bitvector", 9) != 0 &&
           strncmp(c->structure, "substrings", 10) != 0 &&
           strncmp(c->structure, "timed-cuckoo", 12) != 0; /* which saturates */
}

static void tell_stories(const char *spec, uint64_t n, uint64_t *rng) {
    struct story s = {.rng = law_next(rng)};
    law_plan(&s.plan, "%s", spec);
    bool timed = s.plan.spec.unit == SEEN_UNIT_MICROSECONDS;
    s.unit = timed ? bits_max(s.plan.spec.length / 2000, 2) : 1000;
    for (uint64_t i = 0; i < n; i++) {
        if (i % LIFE == 0) {
            struct story begun = {.plan = s.plan, .rng = s.rng, .unit = s.unit, .now = 1000};
            s = begun;
            s.d = law_new(&s.plan, NULL);
            s.oracle = law_oracle(&s.plan);
        }
        interleave(&s);
        if (i % LIFE != LIFE - 1 && i != n - 1) continue;
        seen_free(s.d);
        oracle_free(s.oracle);
    }
}

static void nothing_acked_is_done_again_and_nothing_else_is_lost(const struct law_case *c) {
    uint64_t rng = law_seed() + c->serial;
    char spec[256];
    if (!takes(c)) return;
    size_t windows = 0;
    while (law_window(c, windows)) windows++;
    uint64_t each = (getenv("SEEN_LONG") ? 62000 : 1600) / windows;
    for (size_t i = 0; i < windows; i++) {
        static const int claims[] = {64, 2, 6};
        snprintf(spec, sizeof spec, "%s filter=%s %s fp=.2 items=1500 shards=%d claims=%d",
                 law_window(c, i), c->structure,
                 c->traits & SEEN_NO_FP && i % 2 ? "refresh=first" : "", i % 2 ? 3 : 1,
                 claims[i % 3]);
        tell_stories(spec, each, &rng);
    }
}

static void the_stories_met_all_that_can_happen(const struct law_case *c) {
    (void)c;
    uint64_t least = getenv("SEEN_LONG") ? 1000000 : 20000;
    printf("%llu interleavings; %llu false positives, %llu refusals, %llu claims dropped\n",
           (unsigned long long)interleavings, (unsigned long long)false_positives,
           (unsigned long long)refusals, (unsigned long long)drops);
    law_check(interleavings >= least && false_positives > 100 && refusals > 100 && drops > 100,
              "%llu interleavings", (unsigned long long)interleavings);
}

/* Every byte changed, and every length: refused, or a detector that works. */
static void a_damaged_snapshot_is_refused_or_harmless(const struct law_case *c) {
    uint64_t rng = law_seed() + c->serial, number;
    if (!takes(c)) return;
    struct seen_plan plan;
    law_plan(&plan, "%s filter=%s fp=.2 items=50 control=0 claims=9", law_window(c, 0),
             c->structure);
    seen_detector *d = law_new(&plan, NULL), *loaded;
    for (uint64_t i = 0; i < 12; i++) {
        seen_digest key = law_key(&plan, i, 0);
        bool fits = seen_claim(d, &key, i, 10 + i % 3, &number, NULL) == SEEN_CLAIM_NEW;
        if (fits && i % 4 == 0) seen_ack(d, &key, i + 1, number, NULL);
    }
    struct law_bytes whole = law_save(d, NULL);
    size_t table = 8 + 8 * sizeof(uint64_t) + 9 * 4 * sizeof(uint64_t);
    for (size_t i = 0; i < 400; i++) {
        size_t at = whole.len - 1 - law_below(&rng, table);
        unsigned char was = whole.data[at];
        whole.data[at] ^= (unsigned char)(1 + law_below(&rng, 255));
        whole.at = 0;
        int bad = law_load_error(&loaded, &whole, 0, NULL, NULL);
        law_check(bad == SEEN_EFORMAT, "byte %zu from the end: %d", whole.len - at, bad);
        whole.data[at] = was;
    }
    law_bytes_free(&whole);
    seen_free(d);
}

int main(void) {
    static const struct law laws[] = {
        {"nothing acked is done again, and nothing else is lost",
         nothing_acked_is_done_again_and_nothing_else_is_lost, false},
        {"the stories met all that can happen", the_stories_met_all_that_can_happen, true},
        {"a damaged snapshot is refused or harmless", a_damaged_snapshot_is_refused_or_harmless,
         false},
    };
    return law_main("claims", laws, sizeof laws / sizeof *laws);
}
