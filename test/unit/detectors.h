/* detectors.h - what unit tests of structures share: keys, chance, and detectors from specs. */
#ifndef DETECTORS_H
#define DETECTORS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../any_window.h"
#include "seen.h"

static inline uint64_t random64(uint64_t *rng) {
    uint64_t z = *rng += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    return z ^ z >> 27;
}

static inline seen_digest key(uint64_t i) { return seen_hash(&i, sizeof i, 5); }

static inline int plan(struct seen_plan *plan, const char *text, struct seen_error *e) {
    struct seen_spec spec;
    int bad = seen_spec_parse(&spec, text, e);
    return bad ? bad : seen_plan_make(plan, &spec, e);
}

static inline seen_detector *make(const char *text) {
    struct seen_error e = {0};
    struct seen_plan p;
    seen_detector *d = NULL;
    if (plan(&p, text, &e) || seen_new(&d, &p, NULL, &e)) fail_msg("%s: %s", text, e.text);
    return d;
}

/* The refusal must say this. */
static inline void refused(const char *text, const char *part) {
    struct seen_error e = {0};
    struct seen_plan p;
    assert_int_equal(plan(&p, text, &e), SEEN_EREFUSED);
    if (!strstr(e.text, part)) fail_msg("%s: %s", text, e.text);
}

static inline uint8_t observe(seen_detector *d, uint64_t i, seen_time now) {
    seen_digest digest = key(i);
    uint8_t verdict;
    any_observe(d, 1, &digest, &now, &verdict);
    return verdict;
}

static inline uint8_t query(const seen_detector *d, uint64_t i, seen_time now) {
    seen_digest digest = key(i);
    uint8_t verdict;
    any_query(d, 1, &digest, now, 0, &verdict);
    return verdict;
}

static inline struct seen_stats stats(const seen_detector *d) {
    struct seen_stats s;
    seen_stats(d, &s);
    return s;
}

#endif
