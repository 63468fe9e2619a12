#include "streams.h"

#include "contenders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 4 };

/* -- reading: keys become numbers, from 0 in order of appearance -------------------------- */

struct keys {
    seen_digest *digest;
    uint32_t *number; /* plus 1 */
    uint64_t room, distinct;
};

static uint32_t number_of(struct keys *t, seen_digest d) {
    uint64_t i = d.lo & (t->room - 1);
    for (; t->number[i]; i = (i + 1) & (t->room - 1))
        if (t->digest[i].lo == d.lo && t->digest[i].hi == d.hi) return t->number[i] - 1;
    t->digest[i] = d;
    t->number[i] = (uint32_t)++t->distinct;
    return t->number[i] - 1;
}

struct stream {
    uint32_t *key, *ask;
    uint64_t n, distinct;
};

/* The key of a line's fields "2,3"; the line is kept whole. */
static seen_digest key_of(const char *line, const char *fields, const char *split) {
    char key[4096];
    size_t at = 0;
    for (const char *f = fields; *f; f += strcspn(f, ","), f += *f == ',') {
        const char *p = line;
        for (long i = strtol(f, NULL, 10); i > 1; i--) p += strcspn(p, split), p += *p != 0;
        at = seen_key_append(key, sizeof key, at, p, strcspn(p, split));
        if (at > sizeof key) lab_die("a key of more than %zu bytes", sizeof key);
    }
    return seen_hash(key, at, 0);
}

static const char *splitter(void) {
    const char *name = lab_text("split", "tab");
    return !strcmp(name, "tab") ? "\t\n" : !strcmp(name, "comma") ? ",\n" : "\t, \n";
}

static struct stream read_stream(void) {
    uint64_t most = (uint64_t)lab_number("records", 1e6);
    struct stream s = {lab_alloc(most, sizeof *s.key), lab_alloc(most, sizeof *s.ask), 0, 0};
    struct keys keys = {.room = 1};
    const char *fields = lab_text("fields", "1"), *ask = lab_text("ask", NULL);
    const char *split = splitter();
    char *line = NULL;
    size_t room = 0;
    while (keys.room < 4 * most) keys.room *= 2;
    keys.digest = lab_alloc(keys.room, sizeof *keys.digest);
    keys.number = lab_alloc(keys.room, sizeof *keys.number);
    for (int skip = (int)lab_number("skip", 0); getline(&line, &room, stdin) > 0;) {
        if (skip-- > 0) continue;
        if (s.n == most) continue; /* read to the end, for who writes it */
        s.key[s.n] = number_of(&keys, key_of(line, fields, split));
        if (ask) s.ask[s.n] = number_of(&keys, key_of(line, ask, split));
        s.n++;
    }
    s.distinct = keys.distinct;
    free(line);
    free(keys.digest);
    free(keys.number);
    return s;
}

static void free_stream(struct stream *s) {
    free(s->key);
    free(s->ask);
}

/* -- the truth: a window of n records ----------------------------------------------------- */

struct truth {
    uint64_t n, live; /* keys in the window */
    uint64_t *last;   /* record a key was inserted with, plus 1 */
    uint64_t *asked;  /* record a key was asked about with, and absent, plus 1 */
    uint32_t *ring;   /* key inserted with each of the last n+1 records, plus 1 */
};

static struct truth truth_new(uint64_t n, uint64_t distinct) {
    struct truth t = {.n = n};
    t.last = lab_alloc(distinct, sizeof *t.last);
    t.asked = lab_alloc(distinct, sizeof *t.asked);
    t.ring = lab_alloc(n + 1, sizeof *t.ring);
    return t;
}

static void truth_free(struct truth *t) {
    free(t->last);
    free(t->asked);
    free(t->ring);
}

/* Record i is next: that before the n last leaves. */
static void truth_next(struct truth *t, uint64_t i) {
    uint32_t *slot = &t->ring[i % (t->n + 1)];
    if (*slot && t->last[*slot - 1] == i - t->n) t->live--;
    *slot = 0;
}

static uint64_t truth_age(const struct truth *t, uint32_t key, uint64_t i) {
    uint64_t last = t->last[key];
    return last && i - (last - 1) <= t->n ? i - (last - 1) : SEEN_NEVER;
}

