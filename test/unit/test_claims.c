/* Claims, told as stories of workers; and what a table of claims refuses to load. */
#include "base/base.h"
#include "base/hash.h"
#include "detectors.h"
#include "seen_claims.h"
#include "short_memory.h"

enum { MS = 1000, SECOND = 1000 * MS };

static const seen_digest job = {7, 8}, other = {9, 10}, third = {11, 12};

static uint64_t token;

static int claim(seen_detector *d, seen_digest key, seen_time now, uint64_t lease) {
    return seen_claim(d, &key, now, lease, &token, NULL);
}

static int ack(seen_detector *d, seen_digest key, seen_time now, uint64_t with) {
    return seen_ack(d, &key, now, with, NULL);
}

static struct seen_claims_stats claims(const seen_detector *d) {
    struct seen_claims_stats s;
    seen_claims_stats(d, &s);
    return s;
}

/* -- stories ------------------------------------------------------------------------------ */

static void work_that_is_done_is_done_once(void **state) {
    (void)state;
    seen_detector *d = make("sliding:1h filter=exact claims=10");
    assert_int_equal(claim(d, job, 5 * SECOND, SECOND), SEEN_CLAIM_NEW);
    uint64_t mine = token;
    assert_int_equal(claim(d, job, 5 * SECOND + 400 * MS, SECOND), SEEN_CLAIM_PENDING);
    assert_int_equal(token, 600 * MS); /* still to wait */
    assert_int_equal(ack(d, job, 5 * SECOND + 500 * MS, mine), 1);
    assert_int_equal(claim(d, job, 6 * SECOND, SECOND), SEEN_CLAIM_SEEN);
    assert_int_equal(ack(d, job, 6 * SECOND, mine), 0); /* twice is once */
    assert_int_equal(claim(d, job, 5 * SECOND + 500 * MS + (seen_time)3600 * SECOND, SECOND),
                     SEEN_CLAIM_NEW); /* a window later */
    seen_free(d);
}

static void a_worker_that_dies_or_gives_up_loses_no_work(void **state) {
    (void)state;
    seen_detector *d = make("landmark filter=exact claims=10");
    claim(d, job, 10, 100);
    uint64_t dead = token;
    assert_int_equal(claim(d, job, 109, 100), SEEN_CLAIM_PENDING);
    assert_int_equal(claim(d, job, 110, 100), SEEN_CLAIM_NEW);
    uint64_t second = token;
    assert_true(second > dead);
    assert_int_equal(ack(d, job, 120, dead), 0); /* which was not dead, and comes too late */
    assert_int_equal(seen_nack(d, &job, 120, dead), 0);
    assert_int_equal(seen_nack(d, &job, 130, second), 1);
    assert_int_equal(claim(d, job, 130, 100), SEEN_CLAIM_NEW);
    assert_int_equal(ack(d, job, 130, token), 1);
    assert_int_equal(claim(d, job, 999, 1), SEEN_CLAIM_SEEN);
    struct seen_claims_stats s = claims(d);
    assert_true(s.claimed == 3 && s.again == 2 && s.acked == 1 && s.nacked == 1 && s.held == 0);
    seen_free(d);
}

static void a_late_ack_changes_nothing(void **state) {
    (void)state;
    seen_detector *d = make("landmark filter=exact claims=10");
    claim(d, job, 10, 100);
    assert_int_equal(ack(d, job, 110, token), 0);
    assert_int_equal(claim(d, job, 111, 100), SEEN_CLAIM_NEW);
    seen_free(d);
}

static void a_full_table_refuses_until_a_lease_ends(void **state) {
    (void)state;
    struct seen_error e;
    seen_detector *d = make("landmark filter=exact claims=2");
    claim(d, job, 0, 100);
    claim(d, other, 0, 50);
    assert_int_equal(seen_claim(d, &third, 49, 1, &token, &e), SEEN_EREFUSED);
    assert_non_null(strstr(e.text, "2 claims are open"));
    assert_int_equal(claim(d, third, 50, 9), SEEN_CLAIM_NEW); /* in the place of `other` */
    assert_int_equal(claims(d).dropped, 1);
    assert_int_equal(claim(d, job, 50, 1), SEEN_CLAIM_PENDING);
    assert_int_equal(claim(d, other, 59, 1), SEEN_CLAIM_NEW); /* and is not lost */
    seen_free(d);
}

static void time_never_runs_backwards(void **state) {
    (void)state;
    seen_detector *d = make("sliding:1h filter=exact claims=2");
    claim(d, job, 1000, 100);
    assert_int_equal(claim(d, job, 10, 100), SEEN_CLAIM_PENDING);
    assert_int_equal(token, 100);
    claim(d, other, 5, 100);
    assert_int_equal(seen_claim(d, &other, 1099, 1, &token, NULL), SEEN_CLAIM_PENDING);
    assert_int_equal(token, 1);
    assert_int_equal(seen_claim(d, &job, 0, 0, &token, NULL), SEEN_EINVAL);
    seen_free(d);
}

