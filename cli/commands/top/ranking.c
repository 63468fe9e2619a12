#include "commands/top/ranking.h"

#include "base/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

void ranking_clear(struct ranking *k) {
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

static bool load_names(struct ranking *k, uint64_t n, struct blocks_in *in) {
    for (uint64_t i = 0; i < n; i++) {
        struct name name = {.values = blocks_get_number(in)};
        name.used = blocks_get_number(in);
        if (name.used > NAME_MOST || !blocks_get(in, name.bytes, name.used)) return false;
        if (!name_is_sound(&name)) return false;
        ranking_name(k, i, &name);
    }
    return true;
}

/* The number of counters in use, for a ranking of `keep` counters. */
static uint64_t counters_of(const seen_top *top, uint64_t keep) {
    struct seen_heavy *list = malloc(keep * sizeof *list);
    if (!list) die("out of memory for %" PRIu64 " counters", keep);
    size_t n = seen_top_list(top, list);
    free(list);
    return n;
}

bool ranking_load(struct ranking *k, struct blocks_in *in) {
    seen_top *top;
    uint64_t bytes = seen_top_bytes(k->top);
    if (seen_top_load(&top, blocks_reader(in), bytes, NULL, NULL)) return false;
    seen_top_free(k->top);
    k->top = top;
    if (seen_top_bytes(top) != bytes) return false; /* fewer counters */
    uint64_t n = blocks_get_number(in);
    return n == counters_of(top, k->keep) && load_names(k, n, in);
}
