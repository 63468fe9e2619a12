/* snapshot.c - writes a detector as bytes and reads it again.
 *
 *     "SEEN" | version u32 | spec length u32 | blob length u32 | spec text | counters
 *            | checksum of all that u64 | blob | each shard's truth and window | cache or claims,
 *            if any | checksum of all the rest u64
 *
 * Little-endian throughout (doc/snapshot.md).  The spec is the resolved one, so that a later
 * version with another planner still builds the same geometry when it loads it.
 *
 * Loading trusts no byte: the header's checksum is verified before it is parsed, the spec is
 * planned like any other, the limit of the caller bounds the memory, and every structure checks its
 * own part.
 */
#include "base/base.h"
#include "base/bits.h"
#include "base/hash.h"
#include "detector/block.h"
#include "detector/claims.h"
#include "detector/confirm.h"
#include "spec/spec.h"
#include "truth/truth.h"

#include <string.h>

#define VERSION  2
#define MAX_SPEC 1024
#define MAX_BLOB ((uint32_t)16 << 20)

struct header {
    char magic[4];
    uint32_t version, spec_len, blob_len;
};

/* -- save --------------------------------------------------------------------------------- */

static int write_all(struct stream *s, const seen_detector *d, const void *blob,
                     uint32_t blob_len) {
    char spec[MAX_SPEC];
    struct header h = {{'S', 'E', 'E', 'N'}, VERSION, 0, blob_len};
    struct seen_writer w = {stream_write, s};
    h.spec_len = (uint32_t)seen_spec_print(&d->plan.spec, spec, sizeof spec);
    if (stream_write(s, &h, sizeof h) || stream_write(s, spec, h.spec_len) ||
        stream_write(s, &d->counters, sizeof d->counters) || stream_write_sum(s))
        return -1;
    if (blob_len && stream_write(s, blob, blob_len)) return -1;
    for (uint64_t i = 0; i < options_get(&d->plan.spec, OPTION_SHARDS); i++)
        if ((d->shard[i].truth && truth_save(&d->shard[i], w)) ||
            d->shard[i].ops->save(&d->shard[i], w))
            return -1;
    if (options_get(&d->plan.spec, OPTION_VERIFY) && confirm_save(d, w)) return -1;
    if (options_get(&d->plan.spec, OPTION_CLAIMS) && claims_save(d, w)) return -1;
    return stream_write_sum(s);
}

int seen_save(const seen_detector *d, const void *blob, size_t blob_len, struct seen_writer writer,
              struct seen_error *e) {
    if (blob_len > MAX_BLOB)
        return error_set(e, SEEN_EINVAL, 0,
                         "an application's blob has at most 16 MiB, not %zu bytes", blob_len);
    struct stream s = {.writer = writer};
    stream_begin(&s);
    if (write_all(&s, d, blob, (uint32_t)blob_len))
        return error_set(e, SEEN_EIO, 0, "the snapshot could not be written");
    return 0;
}

/* -- load --------------------------------------------------------------------------------- */

static int read_header(struct stream *s, struct header *h, struct seen_spec *spec,
                       struct detector_counters *counters, struct seen_error *e) {
    char text[MAX_SPEC + 1];
    int bad = stream_read_header(s, h, sizeof *h, "SEEN", VERSION, "this is not a snapshot", e);
    if (bad) return bad;
    if (h->spec_len > MAX_SPEC || h->blob_len > MAX_BLOB)
        return error_set(e, SEEN_EFORMAT, 0,
                         "the snapshot's header is damaged: lengths out of range");
    if (stream_read(s, text, h->spec_len) || stream_read(s, counters, sizeof *counters))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends in its header");
    text[h->spec_len] = 0;
    bad = stream_check_sum(s, "header", e);
    if (bad) return bad;
    struct seen_error inner = {0};
    if (strlen(text) != h->spec_len || seen_spec_parse(spec, text, &inner))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's spec is not valid here: %.150s",
                         inner.text);
    if (counters->duplicates > counters->records || counters->tick > MAX_COUNT ||
        counters->last > MAX_TIME)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's counters make no sense");
    return 0;
}

