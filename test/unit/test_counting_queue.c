/* Counters over a queue: the same verdicts as a naive Bloom filter of the window, counters that
 * stuck are exact again, the rate stays flat, and what a clock that jumps leaves behind. */
#include "detectors.h"

#include "sliding/counting_queue.h"
#include "theory/bloom.h"

#include <math.h>

/* -- bloom, by another way ---------------------------------------------------------------- */

#define N      500
#define LINES  16 /* before the shadow of one */
#define A_LINE 31

/* A window of records counted afresh for each: 1 if all three cells are met by some record. */
static uint8_t naive(uint64_t *stream, size_t i, bool first) {
    uint8_t held = 1;
    for (uint32_t j = 0; j < 3; j++) {
        struct cells_probe p = cells_place(bits_draw(key(stream[i]).lo, 0, j), LINES, A_LINE);
        uint8_t met = 0;
        for (size_t b = i < N ? 0 : i - N; b < i && !met; b++)
            for (uint32_t k = 0; k < 3 && stream[b] != UINT64_MAX; k++) {
                struct cells_probe q =
                    cells_place(bits_draw(key(stream[b]).lo, 0, k), LINES, A_LINE);
                met |= p.line == q.line && p.cell == q.cell;
            }
        held &= met;
    }
    if (held && first) stream[i] = UINT64_MAX; /* not counted */
    return held;
}

static void it_is_a_bloom_filter_of_the_window(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        char text[120];
        uint64_t stream[2500], rng = 1, hits = 0;
        snprintf(text, sizeof text, "sliding:500 filter=counting k=3 lines=17 width=16 refresh=%s",
                 first ? "first" : "last");
        seen_detector *d = make(text);
        assert_int_equal(seen_spec_get_count(seen_spec_of(d), "blocks"), 16); /* even: 15 and one */
        seen_free(d);
        snprintf(text, sizeof text, "sliding:500 filter=counting k=3 lines=18 width=16 refresh=%s",
                 first ? "first" : "last");
        d = make(text);
        for (size_t i = 0; i < 2500; i++) {
            uint64_t which = stream[i] = random64(&rng) % 2000;
            uint8_t expected = naive(stream, i, first);
            hits += expected;
            assert_int_equal(observe(d, which, 0), expected);
        }
        assert_true(hits > 250 && hits < 2400);
        seen_free(d);
    }
}

/* -- counting again ----------------------------------------------------------------------- */

/* A queue of probes in a small table, and the true counts beside it. */
struct model {
    struct recount r;
    uint64_t table[36][8];
    uint32_t truth[36 * 165];
    struct cells_probe queue[1 << 15];
    uint64_t begin, end;
};

static uint32_t *truth_of(struct model *m, struct cells_probe p) {
    return &m->truth[p.line * m->r.a_line + p.cell];
}

static void step(struct model *m) {
    if (!recount_step(&m->r, m->table[0], m->begin, m->end)) return;
    for (int n = 0; n < 4 && m->r.h.walk > m->begin; n++)
        recount_walked(&m->r, m->table[0], m->queue[--m->r.h.walk]);
}

static void model_push(struct model *m, struct cells_probe p) {
    m->queue[m->end++] = p;
    ++*truth_of(m, p);
    recount_up(&m->r, m->table[0], p);
    step(m);
}

static void model_pop(struct model *m) {
    struct cells_probe p = m->queue[m->begin];
    --*truth_of(m, p);
    recount_down(&m->r, m->table[0], p, m->begin++ >= m->r.h.walk);
}

/* Below the top a counter is the truth; returns how many are at their top and should not be. */
static uint64_t check_counters(struct model *m) {
    uint64_t idle = 0, set = 0, stuck = 0;
    for (uint64_t i = 0; i < m->r.lines; i++)
        for (uint32_t cell = 0; cell < m->r.a_line; cell++) {
            struct cells_probe p = {i, cell};
            uint32_t value = recount_get(&m->r, m->table[0], p), truth = *truth_of(m, p);
            if (value < m->r.top) assert_int_equal(value, truth);
            idle += value == m->r.top && truth < m->r.top;
            set += value > 0;
            stuck += value == m->r.top;
        }
    assert_int_equal(set, m->r.set);
    assert_int_equal(stuck, m->r.stuck);
    return idle;
}

