/* What a user may write, what it means, and what is said when it means nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "seen.h"
#include "spec/spec.h"

static struct seen_spec parse(const char *text) {
    struct seen_spec spec;
    struct seen_error e = {0};
    if (seen_spec_parse(&spec, text, &e)) fail_msg("'%s': %s", text, e.text);
    return spec;
}

static const char *print(const struct seen_spec *spec) {
    static char buf[600];
    seen_spec_print(spec, buf, sizeof buf);
    return buf;
}

static void a_window_is_its_kind_its_unit_and_its_length(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t window, unit;
        uint64_t length, subwindows;
    } cases[] = {
        {"landmark", SEEN_WINDOW_LANDMARK, SEEN_UNIT_NONE, 0, 0},
        {"landmark:1e6", SEEN_WINDOW_LANDMARK, SEEN_UNIT_RECORDS, 1000000, 0},
        {"landmark:1d", SEEN_WINDOW_LANDMARK, SEEN_UNIT_MICROSECONDS, 86400000000, 0},
        {"landmark:1.5h", SEEN_WINDOW_LANDMARK, SEEN_UNIT_MICROSECONDS, 5400000000, 0},
        {"jumping:1e6/8", SEEN_WINDOW_JUMPING, SEEN_UNIT_RECORDS, 1000000, 8},
        {"jumping:1h/12", SEEN_WINDOW_JUMPING, SEEN_UNIT_MICROSECONDS, 3600000000, 12},
        {"sliding:24h", SEEN_WINDOW_SLIDING, SEEN_UNIT_MICROSECONDS, 86400000000, 0},
        {"sliding:1", SEEN_WINDOW_SLIDING, SEEN_UNIT_RECORDS, 1, 0},
        {"sliding:1e15", SEEN_WINDOW_SLIDING, SEEN_UNIT_RECORDS, 1000000000000000, 0},
        {"decaying", SEEN_WINDOW_DECAYING, SEEN_UNIT_NONE, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen_spec s = parse(cases[i].text);
        assert_int_equal(s.window, cases[i].window);
        assert_int_equal(s.unit, cases[i].unit);
        assert_int_equal(s.length, cases[i].length);
        assert_int_equal(s.subwindows, cases[i].subwindows);
        assert_int_equal(s.given, 0);
    }
}

static void options_are_set_and_known_to_be_set(void **state) {
    (void)state;
    struct seen_spec s =
        parse("jumping:1h/12 fp=1e-6 mem=1.5GiB items=2e6 rate=0.5 filter=bloom "
              "refresh=first overload=shrink hash=siphash seed=18446744073709551615 "
              "shards=1024 cache=1e5 k=64 lines=7 width=5 stamp=21 ticks=60");
    assert_true(seen_spec_get_real(&s, "fp") == 1e-6 && seen_spec_get_real(&s, "rate") == .5);
    assert_int_equal(seen_spec_get_count(&s, "mem"), (uint64_t)3 << 29);
    assert_int_equal(seen_spec_get_count(&s, "items"), 2000000);
    assert_string_equal(options_name(&s, OPTION_FILTER), "bloom");
    assert_int_equal(seen_spec_get_count(&s, "refresh"), SEEN_REFRESH_FIRST);
    assert_int_equal(seen_spec_get_count(&s, "overload"), SEEN_OVERLOAD_SHRINK);
    assert_int_equal(seen_spec_get_count(&s, "hash"), SEEN_HASH_SIPHASH);
    assert_true(seen_spec_get_count(&s, "seed") == UINT64_MAX);
    assert_int_equal(seen_spec_get_count(&s, "shards"), 1024);
    assert_int_equal(seen_spec_get_count(&s, "verify"), 100000);
    assert_int_equal(seen_spec_get_count(&s, "k"), 64);
    assert_int_equal(seen_spec_get_count(&s, "blocks"), 7);
    assert_int_equal(seen_spec_get_count(&s, "width"), 5);
    assert_true(seen_spec_get_count(&s, "stamp") == 21 && seen_spec_get_count(&s, "ticks") == 60);
    assert_int_equal(s.given, ((uint64_t)1 << (OPTION_TICKS + 1)) - 1);
}

static void printing_is_canonical(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"landmark", "landmark"},
        {"  landmark:24h\t", "landmark:1d"},
        {"landmark:1e6 seed=5 fp=0.000001", "landmark:1000000 fp=1e-06 seed=5"},
        {"jumping:3600s/12 mem=65536KiB", "jumping:1h/12 mem=64MiB"},
        {"sliding:90m", "sliding:1.5h"},
        {"sliding:100ms items=1e3", "sliding:100ms items=1000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen_spec s = parse(cases[i][0]);
        /* The span may be written in either of two exact ways: what counts is that it reads back.
         */
        struct seen_spec again = parse(print(&s));
        assert_memory_equal(&s, &again, sizeof s);
        if (!strchr(cases[i][0], '9')) assert_string_equal(print(&s), cases[i][1]);
    }
}

