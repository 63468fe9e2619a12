/* law_snapshot - a detector as bytes: the same afterwards, and safe on any bytes. */
#include "../any_window.h"
#include "law.h"

#include "base/hash.h"
#include "detector/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS 1500
#define LIMIT   ((size_t)1 << 22) /* that loading hostile bytes may allocate */

/* -- identity ----------------------------------------------------------------------------- */

static bool stats_equal(const struct seen_stats *a, const struct seen_stats *b) {
    return a->records == b->records && a->duplicates == b->duplicates && a->unique == b->unique &&
           a->stored == b->stored && a->capacity == b->capacity && a->fp_now == b->fp_now &&
           a->expected_false == b->expected_false && a->landmarks == b->landmarks &&
           a->late == b->late && a->clamped == b->clamped && a->max_late == b->max_late &&
           a->forgotten == b->forgotten && a->kept == b->kept && a->saturated == b->saturated &&
           a->rebuilt == b->rebuilt && a->false_lo == b->false_lo && a->false_hi == b->false_hi &&
           a->expected_missed == b->expected_missed && a->missed_lo == b->missed_lo &&
           a->missed_hi == b->missed_hi && a->fp_worst == b->fp_worst && a->source == b->source &&
           a->sampled_keys == b->sampled_keys && a->sampled_records == b->sampled_records &&
           a->confirmed == b->confirmed && a->last == b->last;
}

static seen_detector *through_bytes(seen_detector *d) {
    struct law_bytes bytes = law_save(d, "the application's own"), again;
    struct seen_stats before, after;
    seen_detector *copy = law_load(&bytes, NULL);
    again = law_save(copy, "the application's own");
    law_check(law_bytes_equal(&bytes, &again), "save(load(x)) is not x");
    seen_stats(d, &before);
    seen_stats(copy, &after);
    law_check(stats_equal(&before, &after), "the statistics differ after loading");
    law_check(seen_seed(d) == seen_seed(copy), "the seed differs after loading");
    law_bytes_free(&bytes);
    law_bytes_free(&again);
    seen_free(d);
    return copy;
}

static void resume(const struct seen_plan *plan, enum law_kind kind, uint64_t seed) {
    uint8_t straight[RECORDS], resumed[RECORDS], unused[RECORDS];
    uint64_t rng = seed;
    struct law_stream s = law_stream(plan, kind, RECORDS, 200, seed);
    seen_detector *one = law_new(plan, NULL), *two = law_new(plan, NULL);
    seen_detector *same = law_new(plan, NULL); /* in the same batches, which must not matter */
    law_play(one, &s, 0, RECORDS, NULL, straight);
    for (size_t i = 0; i < RECORDS;) {
        size_t n = law_below(&rng, 400);
        if (n > RECORDS - i) n = RECORDS - i;
        uint64_t again = rng;
        law_play(same, &s, i, i + n, &again, unused);
        law_play(two, &s, i, i + n, &rng, resumed);
        two = through_bytes(two);
        i += n;
    }
    law_check(!memcmp(straight, resumed, RECORDS), "verdicts differ after loading, stream %d",
              kind);
    law_check(law_alike(same, two), "what is kept differs after loading, stream %d", kind);
    struct seen_stats figures, others;
    seen_stats(one, &figures);
    seen_stats(two, &others);
    law_check(stats_equal(&figures, &others), "statistics depend on batches, stream %d", kind);
    seen_free(one);
    seen_free(two);
    seen_free(same);
    law_stream_free(&s);
}

static void saved_and_loaded_it_gives_the_same_answers(const struct law_case *c) {
    static const char *const more[] = {"fp=.1 items=1500", "items=1500 refresh=first shards=3",
                                       "mem=1MiB", "fp=.2 items=1500 shards=2 cache=40"};
    size_t specs = c->traits & SEEN_NO_FP ? 3 : 4;
    uint64_t rng = law_seed() + c->serial;
    const char *window;
    for (size_t i = 0; (window = law_window(c, i)); i++)
        for (size_t m = 0; m < specs; m++) {
            struct seen_plan plan;
            law_plan(&plan, "%s filter=%s seed=%llu %s", window, c->structure,
                     (unsigned long long)(law_next(&rng) >> 1), more[m]);
            resume(&plan, (enum law_kind)((i + m) % LAW_KINDS), law_next(&rng));
        }
}

