#include "lab.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void lab_die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

void *lab_alloc(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    if (!p) lab_die("no memory for %zu x %zu bytes", n, size);
    return p;
}

/* -- detectors ---------------------------------------------------------------------------- */

static void plan_text(struct seen_plan *plan, const char *format, va_list args) {
    char text[512];
    struct seen_error e;
    struct seen_spec spec;
    vsnprintf(text, sizeof text, format, args);
    if (seen_spec_parse(&spec, text, &e) || seen_plan_make(plan, &spec, &e))
        lab_die("%s: %s", text, e.text);
}

void lab_plan(struct seen_plan *plan, const char *format, ...) {
    va_list args;
    va_start(args, format);
    plan_text(plan, format, args);
    va_end(args);
}

seen_detector *lab_new(const struct seen_plan *plan) {
    seen_detector *d;
    struct seen_error e;
    if (seen_new(&d, plan, NULL, &e)) lab_die("%s", e.text);
    return d;
}

seen_detector *lab_make(const char *format, ...) {
    struct seen_plan plan;
    va_list args;
    va_start(args, format);
    plan_text(&plan, format, args);
    va_end(args);
    return lab_new(&plan);
}

const char *lab_spec(const seen_detector *d) {
    static char text[512];
    seen_spec_print(seen_spec_of(d), text, sizeof text);
    return text;
}

/* -- chance ------------------------------------------------------------------------------- */

uint64_t lab_next(uint64_t *rng) {
    uint64_t z = *rng += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t lab_below(uint64_t *rng, uint64_t n) {
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)lab_next(rng) * n) >> 64);
}

double lab_uniform(uint64_t *rng) { return (double)(lab_next(rng) >> 11) * 0x1p-53; }

seen_digest lab_digest(uint64_t key, uint64_t seed) { return seen_hash(&key, sizeof key, seed); }

uint64_t lab_show(seen_detector *d, uint64_t first, uint64_t n, uint64_t seed) {
    enum { BATCH = 256 };
    seen_digest digest[BATCH];
    uint8_t verdict[BATCH];
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i += BATCH) {
        uint64_t m = n - i < BATCH ? n - i : BATCH;
        for (uint64_t j = 0; j < m; j++) digest[j] = lab_digest(first + i + j, seed);
        seen_observe(d, m, digest, verdict);
        for (uint64_t j = 0; j < m; j++) found += verdict[j] != SEEN_NEW;
    }
    return found;
}

/* -- measurements ------------------------------------------------------------------------- */

void lab_add(struct lab_mean *m, double value) {
    m->sum += value;
    m->squares += value * value;
    m->runs++;
}

double lab_mean(const struct lab_mean *m) { return m->sum / (double)m->runs; }

double lab_sd(const struct lab_mean *m) {
    if (m->runs < 2) return 0;
    double n = (double)m->runs;
    return sqrt(fmax(0, (m->squares - m->sum * m->sum / n) / (n - 1)));
}

double lab_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void lab_row(const char *series, double x, const struct lab_mean *m, uint64_t seed,
             const char *spec) {
    printf("%s,%.10g,%.8g,%.3g,%llu,%llu,%s\n", series, x, lab_mean(m), lab_sd(m),
           (unsigned long long)m->runs, (unsigned long long)seed, spec);
    fflush(stdout);
}

void lab_one(const char *series, double x, double value, uint64_t seed, const char *spec) {
    struct lab_mean one = {0};
    lab_add(&one, value);
    lab_row(series, x, &one, seed, spec);
}

/* -- the command line --------------------------------------------------------------------- */

static int given;
static char **words;

const char *lab_text(const char *name, const char *otherwise) {
    size_t n = strlen(name);
    for (int i = 0; i < given; i++)
        if (!strncmp(words[i], name, n) && words[i][n] == '=') return words[i] + n + 1;
    return otherwise;
}

double lab_number(const char *name, double otherwise) {
    const char *text = lab_text(name, NULL);
    char *end;
    if (!text) return otherwise;
    double value = strtod(text, &end);
    if (*end || end == text) lab_die("%s=%s is not a number", name, text);
    return value;
}

int lab_main(int argc, char **argv, const struct lab_experiment *e, size_t n) {
    given = argc - 2;
    words = argv + 2;
    for (size_t i = 0; argc > 1 && i < n; i++)
        if (!strcmp(e[i].name, argv[1])) return e[i].run(), 0;
    fprintf(stderr, "usage: %s EXPERIMENT [NAME=VALUE]...\nexperiments:", argv[0]);
    for (size_t i = 0; i < n; i++) fprintf(stderr, " %s", e[i].name);
    fputc('\n', stderr);
    return 2;
}