static uint64_t next(uint64_t *x) {
    *x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17;
    return *x;
}

/* Any value of an option, within its bounds. */
static void set_any(struct seen_spec *s, enum option option, uint64_t any) {
    const struct seen_option *o = seen_option(option);
    uint64_t least = (uint64_t)o->min, whole = least + any % ((uint64_t)o->max - least + 1);
    uint32_t choices = 0;
    if (o->kind == SEEN_KIND_COUNT || o->kind == SEEN_KIND_SIZE || o->kind == SEEN_KIND_SPAN)
        options_set(s, option, whole);
    if (o->kind != SEEN_KIND_CHOICE) return;
    while (o->choices[choices]) choices++;
    options_set(s, option, any % choices);
}

static void any_spec_printed_reads_back_the_same(void **state) {
    (void)state;
    uint64_t rng = 20050510;
    for (int i = 0; i < 20000; i++) {
        struct seen_spec s = {.window = 1 + (uint32_t)(next(&rng) % 4)};
        if (s.window == SEEN_WINDOW_JUMPING || s.window == SEEN_WINDOW_SLIDING || next(&rng) % 2)
            s.unit = SEEN_UNIT_RECORDS + (uint32_t)(next(&rng) % 2);
        if (s.window == SEEN_WINDOW_DECAYING) s.unit = SEEN_UNIT_NONE;
        if (s.unit) s.length = 1 + next(&rng) % ((uint64_t)1 << next(&rng) % 49);
        if (s.window == SEEN_WINDOW_JUMPING)
            s.subwindows = 1 + next(&rng) % (s.length < 255 ? s.length : 255);
        s.given = next(&rng) % ((uint64_t)1 << OPTION_COUNT);
        if (options_has(&s, OPTION_FP))
            seen_spec_set_real(&s, "fp",
                               ldexp((double)(next(&rng) >> 12 | 1), -52 - (int)(next(&rng) % 60)),
                               NULL);
        if (options_has(&s, OPTION_MEM))
            seen_spec_set_count(&s, "mem", 1024 + next(&rng) % ((uint64_t)1 << next(&rng) % 48),
                                NULL);
        if (options_has(&s, OPTION_ITEMS))
            seen_spec_set_count(&s, "items", 1 + next(&rng) % 1000000000000000, NULL);
        if (options_has(&s, OPTION_RATE))
            seen_spec_set_real(&s, "rate", (double)(1 + next(&rng) % 1000000) / 1000, NULL);
        if (options_has(&s, OPTION_FILTER))
            seen_spec_set(&s, "filter", next(&rng) % 2 ? "exact" : "bloom", NULL);
        if (options_has(&s, OPTION_REFRESH))
            seen_spec_set_count(&s, "refresh", (uint32_t)(next(&rng) % 2), NULL);
        if (options_has(&s, OPTION_OVERLOAD))
            seen_spec_set_count(&s, "overload", (uint32_t)(next(&rng) % 4), NULL);
        if (options_has(&s, OPTION_HASH))
            seen_spec_set_count(&s, "hash", (uint32_t)(next(&rng) % 4), NULL);
        if (options_has(&s, OPTION_SEED)) seen_spec_set_count(&s, "seed", next(&rng), NULL);
        if (options_has(&s, OPTION_SHARDS))
            seen_spec_set_count(&s, "shards", 1 + next(&rng) % 1024, NULL);
        if (options_has(&s, OPTION_VERIFY))
            seen_spec_set_count(&s, "verify", 1 + next(&rng) % ((uint64_t)1 << 31), NULL);
        if (options_has(&s, OPTION_K)) seen_spec_set_count(&s, "k", 1 + next(&rng) % 64, NULL);
        if (options_has(&s, OPTION_BLOCKS))
            seen_spec_set_count(&s, "blocks", next(&rng) % ((uint64_t)1 << 42), NULL);
        for (int o = OPTION_BLOCKS + 1; o < OPTION_COUNT; o++)
            if (options_has(&s, (enum option)o)) set_any(&s, (enum option)o, next(&rng));
        char one[600];
        strcpy(one, print(&s));
        struct seen_spec again = parse(one);
        assert_string_equal(print(&again), one);
        assert_memory_equal(&again, &s, sizeof s);
    }
}

