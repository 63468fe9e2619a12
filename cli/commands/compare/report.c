/* report.c - prints the result of `seen compare`: a table and three sentences, or JSON, or CSV. */
#include "commands/compare/compare.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static double nanoseconds(const struct candidate *c, uint64_t records) {
    return records ? c->seconds * 1e9 / (double)records : 0;
}

static uint64_t bytes_of(const struct candidate *c) {
    struct seen_stats s;
    seen_stats(c->detector, &s);
    return s.bytes;
}

static uint64_t forgotten_by(const struct candidate *c) {
    struct seen_stats s;
    seen_stats(c->detector, &s);
    return s.forgotten;
}

/* How many decades of gaps have to be shown: some candidate has a duplicate in the last one. */
static unsigned decades_of(const struct comparison *all) {
    unsigned n = 0;
    for (size_t i = 0; i < all->n; i++)
        for (unsigned d = n; d < DECADES; d++)
            if (all->candidate[i].gap[d].duplicates) n = d + 1;
    return n;
}

/* -- for people --------------------------------------------------------------------------- */

static void put_rate(uint64_t x, uint64_t n) {
    struct rate r = rate_of(x, n);
    if (!n)
        printf("  %8s  %17s", "-", "-");
    else
        printf("  %8.2g  %7.2g - %-7.2g", r.value, r.low, r.high);
}

static void put_gaps(const struct comparison *all) {
    unsigned decades = decades_of(all);
    puts("\nduplicates let through, by how many records ago their key was last seen");
    printf("%3s", "");
    for (unsigned d = 0; d < decades; d++) {
        char head[16];
        snprintf(head, sizeof head, "1e%u+", d);
        printf("  %7s", head);
    }
    putchar('\n');
    for (size_t i = 0; i < all->n; i++) {
        const struct candidate *c = &all->candidate[i];
        printf("%3zu", i + 1);
        for (unsigned d = 0; d < decades; d++) {
            uint64_t n = c->gap[d].duplicates;
            if (n)
                printf("  %6.2f%%", 100.0 * (double)c->gap[d].missed / (double)n);
            else
                printf("  %7s", "-");
        }
        putchar('\n');
    }
}

static void put_errors(const struct comparison *all, size_t i) {
    const struct candidate *c = &all->candidate[i];
    printf("#%zu (%s records wrongly dropped, ", i + 1, number_grouped(c->fp).text);
    printf("%s duplicates let through)\n", number_grouped(c->fn).text);
}

static double errors(const struct candidate *c) { return (double)(c->fp + c->fn); }
static double memory(const struct candidate *c) { return (double)bytes_of(c); }
static double seconds(const struct candidate *c) { return c->seconds; }

/* The candidate with the least cost; among equals, the one with the least memory. */
static size_t least(const struct comparison *all, double (*cost)(const struct candidate *)) {
    size_t best = 0;
    for (size_t i = 1; i < all->n; i++) {
        const struct candidate *a = &all->candidate[i], *b = &all->candidate[best];
        if (cost(a) < cost(b) || (cost(a) == cost(b) && memory(a) < memory(b))) best = i;
    }
    return best;
}

static void put_answer(const struct comparison *all) {
    size_t i = least(all, errors);
    printf("\nfewest errors  ");
    put_errors(all, i);
    i = least(all, memory);
    printf("least memory   %s, ", number_size(bytes_of(&all->candidate[i])).text);
    put_errors(all, i);
    i = least(all, seconds);
    printf("fastest        %.0f ns a record, ", nanoseconds(&all->candidate[i], all->records));
    put_errors(all, i);
}

void report_text(const struct comparison *all) {
    uint64_t missed = 0;
    for (size_t i = 0; i < all->n; i++)
        printf("%3zu  %s\n", i + 1, all->candidate[i].asked), missed += all->candidate[i].fn;
    printf("\n%s records", number_grouped(all->records).text);
    if (all->unreadable)
        printf(", and %s without a readable key or time", number_grouped(all->unreadable).text);
    printf("\n\n     fp rate  %17s  expected   fn rate  %17s      memory     ns\n", "95 %     ",
           "95 %     ");
    for (size_t i = 0; i < all->n; i++) {
        const struct candidate *c = &all->candidate[i];
        printf("%3zu", i + 1);
        put_rate(c->fp, c->truths[TRUTH_NEW]);
        printf("  %8.2g", candidate_expected(c));
        put_rate(c->fn, c->truths[TRUTH_DUPLICATE]);
        printf("  %10s  %5.0f\n", number_size(bytes_of(c)).text, nanoseconds(c, all->records));
    }
    puts(
        "\nfp: new records called duplicates, so wrongly dropped; expected: by the detector's own\n"
        "account; fn: duplicates called new, so let through; ns: a record, without reading");
    if (missed) put_gaps(all);
    put_answer(all);
    for (size_t i = 0; i < all->n; i++) {
        const struct candidate *c = &all->candidate[i];
        if (seen_spec_get_count(&c->plan.spec, "verify")) {
            printf("#%zu: confirmed %s of %s duplicates (%.3g %%), ", i + 1,
                   number_grouped(c->confirmed).text, number_grouped(c->duplicates).text,
                   c->duplicates ? 100.0 * (double)c->confirmed / (double)c->duplicates : 0);
            printf("%s of them wrongly; ", number_grouped(c->confirmed_fp).text);
            printf("of the other %s, ", number_grouped(c->duplicates - c->confirmed).text);
            printf("%s are wrong\n", number_grouped(c->fp - c->confirmed_fp).text);
        }
        if (c->truths[TRUTH_EITHER])
            printf("#%zu: %s records lay in its slack, where either answer is right\n", i + 1,
                   number_grouped(c->truths[TRUTH_EITHER]).text);
        if (forgotten_by(c))
            printf("#%zu: forgot %s keys for want of memory\n", i + 1,
                   number_grouped(forgotten_by(c)).text);
    }
}

