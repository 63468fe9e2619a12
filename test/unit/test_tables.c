/* test_tables.c - snapshots of distinct counters and of heavy hitters: save and load are identity,
 * what goes on after loading is what would have gone on, and no damaged byte is believed. */
#include "seen.h"
#include "seen_counter.h"
#include "seen_top.h"

#include "base/hash.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct bytes {
    unsigned char *at;
    size_t n, cap, read;
};

static int write_bytes(void *ctx, const void *buf, size_t len) {
    struct bytes *b = ctx;
    if (b->n + len > b->cap) b->at = realloc(b->at, b->cap = 2 * (b->n + len));
    memcpy(b->at + b->n, buf, len);
    b->n += len;
    return 0;
}

static int read_bytes(void *ctx, void *buf, size_t len) {
    struct bytes *b = ctx;
    if (b->n - b->read < len) return -1;
    memcpy(buf, b->at + b->read, len);
    b->read += len;
    return 0;
}

static seen_digest key_of(uint64_t i) { return seen_hash(&i, sizeof i, 1); }

/* -- one of each kind --------------------------------------------------------------------- */

/* A counter or, kind TOP, heavy hitters: what the tests below do to either. */
enum { TOP = SEEN_COUNTER_SET + 1, KINDS, LIMIT = 1 << 22 };

struct table {
    uint32_t kind;
    seen_counter *counter;
    seen_top *top;
};

static struct table fresh(uint32_t kind) {
    struct table t = {.kind = kind};
    struct seen_error e;
    int bad = kind == TOP ? seen_top_new(&t.top, 50, NULL, &e)
                          : seen_counter_new(&t.counter, kind, .1, 1, NULL, &e);
    if (bad) fail_msg("%s", e.text);
    return t;
}

static void drop(struct table t) {
    seen_counter_free(t.counter);
    seen_top_free(t.top);
}

static void add(struct table t, uint64_t from, uint64_t to) {
    int taken;
    for (uint64_t i = from; i < to; i++) {
        seen_digest d = key_of(t.kind == TOP ? i * i % 97 : i);
        if (t.kind == TOP)
            seen_top_add(t.top, d, &taken);
        else
            seen_counter_add(t.counter, 1, &d);
    }
}

static struct bytes save(struct table t) {
    struct bytes b = {0};
    struct seen_error e;
    struct seen_writer w = {write_bytes, &b};
    int bad = t.kind == TOP ? seen_top_save(t.top, w, &e) : seen_counter_save(t.counter, w, &e);
    if (bad) fail_msg("%s", e.text);
    return b;
}

static int load(struct table *t, uint32_t kind, struct bytes *b, size_t limit,
                struct seen_error *e) {
    struct seen_reader r = {read_bytes, b};
    *t = (struct table){.kind = kind};
    b->read = 0;
    return kind == TOP ? seen_top_load(&t->top, r, limit, NULL, e)
                       : seen_counter_load(&t->counter, r, limit, NULL, e);
}

static void assert_same(struct table a, struct table b) {
    struct bytes x = save(a), y = save(b);
    assert_int_equal(x.n, y.n);
    assert_memory_equal(x.at, y.at, x.n);
    free(x.at);
    free(y.at);
}

static const uint64_t sizes[] = {0, 1, 12, 13, 100, 20000};

/* -- laws --------------------------------------------------------------------------------- */

static void save_and_load_is_identity_and_it_goes_on_alike(void **state) {
    (void)state;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct table a = fresh(kind), b;
            struct seen_error e;
            add(a, 0, sizes[i]);
            struct bytes bytes = save(a);
            if (load(&b, kind, &bytes, LIMIT, &e)) fail_msg("kind %u: %s", kind, e.text);
            assert_int_equal(bytes.read, bytes.n);
            assert_same(a, b);
            add(a, 5, 2000);
            add(b, 5, 2000);
            assert_same(a, b);
            free(bytes.at);
            drop(a), drop(b);
        }
}