/* -- hostile bytes ------------------------------------------------------------------------ */

static struct law_bytes snapshot_of(const struct law_case *c, uint64_t seed, const char *size) {
    uint64_t rng = seed;
    size_t windows = 0, n = 20 + law_below(&rng, 60);
    struct seen_plan plan;
    uint8_t verdict[100];
    while (law_window(c, windows)) windows++;
    bool cache = !(c->traits & SEEN_NO_FP) && law_below(&rng, 2);
    law_plan(&plan, "%s filter=%s %s shards=%d seed=1%s", law_window(c, law_below(&rng, windows)),
             c->structure, size, (int)law_below(&rng, 2) + 1, cache ? " cache=9" : "");
    struct law_stream s = law_stream(&plan, LAW_UNIFORM, n, 50, seed);
    seen_detector *d = law_new(&plan, NULL);
    law_play(d, &s, 0, n, NULL, verdict);
    struct law_bytes bytes = law_save(d, law_below(&rng, 2) ? "blob" : NULL);
    law_stream_free(&s);
    seen_free(d);
    return bytes;
}

static struct law_bytes small_snapshot(const struct law_case *c, uint64_t seed) {
    return snapshot_of(c, seed, "items=40 fp=.05");
}

/* Now and then one whose table is read and checked in several pieces. */
static struct law_bytes any_snapshot(const struct law_case *c, uint64_t seed) {
    bool small = seed % 8 || c->traits & SEEN_GROWS;
    return small ? small_snapshot(c, seed) : snapshot_of(c, seed, "mem=64KiB");
}

/* Every snapshot that loads must work: play records, query, save. */
static void exercise(seen_detector *d, uint64_t seed) {
    uint64_t rng = seed, ages[64];
    uint8_t verdict[64];
    struct seen_stats stats;
    struct seen_plan plan = seen_plan_of(d);
    struct law_stream s = law_stream(&plan, LAW_UNIFORM, 64, 20, seed);
    any_query(d, 64, s.digest, s.time[0], 0, verdict);
    any_last_seen(d, 64, s.digest, s.time[63], ages);
    law_play(d, &s, 0, 64, &rng, verdict);
    seen_landmark(d);
    seen_stats(d, &stats);
    law_check(isfinite(stats.expected_false) && stats.saturated <= (uint64_t)1 << 63 &&
                  stats.forgotten <= (uint64_t)1 << 63 && stats.landmarks <= (uint64_t)1 << 63,
              "a count that no stream makes");
    seen_forget(d, 1, s.digest, NULL);
    struct law_bytes bytes = law_save(d, NULL);
    law_bytes_free(&bytes);
    law_stream_free(&s);
}

/* Loads bytes that may be anything; returns whether they were accepted. */
static bool try_bytes(const struct law_bytes *b, uint64_t seed) {
    struct law_memory memory;
    struct seen_error e = {0};
    seen_detector *d;
    law_memory_init(&memory);
    int bad = law_load_error(&d, b, LIMIT, &memory.allocator, &e);
    law_check(memory.most <= LIMIT, "%llu bytes allocated", (unsigned long long)memory.most);
    law_check(bad ? !d && e.code == bad && *e.text : d != NULL, "code %d, error %d '%s'", bad,
              e.code, e.text);
    if (!bad) exercise(d, seed);
    seen_free(d);
    law_check(!memory.live && !memory.mismatch, "memory leaked, or was freed with a wrong size");
    return !bad;
}

static void a_snapshot_cut_anywhere_is_refused(const struct law_case *c) {
    for (uint64_t seed = law_seed(); seed < law_seed() + 4; seed++) {
        struct law_bytes whole = small_snapshot(c, seed), cut = whole;
        for (cut.len = 0; cut.len < whole.len; cut.len++)
            law_check(!try_bytes(&cut, seed), "accepted when cut to %zu of %zu", cut.len,
                      whole.len);
        law_check(try_bytes(&whole, seed), "the whole one was refused");
        law_bytes_free(&whole);
    }
}

