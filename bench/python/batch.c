/* batch.c - what a C program does for a batch of keys; bench.py calls it beside Python's observe().
 *
 * Keys are hashed with seen_key and judged 1024 at a time. */
#include <seen.h>

size_t batch_integers(seen_detector *, size_t n, const uint64_t *key, uint8_t *verdict);
size_t batch_strings(seen_detector *, size_t n, const int32_t *offset, const char *text,
                     uint8_t *verdict);
seen_detector *batch_new(const char *text);

enum { BATCH = 1024 };

seen_detector *batch_new(const char *text) {
    struct seen_spec spec;
    struct seen_plan plan;
    seen_detector *d;
    if (seen_spec_parse(&spec, text, NULL) || seen_plan_make(&plan, &spec, NULL)) return NULL;
    return seen_new(&d, &plan, NULL, NULL) ? NULL : d;
}

static size_t judge(seen_detector *d, size_t n, const seen_digest *digest, uint8_t *verdict) {
    size_t fresh = 0;
    seen_observe(d, n, digest, verdict);
    for (size_t i = 0; i < n; i++) fresh += verdict[i] == SEEN_NEW;
    return fresh;
}

/* The eight bytes of each integer are its key. */
size_t batch_integers(seen_detector *d, size_t n, const uint64_t *key, uint8_t *verdict) {
    seen_digest digest[BATCH];
    size_t fresh = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BATCH ? n - at : BATCH;
        for (size_t i = 0; i < some; i++) seen_key(d, key + at + i, sizeof *key, digest + i, NULL);
        fresh += judge(d, some, digest, verdict + at);
    }
    return fresh;
}

size_t batch_strings(seen_detector *d, size_t n, const int32_t *offset, const char *text,
                     uint8_t *verdict) {
    seen_digest digest[BATCH];
    size_t fresh = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BATCH ? n - at : BATCH;
        for (size_t i = at; i < at + some; i++)
            seen_key(d, text + offset[i], (size_t)(offset[i + 1] - offset[i]), digest + i - at,
                     NULL);
        fresh += judge(d, some, digest, verdict + at);
    }
    return fresh;
}
