/* The experiments of Metwally, Agrawal, El Abbadi: Duplicate Detection in Click Streams, WWW 2005.
 *
 *     paper-metwally-2005 landmark n=1000000 cells=1442695 runs=20       figure 5
 *     paper-metwally-2005 jumping n=200000 q=4 cells=288539 runs=20      figure 6
 *     seen generate | paper-metwally-2005 clicks cells=5905777           figure 7
 *     seen generate | paper-metwally-2005 clicks cells=2177154 n=2000000 q=4    figure 8
 *     paper-metwally-2005 substrings b=32 p=16 runs=20                   figures 2 and 4
 *     paper-metwally-2005 neighbours p=16 n=655 runs=20                  §4: overlaps correlate
 *     paper-metwally-2005 best n=200000 bits=9.6          the best number of hashes, §7
 *
 * `cells` are those of one hash function: each has a space of its own. */
#include "../lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 4, MOST = 10, BATCH = 256 };

/* Lines of 496 cells, as near to k spaces of `cells` as whole lines come. */
static uint64_t partitioned_lines(int k, double cells) {
    return (uint64_t)k * (uint64_t)fmax(1, nearbyint(cells / 496));
}

/* -- figure 5: distinct clicks in a landmark window --------------------------------------- */

static double fill_once(const char *spec, uint64_t n, uint64_t seed, char *text, size_t cap) {
    seen_detector *d = lab_make("%s seed=%llu", spec, (unsigned long long)seed);
    double rate = (double)lab_show(d, 0, n, seed) / (double)n;
    if (seed == 1) snprintf(text, cap, "%s", lab_spec(d));
    seen_free(d);
    return rate;
}

/* Beside it `blocked` in the same memory, its k the planner's. */
static void landmark(void) {
    uint64_t n = (uint64_t)lab_number("n", 1e6), runs = (uint64_t)lab_number("runs", 20);
    int only = (int)lab_number("k", 0);
    for (int k = only ? only : LEAST; k <= (only ? only : MOST); k++) {
        struct lab_mean theirs = {0}, blocked = {0};
        char a[512] = "", b[512] = "", spec[2][160];
        uint64_t lines = partitioned_lines(k, lab_number("cells", 1442695));
        snprintf(spec[0], 160, "landmark filter=partitioned k=%d lines=%llu", k,
                 (unsigned long long)lines);
        snprintf(spec[1], 160, "landmark filter=blocked items=%llu lines=%llu",
                 (unsigned long long)n, (unsigned long long)lines);
        for (uint64_t seed = 1; seed <= runs; seed++) {
            lab_add(&theirs, fill_once(spec[0], n, seed, a, sizeof a));
            if (!only) lab_add(&blocked, fill_once(spec[1], n, seed, b, sizeof b));
        }
        lab_row("measured", k, &theirs, 1, a);
        if (!only) lab_row("blocked", k, &blocked, 1, b);
    }
}

/* -- figure 6: distinct clicks in a jumping window ---------------------------------------- */

/* A jumping window of `n` clicks by addition and subtraction, in steady state: four windows long.
 * The paper's own reading: the last q full sub-windows are asked, the current one is not. */
static double steady(const char *spec, uint64_t n, uint64_t seed, char *text, size_t cap) {
    seen_detector *d = lab_make("%s seed=%llu", spec, (unsigned long long)seed);
    lab_show(d, 0, 2 * n, seed);
    double rate = (double)lab_show(d, 2 * n, 4 * n, seed) / (double)(4 * n);
    if (seed == 1) snprintf(text, cap, "%s", lab_spec(d));
    seen_free(d);
    return rate;
}

static double literal(const char *spec, uint64_t n, uint64_t seed) {
    seen_detector *d = lab_make("%s seed=%llu", spec, (unsigned long long)seed);
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    uint64_t found = 0, asked = 0;
    lab_show(d, 0, n, seed);
    for (uint64_t i = 0; i < n; i += BATCH, asked += BATCH) {
        for (uint64_t j = 0; j < BATCH; j++) digest[j] = lab_digest(n + i + j, seed);
        seen_query(d, BATCH, digest, 0, verdict);
        for (uint64_t j = 0; j < BATCH; j++) found += verdict[j] != SEEN_NEW;
    }
    seen_free(d);
    return (double)found / (double)asked;
}

/* Counters of filter=counting in a line of 496 bits: the sum's and those of q+1 sub-windows. */
static uint64_t counting_lines(int k, double cells, uint64_t q) {
    return (uint64_t)ceil(k * cells / (double)(496 / (4 * (q + 2))));
}