/* Where the two checksums of a snapshot stand; its format is in doc/snapshot.md. */
struct parts {
    size_t header, blob; /* ends of the header without its checksum, and of the blob */
};

static struct parts parts_of(const struct law_bytes *b) {
    uint32_t spec, blob;
    memcpy(&spec, b->data + 8, 4);
    memcpy(&blob, b->data + 12, 4);
    size_t header = 16 + (size_t)spec + sizeof(struct detector_counters);
    if (header > b->len) header = b->len; /* the lengths may be mutated themselves */
    return (struct parts){header, header + 8 + blob};
}

static void write_sum(struct law_bytes *b, size_t from, size_t to) {
    struct hash_sum sum;
    if (to + 8 > b->len || from > to) return;
    hash_sum_begin(&sum);
    hash_sum_add(&sum, b->data + from, to - from);
    uint64_t value = hash_sum_end(&sum);
    memcpy(b->data + to, &value, 8);
}

static void mend_sums(struct law_bytes *b) {
    struct parts p = parts_of(b);
    if (p.header + 8 > b->len) return;
    write_sum(b, 0, p.header);
    write_sum(b, p.header + 8, b->len - 8);
}

/* A byte, a bit, a whole word of awkward value, or a digit of the spec. */
static void mutate(struct law_bytes *b, uint64_t *rng) {
    static const uint64_t words[] = {0,
                                     1,
                                     UINT64_MAX,
                                     UINT64_MAX - 1,
                                     (uint64_t)1 << 63,
                                     (uint64_t)1 << 62,
                                     UINT32_MAX,
                                     0x7ff0000000000000,
                                     0x7ff8000000000000,
                                     0xbff0000000000000,
                                     0x7fefffffffffffff};
    struct parts p = parts_of(b);
    size_t at = law_below(rng, 3) ? law_below(rng, b->len) : law_below(rng, p.header + 200);
    if (at + 8 > b->len) at = b->len - 8;
    switch (law_below(rng, 4)) {
    case 0: b->data[at] = (unsigned char)law_next(rng); break;
    case 1: b->data[at] ^= (unsigned char)(1 << law_below(rng, 8)); break;
    case 2: memcpy(b->data + at / 8 * 8, &words[law_below(rng, 11)], 8); break;
    default:
        at = 16 + law_below(rng, p.header - 16);
        b->data[at] = (unsigned char)("0123456789"[law_below(rng, 10)]);
    }
}

/* For each structure, twice. */
static size_t mutations(void) { return getenv("SEEN_LONG") ? 100000 : 4000; }

static void mutated(const struct law_case *c, bool mend) {
    uint64_t rng = law_seed() ^ c->serial * 1000;
    struct law_bytes whole = {0}, b = {0};
    size_t accepted = 0;
    for (size_t i = 0; i < mutations(); i++) {
        if (i % 100 == 0) {
            law_bytes_free(&whole);
            free(b.data);
            whole = any_snapshot(c, law_next(&rng));
            b.data = malloc(whole.len);
        }
        b.len = whole.len;
        memcpy(b.data, whole.data, whole.len);
        for (uint64_t n = law_below(&rng, 4) + 1; n > 0; n--) mutate(&b, &rng);
        if (mend) mend_sums(&b);
        bool same = law_bytes_equal(&b, &whole), taken = try_bytes(&b, law_next(&rng));
        law_check(mend || same == taken, "mutation %zu was accepted", i);
        accepted += taken && !same;
    }
    law_check(!mend || accepted, "no mutation went past the checksum: the law proves nothing");
    law_bytes_free(&whole);
    free(b.data);
}

static void a_changed_snapshot_is_refused(const struct law_case *c) { mutated(c, false); }
static void a_forged_snapshot_is_refused_or_harmless(const struct law_case *c) { mutated(c, true); }

/* A well-summed header with a spec, and nothing behind it. */
static struct law_bytes forge(const char *spec, uint32_t blob) {
    struct law_bytes b = {calloc(1, 4096), 4096, 4096, 0};
    struct detector_counters counters = {0};
    uint32_t version = 1, len = (uint32_t)strlen(spec);
    memcpy(b.data, "SEEN", 4);
    memcpy(b.data + 4, &version, 4);
    memcpy(b.data + 8, &len, 4);
    memcpy(b.data + 12, &blob, 4);
    memcpy(b.data + 16, spec, len);
    memcpy(b.data + 16 + len, &counters, sizeof counters);
    mend_sums(&b);
    return b;
}

