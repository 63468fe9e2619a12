/* flow.c - takes batches of `seen dedup` from the reader through the judge to the sink. */
#include "commands/dedup/dedup.h"

#include <stdlib.h>

/* Says which parts of a record's reading the steps behind --reorder and --keep last still need. */
static void init_holding(struct flow *f) {
    const struct dedup_options *o = f->options;
    unsigned with = (wants_details(o) ? HELD_NUMBER : 0) | (wants_groups(o) ? HELD_GROUP : 0);
    unsigned sorting = with | (o->add_key ? HELD_FEED : 0);
    unsigned keeping = with | (tags_have(&o->tags, TAG_TIME) ? HELD_TIME : 0);
    if (judge_needs_keys(f->judge)) sorting |= HELD_KEY;
    reorder_init(&f->reorder, o->reorder, o->hold, sorting, f->sink->end);
    if (o->reorder) released_init(&f->sorted, sorting);
    if (!o->keep_last) return;
    released_init(&f->kept, keeping);
    keep_init(&f->keep, judge_window(f->judge), o->hold, keeping, f->sink->end);
}

void flow_init(struct flow *f, const struct dedup_options *o, seen_detector *d,
               struct layout *layout, struct judge *j, struct sink *s) {
    *f = (struct flow){
        .options = o, .input = &o->input, .detector = d, .layout = layout, .judge = j, .sink = s};
    if (o->tag_column) s->heading = o->tag_column;
    f->ungrouped = (struct unjudged){.input = f->input, .layout = layout};
    groups_init(&f->groups, o->group_by, o->sum, s->confirmed,
                d && seen_spec_has(seen_spec_of(d), "verify"));
    if (!wants_details(o)) return;
    tags_heading(&o->tags, s->heading, s->column ? s->column : '\t', f->heading);
    s->heading = f->heading;
    s->tags = &o->tags;
    s->json = o->json;
}

void flow_begin(struct flow *f) {
    init_holding(f);
    if (f->options->add_key) judge_feed(f->judge, &f->added);
    if (f->options->occurrences) occurrences_init(&f->occurrences, f->detector);
}

void flow_free(struct flow *f) {
    free(f->added.key);
    reorder_free(&f->reorder);
    released_free(&f->sorted);
    keep_free(&f->keep);
    released_free(&f->kept);
    occurrences_free(&f->occurrences);
    groups_free(&f->groups);
}

static void forget(void *ctx, size_t n, const seen_digest *digest) {
    struct seen_error e;
    if (seen_forget(ctx, n, digest, &e)) die("--forget: %s", e.text);
}

void flow_columns(struct flow *f, const struct header *header) {
    const struct dedup_options *o = f->options;
    sink_check_heading(f->sink, header);
    if (wants_groups(o))
        groups_columns(&f->groups, f->layout, o->group_by, o->sum, header, o->max_groups);
    unjudged_wants(&f->ungrouped, f->groups.by.slot, f->groups.by.n, "--group-by");
    if (o->add_key) columns_other_key(f->layout, o->add_key, header, &f->added);
    const struct layout *kept = o->add_key ? &f->added : f->layout;
    if (o->forget) key_list_read(o->forget, f->input, kept, f->detector, forget, NULL, f->detector);
}

/* -- what is known of records ------------------------------------------------------------- */

static const struct details nothing = {{0, NO_TIME}, SEEN_NEVER, {0, NO_TIME}, {0, NO_TIME}};

/* Fills in numbers and times.  `before` counts the records before the batch.  Judged records bring
 * their own number. */
static void fill_details(struct flow *f, const struct batch *b, const struct readable *in,
                         uint64_t before) {
    for (size_t i = 0; i < b->n; i++) {
        f->details[i] = nothing;
        f->details[i].itself.number = before + i + 1;
    }
    for (size_t m = 0; m < in->n; m++) {
        struct details *details = &f->details[in->order[m]];
        details->itself.number = in->number[m];
        if (f->judge->times) details->itself.time = in->time[m];
    }
}

static void judge(struct flow *f, struct batch *b, size_t n) {
    const struct readable *in = f->judge->in;
    if (f->options->occurrences || !tags_have(&f->options->tags, TAG_AGE)) {
        judge_observe(f->judge, b, n);
        return;
    }
    judge_observe_ages(f->judge, b, n, f->age);
    for (size_t m = 0; m < n; m++) f->details[in->order[m]].age = f->age[m];
}

