#include "commands/top/counted.h"

#include "base/cli.h"
#include "state/file.h"

#include <stdlib.h>

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

/* A later version may plan another structure for the same window: the state's serves on. */
static bool serves(const seen_detector *d, const struct seen_plan *plan) {
    const struct seen_spec *a = &plan->spec, *b = &seen_plan_of(d)->spec;
    return a->window == b->window && a->unit == b->unit && a->length == b->length;
}

static bool load_pairs(struct counted *t, const struct seen_plan *plan, struct blocks_in *in) {
    missing_init(&t->missing, t->keys.keep);
    return !seen_load(&t->pairs, NULL, NULL, blocks_reader(in), state_file_memory(), NULL, NULL) &&
           serves(t->pairs, plan) && missing_load(&t->missing, t->keys.used, in);
}

struct counted *counted_load(uint64_t keep, const struct seen_plan *pairs, struct blocks_in *in) {
    struct counted *t = make(keep);
    if (ranking_load(&t->keys, in) && (!pairs || load_pairs(t, pairs, in))) return t;
    counted_free(t);
    return NULL;
}
