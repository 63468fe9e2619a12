/* lists.c - asks whether keys are in the lists of `seen filter`. */
#include "commands/filter/lists.h"

#include "base/cli.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void chance_note(struct chance *c, uint32_t keys) {
    c->records++;
    c->keys += keys;
    if (keys < CHANCE_KEYS) {
        c->by[keys]++;
    } else {
        c->more++;
        c->more_keys += keys;
    }
}

static double pass(double e, double m) { return e < 1 ? -expm1(m * log1p(-e)) : m > 0; }

double chance_record(const struct chance *c, double e) {
    double sum = 0;
    if (!c->records) return 0;
    for (uint32_t m = 1; m < CHANCE_KEYS; m++)
        if (c->by[m]) sum += (double)c->by[m] * pass(e, m);
    if (c->more) sum += (double)c->more * pass(e, (double)c->more_keys / (double)c->more);
    return sum / (double)c->records;
}

double chance_key(const struct lists *s) {
    double none = 0;
    for (size_t l = 0; l < s->n; l++) {
        double e = s->list[l].set ? list_fp(&s->list[l]) : 0;
        none += e < 1 ? log1p(-e) : -INFINITY;
    }
    return -expm1(none);
}

void lists_add(struct lists *s, const char *name) {
    if (s->n == MAX_LISTS) die("more than %d lists; join some into one file", MAX_LISTS);
    s->list[s->n++].name = name;
}

static seen_detector *detector_of(const char *text, const char *fp) {
    struct seen_error e;
    struct seen_spec spec;
    struct seen_plan plan;
    seen_detector *d;
    if (seen_spec_parse(&spec, text, &e)) die("%s", e.text);
    if (fp && seen_spec_set(&spec, "fp", fp, &e)) die("--fp %s: %s", fp, e.text);
    if (seen_plan_make(&plan, &spec, &e) || seen_new(&d, &plan, NULL, &e)) die("%s", e.text);
    return d;
}

void lists_init(struct lists *s) {
    char spec[64];
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        die("the system gave no random seed: %s", strerror(errno));
    snprintf(spec, sizeof spec, "landmark filter=exact seed=%" PRIu64, seed);
    s->hasher = detector_of(spec, NULL);
}

void lists_free(struct lists *s) {
    for (size_t l = 0; l < s->n; l++) seen_free(s->list[l].set);
    seen_free(s->hasher);
}

/* -- reading ------------------------------------------------------------------------------ */

/* A list, and what keys must be. */
struct reading_list {
    struct list *list;
    const struct cut *cut;
};

static void look_at_key(void *ctx, const char *key, size_t len) {
    const struct reading_list *r = ctx;
    struct list *l = r->list;
    if (cut_is_key(r->cut, key, len) || l->idle++) return;
    snprintf(l->first, sizeof l->first, "%.*s", (int)(len < 60 ? len : 60), key);
    text_tame(l->first);
}

static void take_keys(void *ctx, size_t n, const seen_digest *digest) {
    struct list *l = ((struct reading_list *)ctx)->list;
    if (l->n + n > l->room) {
        l->room = 2 * l->room + BATCH;
        l->digest = realloc(l->digest, l->room * sizeof *l->digest);
        if (!l->digest) die("out of memory for the keys of %s", l->name);
    }
    memcpy(l->digest + l->n, digest, n * sizeof *digest);
    l->n += n;
}

/* The set of what was read, made for as many keys. */
static void make_set(const struct lists *s, struct list *l) {
    char spec[128];
    uint8_t verdict[BATCH];
    snprintf(spec, sizeof spec, "landmark items=%zu seed=%" PRIu64 "%s", l->n ? l->n : 1,
             seen_seed(s->hasher), s->exact ? " filter=exact" : "");
    l->set = detector_of(spec, s->exact ? NULL : s->fp ? s->fp : "1e-9");
    for (size_t i = 0; i < l->n; i += BATCH)
        seen_observe(l->set, l->n - i < BATCH ? l->n - i : BATCH, l->digest + i, verdict);
    free(l->digest);
    l->digest = NULL;
}

/* A list that does less than was probably meant. */
static void tell(const struct lists *s, const struct list *l) {
    char gram[40];
    if (!l->n)
        warn("%s holds no keys: %s; is it the right list?", l->name,
             s->n > 1    ? "no record is in it"
             : s->invert ? "every record passes"
                         : "no record passes");
    if (!l->idle) return;
    snprintf(gram, sizeof gram, "%u characters", s->cut->gram);
    warn("%" PRIu64 " of the keys in %s %s not %s, so that no record has %s; the first is '%s'",
         l->idle, l->name, l->idle == 1 ? "is" : "are",
         s->cut->gram    ? gram
         : s->cut->words ? "one word"
                         : "a value",
         l->idle == 1 ? "it" : "them", l->first);
}

void lists_read(struct lists *s, const struct input_options *input, const struct layout *layout) {
    static const struct layout one = {.keys = 1, .time = NO_SLOT}; /* each value is a key */
    for (size_t i = 0; i < s->n; i++) {
        struct list *l = &s->list[i];
        struct reading_list r = {l, s->cut};
        key_list_read(l->name, input, s->cut ? &one : layout, s->hasher, take_keys,
                      s->cut ? look_at_key : NULL, &r);
        make_set(s, l);
        if (!input->quiet) tell(s, l);
    }
}