static void huge_claims_are_refused_before_memory_is_taken(const struct law_case *c) {
    static const char *const specs[] = {
        "landmark fp=1e-09 mem=64MiB filter=bloom refresh=last overload=keep hash=xxh3 seed=1 "
        "shards=1 k=20 lines=1048563",
        "landmark fp=1e-09 filter=bloom refresh=last overload=keep hash=xxh3 seed=1 shards=1024 "
        "k=20 lines=4398046511104",
        "landmark:1000 filter=exact refresh=last overload=grow hash=xxh3 seed=1 shards=1024 "
        "lines=0",
        "sliding:1000 filter=exact refresh=last overload=grow hash=xxh3 seed=1 shards=1024 "
        "lines=4398046511104",
        "jumping:1000000000000000/250 filter=exact refresh=last overload=grow hash=xxh3 seed=1 "
        "shards=1024 lines=0",
    };
    (void)c;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (uint32_t blob = 0; blob <= 16u << 20; blob += 4u << 20) {
            struct law_bytes b = forge(specs[i], blob);
            law_check(!try_bytes(&b, 1), "accepted: %s", specs[i]);
            law_bytes_free(&b);
        }
}

static void a_blob_of_four_mebibytes_does_not_fit_a_limit_of_four(const struct law_case *c) {
    struct law_memory memory;
    struct seen_error e = {0};
    (void)c;
    seen_detector *d = law_make("landmark:1000 fp=.01 seed=1"), *copy;
    char *blob = malloc(LIMIT + 1);
    memset(blob, 'x', LIMIT);
    blob[LIMIT] = 0;
    struct law_bytes bytes = law_save(d, blob);
    law_memory_init(&memory);
    int bad = law_load_error(&copy, &bytes, LIMIT, &memory.allocator, &e);
    law_check(bad == SEEN_EFORMAT && !memory.calls, "code %d", bad);
    law_check(!law_load_error(&copy, &bytes, 2 * LIMIT, NULL, &e), "%s", e.text);
    seen_free(copy);
    seen_free(d);
    law_bytes_free(&bytes);
    free(blob);
}

/* -- files that fail ---------------------------------------------------------------------- */

struct failing {
    size_t left;
};

static int write_until(void *ctx, const void *buf, size_t len) {
    struct failing *f = ctx;
    (void)buf;
    if (len > f->left) return 1;
    f->left -= len;
    return 0;
}

static void a_write_that_fails_is_an_error(const struct law_case *c) {
    struct law_bytes whole = small_snapshot(c, law_seed());
    seen_detector *d = law_load(&whole, NULL);
    struct law_bytes bytes = law_save(d, NULL);
    for (size_t left = 0; left <= bytes.len; left++) {
        struct seen_error e = {0};
        struct failing f = {left};
        int bad = seen_save(d, NULL, 0, (struct seen_writer){write_until, &f}, &e);
        law_check(bad == (left < bytes.len ? SEEN_EIO : 0) && e.code == bad, "%zu of %zu: %d", left,
                  bytes.len, bad);
    }
    law_bytes_free(&whole);
    law_bytes_free(&bytes);
    seen_free(d);
}

int main(void) {
    static const struct law laws[] = {
        {"saved and loaded, it gives the same answers", saved_and_loaded_it_gives_the_same_answers,
         false},
        {"a snapshot cut anywhere is refused", a_snapshot_cut_anywhere_is_refused, false},
        {"a changed snapshot is refused", a_changed_snapshot_is_refused, false},
        {"a forged snapshot is refused or harmless", a_forged_snapshot_is_refused_or_harmless,
         false},
        {"a write that fails is an error", a_write_that_fails_is_an_error, false},
        {"huge claims are refused before memory is taken",
         huge_claims_are_refused_before_memory_is_taken, true},
        {"a blob of four mebibytes does not fit a limit of four",
         a_blob_of_four_mebibytes_does_not_fit_a_limit_of_four, true},
    };
    return law_main("snapshots", laws, sizeof laws / sizeof *laws);
}
