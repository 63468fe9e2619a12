/* What a server that defragments does to a value of the module: every block that it may move is
 * moved, and the old place is not to be looked at any more.  The server is played. */
#include "chain.h"
#include "memory.h"
#include "persist.h"
#include "redis_api.h"
#include "transfer.h"
#include "value.h"

#include "detectors.h"

/* -- the server's allocator ---------------------------------------------------------------- */

enum { HEAD = 64, MOVES_MOST = 4096 };

static size_t skew;             /* how many bytes each block lies off a multiple of 64 */
static long live, moves, large; /* blocks; moved; offered but not in a slab */
static void *old[MOVES_MOST];

static void *take(size_t size) {
    size_t usable = (size + 63) / 64 * 64;
    char *p = aligned_alloc(64, usable + 2 * HEAD);
    if (!p) return NULL;
    memcpy(p, &usable, sizeof usable);
    live++;
    return p + HEAD + skew;
}

static void *begin(void *p) { return (char *)p - HEAD - skew; }

static size_t usable(void *p) {
    size_t size;
    memcpy(&size, begin(p), sizeof size);
    return size;
}

static void give(void *p) {
    if (!p) return;
    live--;
    free(begin(p));
}

/* The old copy of a moved block is poisoned and never handed out again. */
static void *move(RedisModuleDefragCtx *ctx, void *p) {
    (void)ctx;
    assert_true(moves < MOVES_MOST);
    large += usable(p) > (size_t)16 << 10;
    void *to = take(usable(p));
    memcpy(to, p, usable(p));
    memset(p, 0xa5, usable(p));
    live--;
    old[moves++] = begin(p);
    return to;
}

static int serve(size_t by) {
    skew = by;
    RedisModule_Alloc = RedisModule_TryAlloc = take;
    RedisModule_MallocSize = usable;
    RedisModule_Free = give;
    RedisModule_DefragAlloc = move;
    memory_look();
    live = moves = large = 0;
    return 0;
}

static int aligned(void **state) { return (void)state, serve(0); }
static int skewed(void **state) { return (void)state, serve(16); }

static int all_is_given_back(void **state) {
    (void)state;
    for (long i = 0; i < moves; i++) free(old[i]);
    return live != 0;
}

/* -- values -------------------------------------------------------------------------------- */

static const char *const specs[] = {
    "landmark fp=1e-3 items=500 seed=1", "jumping:1h/6 filter=blocked items=300 fp=1e-2 seed=1",
    "sliding:200 fp=1e-3 cache=20 seed=1", "sliding:1000 filter=exact shards=3 seed=1",
    "decaying filter=lru mem=6KiB seed=1"};
enum { SPECS = sizeof specs / sizeof *specs };

static struct value *filter(const char *text) {
    struct seen_error e = {0};
    struct seen_plan p;
    struct value *v = value_new(&(struct chain){0});
    if (plan(&p, text, &e) || value_make(v, &p, 0, &e)) fail_msg("%s: %s", text, e.text);
    return v;
}

static struct value *grown(uint64_t items) {
    struct seen_error e = {0};
    struct value *v = value_new(&(struct chain){.01, 20, 1});
    assert_int_equal(chain_begin(v, 1, 0, &e), 0);
    for (uint64_t i = 0; i < items; i++)
        assert_true(chain_add(v, &i, sizeof i, 0, NULL) <= CHAIN_NEW);
    return v;
}

static void assert_same(const struct value *a, const struct value *b) {
    seen_digest x = persist_digest(a), y = persist_digest(b);
    assert_memory_equal(&x, &y, sizeof x);
    assert_int_equal(value_bytes(a), value_bytes(b));
}

static struct value *moved(struct value *v) { return value_move(v, NULL); }

/* -- tests --------------------------------------------------------------------------------- */