static void truth_insert(struct truth *t, uint32_t key, uint64_t i) {
    t->live += truth_age(t, key, i) == SEEN_NEVER;
    t->last[key] = i + 1;
    t->ring[i % (t->n + 1)] = key + 1;
}

/* -- the errors of a run ------------------------------------------------------------------ */

/* A question is a first one where its key was not asked about, and absent, in the last n records:
 * the answers to others are as that one's, for the cells that it finds are mostly the same. */
struct tally {
    uint64_t absent, wrong, missed; /* questions and wrong answers */
    uint64_t first, first_wrong;
    double expected, keys; /* of first questions, by the formula; in the window */
};

static void judge(struct tally *t, const struct contender *c, struct truth *truth, uint32_t key,
                  uint64_t i, bool says) {
    if (truth_age(truth, key, i) != SEEN_NEVER) {
        t->missed += !says;
        return;
    }
    t->absent++;
    t->wrong += says;
    bool first = !truth->asked[key] || i - (truth->asked[key] - 1) > truth->n;
    truth->asked[key] = i + 1;
    if (!first) return;
    t->first++;
    t->first_wrong += says;
    t->expected += contender_rate(c, (double)truth->live);
    t->keys += (double)truth->live;
}

static struct tally filter(struct contender *c, const struct stream *s, uint64_t seed) {
    struct tally tally = {0};
    struct truth truth = truth_new(c->setup.n, s->distinct);
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    for (uint64_t i = 0; i < s->n; i += BATCH) {
        uint64_t m = s->n - i < BATCH ? s->n - i : BATCH;
        for (uint64_t j = 0; j < m; j++) digest[j] = lab_digest(s->key[i + j], seed);
        contender_observe(c, m, digest, verdict);
        for (uint64_t j = 0; j < m; j++) {
            uint32_t key = s->key[i + j];
            bool says = verdict[j] != SEEN_NEW;
            truth_next(&truth, i + j);
            judge(&tally, c, &truth, key, i + j, says);
            if (!says || !c->setup.first) truth_insert(&truth, key, i + j);
        }
    }
    truth_free(&truth);
    return tally;
}

/* -- wall posts: what is inserted is not what is asked about ------------------------------ */

static const uint64_t steps[] = {0, 1, 3, 10, 30, 100, 300, 1000, 3000, 9999};
enum { STEPS = sizeof steps / sizeof *steps };

/* How far the time last seen is off; n+1 stands for "not in the window". */
struct errors {
    uint64_t more[STEPS], above, asked; /* errors greater than each step; estimates too old */
    double sum;
};

static void add_error(struct errors *e, uint64_t n, uint64_t truth, uint64_t estimate) {
    uint64_t t = truth == SEEN_NEVER ? n + 1 : truth, a = estimate == SEEN_NEVER ? n + 1 : estimate;
    e->asked++;
    e->above += a > t;
    if (a > t) return;
    e->sum += (double)(t - a);
    for (int i = 0; i < STEPS; i++) e->more[i] += t - a > steps[i];
}

static struct tally posts(struct contender *c, const struct stream *s, uint64_t seed,
                          struct errors *errors) {
    struct tally tally = {0};
    struct truth truth = truth_new(c->setup.n, s->distinct);
    for (uint64_t i = 0; i < s->n; i++) {
        seen_digest digest = lab_digest(s->key[i], seed);
        contender_observe(c, 1, &digest, NULL);
        truth_insert(&truth, s->key[i], i);
        truth_next(&truth, i + 1);
        uint64_t age = truth_age(&truth, s->ask[i], i + 1);
        uint64_t estimate = contender_age(c, lab_digest(s->ask[i], seed));
        judge(&tally, c, &truth, s->ask[i], i + 1, estimate != SEEN_NEVER);
        add_error(errors, c->setup.n, age, estimate);
    }
    truth_free(&truth);
    return tally;
}

/* -- all contenders ----------------------------------------------------------------------- */

struct result {
    struct lab_mean fp, first, expected, missed, lost, keys, asked, error, above, more[STEPS];
};

