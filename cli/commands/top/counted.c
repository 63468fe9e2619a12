/* counted.c - counts the keys of one window of `seen top`, and their partners. */
#include "commands/top/top.h"

#include "group/group.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void name_of_key(struct name *n, struct keyer *k, const struct batch *b, size_t i) {
    key_find_parts(k, b, i);
    n->values = n->used = 0;
    for (size_t m = 0; m < k->parts.n && n->used + 2 <= MAX_NAME; m++) {
        size_t len = k->parts.part[m].len, room = MAX_NAME - n->used - 2;
        if (len > room) len = room;
        values_append(n->bytes + n->used, parts_text(&k->parts, m), len);
        n->used += 2 + len;
        n->values++;
    }
}

/* Checks a name from a state: its bytes are `values` values and nothing else. */
static bool name_is_sound(const struct name *n) {
    const char *at = n->bytes;
    size_t len;
    for (size_t i = 0; i < n->values; i++)
        if ((size_t)(at - n->bytes) + 2 > n->used ||
            (values_next(&at, &len), at) > n->bytes + n->used)
            return false;
    return at == n->bytes + n->used;
}

void name_print_text(const struct name *n, char delimiter, FILE *out) {
    const char *at = n->bytes;
    for (size_t i = 0, len; i < n->values; i++) {
        const char *value = values_next(&at, &len);
        if (i) putc(delimiter, out);
        fwrite(value, 1, len, out);
    }
}

void ranking_init(struct ranking *k, uint64_t keep) {
    struct seen_error e;
    if (seen_top_new(&k->top, keep, NULL, &e)) die("--keep: %s", e.text);
    k->name = calloc(keep, sizeof *k->name);
    if (!k->name) die("out of memory for %" PRIu64 " counters", keep);
    k->keep = keep;
    k->used = 0;
}

void ranking_free(struct ranking *k) {
    for (uint64_t i = 0; i < k->keep; i++) free(k->name[i]);
    free(k->name);
    seen_top_free(k->top);
}

static void ranking_clear(struct ranking *k) {
    seen_top_clear(k->top);
    k->used = 0;
}

size_t ranking_add(struct ranking *k, seen_digest key, bool *taken) {
    int took;
    size_t c = seen_top_add(k->top, key, &took);
    *taken = took;
    return c;
}

void ranking_name(struct ranking *k, size_t counter, const struct name *name) {
    size_t size = offsetof(struct name, bytes) + name->used;
    struct name **at = &k->name[counter];
    *at = realloc(*at, size);
    if (!*at) die("out of memory for a key's name");
    memcpy(*at, name, size);
    if (counter >= k->used) k->used = counter + 1;
}

/* -- in a state --------------------------------------------------------------------------- */

void ranking_save(const struct ranking *k, struct blocks_out *out) {
    seen_top_save(k->top, blocks_writer(out), NULL);
    blocks_put_number(out, k->used);
    for (uint64_t i = 0; i < k->used; i++) {
        blocks_put_number(out, k->name[i]->values);
        blocks_put_number(out, k->name[i]->used);
        blocks_put(out, k->name[i]->bytes, k->name[i]->used);
    }
}

bool ranking_load(struct ranking *k, struct blocks_in *in) {
    seen_top *top;
    uint64_t bytes = seen_top_bytes(k->top);
    if (seen_top_load(&top, blocks_reader(in), bytes, NULL, NULL)) return false;
    seen_top_free(k->top);
    k->top = top;
    if (seen_top_bytes(top) != bytes) return false; /* fewer counters */
    struct seen_heavy *list = malloc(k->keep * sizeof *list);
    if (!list) die("out of memory for %" PRIu64 " counters", k->keep);
    size_t used = seen_top_list(top, list); /* counters in use */
    free(list);
    if (blocks_get_number(in) != used) return false;
    for (uint64_t i = 0; i < used; i++) {
        struct name name = {.values = blocks_get_number(in)};
        name.used = blocks_get_number(in);
        if (name.used > MAX_NAME || !blocks_get(in, name.bytes, name.used)) return false;
        if (!name_is_sound(&name)) return false;
        ranking_name(k, i, &name);
    }
    return true;
}

/* -- pairs that are missing ---------------------------------------------------------------- */

#define SURE 0.9995

static void missing_init(struct missing *m, uint64_t counters) {
    *m = (struct missing){.counters = counters,
                          .count = calloc(counters, sizeof *m->count),
                          .of = calloc(counters, sizeof *m->of)};
    int bad = seen_top_new(&m->duplicates, counters, NULL, NULL);
    if (bad || !m->of || !m->count) die("out of memory for %ju counters", (uintmax_t)counters);
}