static void printing_tells_the_length_it_needs_and_never_overruns(void **state) {
    (void)state;
    struct seen_spec s = parse("jumping:1h/12 fp=1e-6 mem=64MiB");
    char buf[64];
    size_t need = (size_t)seen_spec_print(&s, NULL, 0);
    assert_int_equal(need, strlen(print(&s)));
    for (size_t cap = 0; cap <= need + 1; cap++) {
        memset(buf, '#', sizeof buf);
        assert_int_equal(seen_spec_print(&s, buf, cap), need);
        assert_int_equal(buf[cap], '#');
        if (cap) assert_int_equal(strlen(buf), cap - 1 < need ? cap - 1 : need);
    }
}

static void what_makes_no_sense_is_refused_with_its_column_and_a_reason(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t where;
        const char *says; /* part of the sentence */
    } cases[] = {
        {"", 1, "empty"},
        {"   ", 1, "empty"},
        {"fp=1e-6", 1, "is not known"},
        {"landmarks", 1, "is not known"},
        {"Landmark", 1, "is not known"},
        {":5", 1, "is not known"},
        {"landmark landmark", 10, "name=value"},
        {"landmark:", 10, "needs a length"},
        {"landmark:x", 10, "not a span"},
        {"landmark:0", 10, "makes no sense"},
        {"sliding:0", 9, "makes no sense"},
        {"sliding:0s", 9, "makes no sense"},
        {"sliding:9223372036854775808", 9, "makes no sense"},
        {"sliding:1e16", 9, "makes no sense"},
        {"sliding:1e99", 9, "too large"},
        {"sliding:1.5", 9, "whole number"},
        {"sliding:1y", 10, "such as 365d"},
        {"sliding:1M", 10, "1e6 for records, or 1m for minutes"},
        {"sliding:2k", 10, "2e3 for records"},
        {"jumping:1M/8", 10, "1e6 for records, or 1m for minutes"},
        {"sliding:1H", 10, "write 1h"},
        {"sliding:2 Hours", 11, "name=value"},
        {"sliding:2Hours", 10, "write 2hours"},
        {"sliding:1_", 10, "unknown unit"},
        {"sliding:_1", 9, "not a count"},
        {"sliding:1__0", 10, "unknown unit"},
        {"sliding:-1", 9, "not a count"},
        {"sliding", 8, "needs a length"},
        {"jumping", 8, "needs a length"},
        {"jumping:1e6", 12, "sub-windows"},
        {"jumping:1e6/", 13, "not a count"},
        {"jumping:1e6/0", 13, "1 to 255"},
        {"jumping:1e6/256", 13, "1 to 255"},
        {"jumping:5/6", 11, "more than"},
        {"landmark:5/6", 11, "only jumping"},
        {"sliding:1h/2", 11, "only jumping"},
        {"decaying:5", 9, "no length"},
        {"landmark fp", 10, "name=value"},
        {"landmark =5", 10, "is not known"},
        {"landmark size=5", 10, "is not known"},
        {"landmark fp=1e-6 fp=1e-7", 18, "twice"},
        {"landmark fp=0", 13, "above 0"},
        {"landmark fp=1", 13, "below 1"},
        {"landmark fp=2", 13, "below 1"},
        {"landmark fp=-1", 13, "not a rate"},
        {"landmark fp=nan", 13, "not a rate"},
        {"landmark fp=0x1", 13, "not a rate"},
        {"landmark fp=", 13, "not a rate"},
        {"landmark mem=1", 15, "needs a unit"},
        {"landmark mem=64m", 16, "64M (67108864 bytes) or 64MB (64000000 bytes)"},
        {"landmark mem=64mb", 16, "64M (67108864 bytes) or 64MB (64000000 bytes)"},
        {"landmark mem=2kB", 15, "2K (2048 bytes) or 2KB (2000 bytes)"},
        {"landmark mem=1.5gib", 17, "write 1.5GiB"},
        {"landmark mem=64Mo", 16, "unknown unit"},
        {"landmark mem=1B", 14, "at least 1KiB"},
        {"landmark mem=0.5KiB", 14, "at least 1KiB"},
        {"landmark mem=1e9GiB", 14, "at most"},
        {"landmark items=0", 16, "at least 1"},
        {"landmark items=1e16", 16, "at most"},
        {"landmark items=9223372036854775808", 16, "at most"},
        {"landmark items=1.5", 16, "whole number"},
        {"landmark items=1M", 17, "takes no unit: write 1e6"},
        {"landmark items=2k", 17, "takes no unit: write 2e3"},
        {"landmark items=1,000", 17, "without commas"},
        {"landmark items=1%", 17, "unknown unit"},
        {"landmark fp=1/100", 13, "0.1%"},
        {"landmark fp=100%", 13, "below 1"},
        {"landmark fp=0%", 13, "above 0"},
        {"landmark fp=%", 13, "not a rate"},
        {"landmark fp=0.5 %", 17, "name=value"},
        {"landmark:1d rate=5/y", 18, "1e9/d"},
        {"landmark:1d rate=5/", 18, "1e9/d"},
        {"landmark:1d rate=1%", 18, "records a second"},
        {"landmark:1d rate=0", 18, "above 0"},
        {"landmark filter=bloo", 17, "not known"},
        {"landmark filter=", 17, "not known"},
        {"landmark refresh=never", 18, "last or first"},
        {"landmark hash=md5", 15, "xxh3"},
        {"landmark seed=18446744073709551616", 15, "too large"},
        {"landmark shards=1025", 17, "at most 1024"},
        {"landmark cache=0", 16, "at least 1"},
        {"landmark k=65", 12, "at most 64"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen_spec spec, untouched;
        struct seen_error e = {0};
        memset(&spec, 'x', sizeof spec);
        untouched = spec;
        int bad = seen_spec_parse(&spec, cases[i].text, &e);
        if (bad != SEEN_EINVAL || e.code != bad || e.where != cases[i].where ||
            !strstr(e.text, cases[i].says))
            fail_msg("'%s' gives %d at column %zu (not %zu): %s (not …%s…)", cases[i].text, bad,
                     e.where, cases[i].where, e.text, cases[i].says);
        assert_memory_equal(&spec, &untouched, sizeof spec);
        assert_int_equal(seen_spec_parse(&spec, cases[i].text, NULL), SEEN_EINVAL);
    }
}

