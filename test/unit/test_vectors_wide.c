/* Keys of more than 128 bits: substrings takes them as several digests, against a set of substrings
 * that is kept here; the rate is the chain's, and what cannot take such keys says so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../any_window.h"
#include "chance.h"
#include "seen.h"
#include "theory/bloom.h"

enum { BATCH = 300 };

static uint64_t base(void) { return chance_seed(20050510); }

static int plan(struct seen_plan *p, const char *text, struct seen_error *e) {
    struct seen_spec spec;
    if (seen_spec_parse(&spec, text, e)) fail_msg("%s: %s", text, e->text);
    return seen_plan_make(p, &spec, e);
}

static seen_detector *make(const char *text) {
    struct seen_error e = {0};
    struct seen_plan p;
    seen_detector *d = NULL;
    if (plan(&p, text, &e) || seen_new(&d, &p, NULL, &e)) fail_msg("%s: %s", text, e.text);
    return d;
}

/* -- against the paper's own vectors ------------------------------------------------------ */

struct vectors {
    uint32_t b, p, digests;
    uint8_t *cell;
};

static uint64_t bit_of(const seen_digest *key, uint32_t i) {
    uint64_t word = i / 64 % 2 ? key[i / 128].hi : key[i / 128].lo;
    return word >> i % 64 & 1;
}

/* Bit by bit, so that no word's end is overlooked. */
static uint8_t look(struct vectors *v, const seen_digest *key) {
    uint8_t all = 1;
    for (uint32_t j = 0; j + v->p <= v->b; j++) {
        uint64_t at = 0;
        for (uint32_t i = 0; i < v->p; i++) at |= bit_of(key, j + i) << i;
        uint8_t *cell = &v->cell[((uint64_t)j << v->p) + at];
        all &= *cell;
        *cell = 1;
    }
    return all;
}

/* Keys that agree with one before in all but a few bits, or are one before. */
static void draw(const struct vectors *v, seen_digest *key, size_t i, uint64_t *rng) {
    seen_digest *k = key + i * v->digests;
    uint64_t how = chance_next(rng) % 3;
    if (how == 2 || !i) {
        for (uint32_t j = 0; j < v->digests; j++)
            k[j] = (seen_digest){chance_next(rng), chance_next(rng)};
        return;
    }
    memcpy(k, key + chance_next(rng) % i * v->digests, v->digests * sizeof *k);
    if (how == 1) k[chance_next(rng) % v->digests].hi ^= (uint64_t)1 << chance_next(rng) % 64;
}

static void judge(uint32_t b, uint32_t p, uint64_t seed) {
    enum { KEYS = 1500, DIGESTS = 4 };
    static seen_digest key[KEYS * DIGESTS];
    struct vectors v = {b, p, (b + 127) / 128, calloc(b - p + 1, (size_t)1 << p)};
    uint64_t rng = seed, age[BATCH];
    uint8_t verdict[BATCH], again[BATCH];
    char spec[120];
    snprintf(spec, sizeof spec, "landmark filter=substrings bits=%u substring=%u hash=raw fp=.9", b,
             p);
    seen_detector *d = make(spec);
    assert_int_equal(seen_digests(d), v.digests);
    assert_int_equal((int)seen_plan_of(d).touches, b - p + 1);
    for (size_t i = 0; i < KEYS; i++) draw(&v, key, i, &rng);
    for (size_t from = 0, n; from < KEYS; from += n) {
        n = 1 + chance_next(&rng) % BATCH;
        if (n > KEYS - from) n = KEYS - from;
        seen_observe(d, n, key + from * v.digests, verdict);
        for (size_t i = 0; i < n; i++)
            if (verdict[i] != look(&v, key + (from + i) * v.digests))
                fail_msg("SEEN_SEED=%llu: bits=%u substring=%u, key %zu is called %d",
                         (unsigned long long)base(), b, p, from + i, verdict[i]);
        seen_query(d, n, key + from * v.digests, 0, again);
        any_last_seen(d, n, key + from * v.digests, 0, age);
        for (size_t i = 0; i < n; i++) assert_true(again[i] == 1 && age[i] != SEEN_NEVER);
    }
    seen_free(d);
    free(v.cell);
}