static void missing_free(struct missing *m) {
    free(m->count);
    free(m->of);
    seen_top_free(m->duplicates);
}

static void ask(struct missing *m, const seen_detector *d) {
    struct seen_stats s;
    seen_stats(d, &s);
    double p = fmin(s.fp_now, 0.999999);
    m->odds = p / (1 - p);
    m->due = m->counted + 1 + s.capacity / 256;
}

/* Begins a window: the detector has just had a landmark, or is new. */
static void missing_begin(struct missing *m, const seen_detector *d) {
    struct seen_stats s;
    seen_stats(d, &s);
    memset(m->count, 0, m->counters * sizeof *m->count);
    seen_top_clear(m->duplicates);
    m->all = 0;
    m->answers = 0;
    m->counted = 0;
    m->forgotten = s.forgotten;
    ask(m, d);
}

void missing_note(struct missing *m, const seen_detector *d, size_t counter, bool taken) {
    if (m->counted++ >= m->due) ask(m, d);
    if (taken) m->of[counter] = (double)m->count[counter] * m->odds;
    m->count[counter]++;
    m->of[counter] += m->odds;
    m->all += m->odds;
}

void missing_duplicate(struct missing *m, seen_digest key) {
    int taken;
    m->answers++;
    seen_top_add(m->duplicates, key, &taken);
}

/* A quantile of a sum of geometric distributions, with the odds of the last: by summation if the
 * mean is small, else by four standard deviations. */
static uint64_t by_chance(const struct missing *m, size_t counter) {
    double mean = m->of[counter], p = m->odds / (1 + m->odds);
    if (mean == 0) return 0;
    if (mean > 200) return (uint64_t)ceil(mean + 4 * sqrt(mean / (1 - p)));
    double n = mean / m->odds, term = exp(n * log1p(-p)), sum = term;
    uint64_t k = 0;
    while (sum < SURE && k < 1000000) {
        k++;
        term *= (n + (double)k - 1) / (double)k * p;
        sum += term;
    }
    return k;
}

static bool known(const struct missing *m) { return m->odds <= 1; }

uint64_t missing_most(const struct missing *m, seen_digest key, size_t counter) {
    uint64_t surely = seen_top_bound(m->duplicates, key);
    if (!known(m)) return surely;
    uint64_t probably = by_chance(m, counter);
    return probably < surely ? probably : surely;
}

double missing_all(const struct missing *m, bool *sure) {
    *sure = known(m);
    return *sure ? m->all : (double)m->answers;
}

uint64_t missing_twice(const struct missing *m, const seen_detector *d) {
    struct seen_stats s;
    seen_stats(d, &s);
    return s.forgotten - m->forgotten;
}

/* -- in a state --------------------------------------------------------------------------- */

static void missing_save(const struct missing *m, uint64_t used, struct blocks_out *out) {
    const uint64_t numbers[] = {m->answers, m->counted, m->due, m->forgotten};
    const double expected[] = {m->all, m->odds};
    blocks_put(out, numbers, sizeof numbers);
    blocks_put(out, expected, sizeof expected);
    blocks_put(out, m->count, used * sizeof *m->count);
    blocks_put(out, m->of, used * sizeof *m->of);
    seen_top_save(m->duplicates, blocks_writer(out), NULL);
}

/* Can this expectation be the result of records? */
static bool possible(double x) { return x >= 0 && x < 1e18; }

/* Reads what missing_save has written.  False: the bytes cannot be right. */
static bool missing_load(struct missing *m, uint64_t used, struct blocks_in *in) {
    uint64_t numbers[4], bytes = seen_top_bytes(m->duplicates);
    double expected[2];
    if (!blocks_get(in, numbers, sizeof numbers) || !blocks_get(in, expected, sizeof expected) ||
        !blocks_get(in, m->count, used * sizeof *m->count) ||
        !blocks_get(in, m->of, used * sizeof *m->of))
        return false;
    m->answers = numbers[0];
    m->counted = numbers[1];
    m->due = numbers[2];
    m->forgotten = numbers[3];
    m->all = expected[0];
    m->odds = expected[1];
    seen_top_free(m->duplicates);
    if (seen_top_load(&m->duplicates, blocks_reader(in), bytes, NULL, NULL)) return false;
    for (uint64_t i = 0; i < used; i++)
        if (!possible(m->of[i])) return false;
    return possible(m->all) && possible(m->odds) && seen_top_bytes(m->duplicates) == bytes;
}

