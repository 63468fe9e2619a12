/* sample.c - plans decaying windows for a stream, from a sample of it (seen plan --sample). */
#include "commands/plan/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DECADES = 16 };

/* -- options ------------------------------------------------------------------------------ */

void sample_init(struct sample *s) {
    input_options_init(&s->input);
    s->mem = (uint64_t)64 << 20;
}

enum { SAMPLE = 1, SAMPLE_MEM };

const struct option_row sample_rows[] = {
    {"A sample of the stream, for decaying windows", 0, NULL, NULL, 0},
    {"sample", 0, "FILE", "learn from its records how far apart repeats are (-: input)", SAMPLE},
    {"sample-mem", 0, "SIZE", "to learn in (default: 64MiB); keys beyond it are sampled",
     SAMPLE_MEM},
    {0},
};

void sample_take(void *sample, const struct option_row *row, const char *value) {
    struct sample *s = sample;
    if (row->id == SAMPLE) {
        if (s->file) die("--sample takes one file; join several with cat and give --sample -");
        s->file = strdup(value);
        return;
    }
    s->other = row->name;
    s->mem = option_size("--sample-mem", value);
}

void sample_take_input(void *sample, const struct option_row *row, const char *value) {
    struct sample *s = sample;
    s->other = row->name;
    input_options_take(&s->input, row, value);
}

bool sample_is_given(const struct sample *s) {
    if (!s->file && s->other)
        die("--%s says how a sample is read, and there is none: give --sample FILE", s->other);
    return s->file;
}

/* -- learning ----------------------------------------------------------------------------- */

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct sample *s = ctx;
    size_t n = judge_read(&s->judge, b, now);
    const struct readable *in = s->judge.in;
    seen_gaps_add(s->gaps, n, in->digest);
    unjudged_batch(&s->reader.unjudged, b, now, in->n, in->order, in->cause);
}

static const struct reader_events events = {.batch = on_batch};

/* Keys are hashed as under the spec.  Without a seed in the spec the seed is fixed, so that each
 * run follows the same keys. */
static seen_detector *new_hasher(const struct seen_spec *asked) {
    struct seen_spec spec;
    struct seen_plan plan;
    struct seen_error e;
    seen_detector *d;
    char text[128], hash[16] = "xxh3";
    if (seen_spec_has(asked, "hash")) seen_spec_get(asked, "hash", hash, sizeof hash);
    snprintf(text, sizeof text, "sliding:1 filter=exact hash=%s seed=%" PRIu64, hash,
             seen_spec_get_count(asked, "seed"));
    if (seen_spec_parse(&spec, text, &e) || seen_plan_make(&plan, &spec, &e) ||
        seen_new(&d, &plan, NULL, &e))
        die("%s", e.text);
    return d;
}

static bool learn(struct sample *s, const struct seen_spec *asked) {
    struct seen_error e;
    const struct args files = {.operand = &s->file, .operands = 1};
    input_options_files(&s->input, &files);
    if (seen_gaps_new(&s->gaps, s->mem, NULL, &e)) die("--sample-mem: %s", e.text);
    s->hasher = new_hasher(asked);
    reader_init(&s->reader, &s->input, &events, s);
    s->reader.unjudged.detector = s->hasher;
    judge_init(&s->judge, s->hasher, &s->reader.layout, s->input.max_record);
    bool read = reader_run(&s->reader);
    bool bad = unjudged_end(&s->reader.unjudged, "left out", false);
    return read && !bad;
}

/* -- for people --------------------------------------------------------------------------- */

/* Plans with what is predicted for a run as long as the sample. */
struct learnt {
    struct seen_plan plan[MAX_PLANS];
    double run_fp[MAX_PLANS], run_fn[MAX_PLANS];
    int n;
    struct seen_spec asked;
    struct seen_gaps_stats sample;
};

/* The options that were chosen by the sample, such as "cell-max=3 k=4". */
static void decided(const struct learnt *l, const struct seen_plan *p, char cell[CELL]) {
    size_t at = 0;
    const struct seen_option *o;
    cell[0] = '\0';
    for (size_t i = 0; (o = seen_option(i)); i++) {
        bool added = seen_spec_has(&p->asked, o->name) && !seen_spec_has(&l->asked, o->name);
        if (!added || o->kind != SEEN_KIND_COUNT) continue;
        at += (size_t)snprintf(cell + at, CELL - at, "%s%s=%" PRIu64, at ? " " : "", o->name,
                               seen_spec_get_count(&p->asked, o->name));
    }
    if (!at) strcpy(cell, "-");
}

static void fill_row(const struct learnt *l, int i, table_row row) {
    const struct seen_plan *p = &l->plan[i];
    snprintf(row[0], CELL, "%s", p->filter);
    decided(l, p, row[1]);
    rows_memory(p, row[2]);
    snprintf(row[3], CELL, "%.2g", p->fp_full);
    snprintf(row[4], CELL, "%.2g", p->fp_mean);
    snprintf(row[5], CELL, "%.2g", p->fn);
    snprintf(row[6], CELL, "%.2g", l->run_fp[i]);
    snprintf(row[7], CELL, "%.2g", l->run_fn[i]);
    snprintf(row[8], CELL, "%.3g", p->touches);
}

