/* From the bytes of a key to its digest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "seen.h"
#ifdef HAVE_SODIUM
#include <sodium/crypto_shorthash_siphash24.h>
#endif

static size_t compose(char *buf, const char *one, const char *two) {
    size_t end = seen_key_append(buf, 64, 0, one, strlen(one));
    return seen_key_append(buf, 64, end, two, strlen(two));
}

static void two_fields_are_not_their_concatenation(void **state) {
    (void)state;
    char a[64], b[64];
    size_t n = compose(a, "ab", "c"), m = compose(b, "a", "bc");
    assert_int_equal(n, 5);
    assert_memory_equal(a, "\2ab\1c", 5);
    assert_memory_equal(b, "\1a\2bc", 5);
    assert_int_equal(n, m);
    seen_digest x = seen_hash(a, n, 1), y = seen_hash(b, m, 1);
    assert_true(x.lo != y.lo && x.hi != y.hi);
    assert_true(compose(a, "", "") == 2 && !a[0] && !a[1]);
}

static void a_long_field_has_a_long_length(void **state) {
    (void)state;
    unsigned char *buf = malloc(70000), *field = calloc(1, 65536);
    assert_int_equal(seen_key_append(buf, 70000, 0, field, 127), 128);
    assert_int_equal(buf[0], 127);
    assert_int_equal(seen_key_append(buf, 70000, 0, field, 128), 130);
    assert_true(buf[0] == 0x80 && buf[1] == 1);
    assert_int_equal(seen_key_append(buf, 70000, 0, field, 65536), 65539);
    assert_true(buf[0] == 0x80 && buf[1] == 0x80 && buf[2] == 4);
    free(buf);
    free(field);
}

static void a_field_that_does_not_fit_is_not_written(void **state) {
    (void)state;
    char buf[8];
    memset(buf, '#', sizeof buf);
    assert_int_equal(seen_key_append(buf, 4, 1, "abc", 3), 5);
    assert_memory_equal(buf, "########", 8);
    assert_int_equal(seen_key_append(buf, 5, 1, "abc", 3), 5);
    assert_memory_equal(buf, "#\3abc###", 8);
    assert_int_equal(seen_key_append(NULL, 0, 0, NULL, 0), 1);
    assert_true(seen_key_append(buf, 5, SIZE_MAX - 1, "abc", 3) > 5);
}

static void the_seed_changes_every_digest(void **state) {
    (void)state;
    seen_digest a = seen_hash("key", 3, 1), b = seen_hash("key", 3, 2), c = seen_hash("key", 3, 1);
    assert_true(a.lo != b.lo && a.hi != b.hi);
    assert_true(a.lo == c.lo && a.hi == c.hi);
    seen_digest none = seen_hash(NULL, 0, 0); /* XXH3-128 of nothing, as published */
    assert_true(none.hi == 0x99aa06d3014798d8 && none.lo == 0x6001c324468d497f);
}

static void keys_of_any_length_differ_by_one_bit(void **state) {
    (void)state;
    unsigned char key[300] = {0};
    for (size_t len = 1; len <= sizeof key; len++)
        for (size_t bit = 0; bit < len * 8; bit += 37) {
            seen_digest a = seen_hash(key, len, 0);
            key[bit / 8] ^= (unsigned char)(1 << bit % 8);
            seen_digest b = seen_hash(key, len, 0);
            key[bit / 8] ^= (unsigned char)(1 << bit % 8);
            assert_true(a.lo != b.lo || a.hi != b.hi);
        }
}

static seen_digest digest(uint32_t kind, const char *key, size_t len) {
    seen_digest d = {77, 77};
    assert_int_equal(hash_key(kind, 42, key, len, &d, 1, NULL), 0);
    return d;
}

static void siphash_is_the_standard_one_keyed_by_seed_and_its_complement(void **state) {
    (void)state;
#ifdef HAVE_SODIUM
    uint64_t secret[2] = {42, ~(uint64_t)42};
    for (size_t len = 0; len < 70; len++) {
        char key[70];
        seen_digest expected;
        memset(key, (int)len, sizeof key);
        crypto_shorthash_siphashx24((unsigned char *)&expected, (unsigned char *)key, len,
                                    (unsigned char *)secret);
        seen_digest d = digest(SEEN_HASH_SIPHASH, key, len);
        assert_true(d.lo == expected.lo && d.hi == expected.hi);
    }
#else
    assert_false(hash_available(SEEN_HASH_SIPHASH));
    skip();
#endif
}

