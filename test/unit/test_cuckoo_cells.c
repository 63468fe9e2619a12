/* The cells of a timed cuckoo table in both layouts, against an array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sliding/timed_cuckoo.h"
#include "spec/spec.h"

/* The cells of a detector.  Their lines follow in the same block, as in a detector. */
static struct cuckoo_cells *cells_new(const struct seen_spec *spec) {
    size_t head = (sizeof(struct cuckoo_cells) + 63) / 64 * 64;
    size_t bytes = head + cuckoo_lines(spec) * 64;
    struct cuckoo_cells *c = aligned_alloc(64, bytes);
    assert_non_null(c);
    memset(c, 0, bytes);
    cuckoo_init(c, spec, head);
    return c;
}

static uint64_t draw(uint64_t *rng, uint64_t n) {
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return (*rng >> 20) % n;
}

static uint32_t keys_in_line(const struct cuckoo_cells *c, const struct cuckoo_key *model,
                             uint64_t i) {
    uint64_t from = i / c->positions * c->positions, sum = 0;
    for (uint64_t j = from; j < from + c->positions && j < c->cells; j++) sum += model[j].stamp > 0;
    return (uint32_t)sum;
}

static void equal(const struct cuckoo_cells *c, const struct cuckoo_key *model) {
    for (uint64_t i = 0; i < c->cells; i++) {
        struct cuckoo_key k = cuckoo_get(c, i);
        assert_int_equal(k.stamp, model[i].stamp);
        if (k.stamp) assert_int_equal(k.key, model[i].key);
    }
}

static void play(const struct seen_spec *spec, uint64_t seed) {
    struct cuckoo_cells *c = cells_new(spec);
    struct cuckoo_key *model = calloc(c->cells, sizeof *model);
    uint64_t rng = seed;
    for (int turn = 0; turn < 3000; turn++) {
        uint64_t i = draw(&rng, c->cells);
        bool room = !c->vla || model[i].stamp || keys_in_line(c, model, i) < c->capacity;
        if (draw(&rng, 3) && room) {
            uint64_t place = draw(&rng, seen_spec_get_count(spec, "lambda")), sign = 0;
            if (seen_spec_get_count(spec, "signature"))
                sign =
                    draw(&rng, UINT64_MAX) & ((1u << seen_spec_get_count(spec, "signature")) - 1);
            model[i].stamp =
                1 + draw(&rng, ((uint64_t)1 << seen_spec_get_count(spec, "stamp")) - 1);
            model[i].key = place | sign << cuckoo_place_bits(seen_spec_get_count(spec, "lambda"));
            cuckoo_put(c, i, model[i]);
        } else if (model[i].stamp) {
            model[i].stamp = 0;
            cuckoo_erase(c, i);
        }
        if (turn % 50 == 0) {
            equal(c, model);
            assert_null(cuckoo_wrong(c, 0, c->cells, seen_spec_get_count(spec, "lambda")));
        }
    }
    equal(c, model);
    free(model);
    free(c);
}

static struct seen_spec spec_of(uint64_t stamp, uint64_t lambda, uint64_t signature,
                                uint64_t packed) {
    struct seen_spec spec = {0};
    options_set(&spec, OPTION_STAMP, stamp);
    options_set(&spec, OPTION_LAMBDA, lambda);
    options_set(&spec, OPTION_SIGNATURE, signature);
    options_set(&spec, OPTION_PACKED, packed);
    return spec;
}

/* Every width of a key, so that they end at every bit of a line, its last included. */
static void a_table_is_an_array_of_its_cells(void **state) {
    (void)state;
    for (uint32_t vla = 0; vla < 2; vla++)
        for (uint64_t stamp = 2; stamp <= 56; stamp++)
            for (uint64_t lambda = 4; lambda < 1000; lambda = lambda * 3 + 1) {
                struct seen_spec spec = spec_of(stamp, lambda, stamp / 2, vla);
                play(&spec, stamp * 1000 + lambda);
            }
}

static void a_line_has_room_for_a_fourth_of_its_cells_and_a_fifth_more(void **state) {
    (void)state;
    for (uint64_t stamp = 2; stamp <= 56; stamp++)
        for (uint64_t signature = 0; signature <= 30; signature++) {
            struct seen_spec spec = spec_of(stamp, 1 << 20, signature, 1);
            struct cuckoo_cells *c = cells_new(&spec);
            assert_true(c->positions + c->capacity * c->entry <= 512);
            assert_true(c->positions / 4. <= c->capacity * 5. / 6 + 1e-9);
            assert_int_equal(cuckoo_lines(&spec), c->parts + 1);
            free(c);
        }
}

/* The stamps are one window apart.  A new key takes the place of one that no longer counts. */
static void in_a_full_line_keys_that_count_no_more_make_room(void **state) {
    (void)state;
    struct seen_spec spec = spec_of(20, 100, 2, 1);
    struct cuckoo_cells *c = cells_new(&spec);
    struct stamps t = {
        .h = {.clock = 5000}, .phase = 5000, .reach = 1000, .range = (1 << 20) - 1, .shift = 4};
    for (uint64_t i = 0; i < c->capacity; i++) {
        uint64_t stamp = i % 3 ? 4500 + i : 3900;
        stamps_bucket(&t, stamps_age(&t, stamp))[0]++;
        cuckoo_put(c, 2 * i, (struct cuckoo_key){stamp, i});
    }
    uint32_t dead = (c->capacity + 2) / 3;
    assert_int_equal(cuckoo_room(c, &t, 2), 0); /* its key counts */
    assert_int_equal(cuckoo_get(c, 0).stamp, 3900);
    assert_int_equal(cuckoo_room(c, &t, 1), dead);
    for (uint64_t i = 0; i < c->capacity; i++)
        assert_int_equal(cuckoo_get(c, 2 * i).stamp, i % 3 ? 4500 + i : 0);
    assert_int_equal(*stamps_bucket(&t, stamps_age(&t, 3900)), 0);
    t.h.clock = t.phase = 9000;
    memset(t.stamped, 0, sizeof t.stamped);
    cuckoo_sweep(c, &t, 0);
    assert_int_equal(cuckoo_room(c, &t, 1), c->capacity);
    assert_null(cuckoo_wrong(c, 0, c->cells, seen_spec_get_count(&spec, "lambda")));
    free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_an_array_of_its_cells),
        cmocka_unit_test(a_line_has_room_for_a_fourth_of_its_cells_and_a_fifth_more),
        cmocka_unit_test(in_a_full_line_keys_that_count_no_more_make_room),
    };
    return cmocka_run_group_tests_name("cuckoo cells", tests, NULL, NULL);
}
