/* recent.c - removes duplicate events of the last hour, written from seen.h alone: a sliding window
 * of time, records in batches, a snapshot, a damaged snapshot, and the merge of two windows.
 *
 *     cc recent.c $(pkg-config --cflags --libs seen) && ./a.out */
#include <seen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct seen_error e;

static void check(int code) {
    if (code >= 0) return;
    fprintf(stderr, "%s\n", e.text);
    exit(2);
}

struct tape { /* a snapshot in memory */
    char bytes[1 << 20];
    size_t len, at;
};

static int put(void *ctx, const void *buf, size_t len) {
    struct tape *t = ctx;
    if (len > sizeof t->bytes - t->len) return -1;
    memcpy(t->bytes + t->len, buf, len);
    t->len += len;
    return 0;
}

static int get(void *ctx, void *buf, size_t len) {
    struct tape *t = ctx;
    if (len > t->len - t->at) return -1;
    memcpy(buf, t->bytes + t->at, len);
    t->at += len;
    return 0;
}

static void observe(seen_detector *d, const char *keys, seen_time now) {
    seen_digest digest[16];
    seen_time time[16];
    uint8_t verdict[16];
    size_t n = strlen(keys);
    for (size_t i = 0; i < n; i++) {
        check(seen_key(d, keys + i, 1, &digest[i], &e));
        time[i] = now + i * 1000000;
    }
    seen_observe_at(d, n, digest, time, verdict);
    for (size_t i = 0; i < n; i++) printf("%c%s", keys[i], verdict[i] == SEEN_NEW ? " " : "! ");
    printf("\n");
}

int main(void) {
    const seen_time hour = 3600u * 1000000ull, noon = 12 * hour;
    static struct tape tape;
    struct seen_spec spec;
    struct seen_plan plan;
    struct seen_stats stats;
    seen_detector *one, *two, *copy;

    check(seen_spec_parse(&spec, "sliding:1h fp=1e-9 rate=10", &e));
    check(seen_spec_set_count(&spec, "seed", 1, &e));
    check(seen_plan_make(&plan, &spec, &e));
    check(seen_new(&one, &plan, NULL, &e));
    check(seen_new(&two, &plan, NULL, &e));

    observe(one, "abac", noon);                      /* a b a! c */
    observe(one, "ad", noon + 2 * hour);             /* a d: the first hour is over */
    observe(two, "xyz", noon + 2 * hour);            /* x y z */
    check(seen_merge(one, two, &e));                 /* `one` has seen what either has */
    observe(one, "xdq", noon + 2 * hour + hour / 2); /* x! d! q */

    check(seen_save(one, NULL, 0, (struct seen_writer){put, &tape}, &e));
    check(seen_load(&copy, (struct seen_reader){get, &tape}, 0, NULL, NULL, &e));
    observe(copy, "xyw", noon + 2 * hour + hour / 2); /* x! y! w */
    seen_stats(copy, &stats);
    printf("%llu records, %llu duplicates\n", (unsigned long long)stats.records,
           (unsigned long long)stats.duplicates);

    tape.at = 0;
    tape.bytes[tape.len / 2] ^= 1;
    seen_detector *none;
    if (seen_load(&none, (struct seen_reader){get, &tape}, 0, NULL, NULL, &e))
        printf("refused: %s\n", e.text);
    seen_free(copy), seen_free(two), seen_free(one);
    return 0;
}
