/* The exact sliding window says how many keys are in it, without walking all of them. */
#include "detectors.h"

#include <math.h>

static uint64_t stored(const seen_detector *d) {
    struct seen_stats s;
    seen_stats(d, &s);
    return s.stored;
}

/* n keys, one a millisecond from second 1 on, into a window that begins to lose them at its end. */
static seen_detector *filled(uint64_t n) {
    seen_detector *d = make("sliding:100s filter=exact seed=1");
    for (uint64_t i = 0; i < n; i++) assert_int_equal(observe(d, i, 1000000 + i * 1000), 0);
    assert_int_equal(stored(d), n);
    return d;
}

static void few_are_counted_however_many_have_left(void **state) {
    (void)state;
    seen_detector *d = filled(90000);
    observe(d, 90000, (seen_time)180500 * 1000); /* those before second 80.5 are old */
    assert_int_equal(stored(d), 10500);
    seen_free(d);
}

static void many_of_many_are_estimated(void **state) {
    (void)state;
    seen_detector *d = filled(90000);
    observe(d, 90000, (seen_time)146000 * 1000); /* half of them are old */
    double truth = 45000, said = (double)stored(d);
    assert_true(fabs(said / truth - 1) < .01);
    for (uint64_t i = 0; i < 30000; i++) observe(d, 90000, (seen_time)146000 * 1000);
    assert_int_equal(stored(d), 45000); /* the old ones have left by then */
    seen_free(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_are_counted_however_many_have_left),
        cmocka_unit_test(many_of_many_are_estimated),
    };
    return cmocka_run_group_tests_name("exact", tests, NULL, NULL);
}
