#include "commands/filter/lists.h"

#include "base/cli.h"
#include "base/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void lists_add(struct lists *s, const char *name) {
    if (s->n == LISTS_MOST) die("more than %d lists; join some into one file", LISTS_MOST);
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
        seen_observe(l->set, l->n - i < BATCH ? l->n - i : BATCH, l->digest + i, NULL, verdict);
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
        seen_query(s->list[l].set, n, digest, 0, 0, verdict);
        for (size_t i = 0; i < n; i++) in[i] |= (uint64_t)verdict[i] << l;
    }
}

double list_fp(const struct list *l) {
    struct seen_stats s;
    seen_stats(l->set, &s);
    return s.fp_now;
}
