/* kept.c - what `seen count --state` and `seen top --state` have in common. */
#include "commands/count/kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void kept_ask(struct state *s, struct asked *a, struct input_options *input) {
    input->rejects_go_on = s->name;
    if (s->name && input->merge) die_both("--state", "--merge");
    if (s->name && a->specs > 1) die("-w is given twice; one window at a time is counted");
    state_load(s, a);
    a->outlives = s->name;
    if (s->name) state_check(s, a);
}

bool kept_deliver(void *ctx) {
    (void)ctx;
    return !fflush(stdout) && !ferror(stdout);
}

bool kept_same_plan(const struct seen_plan *plan, const seen_detector *d) {
    char seed[24], one[512], two[512];
    struct seen_spec spec = plan->spec;
    snprintf(seed, sizeof seed, "%" PRIu64, seen_seed(d));
    if (seen_spec_set(&spec, "seed", seed, NULL)) return false;
    seen_spec_print(&spec, one, sizeof one);
    seen_spec_print(&seen_plan_of(d)->spec, two, sizeof two);
    return !strcmp(one, two);
}

void kept_pack(const struct kept *k, struct packer *p) {
    pack_number(p, k->records);
    pack_number(p, k->open);
    pack_number(p, k->done);
    pack_number(p, k->headed);
}

bool kept_unpack(struct kept *k, const char *bytes, size_t len) {
    struct unpacker u = {.at = bytes, .end = bytes + len};
    k->records = unpack_number(&u);
    k->open = unpack_number(&u);
    k->done = unpack_number(&u);
    k->headed = unpack_number(&u);
    return !u.bad && u.at == u.end;
}

void kept_mend(bool *unended) {
    if (*unended) putchar('\n');
    *unended = false;
}
