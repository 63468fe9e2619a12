/* key_list.c - reads a file of keys. */
#include "judge/key_list.h"

#include "records/reader.h"

#include <stdio.h>
#include <stdlib.h>

struct reading_keys {
    const char *name;
    struct keyer keyer;
    struct unjudged *unjudged;
    uint64_t n; /* keys so far */
    void (*take)(void *ctx, size_t n, const seen_digest *);
    void (*look)(void *ctx, const char *key, size_t len);
    void *ctx;
    seen_digest digest[BATCH];
    uint16_t order[BATCH];
};

/* Dies because a record of the batch has no usable key. */
_Noreturn static void refuse(struct reading_keys *r, const struct batch *b, size_t n) {
    char text[UNJUDGED_TEXT];
    size_t bad = 0;
    while (bad < n && r->order[bad] == bad) bad++;
    unjudged_describe(r->unjudged, key_cause(&r->keyer, b, bad), b, bad, r->n + bad + 1, 0, text);
    die("%s: %s", r->name, text);
}

static void on_batch(void *ctx, struct batch *b, seen_time now) {
    struct reading_keys *r = ctx;
    (void)now;
    size_t n = key_batch(&r->keyer, b, r->digest, r->order);
    if (n < b->n) refuse(r, b, n);
    for (size_t i = 0; r->look && i < n; i++) {
        size_t len;
        const char *key = key_bytes(&r->keyer, b, i, &len);
        r->look(r->ctx, key, len);
    }
    r->n += n;
    r->take(r->ctx, n, r->digest);
}

void key_list_read(const char *name, const struct input_options *records, const struct layout *of,
                   const seen_detector *hasher,
                   void (*take)(void *ctx, size_t n, const seen_digest *),
                   void (*look)(void *ctx, const char *key, size_t len), void *ctx) {
    static const struct reader_events events = {.batch = on_batch};
    static struct reading_keys r;
    static struct reader reader;
    char *const file[] = {(char *)(uintptr_t)name};
    char fields[32];
    struct input_options source = *records;
    r = (struct reading_keys){.name = name, .take = take, .look = look, .ctx = ctx};
    int64_t keys = parts_of_key(of);
    snprintf(fields, sizeof fields, "1-");
    if (keys > 0) snprintf(fields, sizeof fields, "1-%jd", (intmax_t)keys);
    bool line = keys == 0 || (keys == 1 && !input_options_column(&source));
    source.form.regex = NULL; /* its parts are what the list holds */
    source.form.groups = 0;
    source.form.by_word = false;
    source.keys = line ? NULL : fields;
    source.time = NULL;
    source.merge = false;
    source.rejects = NULL;
    source.header = false;
    source.threads = 1;
    if (!input_options_column(&source)) source.shape = SHAPE_LINES;
    source.files = file;
    source.file_count = 1;
    reader_init(&reader, &source, &events, &r);
    r.unjudged = &reader.unjudged;
    r.unjudged->detector = hasher;
    key_init(&r.keyer, hasher, &reader.layout, source.max_record);
    if (!reader_run(&reader)) exit(EXIT_TROUBLE);
    key_free(&r.keyer);
    reader_free(&reader);
}
