/* The timed cuckoo table in both layouts: its list L, and what happens when that is full; verdicts,
 * ages and false positives against the truth. */
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
#include "base/hash.h"
#include "chance.h"
#include "detector/block.h"
#include "seen.h"
#include "sliding/timed_cuckoo.h"
#include "theory/sliding.h"
#include "truth/truth.h"

static seen_detector *make(const char *text, uint64_t seed) {
    struct seen_error e;
    struct seen_spec spec;
    struct seen_plan plan;
    seen_detector *d = NULL;
    char full[200];
    snprintf(full, sizeof full, "%s%s seed=%llu", text,
             strstr(text, "filter=") ? "" : " filter=timed-cuckoo", (unsigned long long)seed);
    if (seen_spec_parse(&spec, full, &e) || seen_plan_make(&plan, &spec, &e) ||
        seen_new(&d, &plan, NULL, &e))
        fail_msg("%s: %s", full, e.text);
    return d;
}

static uint8_t see(seen_detector *d, uint64_t key) {
    uint8_t verdict;
    seen_digest digest = seen_hash(&key, sizeof key, seen_seed(d));
    seen_observe(d, 1, &digest, &verdict);
    return verdict;
}

static struct seen_stats stats_of(const seen_detector *d) {
    struct seen_stats stats;
    seen_stats(d, &stats);
    return stats;
}

/* -- the list L --------------------------------------------------------------------------- */

/* [I13] §IV.B: its insertion does not look into L, and would list such an item again each time. */
static void refreshed_in_the_list(const char *spec, uint64_t seed) {
    seen_detector *d = make(spec, seed);
    for (uint64_t key = 0; key < 30; key++) assert_int_equal(see(d, key), SEEN_NEW);
    struct seen_stats once = stats_of(d), again;
    assert_true(once.listed >= 22 && once.stored == 30);
    for (int turn = 0; turn < 50; turn++)
        for (uint64_t key = 0; key < 30; key++) {
            uint64_t age;
            seen_digest digest = seen_hash(&key, sizeof key, seed);
            seen_last_seen(d, 1, &digest, &age);
            assert_int_equal(age, 30);
            assert_int_equal(see(d, key), SEEN_DUPLICATE);
        }
    again = stats_of(d);
    assert_int_equal(again.listed, once.listed);
    assert_int_equal(again.saturated, 0);
    seen_free(d);
}

static void an_item_of_the_list_that_comes_again_is_refreshed_there(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        refreshed_in_the_list("sliding:300 items=4 lambda=4 moves=2 signature=40", seed);
        refreshed_in_the_list("sliding:300 items=4 lambda=8 moves=2 signature=40 vla=1", seed);
    }
}

/* At lambda = 2n, and flat still at 1.2n, next to nothing is listed (Theorem 2: O(1) items). */
static void the_list_stays_short(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t most;
    } rows[] = {{"sliding:100000 lambda=200000", 1},
                {"sliding:100000 lambda=120000", 8},
                {"sliding:100000 vla=1", 1}};
    for (int i = 0; i < 3; i++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            seen_detector *d = make(rows[i].spec, seed);
            for (uint64_t key = 0; key < 150000; key++) see(d, key);
            struct seen_stats stats = stats_of(d);
            assert_int_equal(stats.saturated, 0);
            if (stats.listed > rows[i].most)
                fail_msg("%s, seed %d: %d listed", rows[i].spec, (int)seed, (int)stats.listed);
            if (stats.stored < 99000 || stats.stored > 101000)
                fail_msg("%d stored", (int)stats.stored);
            seen_free(d);
        }
}

/* 1000 keys, and room for 50: none is missed, and it is said that the table was too small. */
static void when_the_list_is_full_nothing_is_missed(void **state) {
    (void)state;
    static const char *const specs[] = {
        "sliding:1000 items=50 fp=.5", "sliding:1000 items=50 fp=.5 refresh=first",
        "sliding:1000 items=50 fp=.5 vla=1", "sliding:1000 items=50 fp=.5 vla=1 refresh=first"};
    for (int i = 0; i < 4; i++) {
        bool first = i % 2;
        seen_detector *d = make(specs[i], 3);
        for (uint64_t key = 0; key < 20; key++) see(d, key);
        for (uint64_t j = 0; j < 3000; j++) {
            see(d, 1000 + j % 900);
            if (!first || j < 480) assert_int_equal(see(d, j % 20), SEEN_DUPLICATE);
        }
        struct seen_stats stats = stats_of(d);
        assert_true(stats.listed <= 64);
        assert_true(first || (stats.saturated > 0 && stats.fp_now == 1));
        seen_free(d);
    }
}

