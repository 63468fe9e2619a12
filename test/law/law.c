#include "law.h"
#include "../any_window.h"

#include "chance.h"
#include "detector/block.h"
#include "spec/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char current[512]; /* the spec that failures name */

/* -- cases -------------------------------------------------------------------------------- */

static const char *const windows[][16] = {
    [SEEN_WINDOW_LANDMARK] = {"landmark:1", "landmark:2", "landmark:10", "landmark:1000",
                              "landmark", "landmark:1d", "landmark:1w", "landmark:2w",
                              "landmark:1500ms"},
    [SEEN_WINDOW_JUMPING] = {"jumping:1/1", "jumping:2/1", "jumping:2/2", "jumping:3/2",
                             "jumping:10/3", "jumping:10/10", "jumping:100/7", "jumping:1000/8",
                             "jumping:1000/60", "jumping:1s/1", "jumping:1h/12", "jumping:1500ms/7",
                             "jumping:1w/3"},
    [SEEN_WINDOW_SLIDING] = {"sliding:1", "sliding:2", "sliding:3", "sliding:10", "sliding:1000",
                             "sliding:1ms", "sliding:1500ms", "sliding:1h", "sliding:1w"},
    [SEEN_WINDOW_DECAYING] = {"decaying"},
};

const char *law_window(const struct law_case *c, size_t i) {
    const char *window = windows[c->window][i];
    bool many = window && !strcmp(window, "jumping:1000/60") && !strcmp(c->name, "line");
    return many ? "jumping:1000/31" : window; /* line keeps 31 apart */
}

struct job {
    const struct law *law;
    struct law_case c;
    char name[160];
};

static struct CMUnitTest *add_test(struct CMUnitTest *tests, size_t *n, const struct law *law,
                                   const struct law_case *c, void (*run)(void **)) {
    static const char *const names[] = {"", "landmark", "jumping", "sliding", "decaying"};
    struct job *job = calloc(1, sizeof *job);
    job->law = law;
    job->c = *c;
    if (c->structure)
        snprintf(job->name, sizeof job->name, "%s: %s, %s", law->name, names[c->window],
                 c->structure);
    else
        snprintf(job->name, sizeof job->name, "%s", law->name);
    tests = realloc(tests, (*n + 1) * sizeof *tests);
    tests[(*n)++] = (struct CMUnitTest){.name = job->name, .test_func = run, .initial_state = job};
    return tests;
}

static void run_job(void **state) {
    struct job *job = *state;
    current[0] = 0;
    job->law->run(&job->c);
}

/* What one of a structure's own options can be beyond its default: "counting by=subtract". */
struct variant {
    char structure[40];
    uint32_t traits;
};

static bool variant_plans(const struct law_case *c, struct variant *v) {
    char text[120];
    struct seen_spec spec;
    struct seen_plan plan;
    snprintf(text, sizeof text, "%s filter=%s mem=1MiB", law_window(c, 0), v->structure);
    bool made = !seen_spec_parse(&spec, text, NULL) && !seen_plan_make(&plan, &spec, NULL);
    if (made) v->traits = plan.traits;
    return made;
}

/* The i-th of a structure, or NULL; never freed, as the tests themselves. */
static struct variant *variant_of(const struct law_case *c, size_t i) {
    struct variant v;
    const struct seen_option *o;
    for (size_t j = 0; (o = seen_option(j)); j++)
        for (size_t k = 1; o->of && o->choices && o->choices[k]; k++) {
            if (!options_serve((enum option)j, c->name)) continue;
            snprintf(v.structure, sizeof v.structure, "%s %s=%s", c->name, o->name, o->choices[k]);
            if (!variant_plans(c, &v) || i-- > 0) continue;
            struct variant *kept = malloc(sizeof *kept);
            *kept = v;
            return kept;
        }
    return NULL;
}

