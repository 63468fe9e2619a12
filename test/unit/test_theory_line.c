/* The formulas of `line` against Erlang's own values, and against detectors. */
#include "detector/block.h"
#include "law/law.h"
#include "law/tally.h"

#include "sliding/line.h"
#include "theory/sliding.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void near(double a, double b, double tolerance) {
    law_check(fabs(a - b) <= tolerance * fabs(b), "%.9g is not %.9g", a, b);
}

/* The traffic at which a number of trunks loses one call in a hundred, or in ten: the tables of
 * telephone engineers ([E17] and since). */
static void a_full_line_is_a_lost_call(void **state) {
    (void)state;
    static const struct {
        uint32_t trunks;
        double lost, offered;
    } table[] = {{1, .1, .11111},  {2, .1, .59543},   {5, .01, 1.3608}, {10, .01, 4.4612},
                 {10, .1, 7.5106}, {20, .01, 12.031}, {20, .1, 17.613}, {30, .01, 20.337}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double carried = table[i].offered * (1 - table[i].lost);
        near(theory_line_full(carried, table[i].trunks), table[i].lost, 5e-4);
        near(theory_line_mean(table[i].lost, table[i].trunks), carried, 2e-4);
    }
    near(theory_line_full(.5, 1), .5, 1e-9); /* one trunk: lost as often as it is taken */
    assert_true(theory_line_full(0, 27) == 0 && theory_line_full(27, 27) == 1);
}

static void more_keys_touch_more_and_err_more(void **state) {
    (void)state;
    for (uint32_t bits = 16; bits <= 43; bits += 9)
        for (double mean = .25; mean < line_room(bits); mean += .25) {
            uint32_t room = line_room(bits);
            assert_true(theory_line_touched(mean, room, 0) >=
                        theory_line_touched(mean - .25, room, 0));
            assert_true(theory_line_fp(mean, mean, room, bits, 0) >
                        theory_line_fp(mean - .25, mean - .25, room, bits, 0));
            assert_true(theory_line_touched(mean, room, 1) <= 4);
            assert_true(theory_line_fp(mean, mean, room, bits, 0) >=
                        -expm1(mean * log1p(-exp2(-1. * bits))));
        }
}

/* -- detectors ---------------------------------------------------------------------------- */

#define SEEDS  20
#define WINDOW 100000

/* Lines touched over whole epochs, in the first generation of one and in the last. */
enum { WHOLE, FIRST, LAST, PARTS };

struct measured {
    struct tally touched[PARTS], wrong;
    double records;
};

static int part_of(const struct line_state *s) {
    return s->view.since == 0 ? FIRST : s->view.since == s->live ? LAST : WHOLE;
}

/* All keys new, from two turns of the generations on, for two. */
static void measure(struct measured *m, const struct seen_plan *plan, uint64_t seed) {
    enum { BATCH = 250 };
    seen_detector *d = law_new(plan, NULL);
    const struct line_state *s = d->shard[0].state;
    uint64_t rng = law_seed() * 100 + seed, turn = s->step * (s->live + 1) / BATCH * BATCH;
    uint64_t wrong = 0, looked[PARTS] = {0}, records[PARTS] = {0};
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    for (uint64_t n = 0; n < 4 * turn; n += BATCH) {
        uint64_t before = s->h.looked;
        for (int i = 0; i < BATCH; i++) digest[i] = law_fresh(&rng);
        seen_observe(d, BATCH, digest, verdict);
        if (n < 2 * turn) continue;
        for (int i = 0; i < BATCH; i++) wrong += verdict[i];
        int part = part_of(s);
        looked[WHOLE] += s->h.looked - before, records[WHOLE] += BATCH;
        if (part != WHOLE) looked[part] += s->h.looked - before, records[part] += BATCH;
    }
    for (int i = 0; i < PARTS; i++)
        tally_add(&m->touched[i], 1 + (double)looked[i] / (double)records[i]);
    tally_add(&m->wrong, (double)wrong / (2. * (double)turn));
    m->records += 2. * (double)turn;
    seen_free(d);
}

static void detectors_do_as_the_formulas_say(void **state) {
    (void)state;
    static const int widths[] = {16, 18, 24, 36};
    for (int i = 0; i < 8; i++) {
        uint32_t bits = (uint32_t)widths[i / 2], room = line_room(bits);
        struct measured m = {0};
        struct seen_plan plan;
        law_plan(&plan, "sliding:%d items=%d filter=line signature=%u seed=1",
                 i % 2 ? WINDOW * 9 / 10 : WINDOW, WINDOW, bits);
        if (i % 2)
            law_plan(&plan, "sliding:%d filter=line signature=%u seed=1 lines=%llu", WINDOW, bits,
                     (unsigned long long)seen_spec_get_count(&plan.spec, "blocks") * 11 / 10);
        double step = (double)line_step(&plan.spec), live = line_live(&plan.spec);
        double mean = (live + .5) * step / (double)seen_spec_get_count(&plan.spec, "blocks");
        for (uint64_t seed = 0; seed < SEEDS; seed++) measure(&m, &plan, seed);
        const double epoch[PARTS] = {THEORY_LINE_MEAN, .5 / (live + 1), 1 - .5 / (live + 1)};
        double fp = theory_line_fp(mean, mean, room, bits, THEORY_LINE_MEAN);
        near(plan.fp_mean, fp, 1e-9);
        near(plan.touches, theory_line_touched(mean, room, THEORY_LINE_MEAN), 1e-9);
        for (int part = 0; part < PARTS; part++) {
            double touched = theory_line_touched(mean, room, epoch[part]);
            tally_agree("lines touched", &m.touched[part], touched, .03 / 5 * touched);
        }
        if (bits <= 18)
            tally_agree("fp", &m.wrong, fp, sqrt(fp / m.records + pow(.03 / 5 * fp, 2)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_line_is_a_lost_call),
        cmocka_unit_test(more_keys_touch_more_and_err_more),
        cmocka_unit_test(detectors_do_as_the_formulas_say),
    };
    return cmocka_run_group_tests_name("theory_line", tests, NULL, NULL);
}