/* Plans the spec.  A resolved spec plans to itself; seen_save writes no other. */
static int plan_again(struct seen_plan *plan, const struct seen_spec *spec, struct seen_error *e) {
    char one[MAX_SPEC], two[MAX_SPEC];
    struct seen_error inner = {0};
    if (seen_plan_make(plan, spec, &inner))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's spec cannot be had here: %.150s",
                         inner.text);
    seen_spec_print(spec, one, sizeof one);
    seen_spec_print(&plan->spec, two, sizeof two);
    if (strcmp(one, two) != 0 || !options_has(spec, OPTION_SEED) ||
        !options_has(spec, OPTION_BLOCKS))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's spec is not a resolved one");
    return 0;
}

/* The bytes that seen_new allocates.  A structure that grows allocates more while it loads. */
static uint64_t block_bytes(const struct seen_plan *plan) {
    struct registry_choice c;
    registry_pick(plan->spec.window, options_name(&plan->spec, OPTION_FILTER), 0, &c);
    return detector_bytes(&plan->spec, registry_state(&c, &plan->spec));
}

/* Reads the part of the application into the room that the caller gives, or drops it. */
static int read_blob(struct stream *s, const struct seen_room *blob, uint32_t len,
                     struct seen_error *e) {
    char dropped[4096], *to = dropped;
    if (len && blob && !(to = blob->room(blob->ctx, len)))
        return error_set(e, SEEN_ENOMEM, 0,
                         "no memory for the application's part of the snapshot, %u bytes", len);
    for (uint32_t at = 0, n; at < len; at += n) {
        n = to == dropped ? (uint32_t)bits_min(len - at, sizeof dropped) : len;
        if (stream_read(s, to, n))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside the application's part");
    }
    return 0;
}

static int read_body(struct stream *s, seen_detector *d, uint64_t limit, struct seen_error *e) {
    struct seen_reader r = {stream_read, s};
    for (uint64_t i = 0; i < options_get(&d->plan.spec, OPTION_SHARDS); i++) {
        struct window *w = &d->shard[i];
        struct seen_stats grown = {0};
        int bad = w->truth ? truth_load(w, detector_now(d, 0), r, e) : 0;
        if (!bad) bad = w->ops->load(w, detector_now(d, 0), r, limit, e);
        if (bad) return bad;
        w->ops->stats(w, detector_now(d, 0), &grown);
        limit -= bits_min(limit, grown.bytes);
    }
    int bad = options_get(&d->plan.spec, OPTION_VERIFY) ? confirm_load(d, r, e) : 0;
    if (!bad && options_get(&d->plan.spec, OPTION_CLAIMS)) bad = claims_load(d, r, e);
    return bad ? bad : stream_check_sum(s, "table", e);
}

int seen_load(seen_detector **out, struct seen_reader reader, size_t limit,
              const struct seen_room *blob, const struct seen_allocator *alloc,
              struct seen_error *e) {
    struct stream s = {.reader = reader};
    struct header h;
    struct seen_spec spec;
    struct seen_plan plan;
    struct detector_counters counters;
    seen_detector *d = NULL;
    *out = NULL;
    if (!limit) limit = SIZE_MAX;
    stream_begin(&s);
    int bad = read_header(&s, &h, &spec, &counters, e);
    if (!bad) bad = plan_again(&plan, &spec, e);
    uint64_t needed = bad ? 0 : block_bytes(&plan) + h.blob_len;
    if (needed > limit)
        bad = error_set(e, SEEN_EFORMAT, 0, "the snapshot needs %llu bytes, and %zu are allowed",
                        (unsigned long long)needed, limit);
    if (!bad) bad = seen_new(&d, &plan, alloc, e);
    if (bad) return bad;
    d->counters = counters;
    bad = read_blob(&s, blob, h.blob_len, e);
    if (!bad) bad = read_body(&s, d, limit - needed, e);
    if (bad)
        seen_free(d);
    else
        *out = d;
    return bad;
}