int law_main(const char *group, const struct law *laws, size_t n) {
    struct CMUnitTest *tests = NULL;
    struct registry_choice choice;
    size_t count = 0;
    for (size_t l = 0; l < n; l++) {
        struct law_case c = {0};
        if (laws[l].once) tests = add_test(tests, &count, &laws[l], &c, run_job);
        for (c.window = SEEN_WINDOW_LANDMARK; c.window <= SEEN_WINDOW_DECAYING && !laws[l].once;
             c.window++)
            for (size_t i = 0; registry_pick(c.window, "", i, &choice); i++) {
                struct seen_plan plan;
                c.structure = c.name = choice.name;
                c.serial++;
                const char *only = getenv("SEEN_ONLY"); /* one structure, while working on it */
                if (only && strcmp(only, c.name) != 0) continue;
                law_plan(&plan, "%s filter=%s mem=1MiB", law_window(&c, 0), c.structure);
                c.traits = plan.traits;
                tests = add_test(tests, &count, &laws[l], &c, run_job);
                struct variant *v;
                for (size_t j = 0; (v = variant_of(&c, j)); j++) {
                    struct law_case other = c;
                    other.structure = v->structure;
                    other.traits = v->traits;
                    other.serial = 1000 * (uint32_t)(j + 1) + c.serial;
                    tests = add_test(tests, &count, &laws[l], &other, run_job);
                }
            }
    }
    return _cmocka_run_group_tests(group, tests, count, NULL, NULL);
}

void law_fail(const char *file, int line, const char *condition, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_error("%s\n    spec: %s\n    replay with SEEN_SEED=%llu\n    not true: %s\n", text,
                current, (unsigned long long)law_seed(), condition);
    _fail(file, line);
    abort();
}

/* -- chance ------------------------------------------------------------------------------- */

uint64_t law_seed(void) { return chance_seed(20050510); }

uint64_t law_next(uint64_t *rng) { return chance_next(rng); }

uint64_t law_below(uint64_t *rng, uint64_t n) { return law_next(rng) % n; }

seen_digest law_digest(uint64_t key, uint64_t seed) { return seen_hash(&key, sizeof key, seed); }

seen_digest law_fresh(uint64_t *rng) { return (seen_digest){law_next(rng), law_next(rng)}; }
static uint64_t low(uint64_t x, uint64_t bits) { return bits < 64 ? x & ~(~0ull << bits) : x; }

seen_digest law_key(const struct seen_plan *plan, uint64_t key, uint64_t seed) {
    seen_digest d = law_digest(key, seed);
    uint64_t bits = seen_spec_get_count(&plan->spec, "bits");
    if (seen_spec_get_count(&plan->spec, "hash") < SEEN_HASH_INT || !bits) return d;
    return (seen_digest){low(d.lo, bits), bits > 64 ? low(d.hi, bits - 64) : 0};
}

/* -- detectors ---------------------------------------------------------------------------- */

static void plan_text(struct seen_plan *plan, const char *format, va_list args) {
    struct seen_spec spec;
    struct seen_error e = {0};
    vsnprintf(current, sizeof current, format, args);
    law_check(!seen_spec_parse(&spec, current, &e), "%s", e.text);
    seen_spec_print(&spec, current, sizeof current);
    law_check(!seen_plan_make(plan, &spec, &e), "%s", e.text);
}

void law_plan(struct seen_plan *plan, const char *format, ...) {
    va_list args;
    va_start(args, format);
    plan_text(plan, format, args);
    va_end(args);
}

seen_detector *law_new(const struct seen_plan *plan, const struct seen_allocator *alloc) {
    seen_detector *d;
    struct seen_error e = {0};
    law_check(!seen_new(&d, plan, alloc, &e), "%s", e.text);
    return d;
}

seen_detector *law_new_on(const struct seen_plan *plan, uint32_t cpu) {
    seen_detector *d;
    struct seen_error e = {0};
    law_check(!detector_new(&d, plan, cpu, NULL, &e), "%s", e.text);
    return d;
}

seen_detector *law_make(const char *format, ...) {
    struct seen_plan plan;
    va_list args;
    va_start(args, format);
    plan_text(&plan, format, args);
    va_end(args);
    return law_new(&plan, NULL);
}

struct oracle *law_oracle(const struct seen_plan *plan) {
    const struct seen_spec *s = &plan->spec;
    return oracle_new((struct oracle_rules){
        .window = s->window,
        .unit = s->unit,
        .length = s->length,
        .band = (uint64_t)((double)s->length * (1 + plan->slack) + .5),
        .refresh_first = seen_spec_get_count(s, "refresh") == SEEN_REFRESH_FIRST,
    });
}

/* -- streams ------------------------------------------------------------------------------ */

/* Ties and small steps mostly; now and then a step of about the window, a silence, or back. */
static seen_time step_time(const struct seen_spec *s, seen_time last, uint64_t *rng) {
    uint64_t length = s->length > 2 ? s->length : 2;
    switch (law_below(rng, 40)) {
    case 0: return last + length / (1 + law_below(rng, 16));
    case 1: return last + length - 1 + law_below(rng, 3);
    case 2: return last + (law_below(rng, 8) ? law_below(rng, length) : length * 1000 + 7);
    case 3: return last - law_below(rng, last < length ? last + 1 : length);
    case 4: return last + length * (1 + law_below(rng, 3)) / 2;
    default: return last + (law_below(rng, 3) ? law_below(rng, 2 + length / 300) : 0);
    }
}