/* -- for programs ------------------------------------------------------------------------- */

static void json_rate(struct json *j, const char *name, uint64_t x, uint64_t n) {
    struct rate r = rate_of(x, n);
    char longer[32];
    json_count(j, name, x);
    snprintf(longer, sizeof longer, "%s_rate", name);
    json_real(j, longer, r.value);
    snprintf(longer, sizeof longer, "%s_rate_95", name);
    json_put(j, longer, "[%.9g, %.9g]", r.low, r.high);
}

static void json_candidate(struct json *j, const struct comparison *all,
                           const struct candidate *c) {
    char resolved[512];
    seen_spec_print(seen_spec_of(c->detector), resolved, sizeof resolved);
    json_open(j, NULL, '{');
    json_text(j, "asked", c->asked);
    json_text(j, "spec", resolved);
    json_count(j, "new", c->truths[TRUTH_NEW]);
    json_count(j, "duplicates", c->truths[TRUTH_DUPLICATE]);
    json_count(j, "either", c->truths[TRUTH_EITHER]);
    json_rate(j, "fp", c->fp, c->truths[TRUTH_NEW]);
    json_real(j, "fp_expected", candidate_expected(c));
    json_real(j, "fp_full", c->plan.fp_full);
    json_real(j, "fp_mean", c->plan.fp_mean);
    if (seen_spec_get_count(&c->plan.spec, "verify")) {
        json_count(j, "confirmed", c->confirmed);
        json_count(j, "confirmed_fp", c->confirmed_fp);
    }
    json_rate(j, "fn", c->fn, c->truths[TRUTH_DUPLICATE]);
    json_real(j, "fn_planned", c->plan.fn);
    json_real(j, "slack", c->plan.slack);
    json_count(j, "bytes", bytes_of(c));
    json_count(j, "forgotten", forgotten_by(c));
    json_put(j, "ns", "%.4g", nanoseconds(c, all->records));
    json_open(j, "gaps", '[');
    for (unsigned d = 0; d < DECADES; d++) {
        if (!c->gap[d].duplicates) continue;
        json_open(j, NULL, '{');
        json_put(j, "from", "1e%u", d);
        json_count(j, "duplicates", c->gap[d].duplicates);
        json_count(j, "fn", c->gap[d].missed);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

void report_json(const struct comparison *all) {
    struct json j = {.out = stdout, .spaced = true};
    json_open(&j, NULL, '{');
    json_line(&j, 2);
    json_count(&j, "records", all->records);
    json_count(&j, "unparseable", all->unreadable);
    json_line(&j, 2);
    json_open(&j, "specs", '[');
    for (size_t i = 0; i < all->n; i++) {
        json_line(&j, 4);
        json_candidate(&j, all, &all->candidate[i]);
    }
    puts("\n  ]\n}");
}

static void csv_rate(uint64_t x, uint64_t n) {
    struct rate r = rate_of(x, n);
    printf(",%" PRIu64 ",%.9g,%.9g,%.9g", x, r.value, r.low, r.high);
}

void report_csv(const struct comparison *all) {
    unsigned decades = decades_of(all);
    printf("spec,new,duplicates,either,fp,fp_rate,fp_low,fp_high,fp_expected,fp_full,"
           "fn,fn_rate,fn_low,fn_high,fn_planned,confirmed,confirmed_fp,bytes,forgotten,ns");
    for (unsigned d = 0; d < decades; d++) printf(",gap_1e%u_duplicates,gap_1e%u_fn", d, d);
    putchar('\n');
    for (size_t i = 0; i < all->n; i++) {
        const struct candidate *c = &all->candidate[i];
        putchar('"');
        for (const char *p = c->asked; *p; p++) printf(*p == '"' ? "\"\"" : "%c", *p);
        putchar('"');
        printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64, c->truths[TRUTH_NEW],
               c->truths[TRUTH_DUPLICATE], c->truths[TRUTH_EITHER]);
        csv_rate(c->fp, c->truths[TRUTH_NEW]);
        printf(",%.9g,%.9g", candidate_expected(c), c->plan.fp_full);
        csv_rate(c->fn, c->truths[TRUTH_DUPLICATE]);
        printf(",%.9g,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.4g", c->plan.fn,
               c->confirmed, c->confirmed_fp, bytes_of(c), forgotten_by(c),
               nanoseconds(c, all->records));
        for (unsigned d = 0; d < decades; d++)
            printf(",%" PRIu64 ",%" PRIu64, c->gap[d].duplicates, c->gap[d].missed);
        putchar('\n');
    }
}