static void put_table(const struct learnt *l) {
    static table_row table[MAX_PLANS + 1] = {
        {"filter", "options", "memory", "fp full", "fp", "fn", "run fp", "run fn", "lines"}};
    for (int i = 0; i < l->n; i++) fill_row(l, i, table[i + 1]);
    rows_print((const table_row *)table, l->n + 1);
    puts(
        "\nfp full: bound for any stream; fp, fn: rates of new records called duplicates, and of\n"
        "repeats called new, in a stream that goes on like the sample; run: in a run over as many\n"
        "records, beginning empty; lines: cache lines touched a record");
    printf("\n* %s: %s\n\nto type behind -w, of seen and of seen compare:\n", l->plan[0].filter,
           l->plan[0].reason);
    for (int i = 0; i < l->n; i++) {
        char spec[MAX_SPEC];
        seen_spec_print(&l->plan[i].asked, spec, sizeof spec);
        printf("  '%s'\n", spec);
    }
}

static void put_sample(const struct learnt *l) {
    const struct seen_gaps_stats *s = &l->sample;
    const char *about = s->followed < 1 ? "about " : "";
    printf("sample: %s records", number_grouped(s->records).text);
    printf(", %s%s different keys", about, number_grouped((uint64_t)(s->keys + .5)).text);
    printf(", %s%s repeats\n", about, number_grouped((uint64_t)(s->repeats + .5)).text);
    int last = 0;
    for (int d = 0; d < DECADES; d++)
        if (s->decade[d] > 0) last = d;
    puts("repeats, by how many records ago their key was last seen");
    for (int d = 0; d <= last; d++) printf(" %5s1e%d+", "", d);
    putchar('\n');
    for (int d = 0; d <= last; d++) printf("  %6.2f%%", 100 * s->decade[d] / s->repeats);
    puts("\n");
}

static void put_limits(const struct learnt *l) {
    const struct seen_gaps_stats *s = &l->sample;
    /* The sample shows only repeats within its own length.  At worst all other records are repeats,
     * too, and all are missed. */
    double worst = s->within * l->plan[0].fn + (1 - s->within);
    if (s->followed < 1)
        printf("\nThe sample's keys did not all fit into --sample-mem: one of %.0f was followed, "
               "chosen "
               "by its hash.\n",
               1 / s->followed);
    printf("\n%.3g %% of the records repeat a key within %s records.", 100 * s->within,
           number_grouped(s->reach).text);
    printf(
        " The others are new, or repeat after\nmore records than this sample can tell; were all of "
        "them such repeats, %s would\nmiss %.2g of all.\n",
        l->plan[0].filter, worst);
    if ((double)l->plan[0].capacity > s->keys)
        printf("\nThe sample is short: it has %s keys, and %s reaches",
               number_grouped((uint64_t)(s->keys + .5)).text, l->plan[0].filter),
            printf(" %s keys back. What it will miss comes\nafter longer gaps, which the sample "
                   "cannot show: give a longer one, or less mem=.\n",
                   number_grouped(l->plan[0].capacity).text);
}

/* -- JSON --------------------------------------------------------------------------------- */

static void put_json(const struct learnt *l) {
    const struct seen_gaps_stats *s = &l->sample;
    struct json j;
    char type[MAX_SPEC];
    rows_json_begin(&j, &l->asked);
    json_line(&j, 2);
    json_open(&j, "sample", '{');
    json_count(&j, "records", s->records);
    json_real(&j, "keys", s->keys);
    json_real(&j, "repeats", s->repeats);
    json_real(&j, "followed", s->followed);
    json_count(&j, "reach", s->reach);
    json_real(&j, "within", s->within);
    json_bool(&j, "short", (double)l->plan[0].capacity > s->keys);
    json_open(&j, "gaps", '[');
    for (int d = 0; d < DECADES; d++) {
        if (!(s->decade[d] > 0)) continue;
        json_open(&j, NULL, '{');
        json_put(&j, "from", "1e%d", d);
        json_real(&j, "repeats", s->decade[d]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    json_line(&j, 2);
    json_open(&j, "plans", '[');
    for (int i = 0; i < l->n; i++) {
        rows_json_plan(&j, &l->plan[i]);
        json_real(&j, "fp_run", l->run_fp[i]);
        json_real(&j, "fn_run", l->run_fn[i]);
        seen_spec_print(&l->plan[i].asked, type, sizeof type);
        json_text(&j, "type", type);
        rows_json_plan_end(&j, &l->plan[i], i == 0);
    }
    rows_json_end(&j);
}

/* -- the run ------------------------------------------------------------------------------ */

static void plan_learnt(const struct sample *s, struct learnt *l) {
    struct seen_error e;
    char text[MAX_SPEC];
    if (!l->sample.records) die("--sample %s has no records to learn from", s->file);
    if (!(l->sample.repeats > 0))
        die("--sample %s: no key comes twice, so that nothing is known of gaps; give a longer part "
            "of the stream",
            s->file);
    l->n = seen_gaps_plan(s->gaps, &l->asked, l->plan, MAX_PLANS, &e);
    seen_spec_print(&l->asked, text, sizeof text);
    if (l->n < 0) die_at(text, e.where, e.text);
    for (int i = 0; i < l->n; i++)
        seen_gaps_predict(s->gaps, &l->plan[i], l->sample.records, &l->run_fp[i], &l->run_fn[i],
                          NULL);
}

int sample_run(struct sample *s, const struct window_options *asked, bool json) {
    static struct learnt l;
    window_spec(asked, 0, &l.asked);
    bool fine = learn(s, &l.asked);
    if (signals_stop()) signals_die(signals_stop());
    seen_gaps_stats(s->gaps, &l.sample);
    if (!fine && !l.sample.records) return EXIT_TROUBLE; /* that was said */
    plan_learnt(s, &l);
    if (json)
        put_json(&l);
    else
        put_sample(&l), put_table(&l), put_limits(&l);
    seen_gaps_free(s->gaps);
    judge_free(&s->judge);
    reader_free(&s->reader);
    seen_free(s->hasher);
    free(s->file);
    return fine ? EXIT_FINE : EXIT_TROUBLE;
}
