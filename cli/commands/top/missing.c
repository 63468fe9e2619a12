#include "commands/top/missing.h"

#include "base/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SURE 0.9995

void missing_init(struct missing *m, uint64_t counters) {
    *m = (struct missing){.counters = counters,
                          .count = calloc(counters, sizeof *m->count),
                          .of = calloc(counters, sizeof *m->of)};
    int bad = seen_top_new(&m->duplicates, counters, NULL, NULL);
    if (bad || !m->of || !m->count) die("out of memory for %ju counters", (uintmax_t)counters);
}

void missing_free(struct missing *m) {
    free(m->count);
    free(m->of);
    seen_top_free(m->duplicates);
}

static void ask(struct missing *m, const seen_detector *d) {
    struct seen_stats s;
    seen_stats(d, &s);
    double p = fmin(s.fp_now, 0.999999);
    m->odds = p / (1 - p);
    m->due = m->counted + 1 + s.capacity / 256;
}

void missing_begin(struct missing *m, const seen_detector *d) {
    struct seen_stats s;
    seen_stats(d, &s);
    memset(m->count, 0, m->counters * sizeof *m->count);
    seen_top_clear(m->duplicates);
    m->all = 0;
    m->answers = 0;
    m->counted = 0;
    m->forgotten = s.forgotten;
    ask(m, d);
}

void missing_note(struct missing *m, const seen_detector *d, size_t counter, bool taken) {
    if (m->counted++ >= m->due) ask(m, d);
    if (taken) m->of[counter] = (double)m->count[counter] * m->odds;
    m->count[counter]++;
    m->of[counter] += m->odds;
    m->all += m->odds;
}

void missing_duplicate(struct missing *m, seen_digest key) {
    int taken;
    m->answers++;
    seen_top_add(m->duplicates, key, &taken);
}

/* A quantile of a sum of geometric distributions, with the odds of the last: by summation if the
 * mean is small, else by four standard deviations. */
static uint64_t by_chance(const struct missing *m, size_t counter) {
    double mean = m->of[counter], p = m->odds / (1 + m->odds);
    if (mean == 0) return 0;
    if (mean > 200) return (uint64_t)ceil(mean + 4 * sqrt(mean / (1 - p)));
    double n = mean / m->odds, term = exp(n * log1p(-p)), sum = term;
    uint64_t k = 0;
    while (sum < SURE && k < 1000000) {
        k++;
        term *= (n + (double)k - 1) / (double)k * p;
        sum += term;
    }
    return k;
}

static bool known(const struct missing *m) { return m->odds <= 1; }

uint64_t missing_most(const struct missing *m, seen_digest key, size_t counter) {
    uint64_t surely = seen_top_most(m->duplicates, key);
    if (!known(m)) return surely;
    uint64_t probably = by_chance(m, counter);
    return probably < surely ? probably : surely;
}

double missing_all(const struct missing *m, bool *sure) {
    *sure = known(m);
    return *sure ? m->all : (double)m->answers;
}

uint64_t missing_twice(const struct missing *m, const seen_detector *d) {
    struct seen_stats s;
    seen_stats(d, &s);
    return s.forgotten - m->forgotten;
}

/* -- in a state --------------------------------------------------------------------------- */

void missing_save(const struct missing *m, uint64_t used, struct blocks_out *out) {
    const uint64_t numbers[] = {m->answers, m->counted, m->due, m->forgotten};
    const double expected[] = {m->all, m->odds};
    blocks_put(out, numbers, sizeof numbers);
    blocks_put(out, expected, sizeof expected);
    blocks_put(out, m->count, used * sizeof *m->count);
    blocks_put(out, m->of, used * sizeof *m->of);
    seen_top_save(m->duplicates, blocks_writer(out), NULL);
}

/* An expectation that records can have led to. */
static bool possible(double x) { return x >= 0 && x < 1e18; }

bool missing_load(struct missing *m, uint64_t used, struct blocks_in *in) {
    uint64_t numbers[4], bytes = seen_top_bytes(m->duplicates);
    double expected[2];
    if (!blocks_get(in, numbers, sizeof numbers) || !blocks_get(in, expected, sizeof expected) ||
        !blocks_get(in, m->count, used * sizeof *m->count) ||
        !blocks_get(in, m->of, used * sizeof *m->of))
        return false;
    m->answers = numbers[0];
    m->counted = numbers[1];
    m->due = numbers[2];
    m->forgotten = numbers[3];
    m->all = expected[0];
    m->odds = expected[1];
    seen_top_free(m->duplicates);
    if (seen_top_load(&m->duplicates, blocks_reader(in), bytes, NULL, NULL)) return false;
    for (uint64_t i = 0; i < used; i++)
        if (!possible(m->of[i])) return false;
    return possible(m->all) && possible(m->odds) && seen_top_bytes(m->duplicates) == bytes;
}
