/* test_sliding_counter.c - the sliding counter against a HyperLogLog of exactly the window's keys,
 * against sets, and as statistics over many seeds. */
#include "seen.h"
#include "seen_counter.h"
#include "short_memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 100 };

static uint64_t first_seed(void) {
    const char *given = getenv("SEEN_SEED");
    return given ? strtoull(given, NULL, 0) : 1;
}

static uint64_t drawn;
static uint64_t draw(void) { /* splitmix64 */
    uint64_t z = drawn += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static seen_digest key_of(uint64_t i, uint64_t seed) { return seen_hash(&i, sizeof i, seed); }

static seen_sliding_counter *sliding(uint32_t kind, double error, uint64_t window) {
    seen_sliding_counter *c;
    struct seen_error e;
    if (seen_sliding_counter_new(&c, kind, error, window, NULL, &e)) fail_msg("%s", e.text);
    return c;
}

/* A stream and what a HyperLogLog says of its records in (now - last, now]. */
struct stream {
    size_t n;
    seen_digest *key;
    seen_time *time;
};

static struct stream stream_of(size_t n, uint64_t keys, uint64_t step, uint64_t late) {
    struct stream s = {n, malloc(n * sizeof *s.key), malloc(n * sizeof *s.time)};
    uint64_t now = 1000000;
    for (size_t i = 0; i < n; i++) {
        s.key[i] = key_of(draw() % keys, 7);
        now += draw() % step;
        s.time[i] = now - (late ? draw() % late : 0);
    }
    return s;
}

static void free_stream(struct stream *s) {
    free(s->key);
    free(s->time);
}

static double plain(const struct stream *s, size_t n, double error, uint64_t last) {
    seen_counter *c;
    seen_time now = 0;
    if (seen_counter_new(&c, SEEN_COUNTER_HLL, error, 0, NULL, NULL)) fail();
    for (size_t i = 0; i < n; i++) now = s->time[i] > now ? s->time[i] : now;
    for (size_t i = 0; i < n; i++)
        if (s->time[i] + last > now) seen_counter_add(c, 1, &s->key[i]);
    double estimate = seen_counter_estimate(c, NULL);
    seen_counter_free(c);
    return estimate;
}

/* At any moment, for any shorter window and any order of times. */
static void it_is_the_hyperloglog_of_the_window_alone(void **state) {
    (void)state;
    drawn = first_seed();
    for (uint64_t late = 0; late <= 50000; late += 50000) {
        struct stream s = stream_of(120000, 1000000, 20, late);
        uint64_t window = 400000, spans[] = {window, 300001, 250000};
        seen_sliding_counter *c = sliding(SEEN_COUNTER_HLL, .05, window);
        for (size_t i = 0; i < s.n; i++) {
            seen_sliding_counter_add(c, 1, &s.key[i], &s.time[i]);
            if (i < 50000 || i % 9973) continue;
            for (size_t k = 0; k < 3; k++)
                if (seen_sliding_counter_estimate(c, spans[k], NULL) !=
                    plain(&s, i + 1, .05, spans[k]))
                    fail_msg("after %zu records, the last %ju (SEEN_SEED=%ju)", i + 1,
                             (uintmax_t)spans[k], (uintmax_t)first_seed());
        }
        assert_true(seen_sliding_counter_estimate(c, 0, NULL) == plain(&s, s.n, .05, window));
        seen_sliding_counter_free(c);
        free_stream(&s);
    }
}

/* Windows of 100,000 keys and more, each key twice in the stream: mean and standard deviation. */
static void it_errs_by_1_04_over_root_m(void **state) {
    (void)state;
    static const uint64_t windows[] = {100000, 150000};
    for (size_t w = 0; w < 2; w++) {
        double sigma = 1.04 / sqrt(1024), sum = 0, squares = 0;
        for (uint64_t s = 0; s < SEEDS; s++) {
            seen_sliding_counter *c = sliding(SEEN_COUNTER_HLL, sigma, windows[w]);
            for (uint64_t i = 0; i < windows[w] + 50000; i++) {
                seen_digest d = key_of(i, first_seed() + s);
                seen_sliding_counter_add(c, 1, &d, NULL);
            }
            double x = seen_sliding_counter_estimate(c, 0, NULL) / (double)windows[w] - 1;
            sum += x;
            squares += x * x;
            seen_sliding_counter_free(c);
        }
        double mean = sum / SEEDS, rms = sqrt(squares / SEEDS);
        double most = sigma * (1 + 5 / sqrt(2.0 * SEEDS)),
               least = sigma * (1 - 5 / sqrt(2.0 * SEEDS));
        if (fabs(mean) > 5 * sigma / sqrt(SEEDS) || rms > most || rms < least)
            fail_msg("%ju keys: mean %.4f, rms %.4f, not 0 and %.4f (SEEN_SEED=%ju)",
                     (uintmax_t)windows[w], mean, rms, sigma, (uintmax_t)first_seed());
    }
}

/* How many different keys the last `window` of records i-n+1 to i have, by comparing all. */
static uint64_t truth(const uint64_t *key, const seen_time *time, size_t n, uint64_t window) {
    static unsigned char seen[5000];
    uint64_t distinct = 0;
    seen_time now = 0;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < n; i++) now = time[i] > now ? time[i] : now;
    for (size_t i = 0; i < n; i++)
        if (time[i] + window > now && !seen[key[i]]++) distinct++;
    return distinct;
}

