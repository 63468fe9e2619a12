/* law_cache - the fingerprint cache: what it holds against a naive one, its statistics against
 * their closed forms, over 20 seeds at five sigma. */
#include "law.h"
#include "tally.h"

#include "base/base.h"
#include "base/bits.h"
#include "theory/decaying.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 20

static bool is_cache(const struct law_case *c) {
    return c->window == SEEN_WINDOW_DECAYING && !strcmp(c->structure, "cache");
}

static struct theory_cache theory(const struct seen_spec *s) {
    uint64_t sets = 496 /
                    (seen_spec_get_count(s, "set-size") * seen_spec_get_count(s, "signature")) *
                    seen_spec_get_count(s, "blocks");
    return (struct theory_cache){(double)sets, (double)seen_spec_get_count(s, "set-size"),
                                 ldexp(1, (int)seen_spec_get_count(s, "signature")) - 1,
                                 seen_spec_get_count(s, "refresh") == SEEN_REFRESH_FIRST};
}

/* -- a naive one -------------------------------------------------------------------------- */

struct naive {
    const struct seen_spec *spec;
    uint64_t *entry, stored; /* of each set, the newest first */
};

static uint64_t *naive_set(const struct naive *c, seen_digest d, uint64_t *fingerprint) {
    const struct seen_spec *s = c->spec;
    uint64_t values = ((uint64_t)1 << seen_spec_get_count(s, "signature")) - 1;
    double a_line = floor(
        496 / (double)(seen_spec_get_count(s, "set-size") * seen_spec_get_count(s, "signature")));
    uint64_t set = (uint64_t)(ldexp((double)(d.lo & UINT32_MAX), -32) * a_line);
    uint64_t line =
        (uint64_t)(ldexp((double)(d.lo >> 32), -32) * (double)seen_spec_get_count(s, "blocks"));
    *fingerprint =
        1 + bits_range(seen_spec_get_count(s, "signature") > 24 ? d.hi : d.hi >> 32 << 32, values);
    return c->entry + (line * (uint64_t)a_line + set) * seen_spec_get_count(s, "set-size");
}

static uint64_t naive_find(const struct naive *c, seen_digest d) {
    uint64_t fingerprint, *set = naive_set(c, d, &fingerprint), i = 0;
    while (i < seen_spec_get_count(c->spec, "set-size") && set[i] != fingerprint) i++;
    return i;
}

static uint8_t naive_observe(struct naive *c, seen_digest d) {
    uint64_t fingerprint, *set = naive_set(c, d, &fingerprint), i = naive_find(c, d);
    bool found = i < seen_spec_get_count(c->spec, "set-size");
    if (found && seen_spec_get_count(c->spec, "refresh") == SEEN_REFRESH_FIRST)
        return SEEN_DUPLICATE;
    if (!found) {
        i--;
        c->stored += !set[i];
    }
    memmove(set + 1, set, i * sizeof *set);
    set[0] = fingerprint;
    return found ? SEEN_DUPLICATE : SEEN_NEW;
}

/* Compares verdicts, ages and counts, for sets of any size and at any place in their line. */
static void play_beside_naive(const char *spec, uint32_t cpu, uint64_t rng) {
    enum { RECORDS = 4000, BATCH = 100 };
    struct seen_plan plan;
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    law_plan(&plan, "%s", spec);
    seen_detector *d = law_new_on(&plan, cpu);
    struct theory_cache t = theory(&plan.spec);
    uint64_t cells = (uint64_t)(t.sets * t.ways);
    struct naive naive = {&plan.spec, calloc(cells, sizeof *naive.entry), 0};
    for (int n = 0; n < RECORDS; n += BATCH) {
        if (n == RECORDS / 2) {
            seen_landmark(d);
            memset(naive.entry, 0, cells * sizeof *naive.entry);
            naive.stored = 0;
        }
        for (int i = 0; i < BATCH; i++)
            digest[i] = law_digest(law_below(&rng, law_below(&rng, 2) ? cells : 10 * cells), 3);
        seen_observe(d, BATCH, digest, verdict);
        for (int i = 0; i < BATCH; i++) {
            uint8_t expected = naive_observe(&naive, digest[i]);
            law_check(verdict[i] == expected, "%s, cpu %u: record %d is %d, naively %d", spec, cpu,
                      n + i, verdict[i], expected);
        }
        for (int i = 0; i < BATCH; i++) {
            uint64_t age, at = naive_find(&naive, digest[i]);
            seen_last_seen(d, 1, &digest[i], &age);
            law_check(
                age == (at < seen_spec_get_count(&plan.spec, "set-size") ? 1 + at : SEEN_NEVER),
                "%s: age %llu at %llu", spec, (unsigned long long)age, (unsigned long long)at);
        }
    }
    struct seen_stats stats;
    seen_stats(d, &stats);
    law_check(stats.stored == naive.stored, "%s: %llu stored, naively %llu", spec,
              (unsigned long long)stats.stored, (unsigned long long)naive.stored);
    law_check(fabs(stats.fp_now - (double)naive.stored / t.sets / t.values) < 1e-12, "%s: fp_now",
              spec);
    free(naive.entry);
    seen_free(d);
}

