/* The figures of U Kang's lecture 7, Mining Data Streams 2.
 *
 *     paper-kang-lecture bloom n=1000000 bits=8 runs=20       one to twenty hash functions
 *     paper-kang-lecture fm n=100000 runs=50                  Flajolet-Martin, error against k
 */
#include "../lab.h"
#include "seen_counter.h"

#include <math.h>
#include <stdio.h>

enum { BATCH = 256 };

/* -- one array of `bits` a key, k hash functions ------------------------------------------ */

static double false_positives(const seen_detector *d, uint64_t first, uint64_t n, uint64_t seed) {
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    uint64_t found = 0, asked = 0;
    for (; asked < n; asked += BATCH) {
        for (uint64_t j = 0; j < BATCH; j++) digest[j] = lab_digest(first + asked + j, seed);
        seen_query(d, BATCH, digest, 0, verdict);
        for (uint64_t j = 0; j < BATCH; j++) found += verdict[j] != SEEN_NEW;
    }
    return (double)found / (double)asked;
}

static void bloom(void) {
    uint64_t n = (uint64_t)lab_number("n", 1e6), runs = (uint64_t)lab_number("runs", 20);
    double bits = lab_number("bits", 8);
    for (int k = 1; k <= 20; k++)
        for (int separate = 0; separate < 2; separate++) {
            struct lab_mean rate = {0};
            char spec[128];
            uint64_t lines = (uint64_t)nearbyint(bits * (double)n / 496);
            if (separate) lines = (lines + (uint64_t)k / 2) / (uint64_t)k * (uint64_t)k;
            snprintf(spec, sizeof spec, "landmark filter=%s k=%d lines=%llu",
                     separate ? "partitioned" : "bloom", k, (unsigned long long)lines);
            for (uint64_t seed = 1; seed <= runs; seed++) {
                seen_detector *d = lab_make("%s seed=%llu", spec, (unsigned long long)seed);
                lab_show(d, 0, n, seed);
                lab_add(&rate, false_positives(d, n, n / 5, seed));
                seen_free(d);
            }
            lab_row(separate ? "k small arrays" : "one big array", k, &rate, 1, spec);
        }
}

/* -- distinct counting -------------------------------------------------------------------- */

/* Estimates over the truth: their mean shows bias, their sd is the relative error. */
static void estimates(uint32_t kind, const char *series, double error, double x, uint64_t n,
                      uint64_t runs) {
    struct lab_mean ratio = {0};
    char spec[96] = "";
    for (uint64_t seed = 1; seed <= runs; seed++) {
        seen_counter *c;
        struct seen_error e;
        seen_digest digest[BATCH];
        if (seen_counter_new(&c, kind, error, seed, NULL, &e)) lab_die("%s", e.text);
        for (uint64_t i = 0; i < n; i += BATCH) {
            uint64_t m = n - i < BATCH ? n - i : BATCH;
            for (uint64_t j = 0; j < m; j++) digest[j] = lab_digest(i + j, seed);
            seen_counter_add(c, m, digest);
        }
        lab_add(&ratio, seen_counter_estimate(c, NULL) / (double)n);
        snprintf(spec, sizeof spec, "%s error=%.4g bytes=%llu",
                 kind == SEEN_COUNTER_FM ? "fm" : "hll", error,
                 (unsigned long long)seen_counter_bytes(c));
        seen_counter_free(c);
    }
    lab_row(series, x, &ratio, 1, spec);
}

static void fm(void) {
    uint64_t n = (uint64_t)lab_number("n", 100000), runs = (uint64_t)lab_number("runs", 50);
    for (int k = 16; k <= 256; k *= 2)
        estimates(SEEN_COUNTER_FM, "fm by k", .78 / sqrt(k) * 1.0001, k, n, runs);
    for (uint64_t m = 100; m <= n; m *= 10) {
        estimates(SEEN_COUNTER_FM, "fm by n", .78 / 8 * 1.0001, (double)m, m, runs);
        estimates(SEEN_COUNTER_HLL, "hll by n", .78 / 8 * 1.0001, (double)m, m, runs);
    }
}

int main(int argc, char **argv) {
    static const struct lab_experiment experiments[] = {{"bloom", bloom}, {"fm", fm}};
    return lab_main(argc, argv, experiments, sizeof experiments / sizeof *experiments);
}