static void verdicts_are_those_of_the_papers_vectors(void **state) {
    (void)state;
    static const uint32_t cases[][2] = {{512, 12}, {512, 17}, {129, 9},
                                        {200, 10}, {256, 3},  {385, 14}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 0; seed < 5; seed++)
            judge(cases[i][0], cases[i][1], base() * 100 + seed);
}

static void sub_windows_keep_wide_keys_apart_in_batches_of_any_size(void **state) {
    (void)state;
    const char *spec = "jumping:40/4 filter=substrings bits=300 substring=14 hash=raw fp=.9";
    seen_detector *one = make(spec), *many = make(spec);
    uint64_t rng = base();
    for (int round = 0; round < 100; round++) {
        seen_digest key[BATCH * 3];
        uint8_t a[BATCH], b[BATCH];
        size_t n = 1 + chance_next(&rng) % BATCH;
        for (size_t i = 0; i < 3 * n; i++) key[i] = (seen_digest){chance_next(&rng) % 5, i % 3};
        seen_observe(many, n, key, a);
        for (size_t i = 0; i < n; i++) seen_observe(one, 1, key + 3 * i, b + i);
        assert_memory_equal(a, b, n);
    }
    seen_free(one);
    seen_free(many);
}

/* -- rates -------------------------------------------------------------------------------- */

static void hashed_keys_of_512_bits_collide_as_the_chain_says(void **state) {
    (void)state;
    enum { SEEDS = 10, N = 24000, QUERIES = 2000 };
    double rate = theory_substrings(512, 12, N), hits = 0, squares = 0;
    assert_true(rate > .1 && rate < .5);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        char spec[120];
        double found = 0;
        snprintf(spec, sizeof spec,
                 "landmark filter=substrings bits=512 substring=12 fp=.9 seed=%llu",
                 (unsigned long long)(base() + seed));
        seen_detector *d = make(spec);
        for (uint64_t i = 0; i < N + QUERIES; i++) {
            seen_digest key[SEEN_MAX_DIGESTS];
            uint8_t verdict;
            assert_int_equal(seen_key(d, &i, sizeof i, key, NULL), 0);
            if (i < N)
                seen_observe(d, 1, key, &verdict);
            else
                any_query(d, 1, key, 0, 0, &verdict), found += verdict;
        }
        hits += found;
        squares += found * found;
        seen_free(d);
    }
    double mean = hits / SEEDS, sd = sqrt((squares - hits * mean) / (SEEDS - 1));
    double off = fabs(mean - rate * QUERIES) - .02 * rate * QUERIES;
    if (off > 5 * sd / sqrt(SEEDS))
        fail_msg("SEEN_SEED=%llu: measured %.4g, predicted %.4g", (unsigned long long)base(),
                 mean / QUERIES, rate);
}

/* Ids of 64 characters that share all but their last digits err by their own law: the sample says
 * so. */
static void the_control_sample_measures_ids_as_they_are(void **state) {
    (void)state;
    enum { N = 200000 };
    seen_detector *d = make("landmark filter=substrings bits=512 substring=14 hash=raw fp=.9");
    double wrong = 0;
    for (uint64_t i = 0; i < N; i++) {
        char id[65];
        seen_digest key[SEEN_MAX_DIGESTS];
        uint8_t verdict;
        snprintf(id, sizeof id, "%056d%08x", 0, (uint32_t)i * 2654435761u); /* all different */
        assert_int_equal(seen_key(d, id, 64, key, NULL), 0);
        seen_observe(d, 1, key, &verdict);
        wrong += verdict;
    }
    struct seen_stats s;
    seen_stats(d, &s);
    assert_true(s.sampled_records > 300 && s.source == SEEN_FROM_SAMPLE);
    if (wrong < (double)s.false_lo || wrong > (double)s.false_hi)
        fail_msg("SEEN_SEED=%llu: %.0f wrong, between %llu and %llu expected",
                 (unsigned long long)base(), wrong, (unsigned long long)s.false_lo,
                 (unsigned long long)s.false_hi);
    seen_free(d);
}

