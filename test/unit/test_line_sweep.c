/* What has left a window of `line` is swept away as records come: late, never too late, and at the
 * same record however they are batched.  Tables large enough that slices are due for long. */
#include "../any_window.h"
#include "detectors.h"
#include "law/law.h"

#define SECOND ((seen_time)1000000)
#define KEYS   20000
#define LIVE   31 /* generations of a window */
#define STAMPS 1024

/* 10^5 lines; a generation takes a second. */
static const char spec[] = "sliding:31s generations=31 filter=line fp=1e-10 mem=6400KiB seed=1";

static uint64_t seen_of(const seen_detector *d, seen_time now) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < KEYS; i++) n += query(d, i, now);
    return n;
}

/* `pause` generations pass between the few records, so most slices are swept late. */
static void stamps_are_not_met_again(uint64_t pause) {
    seen_detector *d = make(spec);
    seen_time now = SECOND;
    assert_true(seen_spec_get_count(seen_spec_of(d), "blocks") > 90000);
    for (uint64_t i = 0; i < KEYS; i++) observe(d, i, now);
    for (uint64_t passed = 0; passed < 3 * STAMPS; passed += pause) {
        observe(d, KEYS + passed, now += pause * SECOND);
        bool close = passed % STAMPS < LIVE + 5 || passed % STAMPS > STAMPS - 70;
        if (passed + pause <= LIVE) assert_int_equal(seen_of(d, now), KEYS);
        if (passed > LIVE + 1 && close) assert_int_equal(seen_of(d, now), 0);
    }
    seen_free(d);
}

static void keys_that_left_do_not_come_back(void **state) {
    (void)state;
    stamps_are_not_met_again(1);
    stamps_are_not_met_again(3);
    stamps_are_not_met_again(LIVE - 1);
}

/* Pauses of all lengths, then bursts, so that slices are due in the middle of batches. */
static void batches_leave_the_same_bytes(void **state) {
    (void)state;
    static const char *const more[] = {"", " overload=shrink items=300 seed=1", " refresh=first"};
    for (size_t m = 0; m < 3; m++) {
        char text[200];
        snprintf(text, sizeof text, "%s%s", m == 1 ? "sliding:31s filter=line fp=1e-3" : spec,
                 more[m]);
        seen_detector *one = make(text), *many = make(text);
        uint64_t rng = law_seed();
        seen_time now = SECOND, time[300];
        for (int burst = 0; burst < 400; burst++) {
            seen_digest d[300];
            uint8_t a[300], b[300];
            size_t n = 1 + random64(&rng) % 300;
            now += random64(&rng) % 3 ? random64(&rng) % SECOND : random64(&rng) % (34 * SECOND);
            for (size_t i = 0; i < n; i++) {
                d[i] = key(random64(&rng) % (KEYS * 10));
                time[i] = now += random64(&rng) % 50 ? 0 : SECOND;
            }
            for (size_t i = 0; i < n; i++) any_observe(one, 1, &d[i], &time[i], &a[i]);
            any_observe(many, n, d, time, b);
            assert_memory_equal(a, b, n);
        }
        assert_true(law_alike(one, many));
        seen_free(one), seen_free(many);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_that_left_do_not_come_back),
        cmocka_unit_test(batches_leave_the_same_bytes),
    };
    return cmocka_run_group_tests_name("line_sweep", tests, NULL, NULL);
}