static void setting_replaces_and_a_bad_value_changes_nothing(void **state) {
    (void)state;
    struct seen_spec s = parse("landmark fp=1e-6"), before;
    struct seen_error e;
    assert_int_equal(seen_spec_set(&s, "fp", "1e-7", &e), 0);
    assert_true(seen_spec_get_real(&s, "fp") == 1e-7);
    assert_int_equal(seen_spec_set(&s, "window", "jumping:1h/12", &e), 0);
    assert_string_equal(print(&s), "jumping:1h/12 fp=1e-07");
    before = s;
    assert_int_equal(seen_spec_set(&s, "window", "jumping:1h", &e), SEEN_EINVAL);
    assert_int_equal(seen_spec_set(&s, "mem", "64", &e), SEEN_EINVAL);
    assert_int_equal(seen_spec_set(&s, "memory", "64MiB", &e), SEEN_EINVAL);
    assert_memory_equal(&s, &before, sizeof s);
}

static void a_long_word_of_rubbish_is_quoted_in_part(void **state) {
    (void)state;
    char text[5000];
    struct seen_spec s;
    struct seen_error e;
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = 0;
    assert_int_equal(seen_spec_parse(&s, text, &e), SEEN_EINVAL);
    assert_true(strlen(e.text) < sizeof e.text);
    memcpy(text, "landmark ", 9);
    assert_int_equal(seen_spec_parse(&s, text, &e), SEEN_EINVAL);
    memcpy(text, "landmark filter=", 16);
    assert_int_equal(seen_spec_parse(&s, text, &e), SEEN_EINVAL);
    memcpy(text, "jumping:5/", 10);
    assert_int_equal(seen_spec_parse(&s, text, &e), SEEN_EINVAL);
    memset(text + 10, '9', 3000);
    assert_int_equal(seen_spec_parse(&s, text, &e), SEEN_EINVAL);
}

