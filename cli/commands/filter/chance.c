/* chance.c - counts records that may have passed a list by chance. */
#include "commands/filter/chance.h"

#include <math.h>

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
