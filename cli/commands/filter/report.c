#include "commands/filter/report.h"
#include "base/json.h"

#include "base/cli.h"
#include "base/number.h"
#include "base/pool.h"
#include "commands/filter/any.h"
#include "records/format/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What a record of the run without a key of the list passes it with. */
static double record_fp(const struct filtered *f, double e) {
    return f->chance ? chance_record(f->chance, e) : e;
}

static double keys_a_record(const struct chance *c) {
    return c->records ? (double)c->keys / (double)c->records : 0;
}

/* -- --stats ------------------------------------------------------------------------------ */

static void put_json(const struct filtered *f) {
    fputc('{', stderr);
    run_stats_put_json(f->stats, f->unjudged);
    fprintf(stderr, "\"matched\":%" PRIu64 ",", f->passed);
    if (f->chance)
        fprintf(stderr, "\"keys\":%" PRIu64 ",\"fp_record\":%.9g,", f->chance->keys,
                record_fp(f, chance_key(f->lists)));
    fputs("\"lists\":[", stderr);
    for (size_t i = 0; i < f->lists->n && f->lists->list[i].set; i++) {
        const struct list *l = &f->lists->list[i];
        struct seen_stats s;
        seen_stats(l->set, &s);
        fputs(i ? ",{\"list\":" : "{\"list\":", stderr);
        json_print_text(stderr, l->name);
        fprintf(stderr, ",\"keys\":%zu,\"bytes\":%" PRIu64 ",\"matches\":%" PRIu64 ",\"fp\":%.9g",
                l->n, s.bytes, l->matches, s.fp_now);
        if (f->chance) fprintf(stderr, ",\"fp_record\":%.9g", record_fp(f, s.fp_now));
        fputc('}', stderr);
    }
    fputs("],\"version\":\"" SEEN_VERSION "\"}\n", stderr);
}

void report_stats(const struct filtered *f) {
    if (f->stats->json) {
        put_json(f);
        return;
    }
    fprintf(stderr, "%s records, ", number_grouped(f->unjudged->records).text);
    fprintf(stderr, "%s in a list, ", number_grouped(f->passed).text);
    fprintf(stderr, "%s without a readable key\n", number_grouped(f->unjudged->n).text);
    if (f->chance)
        fprintf(stderr,
                "%s keys, %.1f a record; of m keys a record of no list passes with "
                "1-(1-e)^m\n",
                number_grouped(f->chance->keys).text, keys_a_record(f->chance));
    for (size_t i = 0; i < f->lists->n && f->lists->list[i].set; i++) {
        const struct list *l = &f->lists->list[i];
        struct seen_stats s;
        seen_stats(l->set, &s);
        fprintf(stderr, "  %s: %s keys in ", l->name, number_grouped(l->n).text);
        fprintf(stderr, "%s, %s matches; ", number_size(s.bytes).text,
                number_grouped(l->matches).text);
        if (f->chance)
            fprintf(stderr, "e = %.2g, %.2g of the others pass\n", s.fp_now,
                    record_fp(f, s.fp_now));
        else
            fprintf(stderr, "%.2g of the others pass\n", s.fp_now);
    }
}

/* -- warnings ----------------------------------------------------------------------------- */

void report_chance(const struct filtered *f) {
    if (!f->chance) return;
    double e = chance_key(f->lists), rate = record_fp(f, e);
    double others = (double)(f->chance->records - f->passed), n = others * rate / (1 - rate);
    if (rate >= 1 || n > (double)f->passed) n = (double)f->passed;
    if (n < 1) return;
    warn("about %.0f of the %" PRIu64 " records that are in a list probably hold no key of it: a "
         "record has %.1f keys, and each is taken for one of a list with %.2g; give a smaller "
         "--fp, or --exact",
         n, f->passed, keys_a_record(f->chance), e);
}

static void tell_field(const struct layout *l, uint32_t slot) {
    char name[128];
    uint32_t column = 0;
    while (column < l->width && l->slot_of[column] != (int32_t)slot) column++;
    if (column == l->width) return; /* of a span */
    if (l->paths)
        json_paths_name(l->paths, column, name, sizeof name);
    else
        snprintf(name, sizeof name, "%u", column + 1);
    text_tame(name);
    warn("no record has a field %s, which -k asks for; the others were looked at", name);
}

void report_fields(const struct any *any, const struct input_options *input) {
    const struct layout *l = any->layout;
    if (input->quiet || l->keys < 2) return;
    for (uint32_t i = 0; i < l->keys; i++) {
        bool met = false, looked = false;
        for (int who = 0; who < MAX_THREADS; who++) {
            looked |= any[who].met != NULL;
            met |= any[who].met && any[who].met[i];
        }
        if (looked && !met) tell_field(l, l->key[i]);
    }
}