static void note_occurrences(struct flow *f, const struct batch *b) {
    const struct readable *in = f->judge->in;
    uint64_t noted = f->occurrences.clock.noted;
    struct seen_stats s;
    for (size_t m = 0; m < in->n; m++) {
        uint16_t i = in->order[m];
        occurrences_note(&f->occurrences, in->digest[m], b->verdict[i], &f->details[i]);
    }
    if (seen_spec_of(f->detector)->window != SEEN_WINDOW_LANDMARK) return;
    /* A landmark window that begins in a batch begins with its first record. */
    seen_stats(f->detector, &s);
    if (s.landmarks != f->landmarks) occurrences_landmark(&f->occurrences, noted);
    f->landmarks = s.landmarks;
}

static void print(struct flow *f, const struct batch *b) {
    if (wants_details(f->options))
        sink_details(f->sink, b, f->details);
    else
        sink_batch(f->sink, b);
}

static void print_loose(struct flow *f, const char *p, size_t n, uint64_t number, bool first,
                        bool last) {
    struct details details = nothing;
    details.itself.number = number;
    if (wants_details(f->options))
        sink_loose(f->sink, p, n, &details, first, last);
    else
        sink_unreadable(f->sink, p, n, first, last);
}

/* -- keep last ---------------------------------------------------------------------------- */

static void let_go_kept(struct flow *f) {
    if (f->kept.batch->n) {
        released_end(&f->kept);
        if (wants_details(f->options)) fill_details(f, f->kept.batch, f->kept.read, 0);
        print(f, f->kept.batch);
    }
    released_begin(&f->kept);
}

static void keep_on(struct flow *f, const struct held *h, uint8_t verdict) {
    if (released_full(&f->kept)) let_go_kept(f);
    released_take(&f->kept, &f->keep.shelf, h, verdict);
    const struct readable *read = f->kept.read;
    if (wants_groups(f->options)) groups_count(&f->groups, read->group[read->n - 1], verdict);
}

static void take_kept(struct flow *f, bool all) {
    for (const struct held *h; (h = keep_take(&f->keep, all));) keep_on(f, h, SEEN_NEW);
}

/* Holds each record until another one of its key takes its place.  Records that cannot be judged go
 * on at once.  Each "new" of a server lets one record through, here or at another client:
 *
 *     new, a record of the key is held    the held record's window is over: it goes through
 *     seen before, none is held           another client or an earlier run has the key: a duplicate
 *     uncertain                           it goes on at once */
static void keep_last(struct flow *f, const struct batch *b, const struct readable *in,
                      uint64_t before) {
    size_t m = 0;
    released_begin(&f->kept);
    for (size_t i = 0; i < b->n; i++) {
        const struct record *r = &b->record[i];
        if (m == in->n || in->order[m] != i) {
            let_go_kept(f);
            print_loose(f, r->at, r->len, before + i + 1, true, true);
            continue;
        }
        struct reading read = readable_get(in, m);
        keep_step(&f->keep, &read, judge_landmarks(f->judge) && in->landmark[m]);
        m++;
        take_kept(f, false);
        uint8_t verdict = b->verdict[i];
        bool asked = f->judge->server, new = verdict == SEEN_NEW, over = asked &&new;
        const struct held *h = verdict == UNCERTAIN ? NULL : keep_drop(&f->keep, &read, over);
        if (h) keep_on(f, h, over ? SEEN_NEW : SEEN_DUPLICATE);
        keep_put(&f->keep, r, &read, !new);
        if (asked && !new && !h) keep_on(f, keep_drop(&f->keep, &read, true), verdict);
    }
    let_go_kept(f);
    if (!f->keep.early || !f->detector) return;
    /* Memory was short: the message at the end says how much the window would have needed. */
    struct seen_stats s;
    seen_stats(f->detector, &s);
    keep_note_keys(&f->keep, s.stored);
}

static void judge_and_print(struct flow *f, struct batch *b, struct readable *in, uint64_t before) {
    size_t n = judge_take(f->judge, in);
    if (wants_details(f->options)) fill_details(f, b, in, before);
    judge(f, b, n);
    if (f->options->occurrences) note_occurrences(f, b);
    if (f->options->keep_last) {
        keep_last(f, b, in, before);
        return;
    }
    for (size_t m = 0; wants_groups(f->options) && m < n; m++)
        groups_count(&f->groups, in->group[m], b->verdict[in->order[m]]);
    print(f, b);
}