static void few_keys_and_sets_are_counted_exactly(void **state) {
    (void)state;
    static uint64_t key[30000];
    static seen_time time[30000];
    drawn = first_seed();
    for (uint32_t kind = SEEN_COUNTER_HLL; kind <= SEEN_COUNTER_SET; kind += SEEN_COUNTER_SET) {
        uint64_t keys = kind == SEEN_COUNTER_SET ? 5000 : 2600, now = 1;
        seen_sliding_counter *c = sliding(kind, .01, 6000);
        for (size_t i = 0; i < 30000; i++) {
            double error;
            key[i] = draw() % keys;
            now += draw() % 3;
            time[i] = now - (now > 100 ? draw() % 100 : 0);
            seen_digest d = key_of(key[i], 1);
            seen_sliding_counter_add(c, 1, &d, &time[i]);
            if (i % 997) continue;
            assert_int_equal(seen_sliding_counter_estimate(c, 0, &error),
                             truth(key, time, i + 1, 6000));
            assert_int_equal(seen_sliding_counter_estimate(c, 1000, NULL),
                             truth(key, time, i + 1, 1000));
            assert_true(error == 0);
        }
        seen_sliding_counter_free(c);
    }
}

static void memory_stays_where_the_formula_puts_it(void **state) {
    (void)state;
    const uint64_t m = 512, n = 200000;
    seen_sliding_counter *c = sliding(SEEN_COUNTER_HLL, .05, n);
    uint64_t most = 0;
    for (uint64_t i = 0; i < 10 * n; i++) {
        seen_digest d = key_of(i, first_seed());
        seen_sliding_counter_add(c, 1, &d, NULL);
        if (i % n == 0 && seen_sliding_counter_bytes(c) > most)
            most = seen_sliding_counter_bytes(c);
    }
    double pairs = (double)m * (log((double)n / (double)m) + .58);
    assert_true((double)most < 2 * 16 * 1.2 * pairs + 4 * (double)m + 512); /* room doubles */
    seen_sliding_counter_free(c);
}

/* -- snapshots ---------------------------------------------------------------------------- */

static struct {
    unsigned char bytes[1 << 20];
    size_t n, at;
} saved;

static int put(void *ctx, const void *p, size_t n) {
    (void)ctx;
    if (n > sizeof saved.bytes - saved.n) return -1;
    memcpy(saved.bytes + saved.n, p, n);
    saved.n += n;
    return 0;
}

static int get(void *ctx, void *p, size_t n) {
    (void)ctx;
    if (n > saved.n - saved.at) return -1;
    memcpy(p, saved.bytes + saved.at, n);
    saved.at += n;
    return 0;
}

static int load(seen_sliding_counter **c, struct seen_error *e) {
    saved.at = 0;
    return seen_sliding_counter_load(c, (struct seen_reader){get, NULL}, 0, NULL, e);
}

static void save(const seen_sliding_counter *c) {
    saved.n = 0;
    assert_int_equal(seen_sliding_counter_save(c, (struct seen_writer){put, NULL}, NULL), 0);
}