/* -- units -------------------------------------------------------------------------------- */

static void units_are_exact_or_refused(void **state) {
    (void)state;
    static const struct {
        char kind; /* count, size or span */
        const char *text;
        uint64_t value; /* 0: refused */
    } cases[] = {
        {'n', "1", 1},
        {'n', "1e6", 1000000},
        {'n', "1.5e3", 1500},
        {'n', "1500e-2", 15},
        {'n', "18446744073709551615", UINT64_MAX},
        {'n', "18446744073709551616", 0},
        {'n', "1.8446744073709551615e19", UINT64_MAX},
        {'n', "1e20", 0},
        {'n', "1e-1", 0},
        {'n', "1e", 0},
        {'n', "e6", 0},
        {'n', ".", 0},
        {'n', "1.2.3", 0},
        {'n', " 1", 0},
        {'n', "1 ", 0},
        {'n', "+1", 0},
        {'n', "99999999999999999999999999999999999999999999", 0},
        {'b', "1KiB", 1024},
        {'b', "1.5GiB", (uint64_t)3 << 29},
        {'b', "64MiB", (uint64_t)64 << 20},
        {'b', "0.5KiB", 512},
        {'b', "1e3GiB", (uint64_t)1000 << 30},
        {'b', "17179869184GiB", 0},
        {'b', "17179869183GiB", (uint64_t)17179869183 << 30},
        {'b', "64", 0},
        {'b', "64kib", 0},
        {'b', "64mb", 0},
        {'b', "64m", 0},
        {'b', "64kB", 0},
        {'b', "64MB", 64000000},
        {'b', "64M", (uint64_t)64 << 20},
        {'b', "1G", 1 << 30},
        {'b', "1GB", 1000000000},
        {'b', "2K", 2048},
        {'b', "2KB", 2000},
        {'b', "1T", (uint64_t)1 << 40},
        {'b', "1TB", 1000000000000},
        {'b', "1TiB", (uint64_t)1 << 40},
        {'b', "4_096B", 4096},
        {'b', "1.5B", 0},
        {'n', "1_000_000", 1000000},
        {'n', "1_0e2", 1000},
        {'n', "1__0", 0},
        {'n', "_1", 0},
        {'n', "1_", 0},
        {'n', "1._5e3", 0},
        {'n', "1M", 0},
        {'n', "1k", 0},
        {'t', "1hour", 3600000000},
        {'t', "2days", 172800000000},
        {'t', "5min", 300000000},
        {'t', "5mins", 300000000},
        {'t', "90seconds", 90000000},
        {'t', "1week", 604800000000},
        {'t', "1_000ms", 1000000},
        {'t', "1month", 0},
        {'t', "1Hour", 0},
        {'t', "500ms", 500000},
        {'t', "90s", 90000000},
        {'t', "15m", 900000000},
        {'t', "1.5h", 5400000000},
        {'t', "7d", 604800000000},
        {'t', "2w", 1209600000000},
        {'t', "0.001ms", 1},
        {'t', "0.0001ms", 0},
        {'t', "1", 0},
        {'t', "1us", 0},
        {'t', "1M", 0},
        {'t', "1e30d", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen_error e = {0};
        uint64_t value = 0;
        const char *t = cases[i].text;
        int bad = cases[i].kind == 'n'   ? seen_parse_count(t, &value, &e)
                  : cases[i].kind == 'b' ? seen_parse_size(t, &value, &e)
                                         : seen_parse_span(t, &value, &e);
        if (bad ? cases[i].value || e.code != SEEN_EINVAL || !e.where : value != cases[i].value)
            fail_msg("'%s' gave %d, %llu: %s", t, bad, (unsigned long long)value, e.text);
    }
}

static void rates_are_shares_or_records_a_second(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        double fp, rate;
    } cases[] = {{"landmark fp=1%", .01, 0},
                 {"landmark fp=0.3%", .003, 0},
                 {"landmark fp=1e-4%", 1e-6, 0},
                 {"landmark fp=.1", .1, 0},
                 {"landmark:1d rate=500", 0, 500},
                 {"landmark:1d rate=500/s", 0, 500},
                 {"landmark:1d rate=3e4/m", 0, 500},
                 {"landmark:1d rate=7_200/h", 0, 2},
                 {"landmark:1d rate=1e9/d", 0, 1e9 / 86400}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seen_spec s = parse(cases[i].spec), again = parse(print(&s));
        assert_true(seen_spec_get_real(&s, "fp") == cases[i].fp &&
                    seen_spec_get_real(&s, "rate") == cases[i].rate);
        assert_memory_equal(&s, &again, sizeof s);
    }
}