static void jumping(void) {
    uint64_t n = (uint64_t)lab_number("n", 200000), q = (uint64_t)lab_number("q", 4);
    uint64_t runs = (uint64_t)lab_number("runs", 20), step = n / q;
    double cells = lab_number("cells", 288539);
    for (int k = LEAST; k <= MOST; k++) {
        struct lab_mean whole = {0}, current = {0}, paper = {0}, filling = {0}, ring = {0};
        char a[512], b[512], c[512], f[512], spec[4][160];
        snprintf(spec[0], 160, "jumping:%llu/%llu filter=counting by=subtract k=%d lines=%llu",
                 (unsigned long long)n, (unsigned long long)q, k,
                 (unsigned long long)counting_lines(k, cells, q));
        snprintf(spec[1], 160, "jumping:%llu/%llu filter=counting by=subtract k=%d lines=%llu",
                 (unsigned long long)(n - step), (unsigned long long)(q - 1), k,
                 (unsigned long long)counting_lines(k, cells, q - 1));
        snprintf(spec[2], 160, "landmark filter=partitioned k=%d lines=%llu", k,
                 (unsigned long long)partitioned_lines(k, cells));
        snprintf(spec[3], 160, "jumping:%llu/%llu filter=bloom lines=%llu", (unsigned long long)n,
                 (unsigned long long)q, (unsigned long long)counting_lines(k, cells, q));
        for (uint64_t seed = 1; seed <= runs; seed++) {
            lab_add(&whole, steady(spec[0], n, seed, a, sizeof a));
            lab_add(&current, steady(spec[1], n, seed, b, sizeof b));
            lab_add(&paper, literal(spec[2], n, seed));
            lab_add(&filling, fill_once(spec[2], n, seed, f, sizeof f));
            lab_add(&ring, steady(spec[3], n, seed, c, sizeof c));
        }
        lab_row("current + q full", k, &whole, 1, a);
        lab_row("current + q-1 full", k, &current, 1, b);
        lab_row("q full", k, &paper, 1, f);
        lab_row("filling", k, &filling, 1, f);
        lab_row("ring of filters", k, &ring, 1, c);
    }
}

/* -- figures 7 and 8: a stream of clicks on standard input -------------------------------- */

struct contest {
    seen_detector *detector[MOST + 1], *truth;
    uint64_t wrong[MOST + 1], fresh;
    double expected[MOST + 1], cells; /* false duplicates, from how many keys the window held */
};

static void judge(struct contest *c, size_t n, const seen_digest *digest) {
    uint8_t is[BATCH], says[BATCH];
    seen_observe(c->truth, n, digest, is);
    struct seen_stats stats;
    uint64_t fresh = 0;
    for (size_t i = 0; i < n; i++) fresh += is[i] == SEEN_NEW;
    seen_stats(c->truth, &stats);
    double fill = 1 - exp(-(double)stats.stored / c->cells);
    for (int k = LEAST; k <= MOST; k++) c->expected[k] += (double)fresh * pow(fill, k);
    c->fresh += fresh;
    for (int k = LEAST; k <= MOST; k++) {
        seen_observe(c->detector[k], n, digest, says);
        for (size_t i = 0; i < n; i++) c->wrong[k] += is[i] == SEEN_NEW && says[i] != SEEN_NEW;
    }
}

static void read_clicks(struct contest *c) {
    seen_digest digest[BATCH];
    char *line = NULL;
    size_t n = 0, room = 0;
    for (ssize_t len; (len = getline(&line, &room, stdin)) > 0;) {
        digest[n++] = seen_hash(line, (size_t)len - (line[len - 1] == '\n'), 1);
        if (n == BATCH) judge(c, n, digest), n = 0;
    }
    judge(c, n, digest);
    free(line);
}

/* Errors as a share of the clicks that were new in their window; a jumping window where n is given.
 */
static void clicks(void) {
    struct contest c = {0};
    uint64_t n = (uint64_t)lab_number("n", 0), q = (uint64_t)lab_number("q", 4);
    double cells = lab_number("cells", 5905777);
    char window[64] = "landmark";
    if (n)
        snprintf(window, sizeof window, "jumping:%llu/%llu", (unsigned long long)n,
                 (unsigned long long)q);
    c.cells = cells;
    c.truth = lab_make("%s filter=exact seed=1", window);
    for (int k = LEAST; k <= MOST; k++)
        c.detector[k] = lab_make(
            "%s %s k=%d lines=%llu seed=1", window,
            n ? "filter=counting by=subtract" : "filter=partitioned", k,
            (unsigned long long)(n ? counting_lines(k, cells, q) : partitioned_lines(k, cells)));
    read_clicks(&c);
    for (int k = LEAST; k <= MOST; k++) {
        double fresh = (double)c.fresh;
        lab_one("measured", k, (double)c.wrong[k] / fresh, 1, lab_spec(c.detector[k]));
        lab_one("expected", k, c.expected[k] / fresh, 1, lab_spec(c.truth));
        seen_free(c.detector[k]);
    }
    lab_one("new clicks", (double)n, (double)c.fresh, 1, lab_spec(c.truth));
    seen_free(c.truth);
}