static void after_a_flood_the_window_is_clean_again(void **state) {
    (void)state;
    for (int vla = 0; vla < 2; vla++) {
        seen_detector *d = make(vla ? "sliding:1000 items=50 signature=40 vla=1"
                                    : "sliding:1000 items=50 signature=40",
                                5);
        for (uint64_t key = 0; key < 500; key++) see(d, key);
        assert_true(stats_of(d).fp_now == 1);
        for (int i = 0; i < 1001; i++) see(d, 0);
        assert_true(stats_of(d).fp_now < 1e-9);
        assert_int_equal(see(d, 12345), SEEN_NEW);
        assert_int_equal(see(d, 12345), SEEN_DUPLICATE);
        assert_int_equal(stats_of(d).listed, 0);
        seen_free(d);
    }
}

static void a_table_that_cannot_hold_the_keys_is_refused(void **state) {
    (void)state;
    struct seen_error e;
    struct seen_spec spec;
    struct seen_plan plan;
    assert_false(
        seen_spec_parse(&spec, "sliding:1000 filter=timed-cuckoo packed=1 lambda=1999", &e));
    assert_int_equal(seen_plan_make(&plan, &spec, &e), SEEN_EREFUSED);
    assert_string_equal(e.text,
                        "with packed=1 lambda=1999 holds 999 keys, and 1000 need lambda=2000");
}

/* Bits a record of a window of 1e6, the detector's own included: flat with lambda = 2n and 1.05 n,
 * and with an empty cell for one bit. */
static void a_record_takes_so_many_bits(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        double bits;
    } rows[] = {{"sliding:1e6 fp=5e-4 control=0", 168},
                {"sliding:1e6 fp=5e-4 lambda=1050002 control=0", 88.2},
                {"sliding:1e6 fp=5e-4 vla=1 control=0", 56.9},
                {"sliding:1e6 fp=1e-6 vla=1 control=0", 56.9}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        seen_detector *d = make(rows[i].spec, 1);
        double bits = (double)seen_plan_of(d).bytes * 8 / 1e6;
        if (fabs(bits - rows[i].bits) > .1) fail_msg("%s: %.2f bits", rows[i].spec, bits);
        seen_free(d);
    }
}

/* -- the two layouts ---------------------------------------------------------------------- */

#define HISTORY 20000

/* Half the keys are new ones. */
static void history(seen_detector *d, uint64_t seed, uint8_t *verdict) {
    uint64_t rng = seed;
    for (uint64_t i = 0; i < HISTORY; i++) {
        uint64_t key = chance_next(&rng) % 2 ? i : chance_next(&rng) % 1500;
        seen_digest digest = seen_hash(&key, sizeof key, seen_seed(d));
        seen_time now = i * 2000;
        any_observe(d, 1, &digest, &now, verdict + i);
    }
}

struct bytes {
    unsigned char data[1 << 17];
    size_t len, at;
};

static int write_bytes(void *ctx, const void *buf, size_t len) {
    struct bytes *b = ctx;
    if (b->len + len > sizeof b->data) return -1;
    memcpy(b->data + b->len, buf, len);
    b->len += len;
    return 0;
}

static int read_bytes(void *ctx, void *buf, size_t len) {
    struct bytes *b = ctx;
    if (b->len - b->at < len) return -1;
    memcpy(buf, b->data + b->at, len);
    b->at += len;
    return 0;
}

static void save(const seen_detector *d, struct bytes *b) {
    struct seen_error e;
    b->len = b->at = 0;
    if (seen_save(d, NULL, 0, (struct seen_writer){write_bytes, b}, &e)) fail_msg("%s", e.text);
}

/* Where the windows begin that a snapshot holds: behind the spec, the counters and a checksum. */
static size_t body(const struct bytes *b) {
    uint32_t spec;
    memcpy(&spec, b->data + 8, sizeof spec);
    return 16 + spec + sizeof(struct detector_counters) + 8;
}

/* The model's account stands before each shard's table; its last digits are the processor's. */
static void blank_accounts(struct bytes *b, uint64_t shards) {
    size_t each = (b->len - 8 - body(b)) / shards;
    for (uint64_t i = 0; i < shards; i++)
        memset(b->data + body(b) + i * each, 0, sizeof(struct model));
}

