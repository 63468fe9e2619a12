/* The public headers as a program meets them: options by name, misuse, sizes that do not change. */
#include "seen.h"
#include "seen_claims.h"
#include "seen_gaps.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct seen_spec parse(const char *text) {
    struct seen_spec s;
    struct seen_error e = {0};
    if (seen_spec_parse(&s, text, &e)) fail_msg("%s: %s", text, e.text);
    return s;
}

static seen_detector *made(const char *text) {
    struct seen_plan plan;
    struct seen_spec spec = parse(text);
    seen_detector *d;
    assert_int_equal(seen_plan_make(&plan, &spec, NULL), 0);
    assert_int_equal(seen_new(&d, &plan, NULL, NULL), 0);
    return d;
}

static void printed(const struct seen_spec *s, const char *expected) {
    char text[512];
    seen_spec_print(s, text, sizeof text);
    assert_string_equal(text, expected);
}

static void options_are_read_and_set_by_name(void **state) {
    (void)state;
    char text[32];
    struct seen_spec s = parse("sliding:1h");
    assert_false(seen_spec_has(&s, "items"));
    assert_int_equal(seen_spec_get_count(&s, "items"), 0);
    assert_int_equal(seen_spec_get(&s, "items", text, sizeof text), 0);
    assert_int_equal(seen_spec_set_count(&s, "items", 1000, NULL), 0);
    assert_int_equal(seen_spec_set_real(&s, "fp", 1e-6, NULL), 0);
    assert_int_equal(seen_spec_set_count(&s, "rate", 5, NULL), 0);
    assert_int_equal(seen_spec_set_count(&s, "hash", SEEN_HASH_SIPHASH, NULL), 0);
    assert_int_equal(seen_spec_set(&s, "filter", "exact", NULL), 0);
    assert_int_equal(seen_spec_get_count(&s, "items"), 1000);
    assert_true(seen_spec_get_real(&s, "fp") == 1e-6 && seen_spec_get_real(&s, "items") == 1000);
    assert_int_equal(seen_spec_get(&s, "filter", text, sizeof text), 5);
    assert_string_equal(text, "exact");
    printed(&s, "sliding:1h fp=1e-06 items=1000 rate=5 filter=exact hash=siphash");
    seen_spec_unset(&s, "rate");
    assert_int_equal(seen_spec_set(&s, "window", "landmark", NULL), 0);
    printed(&s, "landmark fp=1e-06 items=1000 filter=exact hash=siphash");
}

static void refused(int code, const struct seen_error *e, const char *part) {
    assert_int_equal(code, SEEN_EINVAL);
    if (!strstr(e->text, part)) fail_msg("'%s' does not say '%s'", e->text, part);
}

static void what_an_option_cannot_be_is_refused_and_changes_nothing(void **state) {
    (void)state;
    struct seen_error e;
    struct seen_spec s = parse("landmark fp=0.5");
    refused(seen_spec_set_count(&s, "itmes", 5, &e), &e, "did you mean items?");
    refused(seen_spec_set_count(&s, "k", 65, &e), &e, "k=65 is out of range");
    refused(seen_spec_set_count(&s, "refresh", 2, &e), &e, "refresh=2 is out of range");
    refused(seen_spec_set_count(&s, "filter", 1, &e), &e, "filter= is not a number");
    refused(seen_spec_set_real(&s, "fp", 1, &e), &e, "fp=1 is out of range");
    refused(seen_spec_set_real(&s, "items", 1.5, &e), &e, "items= is not a real number");
    refused(seen_spec_set(&s, "fp", "2", &e), &e, "fp=2 is out of range");
    printed(&s, "landmark fp=0.5");
}

static void old_names_are_accepted_and_new_ones_printed(void **state) {
    (void)state;
    static const char *const names[][2] = {{"cache=9", "verify=9"},     {"lines=7", "blocks=7"},
                                           {"max=3", "cell-max=3"},     {"p=4", "decrements=4"},
                                           {"gaps=100", "gap-max=100"}, {"vla=1", "packed=1"},
                                           {"by=or", "combine=or"},     {"ways=2", "set-size=2"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[64], expected[64], *value;
        snprintf(text, sizeof text, "landmark %s", names[i][0]);
        snprintf(expected, sizeof expected, "landmark %s", names[i][1]);
        struct seen_spec s = parse(text);
        printed(&s, expected);
        snprintf(text, sizeof text, "%s", names[i][0]);
        value = strchr(text, '=');
        *value++ = 0;
        assert_true(seen_spec_has(&s, text));
        assert_ptr_equal(seen_option_find(text), seen_option_find(seen_option_find(text)->name));
        assert_int_equal(seen_spec_set(&s, text, value, NULL), 0);
        printed(&s, expected);
    }
    struct seen_error e;
    struct seen_spec s;
    refused(seen_spec_parse(&s, "landmark lines=7 blocks=7", &e), &e, "given twice");
}

/* -- misuse --------------------------------------------------------------------------------- */

/* Runs a mistake in a process of its own: its end, and what it says. */
static void stops(void (*mistake)(void), const char *part) {
    int pipes[2], status;
    char said[512];
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        dup2(pipes[1], 2);
        mistake();
        _exit(0);
    }
    close(pipes[1]);
    ssize_t n = 0, more;
    while ((more = read(pipes[0], said + n, sizeof said - 1 - (size_t)n)) > 0) n += more;
    said[n] = 0;
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    if (!strstr(said, part)) fail_msg("'%s' does not say '%s'", said, part);
}

