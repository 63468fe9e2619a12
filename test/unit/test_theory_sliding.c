/* Formulas of structures that stamp, and bounds, against values worked out by hand. */
#include "theory/sliding.h"

#include "theory/bloom.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance * fabs(b))) {
        print_error("%.9g is not %.9g\n", a, b);
        fail();
    }
}

static void a_timing_filter_is_a_bloom_filter_of_the_stretch_asked_about(void **state) {
    (void)state;
    for (double w = 1e3; w <= 1e6; w *= 10)
        for (double k = 1; k < 20; k++)
            near(theory_timing(14.4e6, w, k), pow(1 - exp(-k * w / 14.4e6), k), 1e-4);
    /* 201, 302, 403 and 604 bits a record of a window of 1e6 at 1e-2, 1e-3, 1e-4 and 1e-6. */
    static const double bits[] = {0, 0, 201, 302, 403, 0, 604};
    for (int i = 2; i <= 6; i++)
        if (bits[i] > 0)
            near(theory_timing_bits(1e6 * i * log(10) / log(2) / log(2), 1e6) / 1e6, bits[i], 5e-3);
}

static void timed_cuckoo_errs_by_keys_over_pairs_of_places_and_signatures(void **state) {
    (void)state;
    near(theory_timed_cuckoo(2e6, 1e6, 0), 2.5e-7, 1e-6); /* at fp=1e-2, that is, s = 0 */
    near(theory_timed_cuckoo_signature(2e6, 1e-2) + 1, 1, 0);
    near(theory_timed_cuckoo_signature(2000, 1e-6), 6 * log2(10) - log2(2000) + 1, 1e-12);
    /* Never above the bound of Theorem 1: at most 2 lambda keys, 2 (2^-s / lambda) / 2 each. */
    for (double lambda = 10; lambda < 1e7; lambda *= 3)
        for (double s = 0; s < 20; s++)
            assert_true(theory_timed_cuckoo(lambda, 2 * lambda, s) <= 2 * exp2(-s) / lambda);
    /* Two tables of 2n are 4n cells, of 21 + 21 bits for n = 1e6: not the 2n of Theorem 2. */
    near(theory_timed_cuckoo_bits(1e6, 2e6, 0), 4e6 * 42, 1e-12);
}

static void bounds_stand_in_their_order(void **state) {
    (void)state;
    near(theory_bound_static(1e6, 1e-3), 9.9658e6, 1e-4);
    near(theory_bound_dynamic(1e6, 1e-3) - theory_bound_static(1e6, 1e-3), 1.4427e6, 1e-4);
    near(theory_bound_exact(1e6, 0x1p128), 1e6 * (128 - log2(1e6) + 1 / log(2)), 1e-9);
    near(theory_bound_exact(50, 100), 100, 1e-12); /* a bit for each key there can be */
    near(theory_bound_exact(99, 100), 100, 1e-12);
    near(theory_bound_exact(10, 100), log2(17310309456440), .1); /* C(100, 10) */
    near(theory_bound_sliding(1e6, 0, 1e-3), 9.9658e6 + 19.9316e6, 1e-4);
    near(theory_bound_sliding(1e6, 1e6, 1e-3), 9.9658e6 + 3.317e6, 1e-4); /* log2 L takes over */
    for (double fp = 1e-9; fp < .4; fp *= 2)
        assert_true(theory_bound_sliding(1e6, 0, fp) > theory_bound_static(1e6, fp));
    near(theory_bound_decaying(1024, 1e6, 0), 10240, 1e-9);
    near(theory_bound_decaying(1e6, 1e9, 1e-2) + 1, 1, 0); /* says nothing once fp >= n/|U| */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timing_filter_is_a_bloom_filter_of_the_stretch_asked_about),
        cmocka_unit_test(timed_cuckoo_errs_by_keys_over_pairs_of_places_and_signatures),
        cmocka_unit_test(bounds_stand_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