/* Each "write X" of a message, put in the place of what was refused. */
static void follow_advice(const char *before, const char *says) {
    for (const char *at = strstr(says, "write "); at; at = strstr(at, " or ")) {
        char spec[200];
        struct seen_spec s;
        struct seen_error e;
        at += strspn(at, " ") + strcspn(at + 1, " ") + 1;
        at += strspn(at, " ");
        snprintf(spec, sizeof spec, "%s%.*s", before, (int)strcspn(at, " ,;"), at);
        if (seen_spec_parse(&s, spec, &e)) fail_msg("%s (from: %s): %s", spec, says, e.text);
    }
}

static void the_spellings_that_messages_suggest_are_accepted(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"sliding:", "1M"},         {"sliding:", "5K"},       {"sliding:", "2G"},
        {"sliding:", "1H"},         {"sliding:", "3Hours"},   {"sliding:", "5MINUTES"},
        {"sliding:1h mem=", "64m"}, {"landmark mem=", "1gb"}, {"landmark mem=", "64kib"},
        {"landmark mem=", "1.5g"},  {"landmark mem=", "2kB"}, {"landmark items=", "1M"},
        {"landmark items=", "2k"},  {"landmark items=", "3G"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char spec[100];
        struct seen_spec s;
        struct seen_error e;
        snprintf(spec, sizeof spec, "%s%s", cases[i][0], cases[i][1]);
        assert_int_equal(seen_spec_parse(&s, spec, &e), SEEN_EINVAL);
        if (!strstr(e.text, "write ")) fail_msg("%s: %s", spec, e.text);
        follow_advice(cases[i][0], e.text);
    }
}

static void a_printed_unit_reads_back_exactly(void **state) {
    (void)state;
    uint64_t rng = 7;
    for (int i = 0; i < 50000; i++) {
        uint64_t value = next(&rng) >> next(&rng) % 64, back = 0;
        char buf[64];
        uint64_t size = value >> 16; /* as much as mem= allows */
        seen_print_size(size, buf, sizeof buf);
        if (seen_parse_size(buf, &back, NULL) || back != size)
            fail_msg("%llu: %s", (unsigned long long)value, buf);
        seen_print_span(value, buf, sizeof buf);
        if (seen_parse_span(buf, &back, NULL) || back != value)
            fail_msg("%llu: %s", (unsigned long long)value, buf);
    }
}