static void add_tally(struct result *r, const struct tally *t, const struct contender *c) {
    double first = (double)t->first;
    lab_add(&r->fp, (double)t->wrong / (double)t->absent);
    lab_add(&r->first, (double)t->first_wrong / first);
    lab_add(&r->expected, t->expected / first);
    lab_add(&r->keys, t->keys / first);
    lab_add(&r->asked, first);
    lab_add(&r->missed, (double)t->missed);
    lab_add(&r->lost, (double)contender_stats(c).saturated);
}

static void add_errors(struct result *r, const struct errors *e) {
    double asked = (double)e->asked;
    lab_add(&r->error, e->sum / asked);
    lab_add(&r->above, (double)e->above);
    for (int i = 0; i < STEPS; i++) lab_add(&r->more[i], (double)e->more[i] / asked);
}

static void show(const struct contender *c, double x, const struct result *r) {
    const char *name = c->name, *spec = contender_spec(c);
    const struct {
        const char *what;
        const struct lab_mean *mean;
    } rows[] = {{"fp", &r->fp},         {"first", &r->first}, {"expected", &r->expected},
                {"missed", &r->missed}, {"error", &r->error}, {"above", &r->above},
                {"lost", &r->lost}};
    char series[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].mean->runs) continue;
        if (rows[i].mean == &r->lost && !(c->d && c->lambda > 0)) continue;
        snprintf(series, sizeof series, "%s %s", rows[i].what, name);
        lab_row(series, x, rows[i].mean, 1, spec);
    }
    bool whole = r->error.runs && x <= lab_number("errors", 0) && c->d && c->signature == 0;
    for (int i = 0; i < STEPS && whole; i++) {
        snprintf(series, sizeof series, "more %s %.0f", name, x);
        lab_row(series, (double)steps[i], &r->more[i], 1, spec);
    }
}

/* With probability `share` the next record is one of the last n again. */
static struct stream replayed(const struct stream *s, uint64_t n, uint64_t seed, double share) {
    uint64_t rng = seed, taken = 0;
    struct stream r = {lab_alloc(s->n, sizeof *r.key), NULL, 0, s->distinct};
    for (; r.n < s->n; r.n++)
        r.key[r.n] = r.n && lab_uniform(&rng) < share
                         ? r.key[r.n - 1 - lab_below(&rng, r.n < n ? r.n : n)]
                         : s->key[taken++];
    return r;
}

struct way {
    bool first, posts;
    double share;
};

static void run(const struct way *way, struct contender *c, const struct stream *read,
                uint64_t seed, struct result *result) {
    struct tally tally;
    if (way->posts) {
        struct errors errors = {0};
        tally = posts(c, read, seed, &errors);
        add_errors(result, &errors);
    } else {
        struct stream s = replayed(read, c->setup.n, seed, way->share);
        tally = filter(c, &s, seed);
        free_stream(&s);
    }
    add_tally(result, &tally, c);
}

/* One contender at one size. */
static void point(const struct way *way, int which, const struct stream *read,
                  const struct setup *setup, struct result *r) {
    uint64_t runs = (uint64_t)lab_number("runs", 20);
    for (uint64_t seed = 1; seed <= runs; seed++) {
        struct contender c = contender_new(which, setup, seed);
        run(way, &c, read, seed, r);
        if (seed == runs) show(&c, (double)setup->counters, r);
        contender_free(&c);
    }
}

static void all(struct way way) {
    struct stream read = read_stream();
    struct result r;
    uint64_t step = (uint64_t)lab_number("step", 20000), to = (uint64_t)lab_number("to", 100000);
    struct setup setup = {(uint64_t)lab_number("n", 10000), 0, K, .first = way.first};
    for (setup.counters = (uint64_t)lab_number("from", 20000); setup.counters <= to;
         setup.counters += step)
        for (int i = 0; i < CONTENDERS; i++) {
            r = (struct result){0};
            point(&way, i, &read, &setup, &r);
        }
    lab_row("keys", (double)setup.n, &r.keys, 1, "");
    lab_row("first questions", (double)setup.n, &r.asked, 1, "");
    free_stream(&read);
}

void streams_caching(void) { all((struct way){.first = true}); }
void streams_replay(void) { all((struct way){.share = lab_number("share", .2)}); }
void streams_wall(void) { all((struct way){.posts = true}); }
