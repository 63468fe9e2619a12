/* options.c - what the command line says of judging elsewhere. */
#include "commands/dedup/settings.h"

enum { MOST_REPLICAS = 100, LEAST_PATIENCE = 100000 /* microseconds */ };

bool remote_take(struct remote *r, int id, const char *value) {
    struct seen_error e;
    uint64_t us;
    switch (id) {
    case REMOTE_URL: r->url = value; break;
    case REMOTE_PATIENCE:
        if (seen_parse_span(&us, value, &e)) die("--patience %s: %s", value, e.text);
        if (us < LEAST_PATIENCE) die("--patience %s: at least 100ms", value);
        r->patience = (double)us * 1e-6;
        break;
    case REMOTE_REPLICAS:
        if (seen_parse_count(&r->replicas, value, &e)) die("--replicas %s: %s", value, e.text);
        if (r->replicas > MOST_REPLICAS) die("--replicas %s: at most %d", value, MOST_REPLICAS);
        break;
    case REMOTE_AT_MOST_ONCE: r->at_most_once = true; break;
    default: return false;
    }
    return true;
}

/* What needs the filter, or the records' order, here. */
static void refuse_local(const struct settings *s) {
    const struct wanted *w = &s->wanted;
    const struct {
        const char *name;
        bool given;
    } local[] = {{"--zone", s->zone ? s->asked.zone : NULL},
                 {"--landmark-on", s->asked.landmark_on},
                 {"--confirmed", s->confirmed},
                 {"--state", s->state.name},
                 {"--reorder", w->reorder},
                 {"--keep last", w->keep_last},
                 {"--audit", w->audit},
                 {"--output=json", w->json},
                 {"--tag=LIST", w->tags.n},
                 {"--group-by", w->group_by},
                 {"--sum", w->sum},
                 {"--query-key", w->add_key},
                 {"--within", w->within_given}};
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if (local[i].given)
            die("--redis and %s exclude each other: the server keeps the filter, and says only new "
                "or seen before",
                local[i].name);
}

void remote_check(const struct settings *s) {
    const struct remote *r = &s->remote;
    if (!r->url && (r->patience > 0 || r->at_most_once || r->replicas))
        die("--patience, --at-most-once and --replicas are about the servers of --redis");
    if (!r->url) return;
    refuse_local(s);
    if (s->plan.spec.hash == SEEN_INT || s->plan.spec.hash == SEEN_RAW)
        die("--redis sends keys as bytes: hash=%s is for filters that are kept here",
            s->plan.spec.hash == SEEN_INT ? "int" : "raw");
}