/* Verdicts and bytes as they were before there was another layout: crowded, listing, losing. */
static void the_flat_layout_is_what_it_was(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        uint64_t verdicts, bytes;
    } rows[] = {
        {"sliding:1000 fp=1e-4", 0x99df121a0c86dbfe, 0xc3e0d2a773fc573c},
        {"sliding:1000 lambda=600 refresh=first", 0x8001516664978ef9, 0x55b4e1202ee2ce92},
        {"sliding:1000 lambda=300 fp=.1 shards=2", 0x2b99a5d3dc9dc386, 0xdf242663bee96e5e},
        {"sliding:300 items=4 lambda=4 moves=2 signature=40", 0x3d3282e03dc759e6,
         0x2743d333e4965e2d},
        {"sliding:1s items=500 ticks=100", 0x2d5e89da64a26211, 0xa919cea9e46351ea},
    };
    static struct bytes b;
    static uint8_t verdict[HISTORY];
    for (uint64_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        seen_detector *d = make(rows[i].spec, 7);
        history(d, i, verdict);
        save(d, &b);
        blank_accounts(&b, seen_spec_get_count(seen_spec_of(d), "shards"));
        uint64_t verdicts = seen_hash(verdict, HISTORY, 0).lo;
        uint64_t bytes = seen_hash(b.data + body(&b), b.len - 8 - body(&b), 0).lo;
        if (verdicts != rows[i].verdicts || bytes != rows[i].bytes)
            fail_msg("%s: 0x%llx 0x%llx", rows[i].spec, (unsigned long long)verdicts,
                     (unsigned long long)bytes);
        seen_free(d);
    }
}

/* Which keys are taken for one another depends on their places and signatures only, not on where
 * they stand.  So false positives agree as well: there are many of them, since cells are few. */
static void both_layouts_give_the_same_verdicts(void **state) {
    (void)state;
    static const int lengths[] = {12, 100, 1000, 5000};
    static const char *const more[] = {"fp=.3", "fp=.3 refresh=first", "fp=1e-9"};
    static uint8_t one[HISTORY], two[HISTORY];
    for (uint64_t seed = 0; seed < 60; seed++) {
        char flat[100], vla[110];
        int n = lengths[seed / 6 % 4];
        if (seed % 2)
            snprintf(flat, sizeof flat, "sliding:%d %s", n, more[seed % 3]);
        else
            snprintf(flat, sizeof flat, "sliding:%dms items=%d %s", 2 * n, n, more[seed % 3]);
        snprintf(vla, sizeof vla, "%s vla=1", flat);
        seen_detector *a = make(flat, seed), *b = make(vla, seed);
        history(a, seed, one);
        history(b, seed, two);
        assert_memory_equal(one, two, HISTORY);
        assert_int_equal(stats_of(a).saturated + stats_of(b).saturated, 0);
        seen_free(a);
        seen_free(b);
    }
}

/* -- ages and rates ----------------------------------------------------------------------- */

#define WINDOW 20000
#define KEYS   30000

/* False positives are out of the question: asked at any time about any stretch, the answer is that
 * of an array of when each key was last seen. */
static void ages_of_a_crowded_table_are_exact(void **state) {
    (void)state;
    static const char *const specs[] = {
        "sliding:20000 fp=1e-12", "sliding:20000 fp=1e-12 lambda=21002",
        "sliding:20000 fp=1e-12 vla=1", "sliding:20000 fp=1e-12 filter=timing"};
    static uint64_t last[KEYS];
    for (uint64_t seed = 0; seed < 20; seed++) {
        seen_detector *d = make(specs[seed % 4], seed);
        uint64_t rng = seed, asked = 0;
        memset(last, 0, sizeof last);
        for (uint64_t now = 1; now <= 4 * WINDOW; now++) {
            uint64_t key = chance_next(&rng) % KEYS, age, within = 1 + chance_next(&rng) % WINDOW;
            uint64_t truth = last[key] ? now - last[key] : SEEN_NEVER;
            uint8_t inside;
            seen_digest digest = seen_hash(&key, sizeof key, seed);
            seen_last_seen(d, 1, &digest, &age);
            seen_query(d, 1, &digest, within, &inside);
            assert_int_equal(age, truth <= WINDOW ? truth : SEEN_NEVER);
            assert_int_equal(inside, truth <= within);
            asked += truth <= WINDOW;
            key = chance_next(&rng) % KEYS;
            see(d, key);
            last[key] = now;
        }
        assert_true(asked > WINDOW);
        seen_free(d);
    }
}