static void a_key_that_is_observed_needs_no_claim(void **state) {
    (void)state;
    seen_detector *d = make("landmark filter=exact claims=2");
    uint8_t verdict;
    claim(d, job, 0, 100);
    uint64_t mine = token;
    seen_observe(d, 1, &job, &verdict);
    assert_int_equal(verdict, SEEN_NEW);
    assert_int_equal(claim(d, job, 200, 1), SEEN_CLAIM_SEEN);
    assert_int_equal(ack(d, job, 50, mine), 0);
    seen_free(d);
}

static void clearing_ends_claims_but_tokens_go_on(void **state) {
    (void)state;
    seen_detector *d = make("landmark filter=exact claims=3");
    claim(d, job, 0, 100);
    claim(d, other, 0, 100);
    uint64_t before = token;
    seen_clear(d);
    assert_int_equal(claims(d).held, 0);
    assert_int_equal(claim(d, job, 0, 100), SEEN_CLAIM_NEW);
    assert_true(token > before);
    assert_int_equal(ack(d, other, 1, before), 0);
    seen_free(d);
}

static void tens_of_thousands_of_claims_are_found(void **state) {
    (void)state;
    enum { MANY = 1 << 16 };
    seen_detector *d = make("landmark filter=exact claims=65536");
    static uint64_t tokens[MANY];
    for (uint64_t i = 0; i < MANY; i++) {
        assert_int_equal(claim(d, (seen_digest){i, 0}, i, 1 + i * 7919 % MANY), SEEN_CLAIM_NEW);
        tokens[i] = token;
    }
    uint64_t open = 0, done = 0;
    for (uint64_t i = 0; i < MANY; i++) open += i + 1 + i * 7919 % MANY > MANY;
    for (uint64_t i = 0; i < MANY; i++)
        done += (uint64_t)ack(d, (seen_digest){i, 0}, MANY, tokens[i]);
    assert_int_equal(done, open);
    seen_free(d);
}

/* -- what it stands on -------------------------------------------------------------------- */

static void only_windows_that_keep_their_word_take_claims(void **state) {
    (void)state;
    refused("decaying claims=5", "use landmark, jumping or sliding");
    refused("landmark claims=5 verify=5", "leave one out");
    refused("sliding:1h filter=exact lateness=1s claims=5", "leave one out");
    refused("sliding:1h items=1e4 filter=timed-cuckoo claims=5", "under overload=saturate");
    refused("sliding:1h items=1e4 filter=line refresh=first claims=5", "use refresh=last");
    refused("landmark filter=bitvector hash=int bits=20 claims=5", "use another filter");
    refused("landmark mem=64KiB claims=1e6", "mem=");
}

static void the_table_is_part_of_the_plan(void **state) {
    (void)state;
    seen_detector *plain = make("landmark fp=1e-3 items=1000 control=0");
    seen_detector *d = make("landmark fp=1e-3 items=1000 control=0 claims=1000");
    struct seen_stats s;
    seen_stats(d, &s);
    assert_int_equal(s.bytes, seen_plan_of(d).bytes);
    assert_int_equal(s.bytes - seen_plan_of(plain).bytes, claims(d).bytes);
    assert_true(claims(d).bytes < 1000 * 64);
    assert_int_equal(claims(plain).most, 0);
    seen_free(plain);
    seen_free(d);
}

/* The window can keep no key at all: the claim stays, and the worker hears of it. */
static void without_memory_nothing_is_acked_silently(void **state) {
    (void)state;
    struct seen_plan plan;
    struct seen_spec spec;
    struct seen_error e;
    seen_detector *d;
    seen_spec_parse(&spec, "sliding:1h filter=exact claims=4", &e);
    seen_plan_make(&plan, &spec, &e);
    left = plan.bytes + 4096;
    assert_int_equal(seen_new(&d, &plan, &short_memory, &e), 0);
    left = 0;
    assert_int_equal(claim(d, job, 0, 100), SEEN_CLAIM_NEW);
    assert_int_equal(seen_ack(d, &job, 1, token, &e), SEEN_ENOMEM);
    assert_non_null(strstr(e.text, "the claim stays"));
    uint64_t mine = token;
    assert_int_equal(claim(d, job, 2, 100), SEEN_CLAIM_PENDING);
    left = (size_t)1 << 20;
    assert_int_equal(ack(d, job, 3, mine), 1);
    assert_int_equal(claim(d, job, 4, 100), SEEN_CLAIM_SEEN);
    seen_free(d);
}

static void *moved(void *ctx, void *p, size_t size) {
    (void)ctx;
    void *to = alloc_default.zalloc(NULL, size);
    memcpy(to, p, size);
    alloc_default.free(NULL, p, size);
    return to;
}

static void claims_move_with_their_detector(void **state) {
    (void)state;
    seen_detector *d = make("landmark filter=bloom claims=40");
    claim(d, job, 0, 100);
    seen_move(&d, (struct seen_mover){moved, NULL}, NULL);
    assert_int_equal(ack(d, job, 1, token), 1);
    seen_free(d);
}

