/* The counting filter: the same verdicts as a naive Bloom filter in the same places, counters of
 * every width, what sticks, and what is refused. */
#include "detectors.h"

#include "table/table.h"

static void forget(seen_detector *d, uint64_t i) {
    seen_digest digest = key(i);
    assert_int_equal(seen_forget(d, 1, &digest, NULL), 0);
}

static uint64_t saturated(seen_detector *d) { return stats(d).saturated; }

/* -- bloom, by another way ---------------------------------------------------------------- */

#define LINES 64
#define CELLS (LINES * 124)

static uint8_t naive(uint8_t *cell, uint64_t i) {
    seen_digest d = key(i);
    uint8_t held = 1;
    for (uint32_t j = 0; j < 3; j++) {
        struct cells_probe p = cells_place(bits_draw(d.lo, d.hi, j), LINES, 124);
        uint8_t *c = &cell[p.line * 124 + p.cell];
        held &= *c;
        *c |= 2;
    }
    for (int c = 0; c < CELLS; c++) cell[c] = cell[c] != 0;
    return held;
}

static void it_is_a_bloom_filter(void **state) {
    (void)state;
    static uint8_t cell[CELLS];
    seen_detector *d = make("landmark filter=counting k=3 lines=64 seed=1 width=4");
    uint64_t rng = 1, hits = 0;
    for (int i = 0; i < 3000; i++) {
        uint64_t which = random64(&rng) % 10000;
        uint8_t expected = naive(cell, which);
        hits += expected;
        assert_int_equal(observe(d, which, 0), expected);
    }
    assert_true(hits > 300 && hits < 2700);
    seen_free(d);
}

/* -- adding and taking out ---------------------------------------------------------------- */

static void what_was_taken_out_is_gone_at_every_width(void **state) {
    (void)state;
    for (int width = 2; width <= 16; width++)
        for (int window = 0; window < 2; window++) {
            char text[120], held[400] = {0};
            uint64_t rng = (uint64_t)width;
            snprintf(text, sizeof text, "%s filter=counting seed=1 items=5000 fp=1e-9 width=%d",
                     window ? "jumping:5000/7" : "landmark", width);
            seen_detector *d = make(text);
            for (int i = 0; i < 4000; i++) {
                uint64_t which = random64(&rng) % 400;
                if (random64(&rng) % 3) {
                    assert_int_equal(observe(d, which, 0), held[which]);
                    held[which] = 1;
                } else if (held[which]) {
                    forget(d, which);
                    held[which] = 0;
                }
            }
            for (uint64_t i = 0; i < 400; i++) assert_int_equal(query(d, i, 0), held[i]);
            seen_free(d);
        }
}

/* Unless a counter stuck, as many decrements as increments leave nothing. */
static void all_taken_out_leaves_nothing(void **state) {
    (void)state;
    seen_detector *d = make("landmark filter=counting seed=1 k=3 lines=64 width=8");
    char stored[2000];
    for (uint64_t i = 0; i < 2000; i++) stored[i] = !observe(d, i, 0);
    for (uint64_t i = 0; i < 2000; i++)
        if (stored[i]) forget(d, i);
    assert_int_equal(saturated(d), 0);
    for (uint64_t i = 0; i < 20000; i++) assert_int_equal(query(d, i, 0), 0);
    seen_free(d);
}

/* Counters that reached their top are counted, and no key is lost by taking others out. */
static void counters_at_their_top_stick_and_are_counted(void **state) {
    (void)state;
    seen_detector *d = make("landmark filter=counting seed=1 k=3 lines=8 width=2");
    char stored[2000];
    uint64_t left = 0;
    for (uint64_t i = 0; i < 2000; i++) stored[i] = !observe(d, i, 0);
    uint64_t stuck = saturated(d);
    assert_true(stuck > 100 && stuck < 8 * 248);
    for (uint64_t i = 0; i < 1000; i++)
        if (stored[i]) forget(d, i);
    for (uint64_t i = 1000; i < 2000; i++) assert_true(query(d, i, 0) || !stored[i]);
    for (uint64_t i = 1000; i < 2000; i++)
        if (stored[i]) forget(d, i);
    for (uint64_t i = 0; i < 2000; i++) left += query(d, i, 0);
    assert_true(left > 0); /* what stuck stays */
    assert_int_equal(saturated(d), stuck);
    seen_landmark(d); /* until the generation has left */
    for (uint64_t i = 0; i < 2000; i++) assert_int_equal(query(d, i, 0), 0);
    seen_clear(d);
    assert_int_equal(saturated(d), 0);
    seen_free(d);
}

/* -- plans -------------------------------------------------------------------------------- */

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    refused("landmark filter=counting width=1", "width=2 to 16");
    refused("landmark filter=counting width=17", "width=2 to 16");
    refused("landmark filter=bloom width=4", "width= is for filter=counting only");
    refused("jumping:1000/40 filter=counting width=16", "30 sub-windows at most");
    struct seen_spec spec;
    struct seen_plan plan;
    assert_int_equal(seen_spec_parse(&spec, "landmark:1e6 fp=.01", NULL), 0);
    assert_int_equal(seen_plan_make(&plan, &spec, NULL), 0);
    assert_string_not_equal(plan.filter, "counting"); /* only where it is asked for */
    assert_int_equal(seen_spec_parse(&spec, "landmark:1e6 fp=.01 width=4", NULL), 0);
    assert_int_equal(seen_plan_make(&plan, &spec, NULL), 0);
    assert_string_equal(plan.filter, "counting");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_a_bloom_filter),
        cmocka_unit_test(what_was_taken_out_is_gone_at_every_width),
        cmocka_unit_test(all_taken_out_leaves_nothing),
        cmocka_unit_test(counters_at_their_top_stick_and_are_counted),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests_name("counting", tests, NULL, NULL);
}