/* Saved and loaded at any moment, the counter gives the same answers; damage is refused. */
static void a_snapshot_is_the_counter(void **state) {
    (void)state;
    static const struct {
        uint32_t kind;
        uint64_t records;
    } cases[] = {{SEEN_COUNTER_HLL, 0},
                 {SEEN_COUNTER_HLL, 1000},
                 {SEEN_COUNTER_HLL, 60000},
                 {SEEN_COUNTER_SET, 3000}};
    for (size_t k = 0; k < 4; k++) {
        seen_sliding_counter *a = sliding(cases[k].kind, .1, 5000), *b, *other;
        struct seen_error e;
        for (uint64_t i = 0; i < cases[k].records; i++) {
            seen_digest d = key_of(i, 1);
            seen_sliding_counter_add(a, 1, &d, NULL);
        }
        save(a);
        if (load(&b, &e)) fail_msg("%s", e.text);
        assert_true(seen_sliding_counter_alike(a, b));
        other = sliding(cases[k].kind, .1, 5001);
        assert_false(seen_sliding_counter_alike(a, other));
        for (uint64_t i = 0; i < 20000; i++) {
            seen_digest d = key_of(i * i, 2);
            seen_sliding_counter_add(a, 1, &d, NULL);
            seen_sliding_counter_add(b, 1, &d, NULL);
            if (i % 1999) continue;
            assert_true(seen_sliding_counter_estimate(a, 0, NULL) ==
                        seen_sliding_counter_estimate(b, 0, NULL));
        }
        seen_sliding_counter_free(a), seen_sliding_counter_free(b);
        seen_sliding_counter_free(other);
        size_t whole = saved.n;
        for (saved.n = 0; saved.n < whole; saved.n += 1 + whole / 97) {
            assert_int_equal(load(&b, &e), SEEN_EFORMAT);
            assert_null(b);
        }
        saved.n = whole;
        for (size_t i = 0; i < whole; i += 1 + whole / 211) {
            saved.bytes[i] ^= (uint8_t)(1 << i % 8);
            assert_int_equal(load(&b, &e), SEEN_EFORMAT);
            saved.bytes[i] ^= (uint8_t)(1 << i % 8);
        }
    }
}

static void what_cannot_be_had_is_refused_and_short_memory_is_told(void **state) {
    (void)state;
    struct seen_error e;
    seen_sliding_counter *c;
    double error;
    assert_int_equal(seen_sliding_counter_new(&c, SEEN_COUNTER_FM, .01, 1, NULL, &e), SEEN_EINVAL);
    assert_int_equal(seen_sliding_counter_new(&c, SEEN_COUNTER_HLL, .01, 0, NULL, &e), SEEN_EINVAL);
    assert_int_equal(seen_sliding_counter_new(&c, SEEN_COUNTER_HLL, 1e-5, 9, NULL, &e),
                     SEEN_EREFUSED);
    assert_int_equal(seen_sliding_counter_new(&c, SEEN_COUNTER_HLL, NAN, 9, NULL, &e),
                     SEEN_EREFUSED);
    left = 100;
    assert_int_equal(seen_sliding_counter_new(&c, SEEN_COUNTER_HLL, .05, 9, &short_memory, &e),
                     SEEN_ENOMEM);
    for (uint32_t kind = SEEN_COUNTER_HLL; kind <= SEEN_COUNTER_SET; kind += SEEN_COUNTER_SET) {
        left = 4000;
        assert_int_equal(seen_sliding_counter_new(&c, kind, .05, 10000, &short_memory, &e), 0);
        for (uint64_t i = 0; i < 5000; i++) {
            seen_digest d = key_of(i, 1);
            seen_sliding_counter_add(c, 1, &d, NULL);
        }
        seen_sliding_counter_estimate(c, 0, &error);
        assert_true(isinf(error));
        seen_sliding_counter_free(c);
        assert_int_equal(left, 4000);
    }
    seen_sliding_counter_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_hyperloglog_of_the_window_alone),
        cmocka_unit_test(it_errs_by_1_04_over_root_m),
        cmocka_unit_test(few_keys_and_sets_are_counted_exactly),
        cmocka_unit_test(memory_stays_where_the_formula_puts_it),
        cmocka_unit_test(a_snapshot_is_the_counter),
        cmocka_unit_test(what_cannot_be_had_is_refused_and_short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