/* -- §7: the best number of hash functions, on average over a landmark window -------------- */

static void best(void) {
    uint64_t n = (uint64_t)lab_number("n", 100000), runs = (uint64_t)lab_number("runs", 20);
    double bits = lab_number("bits", 9.6);
    for (int k = 3; k <= 16; k++) {
        struct lab_mean rate = {0};
        char spec[128];
        snprintf(spec, sizeof spec, "landmark filter=bloom k=%d lines=%llu", k,
                 (unsigned long long)nearbyint(bits * (double)n / 496));
        for (uint64_t seed = 1; seed <= runs; seed++) {
            seen_detector *d = lab_make("%s seed=%llu", spec, (unsigned long long)seed);
            lab_add(&rate, (double)lab_show(d, 0, n, seed) / (double)n);
            seen_free(d);
        }
        lab_row("mean", k, &rate, 1, spec);
    }
}

/* -- §4: substrings of a key, and independent hash functions instead ---------------------- */

/* Share of `queries` new keys that are found after n keys. */
static double found_after(const char *spec, uint64_t n, uint64_t queries, uint64_t seed) {
    seen_detector *d = lab_make("%s seed=%llu", spec, (unsigned long long)seed);
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    uint64_t found = 0;
    lab_show(d, 0, n, seed);
    for (uint64_t i = 0; i < queries; i += BATCH) {
        uint64_t m = queries - i < BATCH ? queries - i : BATCH;
        for (uint64_t j = 0; j < m; j++) digest[j] = lab_digest(n + i + j, seed);
        seen_query(d, m, digest, 0, verdict);
        for (uint64_t j = 0; j < m; j++) found += verdict[j] != SEEN_NEW;
    }
    seen_free(d);
    return (double)found / (double)queries;
}

static void measure_after(const char *series, double x, const char *spec, uint64_t n) {
    struct lab_mean rate = {0};
    uint64_t runs = (uint64_t)lab_number("runs", 20), asked = (uint64_t)lab_number("queries", 2e5);
    for (uint64_t seed = 1; seed <= runs; seed++) lab_add(&rate, found_after(spec, n, asked, seed));
    lab_row(series, x, &rate, 1, spec);
}

/* The first substring alone, all b-p+1, and as many hash functions in vectors as long. */
static void substrings(void) {
    int b = (int)lab_number("b", 32), p = (int)lab_number("p", 16), vectors = b - p + 1;
    char first[128], all[128], independent[128];
    snprintf(first, sizeof first, "landmark filter=substrings bits=%d substring=%d fp=.99", p, p);
    snprintf(all, sizeof all, "landmark filter=substrings bits=%d substring=%d fp=.99", b, p);
    snprintf(independent, sizeof independent, "landmark filter=partitioned k=%d lines=%llu",
             vectors, (unsigned long long)partitioned_lines(vectors, ldexp(1, p)));
    for (int log = p - 6; log <= p + 2; log++) {
        uint64_t n = (uint64_t)1 << log;
        measure_after("first", (double)n, first, n);
        measure_after("all", (double)n, all, n);
        measure_after("independent", (double)n, independent, n);
    }
}

/* One substring, and two that overlap in p-1 bits. */
static void neighbours(void) {
    int p = (int)lab_number("p", 16);
    uint64_t n = (uint64_t)lab_number("n", 655);
    for (int vectors = 1; vectors <= 2; vectors++) {
        char spec[128];
        snprintf(spec, sizeof spec, "landmark filter=substrings bits=%d substring=%d fp=.99",
                 p + vectors - 1, p);
        measure_after("found", vectors, spec, n);
    }
}

int main(int argc, char **argv) {
    static const struct lab_experiment experiments[] = {
        {"landmark", landmark}, {"jumping", jumping},       {"clicks", clicks},
        {"best", best},         {"substrings", substrings}, {"neighbours", neighbours}};
    return lab_main(argc, argv, experiments, sizeof experiments / sizeof *experiments);
}