/* Bursts of one place stick its counter; five windows after the last has left all are right. */
static void what_stuck_is_exact_again_five_windows_later(void **state) {
    (void)state;
    for (uint32_t width = 3; width <= 16; width += width < 6 ? 1 : 10) {
        struct model *m = calloc(1, sizeof *m);
        struct filter_shape shape = {.lines = 36, .width = width};
        uint64_t rng = width, stuck_most = 0;
        recount_init(&m->r, &shape);
        assert_true(m->r.lines == 33 && m->r.shadow == 3);
        for (int i = 0; i < 18000; i++) {
            struct cells_probe p = {random64(&rng) % 33, (uint32_t)(random64(&rng) % m->r.a_line)};
            int times = i < 12000 && i % 100 == 0 ? 70 : 1;
            if (i == 6000) { /* all leave at once, in the middle of a walk */
                recount_empty(&m->r, m->table[0]);
                memset(m->truth, 0, sizeof m->truth);
                m->begin = m->end;
            }
            for (; times > 0 && m->end < 1 << 15; times--) model_push(m, p);
            while (m->end - m->begin > 1000) model_pop(m);
            if (i % 500 == 0) stuck_most = bits_max(stuck_most, check_counters(m));
        }
        assert_int_equal(check_counters(m), 0);
        assert_true(width == 16 || (m->r.h.saturated > 100 && stuck_most > 5));
        assert_true(width == 16 || m->r.h.rebuilt > 100);
        free(m);
    }
}

/* -- the rate over 100 windows ------------------------------------------------------------ */

#define WINDOW  2000
#define HOT     5000 /* window of ids that are hot for one */
#define WINDOWS 100
#define SEEDS   20

/* The stream that the paper counted has one id that came 10,781 times. */
static void the_rate_is_flat_while_one_id_comes_10781_times(void **state) {
    (void)state;
    double trials = 0, hits = 0, squares = 0, expected = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        seen_detector *d = make("sliding:2000 filter=counting k=2 lines=860 width=4");
        double cells = (double)recount_lines(860) * 124, here = 0;
        uint64_t rng = seed << 40, came = 0, in_window = 0;
        static uint8_t is_id[WINDOW];
        memset(is_id, 0, sizeof is_id);
        for (uint64_t i = 0; i < (uint64_t)WINDOW * WINDOWS; i++) {
            bool id = (i + 1) * 10781 / ((uint64_t)WINDOW * WINDOWS) > came;
            in_window += id - is_id[i % WINDOW];
            is_id[i % WINDOW] = id;
            came += id;
            uint8_t verdict = observe(d, id ? seed : random64(&rng) | 1 << 20, 0);
            assert_true(verdict || !id || came == 1);
            if ((i + 1) % WINDOW || i < 5 * WINDOW) continue;
            for (uint64_t q = 0; q < 1000; q++) here += query(d, random64(&rng) | 1 << 20, 0);
            expected += 1000 * theory_bloom(cells, (double)(WINDOW - in_window + 1), 2);
            trials += 1000;
        }
        assert_int_equal(came, 10781);
        assert_true(stats(d).saturated >= 2);
        hits += here;
        squares += here * here;
        seen_free(d);
    }
    double variance = (squares - hits * hits / SEEDS) * SEEDS / (SEEDS - 1);
    double sigma = sqrt(fmax(expected, variance));
    if (fabs(hits - expected) > 5 * sigma)
        fail_msg("%.0f of %.0f, expected %.0f, sigma %.0f", hits, trials, expected, sigma);
    print_message("rate %.5f, expected %.5f, %.1f sigma\n", hits / trials, expected / trials,
                  fabs(hits - expected) / sigma);
}

/* Cells set in a filter whose counters stick for ever: those that ever reached 15, and those of
 * the last window. */
static double share_if_stuck_stay(uint8_t *stuck, double set, uint64_t cells) {
    double sum = 0;
    for (uint64_t i = 0; i < cells; i++) sum += stuck[i];
    return set + (1 - set) * sum / (double)cells;
}

/* Every window has 20 ids of its own that come 20 times each: what they pin has to be let go. */
static void without_counting_anew_it_would_grow(void **state) {
    (void)state;
    seen_detector *d = make("sliding:5000 filter=counting k=2 lines=860 width=4");
    uint64_t lines = recount_lines(860), cells = lines * 124, rng = 77, hits = 0;
    uint8_t *stuck = calloc(cells, 1);
    for (uint64_t i = 0; i < (uint64_t)HOT * WINDOWS; i++) {
        uint64_t at = i % HOT, which = at % 12 == 0 && at < 4800 ? 0 : 1;
        uint64_t hot = i / HOT * 100 + at / 240; /* 240 records an id, each twelfth is it */
        observe(d, which ? random64(&rng) | 1 << 20 : hot, 0);
        if (!which && at % 240 == 0)
            for (uint32_t j = 0; j < 2; j++) {
                struct cells_probe p = cells_place(bits_draw(key(hot).lo, 0, j), lines, 124);
                stuck[p.line * 124 + p.cell] = 1;
            }
    }
    for (int q = 0; q < 200000; q++) hits += query(d, random64(&rng) | 1 << 20, 0);
    double planned = theory_bloom((double)cells, HOT - 400 + 20, 2), rate = (double)hits / 2e5;
    double grown = pow(share_if_stuck_stay(stuck, sqrt(planned), cells), 2);
    print_message("rate %.5f, planned %.5f, without counting again %.5f; %llu set free\n", rate,
                  planned, grown, (unsigned long long)stats(d).rebuilt);
    assert_true(rate < 1.15 * planned && grown > 1.5 * planned);
    assert_true(stats(d).rebuilt > 20 * 2 * 90);
    free(stuck);
    seen_free(d);
}