static void cache_is_what_a_naive_one_is(const struct law_case *c) {
    uint64_t rng = law_seed();
    for (int bits = 2; is_cache(c) && bits <= 48; bits++)
        for (int ways = 1; ways <= 16; ways++) {
            char spec[160];
            if (bits * ways > 496 || ways >= ldexp(1, bits) - 1) continue;
            if (bits * ways > 70 && law_below(&rng, 4)) continue;
            snprintf(spec, sizeof spec, "decaying filter=cache ways=%d signature=%d lines=%d %s",
                     ways, bits, 1 + (int)law_below(&rng, 9),
                     law_below(&rng, 4) ? "" : "refresh=first");
            uint64_t seed = law_next(&rng);
            play_beside_naive(spec, CPU_PORTABLE, seed);
            play_beside_naive(spec, CPU_BEST, seed);
        }
}

/* -- statistics --------------------------------------------------------------------------- */

static const char *const settings[] = {
    "ways=2 signature=5 lines=1050",  "ways=5 signature=9 lines=1900",
    "ways=1 signature=12 lines=2500", "ways=9 signature=11 lines=2300",
    "ways=5 signature=33 lines=6700", "ways=4 signature=14 lines=3200 refresh=first"};

/* A table of 1e5 entries or more, filled; then keys asked for from near to far beyond it. */
static void one_setting(const char *setting) {
    enum { GAPS = 6, ROUNDS = 20, BATCH = 256, ASKED = 50000 };
    static const double far[GAPS] = {.05, .2, .5, 1, 1.6, 3};
    struct tally lost[GAPS] = {{0}}, fp = {0}, told = {0};
    struct theory_cache t = {0};
    seen_digest *digest = NULL;
    double entries = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t rng = law_seed() * 1000 + seed;
        double misses[GAPS] = {0};
        struct seen_plan plan;
        law_plan(&plan, "decaying filter=cache %s seed=%llu", setting, (unsigned long long)seed);
        seen_detector *d = law_new(&plan, NULL);
        t = theory(&plan.spec);
        entries = t.sets * t.ways;
        law_check(entries >= 1e5, "%s: only %g entries", setting, entries);
        uint64_t n = (uint64_t)((5 + 5 / t.ways) * entries);
        if (!digest) digest = malloc((n + ROUNDS * BATCH) * sizeof *digest);
        law_play_fresh(d, digest, n, &rng);
        for (int round = 0; round < ROUNDS; round++, n += BATCH) {
            law_play_fresh(d, digest + n, BATCH, &rng);
            for (int g = 0; g < GAPS; g++)
                misses[g] += 1 - law_found_at(d, digest, n + BATCH, (uint64_t)(far[g] * entries));
        }
        for (int g = 0; g < GAPS; g++) tally_add(&lost[g], misses[g] / ROUNDS);
        struct seen_stats stats;
        seen_stats(d, &stats);
        tally_add(&fp, law_query_fresh(d, ASKED, &rng));
        tally_add(&told, (double)stats.duplicates - stats.expected_false);
        law_check(stats.fp_now <= plan.fp_full * (1 + 1e-12), "fp_now %g", stats.fp_now);
        law_check((double)stats.stored > .999 * entries, "only %g full",
                  (double)stats.stored / entries);
        seen_free(d);
    }
    free(digest);
    double rate = theory_cache_fp(&t);
    tally_agree("false positives", &fp, rate, tally_coins(rate, SEEDS * ASKED) + 1e-6);
    tally_agree("expected_false", &told, 0, 1);
    for (int g = 0; g < GAPS; g++) {
        double missed = 1 - theory_cache_found(&t, far[g] * entries);
        char what[64];
        snprintf(what, sizeof what, "false negatives at %g", far[g]);
        tally_agree(what, &lost[g], missed, tally_coins(missed, SEEDS * ROUNDS * BATCH) + 1e-4);
    }
}

static void cache_is_as_its_closed_forms_say(const struct law_case *c) {
    for (size_t i = 0; is_cache(c) && i < sizeof settings / sizeof *settings; i++)
        one_setting(settings[i]);
}

/* Fewer than `ways` keys between, however small the table. */
static void cache_misses_nothing_nearer_than_its_ways(const struct law_case *c) {
    static const char *const tiny[] = {"ways=3 signature=9", "ways=8 signature=20",
                                       "ways=16 signature=30"};
    for (size_t i = 0; is_cache(c) && i < 3; i++) {
        uint64_t rng = law_seed() + i;
        seen_detector *d = law_make("decaying filter=cache %s lines=1 seed=3", tiny[i]);
        uint64_t ways = seen_spec_get_count(seen_spec_of(d), "set-size");
        seen_digest last[16];
        for (uint64_t n = 0; n < 3000; n++) {
            uint8_t found;
            law_play_fresh(d, &last[n % 16], 1, &rng);
            for (uint64_t gap = 0; gap < ways && gap <= n; gap++) {
                seen_query(d, 1, &last[(n - gap) % 16], 0, &found);
                law_check(found, "missed after a gap of %llu", (unsigned long long)gap);
            }
        }
        seen_free(d);
    }
}

int main(void) {
    static const struct law laws[] = {
        {"cache is what a naive one is", cache_is_what_a_naive_one_is, false},
        {"cache is as its closed forms say", cache_is_as_its_closed_forms_say, false},
        {"cache misses nothing nearer than its ways", cache_misses_nothing_nearer_than_its_ways,
         false},
    };
    return law_main("cache", laws, sizeof laws / sizeof *laws);
}