static void no_changed_byte_is_believed(void **state) {
    (void)state;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < 5; i++) {
            struct table a = fresh(kind), b;
            add(a, 0, sizes[i]);
            struct bytes bytes = save(a);
            for (size_t at = 0; at < bytes.n; at++) {
                unsigned char flip = (unsigned char)(1 << at % 8);
                bytes.at[at] ^= flip;
                assert_int_equal(load(&b, kind, &bytes, LIMIT, NULL), SEEN_EFORMAT);
                assert_true(!b.counter && !b.top);
                bytes.at[at] ^= flip;
            }
            for (size_t n = bytes.n; bytes.n-- > 0;) {
                assert_int_equal(load(&b, kind, &bytes, LIMIT, NULL), SEEN_EFORMAT);
                if (n - bytes.n > 300) break;
            }
            free(bytes.at);
            drop(a);
        }
}

static void sum_again(unsigned char *from, size_t len) {
    struct hash_sum sum;
    hash_sum_begin(&sum);
    hash_sum_add(&sum, from, len);
    uint64_t value = hash_sum_end(&sum);
    memcpy(from + len, &value, sizeof value);
}

/* Correct checksums over changed bytes are not enough: such a snapshot is refused, or works. */
static void hostile_bytes_are_refused_or_harmless(void **state) {
    (void)state;
    int refused = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < 5; i++) {
            struct table a = fresh(kind), b;
            add(a, 0, sizes[i]);
            struct bytes bytes = save(a);
            size_t header = kind == TOP ? 24 : 48;
            for (size_t at = 8; at < bytes.n - 8; at++) {
                if (at >= header && at < header + 8) continue;
                unsigned char before = bytes.at[at];
                static const unsigned char values[] = {0, 1, 0x80, 0xff};
                for (int v = 0; v < 4; v++) {
                    bytes.at[at] = values[v];
                    sum_again(bytes.at, header);
                    sum_again(bytes.at + header + 8, bytes.n - header - 16);
                    int bad = load(&b, kind, &bytes, LIMIT, NULL);
                    refused += bad != 0;
                    assert_true(!bad || bad == SEEN_EFORMAT);
                    if (!bad) add(b, 0, 300), drop(b);
                }
                bytes.at[at] = before;
            }
            free(bytes.at);
            drop(a);
        }
    assert_true(refused > 1000);
}

static void counters_of_equal_keys_or_a_broken_heap_are_refused(void **state) {
    (void)state;
    struct table a = fresh(TOP), b;
    add(a, 0, 500);
    struct bytes bytes = save(a);
    unsigned char *counters = bytes.at + 32, kept[40];
    memcpy(kept, counters, sizeof kept);
    memcpy(counters, counters + 40, 16); /* the key of the next */
    sum_again(counters, bytes.n - 40);
    assert_int_equal(load(&b, TOP, &bytes, LIMIT, NULL), SEEN_EFORMAT);
    memcpy(counters, kept, sizeof kept);
    uint64_t many = 1 << 20; /* more than the counters below it in the heap */
    for (size_t c = 0; c < 50; c++)
        if (counters[40 * c + 32] == 0) memcpy(counters + 40 * c + 16, &many, 8);
    sum_again(counters, bytes.n - 40);
    assert_int_equal(load(&b, TOP, &bytes, LIMIT, NULL), SEEN_EFORMAT);
    free(bytes.at);
    drop(a);
}

static void memory_stays_below_the_limit(void **state) {
    (void)state;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        struct table a = fresh(kind), b;
        struct seen_error e;
        add(a, 0, 40);
        struct bytes bytes = save(a);
        size_t needed = kind == TOP ? seen_top_bytes(a.top) : seen_counter_bytes(a.counter);
        assert_int_equal(load(&b, kind, &bytes, needed - 1, &e), SEEN_EFORMAT);
        assert_non_null(strstr(e.text, "bytes allowed"));
        assert_int_equal(load(&b, kind, &bytes, needed, NULL), 0);
        free(bytes.at);
        drop(a), drop(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(save_and_load_is_identity_and_it_goes_on_alike),
        cmocka_unit_test(no_changed_byte_is_believed),
        cmocka_unit_test(hostile_bytes_are_refused_or_harmless),
        cmocka_unit_test(counters_of_equal_keys_or_a_broken_heap_are_refused),
        cmocka_unit_test(memory_stays_below_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