static void the_largest_unit_that_divides_is_printed(void **state) {
    (void)state;
    char buf[32];
    static const struct {
        uint64_t value;
        const char *size, *span;
    } cases[] = {{(uint64_t)64 << 20, "64MiB", NULL},
                 {(uint64_t)3 << 29, "1536MiB", NULL},
                 {1536, "1.5KiB", NULL},
                 {3600000000, NULL, "1h"},
                 {1500, NULL, "1.5ms"},
                 {604800000000, NULL, "1w"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].size) {
            seen_print_size(cases[i].value, buf, sizeof buf);
            assert_string_equal(buf, cases[i].size);
        } else {
            seen_print_span(cases[i].value, buf, sizeof buf);
            assert_string_equal(buf, cases[i].span);
        }
    }
}

static void a_slip_of_the_finger_is_near_its_name_and_another_word_is_not(void **state) {
    const size_t far = SIZE_MAX;
    const struct {
        const char *word, *name;
        size_t distance;
    } cases[] = {{"last", "last", 0},      {"lsat", "last", 1},
                 {"lst", "last", 1},       {"laast", "last", 1},
                 {"laxt", "last", 1},      {"first", "last", far},
                 {"csv", "cvs", 1},        {"cvs", "csv", 1},
                 {"fpp", "fp", 1},         {"", "last", far},
                 {"x", "k", far},          {"ab", "ba", 1},
                 {"slidng", "sliding", 1}, {"sldin", "sliding", 2},
                 {"sdg", "sliding", far},  {"partitoined", "partitioned", 1},
                 {"bca", "abc", far},      {"landmark", "", far}};
    char long_word[100], long_name[100] = "";
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(seen_slip(cases[i].word, strlen(cases[i].word), cases[i].name),
                         cases[i].distance);
    memset(long_word, 'a', sizeof long_word);
    memset(long_name, 'a', sizeof long_name - 1);
    assert_int_equal(seen_slip(long_word, sizeof long_word, long_name), 0);
    assert_int_equal(seen_slip("lastly", 4, "last"), 0);
}

static void old_names_are_read_and_new_ones_are_printed(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"decaying filter=clock", "decaying filter=second-chance"},
        {"decaying filter=stable max=3 p=10 decrement=each",
         "decaying filter=stable cell-max=3 decrements=10 spread=each"},
        {"landmark lines=7 cache=9", "landmark verify=9 blocks=7"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct seen_spec spec;
        char text[200];
        assert_int_equal(seen_spec_parse(&spec, pairs[i][0], NULL), 0);
        seen_spec_print(&spec, text, sizeof text);
        assert_string_equal(text, pairs[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_its_kind_its_unit_and_its_length),
        cmocka_unit_test(options_are_set_and_known_to_be_set),
        cmocka_unit_test(printing_is_canonical),
        cmocka_unit_test(old_names_are_read_and_new_ones_are_printed),
        cmocka_unit_test(any_spec_printed_reads_back_the_same),
        cmocka_unit_test(printing_tells_the_length_it_needs_and_never_overruns),
        cmocka_unit_test(what_makes_no_sense_is_refused_with_its_column_and_a_reason),
        cmocka_unit_test(setting_replaces_and_a_bad_value_changes_nothing),
        cmocka_unit_test(a_long_word_of_rubbish_is_quoted_in_part),
        cmocka_unit_test(units_are_exact_or_refused),
        cmocka_unit_test(rates_are_shares_or_records_a_second),
        cmocka_unit_test(the_spellings_that_messages_suggest_are_accepted),
        cmocka_unit_test(a_printed_unit_reads_back_exactly),
        cmocka_unit_test(the_largest_unit_that_divides_is_printed),
        cmocka_unit_test(a_slip_of_the_finger_is_near_its_name_and_another_word_is_not),
    };
    return cmocka_run_group_tests_name("specs", tests, NULL, NULL);
}
