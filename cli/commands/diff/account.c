/* account.c - prints the statistics of `seen diff`. */
#include "commands/diff/account.h"

#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>

void account_add(struct account *a, const struct pair *p) {
    const uint64_t *n = p->entry.n;
    a->matched += p->matched;
    if (n[LEFT] && n[RIGHT]) {
        a->both++;
        a->different += pair_differs(p);
    } else {
        a->only[n[LEFT] ? LEFT : RIGHT]++;
    }
}

static void put_line(const char *what, uint64_t left, uint64_t right) {
    fprintf(stderr, "%-16s %20s %20s\n", what, number_grouped(left).text,
            number_grouped(right).text);
}

static void put_sums(const struct side *side) {
    char text[2][DECIMAL_TEXT];
    unsigned places =
        side[LEFT].places > side[RIGHT].places ? side[LEFT].places : side[RIGHT].places;
    for (int i = LEFT; i <= RIGHT; i++) decimal_text(side[i].total, places, text[i]);
    fprintf(stderr, "%-16s %20s %20s\n", "sum", text[LEFT], text[RIGHT]);
}

void account_text(const struct account *a, const struct side side[2], const struct tally *t) {
    const struct side *l = &side[LEFT], *r = &side[RIGHT];
    fprintf(stderr, "%-16s %20s %20s\n", "", "left", "right");
    put_line("records", l->records, r->records);
    put_line("left out", l->left_out, r->left_out);
    put_line("not matched", l->counted - a->matched, r->counted - a->matched);
    put_line("keys", a->both + a->only[LEFT], a->both + a->only[RIGHT]);
    put_line("keys only here", a->only[LEFT], a->only[RIGHT]);
    if (t->sums) put_line("amounts misread", l->misread, r->misread), put_sums(side);
    fprintf(stderr, "%s keys are in both, ", number_grouped(a->both).text);
    fprintf(stderr, "%s of them differ\n", number_grouped(a->different).text);
    if (!t->spilled_runs) return;
    fprintf(stderr, "%s of temporary data in ", number_size(t->spilled_bytes).text);
    fprintf(stderr, "%s, written in %s runs\n", t->folder, number_grouped(t->spilled_runs).text);
}

static void put_side(const struct account *a, const struct side *s, bool sums) {
    char text[DECIMAL_TEXT];
    fprintf(stderr,
            "\"records\":%" PRIu64 ",\"left_out\":%" PRIu64 ",\"not_matched\":%" PRIu64
            ",\"keys\":%" PRIu64 ",\"only\":%" PRIu64,
            s->records, s->left_out, s->counted - a->matched, a->both + a->only[s->which],
            a->only[s->which]);
    decimal_text(s->total, s->places, text);
    if (sums) fprintf(stderr, ",\"misread\":%" PRIu64 ",\"sum\":\"%s\"", s->misread, text);
}

void account_json(const struct account *a, const struct side side[2], const struct tally *t) {
    fprintf(stderr, "{\"left\":{");
    put_side(a, &side[LEFT], t->sums);
    fprintf(stderr, "},\"right\":{");
    put_side(a, &side[RIGHT], t->sums);
    fprintf(stderr,
            "},\"both\":%" PRIu64 ",\"different\":%" PRIu64 ",\"matched\":%" PRIu64
            ",\"spilled_runs\":%" PRIu64 ",\"spilled_bytes\":%" PRIu64
            ",\"version\":\"" SEEN_VERSION "\"}\n",
            a->both, a->different, a->matched, t->spilled_runs, t->spilled_bytes);
}