static void a_filter_that_moves_answers_as_one_that_stays(void **state) {
    (void)state;
    for (int i = 0; i < SPECS; i++) {
        struct value *stays = filter(specs[i]), *goes = filter(specs[i]);
        uint64_t rng = 7;
        for (int round = 0; round < 20; round++) {
            seen_digest digests[40];
            uint8_t x[40], y[40];
            struct value *before = goes;
            goes = moved(goes);
            assert_ptr_not_equal(goes, before);
            for (int j = 0; j < 40; j++) digests[j] = key(random64(&rng) % 500);
            value_add(stays, 40, digests, 1000 + round, x);
            value_add(goes, 40, digests, 1000 + round, y);
            assert_memory_equal(x, y, sizeof x);
            assert_same(stays, goes);
        }
        value_free(stays);
        value_free(goes);
    }
}

static void a_chain_moves_link_by_link_and_grows_on(void **state) {
    (void)state;
    struct value *stays = grown(150), *goes = moved(grown(90));
    assert_true(goes->links > 3);
    assert_int_equal(moves, 2 + goes->links); /* the value, the list of its links, the links */
    for (uint64_t i = 0; i < 150; i++) {
        enum chain_verdict verdict = chain_add(goes, &i, sizeof i, 0, NULL);
        assert_true(verdict <= CHAIN_NEW && (i >= 90 || verdict == CHAIN_SEEN));
        if (i % 20 == 0) goes = moved(goes);
    }
    assert_same(stays, goes);
    value_free(stays);
    value_free(goes);
}

static void what_is_large_stays_where_it_is(void **state) {
    (void)state;
    struct value *v = filter("landmark fp=1e-3 mem=64KiB seed=1");
    seen_detector *d = value_filter(v);
    v = moved(v);
    assert_ptr_equal(value_filter(v), d);
    assert_int_equal(moves, 1);
    assert_int_equal(large, 0);
    value_free(v);
}

static void a_value_stays_while_it_is_dumped(void **state) {
    (void)state;
    char chunk[1024];
    bool last;
    struct value *v = filter(specs[0]);
    struct dump *d = RedisModule_Alloc(sizeof *d);
    *d = (struct dump){0};
    v->dumps = d;
    assert_true(transfer_dump(&d->transfer, v));
    assert_int_equal(transfer_next(d->transfer, chunk, 16, &last), 16);
    assert_ptr_equal(moved(v), v);
    assert_int_equal(moves, 0);
    while (!last) transfer_next(d->transfer, chunk, sizeof chunk, &last);
    transfer_end(&d->transfer);
    value_end_dumps(v, false);
    struct value *after = moved(v);
    assert_ptr_not_equal(after, v);
    value_free(after);
}

static void a_value_stays_while_it_is_loaded(void **state) {
    (void)state;
    struct seen_error e;
    struct value *done, *v = load_begin(0);
    assert_non_null(v);
    load_feed(v, "seen", 4, false, 0, &done, &e);
    assert_ptr_equal(moved(v), v);
    assert_int_equal(moves, 0);
    value_free(v);
}

/* A block that lies within another would lie there otherwise at another place. */
static void without_alignment_values_move_and_detectors_stay(void **state) {
    (void)state;
    struct value *v = filter(specs[0]);
    seen_detector *d = value_filter(v);
    v = moved(v);
    assert_int_equal(moves, 1);
    assert_ptr_equal(value_filter(v), d);
    assert_int_equal((uintptr_t)d % 64, 0);
    seen_digest digest = key(1);
    uint8_t verdict;
    assert_true(value_add(v, 1, &digest, 0, &verdict));
    value_free(v);
}

int main(void) {
#define TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, all_is_given_back)
    const struct CMUnitTest tests[] = {
        TEST(a_filter_that_moves_answers_as_one_that_stays, aligned),
        TEST(a_chain_moves_link_by_link_and_grows_on, aligned),
        TEST(what_is_large_stays_where_it_is, aligned),
        TEST(a_value_stays_while_it_is_dumped, aligned),
        TEST(a_value_stays_while_it_is_loaded, aligned),
        TEST(without_alignment_values_move_and_detectors_stay, skewed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
