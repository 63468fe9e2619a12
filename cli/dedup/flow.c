#include "dedup/flow.h"

void flow_init(struct flow *f, const struct wanted *w, struct judge *j, struct sink *s) {
    *f = (struct flow){.wanted = w, .judge = j, .sink = s};
    reorder_init(&f->reorder, w->reorder, w->hold, s->end);
    if (w->reorder) outlet_init(&f->outlet);
}

void flow_free(struct flow *f) {
    reorder_free(&f->reorder);
    outlet_free(&f->outlet);
}

static void judge_and_print(struct flow *f, struct batch *b, struct readable *in) {
    judge_observe(f->judge, b, judge_take(f->judge, b, in));
    sink_batch(f->sink, b);
}

/* -- records held back -------------------------------------------------------------------- */

static void let_go(struct flow *f) {
    if (f->outlet.batch->n) {
        outlet_end(&f->outlet);
        judge_and_print(f, f->outlet.batch, f->outlet.read);
    }
    outlet_begin(&f->outlet);
}

/* After each record, so that nothing depends on how many come at once. */
static void take_due(struct flow *f, bool all) {
    for (struct held *h; (h = reorder_take(&f->reorder, all));) {
        outlet_take(&f->outlet, h);
        if (outlet_full(&f->outlet)) let_go(f);
    }
}

/* A record that cannot be judged has no time to wait for: it goes on at once. */
static void hold(struct flow *f, const struct batch *b, const struct readable *in) {
    size_t m = 0;
    f->judge->unreadable += b->n - in->n;
    outlet_begin(&f->outlet);
    for (size_t i = 0; i < b->n; i++) {
        const struct record *r = &b->record[i];
        if (m == in->n || in->order[m] != i) {
            let_go(f);
            sink_unreadable(f->sink, r->at, r->len, true, true);
            continue;
        }
        struct reading read = readable_get(in, m++);
        reorder_put(&f->reorder, r, &read);
        take_due(f, false);
    }
    let_go(f);
}

/* The first place in a batch whose record cannot be judged. */
static size_t first_gap(const struct readable *in) {
    size_t i = 0;
    while (i < in->n && in->order[i] == i) i++;
    return i;
}

void flow_batch(struct flow *f, struct batch *b) {
    struct readable *in = b->own;
    if (in->n < b->n && !f->first_unreadable) f->first_unreadable = f->records + first_gap(in) + 1;
    f->records += b->n;
    if (f->judge->times) lateness_note(&f->judge->lateness, in->n, in->time);
    if (f->wanted->reorder)
        hold(f, b, in);
    else
        judge_and_print(f, b, in);
}

void flow_end(struct flow *f) {
    if (!f->wanted->reorder) return;
    outlet_begin(&f->outlet);
    take_due(f, true);
    let_go(f);
}