static void an_integer_is_its_own_digest(void **state) {
    (void)state;
    seen_digest d = digest(SEEN_HASH_INT, "12345", 5);
    assert_true(d.lo == 12345 && d.hi == 0);
    d = digest(SEEN_HASH_INT, "00012345", 8);
    assert_true(d.lo == 12345 && d.hi == 0);
    d = digest(SEEN_HASH_INT, "18446744073709551616", 20);
    assert_true(d.lo == 0 && d.hi == 1);
    d = digest(SEEN_HASH_INT, "340282366920938463463374607431768211455", 39);
    assert_true(d.lo == UINT64_MAX && d.hi == UINT64_MAX);
}

static void what_is_no_integer_below_2_to_128_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *key;
        size_t where;
    } cases[] = {{"", 1},
                 {"-1", 1},
                 {"1.5", 2},
                 {" 1", 1},
                 {"12a", 3},
                 {"0x1", 2},
                 {"340282366920938463463374607431768211456", 1},
                 {"9999999999999999999999999999999999999999999", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen_error e = {0};
        seen_digest d = {1, 2};
        assert_int_equal(hash_key(SEEN_HASH_INT, 0, cases[i].key, strlen(cases[i].key), &d, 1, &e),
                         SEEN_EINVAL);
        assert_int_equal(e.where, cases[i].where);
        assert_true(d.lo == 1 && d.hi == 2);
    }
}

static void raw_bytes_are_the_digest_up_to_sixteen(void **state) {
    (void)state;
    struct seen_error e = {0};
    seen_digest d = digest(SEEN_HASH_RAW, "", 0);
    assert_true(d.lo == 0 && d.hi == 0);
    d = digest(SEEN_HASH_RAW, "\1\0\0\0\0\0\0\0\2", 9);
    assert_true(d.lo == 1 && d.hi == 2);
    assert_int_equal(hash_key(SEEN_HASH_RAW, 0, "12345678901234567", 17, &d, 1, &e), SEEN_EINVAL);
    assert_int_equal(e.where, 17);
    assert_non_null(strstr(e.text, "2^136 bits"));
}

static void a_detector_hashes_as_its_spec_says(void **state) {
    (void)state;
    struct seen_spec spec;
    struct seen_plan plan;
    seen_detector *d;
    seen_digest digest;
    assert_int_equal(seen_spec_parse(&spec, "landmark filter=exact hash=int seed=3", NULL), 0);
    assert_int_equal(seen_plan_make(&plan, &spec, NULL), 0);
    assert_int_equal(seen_new(&d, &plan, NULL, NULL), 0);
    assert_int_equal(seen_key(d, "17", 2, &digest, NULL), 0);
    assert_true(digest.lo == 17 && !digest.hi && seen_seed(d) == 3);
    assert_int_equal(seen_key(d, "x", 1, &digest, NULL), SEEN_EINVAL);
    seen_free(d);
}

static void without_a_seed_every_detector_draws_its_own(void **state) {
    (void)state;
    struct seen_spec spec;
    struct seen_plan plan;
    seen_detector *a, *b;
    assert_int_equal(seen_spec_parse(&spec, "landmark:1000", NULL), 0);
    assert_int_equal(seen_plan_make(&plan, &spec, NULL), 0);
    assert_int_equal(seen_new(&a, &plan, NULL, NULL), 0);
    assert_int_equal(seen_new(&b, &plan, NULL, NULL), 0);
    assert_true(seen_seed(a) != seen_seed(b));
    assert_true(seen_spec_get_count(seen_spec_of(a), "seed") == seen_seed(a));
    seen_free(a);
    seen_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_fields_are_not_their_concatenation),
        cmocka_unit_test(a_long_field_has_a_long_length),
        cmocka_unit_test(a_field_that_does_not_fit_is_not_written),
        cmocka_unit_test(the_seed_changes_every_digest),
        cmocka_unit_test(keys_of_any_length_differ_by_one_bit),
        cmocka_unit_test(siphash_is_the_standard_one_keyed_by_seed_and_its_complement),
        cmocka_unit_test(an_integer_is_its_own_digest),
        cmocka_unit_test(what_is_no_integer_below_2_to_128_is_refused),
        cmocka_unit_test(raw_bytes_are_the_digest_up_to_sixteen),
        cmocka_unit_test(a_detector_hashes_as_its_spec_says),
        cmocka_unit_test(without_a_seed_every_detector_draws_its_own),
    };
    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