/* -- keys --------------------------------------------------------------------------------- */

static void raw_keys_are_their_bytes_and_no_longer_than_bits(void **state) {
    (void)state;
    const char *id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdefX";
    seen_digest key[SEEN_MAX_DIGESTS + 1];
    struct seen_error e;
    memset(key, 0xee, sizeof key);
    seen_detector *d = make("landmark filter=substrings bits=512 substring=10 hash=raw fp=.9");
    assert_int_equal(seen_key(d, id, 64, key, &e), 0);
    assert_memory_equal(key, id, 64);
    assert_int_equal(key[4].lo, 0xeeeeeeeeeeeeeeeeu);
    assert_int_equal(seen_key(d, id, 3, key, &e), 0);
    assert_memory_equal(key, "012\0\0\0", 6);
    assert_int_equal(key[3].hi, 0);
    assert_int_equal(seen_key(d, id, 65, key, &e), SEEN_EINVAL);
    assert_non_null(strstr(e.text, "at most 64 bytes"));
    seen_free(d);
    d = make("landmark filter=substrings bits=133 substring=10 hash=raw fp=.9");
    assert_int_equal(seen_key(d, "0123456789abcdef\x1f", 17, key, &e), 0);
    assert_int_equal(seen_key(d, "0123456789abcdef\x20", 17, key, &e), SEEN_EINVAL);
    assert_non_null(strstr(e.text, "takes 134 bits, and the plan says bits=133"));
    seen_free(d);
}

struct tape {
    char bytes[1 << 20];
    size_t n, at;
};
static int put(void *ctx, const void *buf, size_t len) {
    struct tape *t = ctx;
    if (len > sizeof t->bytes - t->n) return -1;
    memcpy(t->bytes + t->n, buf, len);
    t->n += len;
    return 0;
}
static int get(void *ctx, void *buf, size_t len) {
    struct tape *t = ctx;
    if (len > t->n - t->at) return -1;
    memcpy(buf, t->bytes + t->at, len);
    t->at += len;
    return 0;
}

static void snapshots_keep_wide_keys(void **state) {
    (void)state;
    static struct tape tape;
    seen_detector *d = make("landmark filter=substrings bits=512 substring=11 seed=7 fp=.9"),
                  *other;
    seen_digest key[SEEN_MAX_DIGESTS];
    struct seen_error e;
    uint8_t verdict;
    for (uint64_t i = 0; i < 100; i++) {
        seen_key(d, &i, sizeof i, key, NULL);
        seen_observe(d, 1, key, &verdict);
    }
    assert_int_equal(seen_save(d, NULL, 0, (struct seen_writer){put, &tape}, &e), 0);
    if (seen_load(&other, (struct seen_reader){get, &tape}, 0, NULL, NULL, &e))
        fail_msg("%s", e.text);
    assert_int_equal(seen_digests(other), 4);
    for (uint64_t i = 0; i < 200; i++) {
        seen_key(other, &i, sizeof i, key, NULL);
        seen_observe(other, 1, key, &verdict);
        assert_int_equal(verdict, i < 100);
    }
    seen_free(d);
    seen_free(other);
}

static void what_goes_by_one_digest_is_refused(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"landmark filter=substrings bits=512 substring=9 shards=2", "shards="},
        {"landmark filter=substrings bits=512 substring=9 verify=5", "verify="},
        {"landmark filter=bitvector bits=512", "2^512 cells"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen_error e = {0};
        struct seen_plan p;
        assert_int_equal(plan(&p, cases[i][0], &e), SEEN_EREFUSED);
        if (!strstr(e.text, cases[i][1])) fail_msg("%s", e.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_are_those_of_the_papers_vectors),
        cmocka_unit_test(sub_windows_keep_wide_keys_apart_in_batches_of_any_size),
        cmocka_unit_test(hashed_keys_of_512_bits_collide_as_the_chain_says),
        cmocka_unit_test(the_control_sample_measures_ids_as_they_are),
        cmocka_unit_test(raw_keys_are_their_bytes_and_no_longer_than_bits),
        cmocka_unit_test(snapshots_keep_wide_keys),
        cmocka_unit_test(what_goes_by_one_digest_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