/* Measured over 20 seeds: n 2^-s/lambda^2, or 1-(1-2^-s/lambda^2)^n. */
static void measured(const char *more, double lambda, double s) {
    static seen_digest digest[1 << 12];
    static uint8_t verdict[1 << 12];
    double trials = 0, hits = 0;
    char spec[120];
    snprintf(spec, sizeof spec, "sliding:1000 lambda=%.0f signature=%.0f %s", lambda, s, more);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        seen_detector *d = make(spec, seed);
        uint64_t rng = seed;
        for (uint64_t i = 0; i < 3000; i++) see(d, chance_next(&rng));
        assert_int_equal(stats_of(d).saturated, 0);
        for (int batch = 0; batch < 32; batch++) {
            for (size_t i = 0; i < 1 << 12; i++)
                digest[i] = (seen_digest){chance_next(&rng), chance_next(&rng)};
            seen_query(d, 1 << 12, digest, 0, verdict);
            for (size_t i = 0; i < 1 << 12; i++) hits += verdict[i];
            trials += 1 << 12;
        }
        seen_free(d);
    }
    double expected = trials * theory_timed_cuckoo(lambda, 1000, s);
    if (getenv("SEEN_VERBOSE")) print_message("%s: %.0f, expected %.0f\n", spec, hits, expected);
    if (fabs(hits - expected) > 5 * sqrt(expected))
        fail_msg("%s: %.0f of %.3g, expected %.1f", spec, hits, trials, expected);
}

static void rates_are_those_of_the_formula(void **state) {
    (void)state;
    for (double s = 0; s <= 2; s++) {
        measured("", 2000, s);
        measured("", 1300, s);
        measured("vla=1", 2000, s);
        measured("vla=1", 3100, s);
    }
}

/* -- hostile snapshots -------------------------------------------------------------------- */

/* Mends the checksum and loads; returns NULL, or the reason given. */
static const char *refusal(struct bytes *b) {
    static struct seen_error e;
    struct hash_sum sum;
    seen_detector *d;
    hash_sum_begin(&sum);
    hash_sum_add(&sum, b->data + body(b), b->len - 8 - body(b));
    uint64_t value = hash_sum_end(&sum);
    memcpy(b->data + b->len - 8, &value, sizeof value);
    b->at = 0;
    if (seen_load(&d, (struct seen_reader){read_bytes, b}, 0, NULL, NULL, &e)) return e.text;
    seen_free(d);
    return NULL;
}

static void lines_that_no_table_can_have_are_refused(void **state) {
    (void)state;
    static struct bytes b, whole;
    seen_detector *d = make("sliding:150 packed=1 lambda=310 fp=.1", 1);
    struct cuckoo_cells c;
    cuckoo_init(&c, seen_spec_of(d), 0);
    for (uint64_t key = 0; key < 150; key++) see(d, key);
    save(d, &whole);
    seen_free(d);
    assert_null(refusal(&whole));
    for (uint64_t i = 0; i < c.parts; i++) {
        unsigned char *line = b.data + whole.len - 8 - (c.lines - i) * 64;
        uint64_t map, place = 1 << 9;
        b = whole;
        memcpy(&map, line, 8);
        map |= UINT64_MAX >> (64 - c.positions);
        memcpy(line, &map, 8);
        assert_string_equal(refusal(&b), "a line of the snapshot holds more keys than it can");
        b = whole;
        line[0] &= (unsigned char)(line[0] - 1);
        if (line[0] != whole.data[line - b.data])
            assert_string_equal(refusal(&b), "a line of the snapshot has bits behind its keys");
        b = whole;
        line[63] |= 0x80;
        assert_string_equal(refusal(&b), "a line of the snapshot has bits behind its keys");
        b = whole;
        for (uint32_t bit = c.positions + c.stamp; place >>= 1; bit++)
            line[bit / 8] |= (unsigned char)(1 << bit % 8);
        assert_string_equal(refusal(&b), "a key of the snapshot stands outside the table");
    }
    b = whole;
    uint64_t last = c.cells - (c.parts - 1) * c.positions; /* cells of the last line */
    assert_in_range(last, 1, c.positions - 1);
    unsigned char *line = b.data + whole.len - 8 - 2 * 64;
    line[last / 8] |= (unsigned char)(1 << last % 8);
    assert_string_equal(refusal(&b), "a line of the snapshot holds keys of no cell");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_of_the_list_that_comes_again_is_refreshed_there),
        cmocka_unit_test(the_list_stays_short),
        cmocka_unit_test(when_the_list_is_full_nothing_is_missed),
        cmocka_unit_test(after_a_flood_the_window_is_clean_again),
        cmocka_unit_test(a_table_that_cannot_hold_the_keys_is_refused),
        cmocka_unit_test(a_record_takes_so_many_bits),
        cmocka_unit_test(the_flat_layout_is_what_it_was),
        cmocka_unit_test(both_layouts_give_the_same_verdicts),
        cmocka_unit_test(ages_of_a_crowded_table_are_exact),
        cmocka_unit_test(rates_are_those_of_the_formula),
        cmocka_unit_test(lines_that_no_table_can_have_are_refused),
    };
    return cmocka_run_group_tests_name("timed cuckoo", tests, NULL, NULL);
}