/* -- snapshots ---------------------------------------------------------------------------- */

static unsigned char bytes[1 << 20];
static size_t len, at;

static int put(void *ctx, const void *buf, size_t n) {
    (void)ctx;
    memcpy(bytes + len, buf, n);
    len += n;
    return 0;
}

static int get(void *ctx, void *buf, size_t n) {
    (void)ctx;
    if (n > len - at) return -1;
    memcpy(buf, bytes + at, n);
    at += n;
    return 0;
}

static int load(seen_detector **d, struct seen_error *e) {
    at = 0;
    return seen_load(d, (struct seen_reader){get, NULL}, 0, NULL, NULL, e);
}

static void a_snapshot_holds_the_claims(void **state) {
    (void)state;
    seen_detector *d = make("sliding:1h filter=exact claims=300"), *loaded;
    uint64_t tokens[300];
    for (uint64_t i = 0; i < 300; i++) {
        claim(d, (seen_digest){i, 1}, i, 1000 + i * 31 % 300);
        tokens[i] = token;
    }
    len = 0;
    assert_int_equal(seen_save(d, NULL, 0, (struct seen_writer){put, NULL}, NULL), 0);
    assert_int_equal(load(&loaded, NULL), 0);
    for (uint64_t i = 0; i < 300; i++) {
        assert_int_equal(claim(loaded, (seen_digest){i, 1}, 300, 9), SEEN_CLAIM_PENDING);
        assert_int_equal(ack(loaded, (seen_digest){i, 1}, 300, tokens[i]), 1);
    }
    seen_free(loaded);
    seen_free(d);
}

/* Three claims, a number of the table changed, and the checksum put right again. */
static void forged(size_t number, uint64_t value, const char *says) {
    enum { TABLE = 8 + 3 * 4 };
    seen_detector *d = make("landmark filter=bloom mem=4KiB claims=5"), *loaded;
    struct seen_error e = {0};
    struct hash_sum sum;
    claim(d, job, 10, 30);
    claim(d, other, 10, 20);
    claim(d, third, 10, 40);
    len = 0;
    seen_save(d, NULL, 0, (struct seen_writer){put, NULL}, NULL);
    uint32_t spec;
    memcpy(&spec, bytes + 8, sizeof spec);
    size_t body = 16 + spec + 7 * 8 + 8, table = len - 8 - TABLE * 8;
    memcpy(bytes + table + 8 * number, &value, sizeof value);
    hash_sum_begin(&sum);
    hash_sum_add(&sum, bytes + body, len - 8 - body);
    uint64_t right = hash_sum_end(&sum);
    memcpy(bytes + len - 8, &right, sizeof right);
    int bad = load(&loaded, &e);
    assert_int_equal(bad, says ? SEEN_EFORMAT : 0);
    if (says && !strstr(e.text, says)) fail_msg("'%s' does not say '%s'", e.text, says);
    if (!bad) seen_free(loaded);
    seen_free(d);
}

static void forged_claims_are_refused(void **state) {
    (void)state;
    enum { USED, TOKEN, LAST, CLAIMED, AGAIN, ACKED, NACKED, DROPPED, FIRST };
    forged(USED, 3, NULL); /* as it was */
    forged(USED, 6, "do not fit its spec");
    forged(USED, 4, "do not fit its spec"); /* more than were ever made */
    forged(TOKEN, UINT64_MAX, "do not fit its spec");
    forged(TOKEN, 11, "never made"); /* the third has 12 */
    forged(LAST, UINT64_MAX, "do not fit its spec");
    forged(CLAIMED, 2, "do not fit its spec");
    forged(AGAIN, 4, "do not fit its spec");
    forged(ACKED, 4, "do not fit its spec");
    forged(NACKED, 4, "do not fit its spec");
    forged(DROPPED, 4, "do not fit its spec");
    forged(FIRST + 4, other.lo, NULL); /* another key */
    forged(FIRST + 2, 0, "never made");
    forged(FIRST + 3, UINT64_MAX, "never made");
    forged(FIRST + 3, 45, "never made"); /* the first is to end first */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_that_is_done_is_done_once),
        cmocka_unit_test(a_worker_that_dies_or_gives_up_loses_no_work),
        cmocka_unit_test(a_late_ack_changes_nothing),
        cmocka_unit_test(a_full_table_refuses_until_a_lease_ends),
        cmocka_unit_test(time_never_runs_backwards),
        cmocka_unit_test(a_key_that_is_observed_needs_no_claim),
        cmocka_unit_test(clearing_ends_claims_but_tokens_go_on),
        cmocka_unit_test(tens_of_thousands_of_claims_are_found),
        cmocka_unit_test(only_windows_that_keep_their_word_take_claims),
        cmocka_unit_test(the_table_is_part_of_the_plan),
        cmocka_unit_test(without_memory_nothing_is_acked_silently),
        cmocka_unit_test(claims_move_with_their_detector),
        cmocka_unit_test(a_snapshot_holds_the_claims),
        cmocka_unit_test(forged_claims_are_refused),
    };
    return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
