/* Amounts are read, summed and written exactly, or refused. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* What `text` is written as, with the places it was read with; NULL: refused. */
static const char *again(const char *text) {
    static char out[DECIMAL_TEXT];
    unsigned places = 0;
    decimal d;
    if (!decimal_parse(&d, &places, text, strlen(text))) return NULL;
    size_t len = decimal_text(d, places, out);
    assert_int_equal(len, strlen(out));
    return out;
}

static void amounts_are_written_as_they_were_read(void **state) {
    static const char *const same[] = {"0",
                                       "1",
                                       "-1",
                                       "12.50",
                                       "-0.05",
                                       "0.000000000000000001",
                                       "99999999999999999999",
                                       "-99999999999999999999.999999999999999999",
                                       "100",
                                       "0.00",
                                       "10.010"};
    static const char *const other[][2] = {
        {".5", "0.5"},
        {"5.", "5"},
        {"+7", "7"},
        {" 3 ", "3"},
        {"\t3.0", "3.0"},
        {"007", "7"},
        {"1e3", "1000"},
        {"1.5E+2", "150"},
        {"25e-4", "0.0025"},
        {"1.50e1", "15.0"},
        {"-0", "0"},
        {"0e9999", "0"},
        {"1e-18", "0.000000000000000001"},
        {"1.0000000000000000000000000000000000000000000000", "1.000000000000000000"},
        {"100000000000000000000e-1", "10000000000000000000.0"}};
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_string_equal(again(same[i]), same[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_string_equal(again(other[i][0]), other[i][1]);
}

static void what_is_not_a_number_or_does_not_fit_is_refused(void **state) {
    static const char *const bad[] = {"",
                                      " ",
                                      "-",
                                      "+",
                                      ".",
                                      "e5",
                                      "1e",
                                      "1e+",
                                      "1,5",
                                      "1 000",
                                      "$5",
                                      "5 EUR",
                                      "1.2.3",
                                      "--1",
                                      "0x10",
                                      "inf",
                                      "nan",
                                      "1e5x",
                                      "- 1",
                                      "0.0000000000000000001",
                                      "1e-19",
                                      "100000000000000000000",
                                      "1e20",
                                      "1e999999999999",
                                      "1e-999999999999"};
    unsigned places = 0;
    decimal d;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (again(bad[i])) fail_msg("'%s' was read as %s", bad[i], again(bad[i]));
    assert_false(decimal_parse(&d, &places, "1\0", 2));
    assert_true(decimal_parse(&d, &places, "12345", 2) && d == (decimal)12 * 1000000000000000000);
}

static void sums_are_exact_and_never_wrap(void **state) {
    unsigned places = 0;
    decimal tenth, sum = 0, most;
    char text[DECIMAL_TEXT];
    (void)state;
    assert_true(decimal_parse(&tenth, &places, "0.1", 3));
    for (int i = 0; i < 1000; i++) assert_true(decimal_add(&sum, tenth));
    decimal_text(sum, places, text);
    assert_string_equal(text, "100.0");
    assert_true(decimal_parse(&most, &places, "99999999999999999999", 20));
    sum = most;
    assert_false(decimal_add(&sum, most));
    assert_true(sum == most);
    assert_true(decimal_add(&sum, -most) && sum == 0);
}

static void a_sum_is_written_with_the_most_places_of_its_amounts(void **state) {
    unsigned places = 0;
    decimal a, b;
    char text[DECIMAL_TEXT];
    (void)state;
    assert_true(decimal_parse(&a, &places, "1.25", 4));
    assert_true(decimal_parse(&b, &places, "2", 1));
    decimal_text(b, places, text);
    assert_string_equal(text, "2.00");
    decimal_text(a, 0, text); /* more than asked for: nothing is cut off */
    assert_string_equal(text, "1.25");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_written_as_they_were_read),
        cmocka_unit_test(what_is_not_a_number_or_does_not_fit_is_refused),
        cmocka_unit_test(sums_are_exact_and_never_wrap),
        cmocka_unit_test(a_sum_is_written_with_the_most_places_of_its_amounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