static const seen_digest digest = {1, 2};
static const seen_time now = 5;

static void no_times(void) {
    uint8_t verdict;
    seen_observe(made("sliding:1h rate=1"), 1, &digest, &verdict);
}

static void times_for_records(void) {
    uint8_t verdict;
    seen_observe_at(made("sliding:1000"), 1, &digest, &now, &verdict);
}

static void no_time_to_ask_for(void) {
    uint8_t verdict;
    seen_query(made("landmark:1d"), 1, &digest, 0, &verdict);
}

static void a_time_to_ask_for(void) {
    uint64_t age;
    seen_last_seen_at(made("landmark"), 1, &digest, now, &age);
}

static void shards_without_times(void) {
    uint64_t at;
    seen_observe_begin(made("jumping:1h/12 rate=1"), 1, NULL, &at);
}

static void a_name_misspelt(void) {
    struct seen_spec s = parse("landmark");
    seen_spec_get_count(&s, "itmes");
}

static void a_name_as_a_number(void) {
    struct seen_spec s = parse("landmark filter=bloom");
    seen_spec_get_count(&s, "filter");
}

static void claims_of_none(void) {
    uint64_t token;
    seen_claim(made("landmark"), &digest, now, 1, &token, NULL);
}

static void mistakes_of_the_program_stop_it_with_a_sentence(void **state) {
    (void)state;
    stops(no_times, "windows of time need times; call the function that ends in _at");
    stops(times_for_records, "only windows of time take times; call the function without _at");
    stops(no_time_to_ask_for, "windows of time need times");
    stops(a_time_to_ask_for, "only windows of time take times");
    stops(shards_without_times, "windows of time need times");
    stops(a_name_misspelt, "there is no option of this name");
    stops(claims_of_none, "only detectors whose spec has claims= take claims");
    stops(a_name_as_a_number, "this option is not a whole number");
}

/* -- sizes ---------------------------------------------------------------------------------- */

/* What programs were compiled against.  A field more takes its room from `reserved`. */
static void structs_keep_their_sizes(void **state) {
    (void)state;
    assert_int_equal(sizeof(struct seen_spec), 544);
    assert_int_equal(sizeof(struct seen_plan), 2 * 544 + 16 + 8 + 16 + 40 + 160 + 256);
    assert_int_equal(sizeof(struct seen_stats), 488);
    assert_int_equal(sizeof(struct seen_bounds), 128);
    assert_int_equal(sizeof(struct seen_merging), 96);
    assert_int_equal(sizeof(struct seen_claims_stats), 192);
    assert_int_equal(sizeof(struct seen_error), 272);
    assert_string_equal(seen_version(), SEEN_VERSION);
}

static void a_detector_tells_its_plan(void **state) {
    (void)state;
    seen_detector *d = made("sliding:1000 fp=1e-3 seed=7");
    struct seen_plan plan = seen_plan_of(d);
    printed(&plan.asked, "sliding:1000 fp=0.001 seed=7");
    assert_int_equal(seen_spec_get_count(seen_spec_of(d), "seed"), 7);
    assert_int_equal(seen_seed(d), 7);
    assert_int_equal(seen_digests(d), plan.digests);
    struct seen_stats stats;
    seen_stats(d, &stats);
    assert_int_equal(stats.bytes, plan.bytes);
    for (size_t i = 0; i < sizeof stats.reserved / sizeof *stats.reserved; i++)
        assert_int_equal(stats.reserved[i], 0);
    seen_free(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_read_and_set_by_name),
        cmocka_unit_test(what_an_option_cannot_be_is_refused_and_changes_nothing),
        cmocka_unit_test(old_names_are_accepted_and_new_ones_printed),
        cmocka_unit_test(mistakes_of_the_program_stop_it_with_a_sentence),
        cmocka_unit_test(structs_keep_their_sizes),
        cmocka_unit_test(a_detector_tells_its_plan),
    };
    return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