static struct counted *make(uint64_t keep) {
    struct counted *t = calloc(1, sizeof *t);
    if (!t) die("out of memory for a window");
    ranking_init(&t->keys, keep);
    return t;
}

struct counted *counted_new(uint64_t keep, const struct seen_plan *pairs) {
    struct seen_error e;
    struct counted *t = make(keep);
    if (!pairs) return t;
    if (seen_new(&t->pairs, pairs, NULL, &e)) die("%s", e.text);
    missing_init(&t->missing, keep);
    missing_begin(&t->missing, t->pairs);
    return t;
}

void counted_free(struct counted *t) {
    if (!t) return;
    ranking_free(&t->keys);
    seen_free(t->pairs);
    missing_free(&t->missing);
    free(t);
}

void counted_clear(struct counted *t) {
    ranking_clear(&t->keys);
    if (!t->pairs) return;
    seen_landmark(t->pairs);
    missing_begin(&t->missing, t->pairs);
}

/* -- in a state --------------------------------------------------------------------------- */

void counted_save(const struct counted *t, struct blocks_out *out) {
    ranking_save(&t->keys, out);
    if (!t->pairs) return;
    seen_save(t->pairs, NULL, 0, blocks_writer(out), NULL);
    missing_save(&t->missing, t->keys.used, out);
}

struct counted *counted_load(uint64_t keep, const struct seen_plan *pairs, struct blocks_in *in) {
    struct counted *t = make(keep);
    bool good = ranking_load(&t->keys, in);
    if (good && pairs) {
        missing_init(&t->missing, keep);
        good = !seen_load(&t->pairs, blocks_reader(in), state_file_memory(), NULL, NULL, NULL);
        /* A later version may plan another structure for the same window.  The state's is kept. */
        const struct seen_spec *a = &pairs->spec, *b = good ? seen_spec_of(t->pairs) : NULL;
        good = good && a->window == b->window && a->unit == b->unit && a->length == b->length &&
               missing_load(&t->missing, t->keys.used, in);
    }
    if (good) return t;
    counted_free(t);
    return NULL;
}

/* Plans a landmark window of the whole length in which no time passes, so only seen_landmark ends
 * it. */
static void plan_part(struct partners *p, const struct window_options *a) {
    char window[64] = "landmark", length[32];
    struct seen_spec spec;
    struct seen_error e;
    window_spec(a, 0, &spec);
    bool timed = spec.unit == SEEN_UNIT_MICROSECONDS;
    seen_print_span(spec.length, length, sizeof length);
    if (timed) snprintf(window, sizeof window, "landmark:%s", length);
    snprintf(length, sizeof length, "%" PRIu64, spec.length);
    if ((!timed && !seen_spec_get_count(&spec, "items") &&
         seen_spec_set(&spec, "items", length, &e)) ||
        seen_spec_set(&spec, "window", window, &e) || seen_plan_make(&p->plan, &spec, &e))
        die("%s", e.text);
    p->still = true;
}

void partners_plan(struct partners *p, struct window_options *a, struct input_options *s,
                   bool jumping) {
    window_plan(a, 0, s, &p->plan);
    if (jumping) plan_part(p, a);
}

void partners_free(struct partners *p) { free(p->bytes); }

bool partners_first(struct partners *p, seen_detector *d, seen_digest key,
                    const struct slice *partner, seen_time time) {
    size_t need = sizeof key + partner->len;
    if (need > p->cap) {
        p->cap = 2 * need;
        p->bytes = realloc(p->bytes, p->cap);
        if (!p->bytes) die("out of memory for a pair of %zu bytes", need);
    }
    memcpy(p->bytes, &key, sizeof key);
    size_t len = slice_value(partner, p->bytes + sizeof key);
    seen_digest pair = seen_hash(p->bytes, sizeof key + len, seen_seed(d));
    bool timed = p->plan.spec.unit == SEEN_UNIT_MICROSECONDS;
    uint8_t verdict;
    if (p->still) time = 0;
    observe_records(d, 1, &pair, timed ? &time : NULL, &verdict);
    return verdict == SEEN_NEW;
}

uint64_t partners_windows(const struct partners *p, uint64_t most) {
    uint64_t fit = (UINT64_C(256) << 20) / (p->plan.bytes + 1);
    if (fit < 2) fit = 2;
    return fit < most ? fit : most;
}
