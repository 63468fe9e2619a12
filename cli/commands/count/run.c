/* run.c - what `seen count` and `seen top` share: options, events of the reader, and --state. */
#include "commands/count/count.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void count_run_init(struct count_run *r, const struct state_kind *kept) {
    input_options_init(&r->input);
    state_init(&r->state, kept);
}

void count_run_settle(struct count_run *r, const struct args *a) {
    struct state *s = &r->state;
    saved_options_take(&s->options, a);
    input_options_files(&r->input, a);
    window_check_files(&r->window, &r->input);
    r->input.rejects_go_on = s->name;
    if (s->name && r->input.merge) die_both("--state", "--merge");
    if (s->name && r->window.specs > 1) die("-w is given twice; one window at a time is counted");
    state_load(s, &r->window);
    r->window.outlives = s->name;
    if (s->name) state_check(s, &r->window);
    window_compile(&r->window, &r->input);
}

/* -- events of the reader ----------------------------------------------------------------- */

static void on_ahead(void *ctx, unsigned who, struct batch *b, seen_time now) {
    judge_ahead(&((struct count_run *)ctx)->windows.judge, who, b, now, b->result);
}

static void on_attend(void *ctx) { state_attend(&((struct count_run *)ctx)->state); }

static void on_opened(void *ctx) { state_opened(&((struct count_run *)ctx)->state); }

static void on_closed(void *ctx) { state_closed(&((struct count_run *)ctx)->state); }

static void on_flush(void *ctx) { (void)ctx, fflush(stdout); }

void count_run_open(struct count_run *r, void (*columns)(void *ctx, const struct header *),
                    void (*batch)(void *ctx, struct batch *, seen_time now)) {
    r->events = (struct reader_events){.columns = columns,
                                       .ahead = on_ahead,
                                       .result_size = sizeof(struct readable),
                                       .opened = on_opened,
                                       .closed = on_closed,
                                       .batch = batch,
                                       .attend = on_attend,
                                       .flush = on_flush};
    reader_init(&r->reader, &r->input, &r->events, r);
    r->reader.unjudged.detector = r->windows.detector;
}

size_t count_run_batch(struct count_run *r, struct batch *b, seen_time now) {
    struct readable *in = b->result;
    unjudged_batch(&r->reader.unjudged, b, now, in->n, in->order, in->cause);
    judge_note(&r->windows.judge, b, in);
    return judge_take(&r->windows.judge, in);
}

/* -- a run -------------------------------------------------------------------------------- */

void count_run_resume(struct count_run *r) {
    state_begin(&r->state, (struct state_of){.detector = r->windows.detector,
                                             .reader = &r->reader,
                                             .judge = &r->windows.judge,
                                             .number = &r->reader.records,
                                             .unended = &r->unended,
                                             .end = '\n',
                                             .ctx = r});
    if (r->unended) putchar('\n');
    r->unended = false;
}

int count_run_end(struct count_run *r, bool complete, bool own_times, const char *where) {
    const struct judge *j = &r->windows.judge;
    judge_tell(j, own_times ? 0 : j->lateness.run_late);
    windows_tell(&r->windows, &r->input, where);
    bool bad = unjudged_end(&r->reader.unjudged, "not counted", r->stats.wanted);
    run_stats_print(&r->stats, &r->reader.unjudged);
    return !complete || bad ? EXIT_TROUBLE : EXIT_FINE;
}

void count_run_close(struct count_run *r) {
    windows_free(&r->windows);
    reader_free(&r->reader);
    window_free(&r->window);
    state_free(&r->state);
    if (signals_stop()) fflush(stdout), signals_die(signals_stop());
}

/* -- what a state keeps ------------------------------------------------------------------- */

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
    seen_spec_print(seen_spec_of(d), two, sizeof two);
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
