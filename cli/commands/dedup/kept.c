/* kept.c - what `seen dedup --state` keeps besides detector and places: groups and sums. */
#include "commands/dedup/flow.h"
#include "state/state.h"

static bool deliver(void *ctx) {
    struct sink *sink = ((struct flow *)ctx)->sink;
    sink_flush(sink);
    return !sink->error;
}

static void pack(const void *ctx, struct packer *p) {
    groups_pack(&((const struct flow *)ctx)->groups, p);
}

static bool unpack(void *ctx, const char *bytes, size_t len) {
    return groups_unpack(&((struct flow *)ctx)->groups, bytes, len);
}

const struct state_kind flow_kept = {
    .command = "dedup", .deliver = deliver, .pack = pack, .unpack = unpack};