/* A record whose key comes back at an awkward distance from the one at `i`. */
static void awkward_gap(const struct seen_plan *plan, struct law_stream *s, size_t i,
                        uint64_t *rng) {
    uint64_t length = plan->spec.length, band = (uint64_t)((double)length * (1 + plan->slack) + .5);
    uint64_t gaps[] = {length, length - 1, length + 1, band, band - 1, band + 1, 1, 2};
    uint64_t gap = gaps[law_below(rng, 8)];
    if (plan->spec.unit == SEEN_UNIT_MICROSECONDS) {
        size_t from = law_below(rng, i < 30 ? i : 30) + 1;
        s->digest[i] = s->digest[i - from];
        seen_time then = s->time[i - from] + gap;
        if (then >= s->time[i - 1]) s->time[i] = then;
    } else if (gap && gap <= i) {
        s->digest[i] = s->digest[i - gap];
    }
}

static seen_digest key_of_kind(const struct seen_plan *plan, enum law_kind kind,
                               const struct law_stream *s, size_t i, uint64_t span, uint64_t seed,
                               uint64_t *rng) {
    switch (kind) {
    case LAW_UNIFORM: return law_key(plan, law_below(rng, span), seed);
    case LAW_ONE_KEY: return law_key(plan, 0, seed);
    case LAW_BURSTS:
        if (i && law_below(rng, 20)) return s->digest[i - 1];
        if (i && law_below(rng, 2)) return s->digest[law_below(rng, i)];
        return law_key(plan, i, seed);
    default: return law_key(plan, i, seed);
    }
}

struct law_stream law_stream(const struct seen_plan *plan, enum law_kind kind, size_t n,
                             uint64_t landmarks, uint64_t seed) {
    uint64_t rng = seed, length = plan->spec.length;
    uint64_t span = plan->spec.unit == SEEN_UNIT_RECORDS && length < 500 ? length + 2 : 600;
    struct law_stream s = {n, malloc(n * sizeof *s.digest), malloc(n * sizeof *s.time),
                           calloc(n, 1)};
    seen_time last =
        law_below(&rng, 2) ? law_below(&rng, 3) : 1400000000000000 + law_next(&rng) % 1000000;
    for (size_t i = 0; i < n; i++) {
        s.time[i] = step_time(&plan->spec, last, &rng);
        s.digest[i] = key_of_kind(plan, kind, &s, i, span, seed, &rng);
        if (kind == LAW_GAPS && i && law_below(&rng, 3)) awkward_gap(plan, &s, i, &rng);
        if (s.time[i] > last) last = s.time[i];
        if (landmarks && !law_below(&rng, landmarks))
            s.landmarks[i] = (uint8_t)(1 + law_below(&rng, 2));
    }
    return s;
}

void law_stream_free(struct law_stream *s) {
    free(s->digest);
    free(s->time);
    free(s->landmarks);
}

void law_play(seen_detector *d, const struct law_stream *s, size_t from, size_t to, uint64_t *rng,
              uint8_t *verdict) {
    for (size_t i = from; i < to;) {
        for (uint8_t j = 0; j < s->landmarks[i]; j++) seen_landmark(d);
        size_t most = !rng                ? 1
                      : law_below(rng, 2) ? 1 + law_below(rng, 8)
                                          : 1 + law_below(rng, 700);
        size_t n = 1;
        while (n < most && i + n < to && !s->landmarks[i + n]) n++;
        any_observe(d, n, s->digest + i, s->time + i, verdict + i);
        i += n;
    }
}

double law_query_fresh(const seen_detector *d, uint64_t n, uint64_t *rng) {
    enum { BATCH = 256 };
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    uint64_t hits = 0, batches = (n + BATCH - 1) / BATCH;
    for (uint64_t i = 0; i < batches; i++) {
        for (size_t j = 0; j < BATCH; j++) digest[j] = law_fresh(rng);
        any_query(d, BATCH, digest, 0, 0, verdict);
        for (size_t j = 0; j < BATCH; j++) hits += verdict[j];
    }
    return (double)hits / (double)(batches * BATCH);
}