/* -- time --------------------------------------------------------------------------------- */

#define HOUR ((seen_time)3600 * 1000000)

/* 15,000 keys in a minute, 5,000 half an hour later; the clock jumps past the former. */
static void what_a_jump_leaves_behind_is_gone_within_1024_records(void **state) {
    (void)state;
    seen_detector *d = make("sliding:1h items=40000 rate=11.1111 fp=1e-9 filter=counting seed=1");
    for (uint64_t i = 0; i < 15000; i++) observe(d, i, HOUR + i * 4000);
    for (uint64_t i = 15000; i < 20000; i++) observe(d, i, HOUR + HOUR / 2);
    seen_time now = 2 * HOUR + HOUR / 4;
    for (uint64_t records = 0; records < 15; records++) {
        uint64_t first = (records + 1) * (1024 + 40000 / 1024); /* that has not been popped */
        for (uint64_t i = 0; i < 15000; i += 250) assert_int_equal(query(d, i, now), i >= first);
        for (uint64_t i = 15000; i < 20000; i += 250) assert_int_equal(query(d, i, now), 1);
        assert_int_equal(observe(d, 100000 + records, now), 0);
    }
    assert_int_equal(stats(d).forgotten, 0);
    now += 2 * HOUR; /* all have left: at once */
    for (uint64_t i = 0; i < 20000; i++) assert_int_equal(query(d, i, now), 0);
    assert_int_equal(observe(d, 19999, now), 0);
    assert_int_equal(stats(d).stored, 1);
    seen_free(d);
}

static void a_full_queue_forgets_the_oldest_and_says_so(void **state) {
    (void)state;
    seen_detector *d = make("sliding:1h items=1000 rate=0.27777 fp=1e-9 filter=counting seed=1");
    seen_time now = HOUR;
    for (uint64_t i = 0; i < 3000; i++) observe(d, i, now += 1000000);
    struct seen_stats s = stats(d);
    assert_int_equal(s.forgotten, 2000);
    assert_int_equal(s.kept, 1000 * 1000000 - 1);
    for (uint64_t i = 0; i < 3000; i++) assert_int_equal(query(d, i, now), i >= 2000);
    for (uint64_t i = 0; i < 3000; i++)
        if ((2999 - i) * 1000000 <= s.kept) assert_int_equal(query(d, i, now), 1);
    seen_free(d);
}

/* -- plans -------------------------------------------------------------------------------- */

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    refused("sliding:1000 filter=counting width=2", "use width=3");
    refused("sliding:1000 filter=counting overload=shrink", "overload=keep only");
    refused("sliding:1h rate=10 filter=counting overload=keep", "overload=shrink only");
    refused("sliding:1h filter=counting lines=100 k=3", "give rate= or mem=");
    refused("sliding:1h filter=counting items=1000 mem=4KiB", "no room");
    refused("sliding:1e6 filter=counting mem=1MiB", "too small");
}

static void memory_is_the_queue_and_the_filter(void **state) {
    (void)state;
    struct seen_plan p;
    assert_int_equal(plan(&p, "sliding:1e6 fp=1e-2 filter=counting", NULL), 0);
    double each = (double)p.bytes * 8 / 1e6;
    assert_true(each > 102 && each < 108);
    assert_int_equal(plan(&p, "sliding:1e6 fp=1e-2", NULL), 0);
    assert_string_not_equal(p.filter, "counting"); /* only where it is asked for */
    assert_int_equal(
        plan(&p, "sliding:1h rate=100 items=5000 fp=.01 filter=counting control=0", NULL), 0);
    assert_true(p.bytes > 360000 * 16 && p.bytes < 360000 * 16 + 100000);
    static const char *const filled[] = {"", "fp=.01", "fp=1e-6 shards=3", "k=4", "lines=4000 k=3"};
    for (size_t i = 0; i < 5; i++) {
        char text[120];
        snprintf(text, sizeof text, "sliding:1h mem=4MiB filter=counting %s", filled[i]);
        assert_int_equal(plan(&p, text, NULL), 0);
        assert_true(p.bytes <= seen_spec_get_count(&p.spec, "mem") &&
                    p.bytes > seen_spec_get_count(&p.spec, "mem") * 97 / 100);
        assert_true(p.capacity >= seen_spec_get_count(&p.spec, "items") &&
                    seen_spec_get_count(&p.spec, "items") > 3000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_a_bloom_filter_of_the_window),
        cmocka_unit_test(what_stuck_is_exact_again_five_windows_later),
        cmocka_unit_test(the_rate_is_flat_while_one_id_comes_10781_times),
        cmocka_unit_test(without_counting_anew_it_would_grow),
        cmocka_unit_test(what_a_jump_leaves_behind_is_gone_within_1024_records),
        cmocka_unit_test(a_full_queue_forgets_the_oldest_and_says_so),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(memory_is_the_queue_and_the_filter),
    };
    return cmocka_run_group_tests_name("counting queue", tests, NULL, NULL);
}