/* -- reorder ------------------------------------------------------------------------------- */

static void let_go(struct flow *f) {
    if (f->sorted.batch->n) {
        released_end(&f->sorted);
        judge_and_print(f, f->sorted.batch, f->sorted.read, 0);
    }
    released_begin(&f->sorted);
}

/* Runs after each record, so that nothing depends on how many come at once. */
static void take_due(struct flow *f, bool all) {
    for (const struct held *h; (h = reorder_take(&f->reorder, all));) {
        released_take(&f->sorted, &f->reorder.shelf, h, SEEN_NEW);
        if (released_full(&f->sorted)) let_go(f);
    }
}

/* A record that cannot be judged has no time to be sorted by: it goes on at once. */
static void hold(struct flow *f, const struct batch *b, const struct readable *in,
                 uint64_t before) {
    size_t m = 0;
    released_begin(&f->sorted);
    for (size_t i = 0; i < b->n; i++) {
        const struct record *r = &b->record[i];
        if (m == in->n || in->order[m] != i) {
            let_go(f);
            print_loose(f, r->at, r->len, before + i + 1, true, true);
            continue;
        }
        struct reading read = readable_get(in, m);
        if (judge_needs_keys(f->judge)) {
            size_t len;
            read.key.at = judge_key(f->judge, b, in, m, &len);
            read.key.len = (uint32_t)len;
        }
        m++;
        reorder_put(&f->reorder, r, &read);
        take_due(f, false);
    }
    let_go(f);
}

/* -- events ------------------------------------------------------------------------------- */

/* Finds the group of each record.  Records that cannot be judged are counted at once, because they
 * get no verdict. */
static void find_groups(struct flow *f, const struct batch *b, struct readable *in,
                        uint64_t before) {
    size_t m = 0;
    for (size_t i = 0; i < b->n; i++) {
        const struct slice *field = &b->field[i * f->layout->slots];
        if (b->record[i].bare > f->input->max_record) { /* as if it had passed in pieces */
            groups_count_lacking(&f->groups, before + i + 1);
            continue;
        }
        uint32_t found = groups_find(&f->groups, field, before + i + 1);
        if (m < in->n && in->order[m] == i)
            in->group[m++] = found;
        else
            groups_count(&f->groups, found, UNREADABLE);
    }
}

void flow_batch(struct flow *f, struct batch *b) {
    struct readable *in = b->result;
    uint64_t before = f->number;
    f->number += b->n;
    judge_note(f->judge, b, in);
    if (wants_groups(f->options)) find_groups(f, b, in, before);
    if (f->options->group_by) unjudged_batch(&f->ungrouped, b, 0, b->n, NULL, NULL);
    if (wants_details(f->options))
        for (size_t m = 0; m < in->n; m++) in->number[m] = before + in->order[m] + 1;
    if (f->options->reorder)
        hold(f, b, in, before);
    else
        judge_and_print(f, b, in, before);
}

void flow_unreadable(struct flow *f, const char *p, size_t n, bool first, bool last) {
    f->number += first;
    if (last && wants_groups(f->options)) groups_count_lacking(&f->groups, f->number);
    print_loose(f, p, n, f->number, first, last);
}

void flow_end(struct flow *f) {
    if (f->options->reorder) {
        released_begin(&f->sorted);
        take_due(f, true);
        let_go(f);
    }
    if (f->options->keep_last) {
        take_kept(f, true);
        let_go_kept(f);
    }
}

bool flow_has_no_groups(const struct flow *f) {
    const struct unjudged *u = &f->ungrouped;
    if (!u->n || u->n < u->records) return false;
    warn("none of the %ju records has a group: %s", (uintmax_t)u->n, u->first[CAUSE_FIELD]);
    return true;
}

static bool deliver(void *ctx) {
    struct sink *sink = ((struct flow *)ctx)->sink;
    sink_flush(sink);
    return !sink->error;
}

static void pack(const void *ctx, struct packer *p) {
    groups_pack(&((const struct flow *)ctx)->groups, p);
}

static bool unpack(void *ctx, const char *bytes, size_t len) {
    return groups_unpack(&((struct flow *)ctx)->groups, bytes, len);
}

const struct state_kind flow_kept = {
    .command = "dedup", .deliver = deliver, .pack = pack, .unpack = unpack};
