/* run_stats.c - counts records, times the run, and prints --stats. */
#include "records/run_stats.h"
#include "base/json.h"

#include "base/cli.h"
#include "base/number.h"
#include "time/time.h"

#include <inttypes.h>
#include <stdio.h>

void run_stats_take(struct run_stats *a, const char *value) {
    a->wanted = true;
    a->json = option_is_json(value);
}

void run_stats_begin(struct run_stats *a) { a->started = time_monotonic(); }

static double per_second(uint64_t n, double seconds) {
    return seconds > 0 ? (double)n / seconds : 0;
}

static double seconds_of(const struct run_stats *a) { return time_monotonic() - a->started; }

double run_stats_rate(const struct run_stats *a, uint64_t n) {
    return per_second(n, seconds_of(a));
}

void run_stats_end_json(const struct run_stats *a, uint64_t n) {
    double seconds = seconds_of(a);
    fprintf(stderr,
            "\"seconds\":%.6f,\"records_per_second\":%.9g,\"version\":\"" SEEN_VERSION "\"}\n",
            seconds, per_second(n, seconds));
}

void run_stats_print_work(const struct run_stats *a, const char *what, uint64_t n) {
    if (!a->wanted) return;
    if (a->json)
        fprintf(stderr, "{\"%s\":%" PRIu64 ",\"seconds\":%.6f,\"version\":\"" SEEN_VERSION "\"}\n",
                what, n, seconds_of(a));
    else
        fprintf(stderr, "%s %s, %.3f s\n", number_grouped(n).text, what, seconds_of(a));
}

void run_stats_put_causes(const struct unjudged *u, uint64_t earlier) {
    const char *comma = "";
    fputs("\"unparseable_causes\":[", stderr);
    for (enum cause i = 0; i < CAUSES; i++) {
        if (!u->by[i]) continue;
        fprintf(stderr, "%s{\"cause\":\"%s\",\"records\":%" PRIu64 ",\"first\":", comma,
                cause_name(i), u->by[i]);
        json_print_text(stderr, u->first[i]);
        fputc('}', stderr);
        comma = ",";
    }
    if (earlier)
        fprintf(stderr, "%s{\"cause\":\"earlier_runs\",\"records\":%" PRIu64 ",\"first\":null}",
                comma, earlier);
    fputs("],", stderr);
}

void run_stats_put_json(const struct run_stats *a, const struct unjudged *u) {
    double seconds = time_monotonic() - a->started;
    fprintf(stderr, "\"records\":%" PRIu64 ",\"unparseable\":%" PRIu64 ",", u->records, u->n);
    run_stats_put_causes(u, 0);
    fprintf(stderr, "\"seconds\":%.6f,\"records_per_second\":%.9g,", seconds,
            per_second(u->records, seconds));
}

void run_stats_print(const struct run_stats *a, const struct unjudged *u) {
    double seconds = time_monotonic() - a->started;
    if (!a->wanted) return;
    if (a->json) {
        fputc('{', stderr);
        run_stats_put_json(a, u);
        fputs("\"version\":\"" SEEN_VERSION "\"}\n", stderr);
        return;
    }
    fprintf(stderr, "%s records, ", number_grouped(u->records).text);
    fprintf(stderr, "%s that could not be judged, ", number_grouped(u->n).text);
    fprintf(stderr, "%s a second\n",
            number_grouped((uint64_t)per_second(u->records, seconds)).text);
}