/* -- asking ------------------------------------------------------------------------------- */

void lists_find(const struct lists *s, size_t n, const seen_digest *digest, uint64_t *in) {
    uint8_t verdict[BATCH];
    memset(in, 0, n * sizeof *in);
    for (size_t l = 0; l < s->n; l++) {
        seen_query(s->list[l].set, n, digest, 0, verdict);
        for (size_t i = 0; i < n; i++) in[i] |= (uint64_t)verdict[i] << l;
    }
}

double list_fp(const struct list *l) {
    struct seen_stats s;
    seen_stats(l->set, &s);
    return s.fp_now;
}

void any_init(struct any *a, const struct lists *lists, const struct layout *layout,
              uint32_t max_record) {
    a->lists = lists;
    a->layout = layout;
    key_init(&a->keyer, lists->hasher, layout, max_record);
    a->keyer.parts.some = true;
}

void any_free(struct any *a) {
    key_free(&a->keyer);
    free(a->met);
    free(a->word);
}

/* -- the keys of a record ------------------------------------------------------------------ */

/* A walk along the keys of a record whose parts are found. */
struct keys {
    struct any *any;
    size_t part; /* behind the one that is cut */
    struct cutter cutter;
};

static struct keys keys_of(struct any *a) {
    return (struct keys){.any = a, .cutter = cutter_of(a->lists->cut, "", 0)};
}

/* A word as --trim and its like make it. */
static const char *formed(struct any *a, const char *word, size_t *len) {
    const struct key_form *form = a->layout->form;
    if (!form || !form->by_word) return word;
    if (*len + 1 > a->room) {
        a->room = 2 * *len + 64;
        a->word = realloc(a->word, a->room);
        if (!a->word) die("out of memory for a word of %zu bytes", *len);
    }
    memcpy(a->word, word, *len);
    *len = key_form_apply(form, a->word, *len);
    return a->word;
}

static bool next_key(struct keys *k, const char **key, size_t *len) {
    const struct parts *p = &k->any->keyer.parts;
    for (;;) {
        while (cutter_next(&k->cutter, key, len)) {
            *key = formed(k->any, *key, len);
            if (*len) return true;
        }
        if (k->part == p->n) return false;
        const struct key_part *part = &p->part[k->part];
        k->cutter = cutter_of(k->any->lists->cut, parts_text(p, k->part), part->len);
        k->part++;
    }
}

static seen_digest digest_of(const struct any *a, const char *key, size_t len) {
    return seen_hash(key, len, a->keyer.seed);
}

/* -- batches ------------------------------------------------------------------------------ */

static void note_fields(struct any *a, const struct slice *field) {
    const struct layout *l = a->layout;
    if (!a->met) a->met = calloc(l->keys + 1, sizeof *a->met);
    if (!a->met) die("out of memory for %u fields", l->keys);
    for (uint32_t i = 0; i < l->keys; i++) a->met[i] |= field[l->key[i]].at != NULL;
}

static void look_up(struct any *a, struct matched *m) {
    uint64_t in[BATCH];
    lists_find(a->lists, a->n, a->digest, in);
    for (size_t i = 0; i < a->n; i++) m->lists[a->owner[i]] |= in[i];
    a->n = 0;
}

void any_batch(struct any *a, const struct batch *b, struct matched *m) {
    m->n = 0;
    for (size_t i = 0; i < b->n; i++) {
        note_fields(a, &b->field[i * a->layout->slots]);
        if (b->record[i].bare > a->keyer.max_record || !key_find_parts(&a->keyer, b, i)) continue;
        m->order[m->n] = (uint16_t)i;
        m->lists[m->n] = 0;
        m->keys[m->n] = 0;
        struct keys k = keys_of(a);
        const char *key;
        size_t len;
        while (next_key(&k, &key, &len)) {
            if (a->n == BATCH) look_up(a, m);
            a->digest[a->n] = digest_of(a, key, len);
            a->owner[a->n++] = (uint16_t)m->n;
            m->keys[m->n]++;
        }
        m->n++;
    }
    look_up(a, m);
    key_causes(&a->keyer, b, m->n, m->order, m->cause);
}

/* -- which keys matched -------------------------------------------------------------------- */

void any_keys(struct any *a, const struct batch *b, size_t i, uint64_t wanted,
              void (*take)(void *ctx, const char *key, size_t len), void *ctx) {
    if (!key_find_parts(&a->keyer, b, i)) return;
    for (; wanted; wanted &= wanted - 1) {
        const seen_detector *set = a->lists->list[__builtin_ctzll(wanted)].set;
        struct keys k = keys_of(a);
        const char *key;
        size_t len;
        for (uint8_t in = SEEN_NEW; in == SEEN_NEW && next_key(&k, &key, &len);) {
            seen_digest digest = digest_of(a, key, len);
            seen_query(set, 1, &digest, 0, &in);
            if (in != SEEN_NEW) take(ctx, key, len);
        }
    }
}
