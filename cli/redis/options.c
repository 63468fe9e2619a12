/* options.c - what the command line says of judging elsewhere. */
#include "dedup/settings.h"

bool remote_take(struct remote *r, int id, const char *value) {
    struct seen_error e;
    uint64_t us;
    switch (id) {
    case REMOTE_URL: r->url = value; break;
    case REMOTE_PATIENCE:
        if (seen_parse_span(&us, value, &e)) die("--patience %s: %s", value, e.text);
        r->patience = (double)us * 1e-6;
        break;
    case REMOTE_AT_MOST_ONCE: r->at_most_once = true; break;
    default: return false;
    }
    return true;
}

void remote_check(const struct settings *s) {
    const struct remote *r = &s->remote;
    const struct asked *a = &s->asked;
    if (!r->url && (r->patience > 0 || r->at_most_once))
        die("--patience and --at-most-once are about the server of --redis");
    if (!r->url) return;
    if (a->zone || a->landmark_on)
        die("--zone and --landmark-on begin windows here; with --redis the server keeps them");
    if (s->confirmed) die("--confirmed needs the filter here; the server says only new or not");
    if (s->state.name) die("--state keeps a filter in a file; with --redis the server keeps it");
    if (s->wanted.reorder) die("--reorder and --redis do not go together; lateness= does");
    if (s->plan.spec.hash == SEEN_INT || s->plan.spec.hash == SEEN_RAW)
        die("--redis sends keys as bytes: hash=%s is for filters that are kept here",
            s->plan.spec.hash == SEEN_INT ? "int" : "raw");
}