void law_play_fresh(seen_detector *d, seen_digest *digest, uint64_t n, uint64_t *rng) {
    enum { BATCH = 256 };
    uint8_t verdict[BATCH];
    for (uint64_t i = 0; i < n; i++) digest[i] = law_fresh(rng);
    for (uint64_t i = 0; i < n; i += BATCH)
        seen_observe(d, n - i < BATCH ? n - i : BATCH, digest + i, verdict);
}

double law_found_at(const seen_detector *d, const seen_digest *digest, uint64_t n, uint64_t gap) {
    enum { BATCH = 256 };
    uint8_t found[BATCH] = {0};
    uint64_t width = gap < 200 ? 1 : gap / 100 < BATCH ? gap / 100 : BATCH, hits = 0;
    seen_query(d, width, digest + n - 1 - gap - width / 2, 0, found);
    for (uint64_t j = 0; j < width; j++) hits += found[j];
    return (double)hits / (double)width;
}

/* -- bytes -------------------------------------------------------------------------------- */

static int write_bytes(void *ctx, const void *buf, size_t len) {
    struct law_bytes *b = ctx;
    if (b->len + len > b->room) {
        b->room = (b->len + len) * 2;
        b->data = realloc(b->data, b->room);
    }
    if (len) memcpy(b->data + b->len, buf, len);
    b->len += len;
    return 0;
}

static int read_bytes(void *ctx, void *buf, size_t len) {
    struct law_bytes *b = ctx;
    if (len > b->len - b->at) return -1;
    if (len) memcpy(buf, b->data + b->at, len);
    b->at += len;
    return 0;
}

struct law_bytes law_save(const seen_detector *d, const char *blob) {
    struct law_bytes b = {0};
    struct seen_error e = {0};
    law_check(
        !seen_save(d, blob, blob ? strlen(blob) : 0, (struct seen_writer){write_bytes, &b}, &e),
        "%s", e.text);
    return b;
}

int law_load_error(seen_detector **d, const struct law_bytes *b, size_t limit,
                   const struct seen_allocator *alloc, struct seen_error *e) {
    struct law_bytes from = *b;
    from.at = 0;
    return seen_load(d, (struct seen_reader){read_bytes, &from}, limit, NULL, alloc, e);
}

seen_detector *law_load(const struct law_bytes *b, const struct seen_allocator *alloc) {
    seen_detector *d;
    struct seen_error e = {0};
    law_check(!law_load_error(&d, b, 0, alloc, &e), "%s", e.text);
    return d;
}

void law_reload(seen_detector **d) {
    struct law_bytes bytes = law_save(*d, NULL), again;
    seen_free(*d);
    *d = law_load(&bytes, NULL);
    again = law_save(*d, NULL);
    law_check(law_bytes_equal(&bytes, &again), "save(load(x)) is not x");
    law_bytes_free(&bytes);
    law_bytes_free(&again);
}

bool law_alike(const seen_detector *a, const seen_detector *b) {
    struct law_bytes one = law_save(a, NULL), two = law_save(b, NULL);
    bool alike = law_bytes_equal(&one, &two);
    law_bytes_free(&one);
    law_bytes_free(&two);
    return alike;
}

bool law_bytes_equal(const struct law_bytes *a, const struct law_bytes *b) {
    return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

void law_bytes_free(struct law_bytes *b) {
    free(b->data);
    *b = (struct law_bytes){0};
}

/* -- memory that counts ------------------------------------------------------------------- */

/* Each block remembers its size in the 64 bytes before it. */
static void *count_zalloc(void *ctx, size_t size) {
    struct law_memory *m = ctx;
    m->calls++;
    if (m->calls >= m->fail_from && m->calls <= m->fail_until) return NULL;
    if (size > (size_t)1 << 34) return NULL;
    char *p = aligned_alloc(64, (size + 127) / 64 * 64);
    if (!p) return NULL;
    memset(p, 0, (size + 127) / 64 * 64);
    memcpy(p, &size, sizeof size);
    m->live++;
    m->now += size;
    if (m->now > m->most) m->most = m->now;
    return p + 64;
}

static void count_free(void *ctx, void *p, size_t size) {
    struct law_memory *m = ctx;
    size_t stored;
    if (!p) return;
    memcpy(&stored, (char *)p - 64, sizeof stored);
    m->mismatch |= stored != size;
    m->live--;
    m->now -= stored;
    free((char *)p - 64);
}

void law_memory_init(struct law_memory *m) {
    *m = (struct law_memory){.allocator = {count_zalloc, count_free, m},
                             .fail_from = UINT64_MAX,
                             .fail_until = UINT64_MAX};
}
