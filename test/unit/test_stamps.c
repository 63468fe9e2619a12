/* The shortest stamps: a clock that comes round as soon as the table was swept once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"
#include "seen.h"

/* Each has enough cells and bits that two keys are never taken for each other. */
static const char *const stamped[] = {"timing k=16 lines=%llu",
                                      "timed-cuckoo signature=40 lambda=%llu",
                                      "timed-cuckoo vla=1 signature=40 lambda=%llu"};

static int make(seen_detector **d, const char *text, struct seen_error *e) {
    struct seen_spec spec;
    struct seen_plan plan;
    if (seen_spec_parse(&spec, text, e)) fail_msg("%s: %s", text, e->text);
    int bad = seen_plan_make(&plan, &spec, e);
    return bad ? bad : seen_new(d, &plan, NULL, e);
}

static void spec_of(char *text, size_t cap, size_t which, uint64_t n, int bits) {
    char filter[64];
    uint64_t cells = which ? 4 * n + 4 : n + 16;
    snprintf(filter, sizeof filter, stamped[which], (unsigned long long)cells);
    snprintf(text, cap, "sliding:%llu filter=%s stamp=%d seed=1", (unsigned long long)n, filter,
             bits);
}

/* 2^b - 1 stamps for n live ages, this record's and one in which all is swept. */
static int least(uint64_t n) {
    int bits = 2;
    while (((uint64_t)1 << bits) - 1 < n + 2) bits++;
    return bits;
}

/* Gaps about the window, about a turn of the clock, and silences of keys that never come. */
static uint64_t next_key(uint64_t i, uint64_t n, uint64_t turn, uint64_t *rng) {
    uint64_t gap[] = {n, n + 1, turn, turn - 1, 1, 1 + chance_next(rng) % (2 * turn)};
    uint64_t back = gap[chance_next(rng) % 6];
    return back <= i && chance_next(rng) % 3 ? i - back : i;
}

static void follows_the_window(size_t which, uint64_t n) {
    char text[200], exact[64];
    struct seen_error e;
    seen_detector *d, *truth;
    static uint64_t key[20000];
    int bits = least(n);
    uint64_t turn = ((uint64_t)1 << bits) - 1, rng = chance_seed(2013) + n;
    spec_of(text, sizeof text, which, n, bits);
    snprintf(exact, sizeof exact, "sliding:%llu filter=exact seed=1", (unsigned long long)n);
    if (make(&d, text, &e) || make(&truth, exact, &e)) fail_msg("%s: %s", text, e.text);
    uint64_t records = 12 * turn < 20000 ? 12 * turn : 20000;
    for (uint64_t i = 0; i < records; i++) {
        uint64_t from = next_key(i, n, turn, &rng);
        key[i] = from == i ? i : key[from];
        seen_digest digest = seen_hash(&key[i], sizeof key[i], 1);
        uint8_t says, is;
        seen_observe(d, 1, &digest, &says);
        seen_observe(truth, 1, &digest, &is);
        if (says != is)
            fail_msg("SEEN_SEED=%llu: %s: record %llu is called %d",
                     (unsigned long long)chance_seed(2013), text, (unsigned long long)i, says);
        if (i == records / 2) seen_landmark(d), seen_landmark(truth);
    }
    seen_free(d);
    seen_free(truth);
}

static void the_shortest_stamps_are_never_met_again(void **state) {
    (void)state;
    static const uint64_t windows[] = {1, 2, 3, 6, 13, 14, 100, 254, 1000, 1021, 1022, 4000};
    for (size_t which = 0; which < sizeof stamped / sizeof *stamped; which++)
        for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
            follows_the_window(which, windows[i]);
}

static void what_is_too_short_is_refused_with_the_least(void **state) {
    (void)state;
    for (uint64_t n = 2; n < 5000; n += 1 + n / 7) {
        char text[200], words[32];
        struct seen_error e = {0};
        seen_detector *d;
        int bits = least(n);
        if (bits == 2) continue;
        spec_of(text, sizeof text, 1, n, bits - 1);
        snprintf(words, sizeof words, "takes stamp=%d to 56", bits);
        assert_int_equal(make(&d, text, &e), SEEN_EREFUSED);
        if (!strstr(e.text, words)) fail_msg("%s: %s", text, e.text);
        spec_of(text, sizeof text, 1, n, bits);
        if (make(&d, text, &e)) fail_msg("%s: %s", text, e.text);
        seen_free(d);
    }
}

/* The paper's stamps are 0 to 2n: 11 bits at n = 1000. */
static void the_papers_stamps_are_taken(void **state) {
    (void)state;
    struct seen_error e;
    seen_detector *d;
    static const char *const specs[] = {"sliding:1000 filter=timing stamp=11",
                                        "sliding:1000 filter=timed-cuckoo stamp=11",
                                        "sliding:10000 filter=timed-cuckoo vla=1 stamp=15"};
    for (size_t i = 0; i < 3; i++) {
        if (make(&d, specs[i], &e)) fail_msg("%s", e.text);
        assert_true(seen_plan_of(d).touches < 64);
        seen_free(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_stamps_are_never_met_again),
        cmocka_unit_test(what_is_too_short_is_refused_with_the_least),
        cmocka_unit_test(the_papers_stamps_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
