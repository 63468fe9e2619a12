#include "dedup/wanted.h"

void wanted_init(struct wanted *w) { *w = (struct wanted){.hold = 256 << 20}; }

static uint64_t span(const char *name, const char *text) {
    struct seen_error e;
    uint64_t us;
    if (seen_parse_span(&us, text, &e)) die("--%s %s: %s", name, text, e.text);
    if (!us || us > UINT64_C(1000000000000000))
        die("--%s %s: give it between 1ms and 1653w", name, text);
    return us;
}

static uint64_t size(const char *name, const char *text) {
    struct seen_error e;
    uint64_t bytes;
    if (seen_parse_size(&bytes, text, &e)) die("--%s %s: %s", name, text, e.text);
    return bytes;
}

bool wanted_take(struct wanted *w, int id, const char *value) {
    switch (id) {
    case WANTED_REORDER: w->reorder = span("reorder", value); break;
    case WANTED_HOLD: w->hold = size("hold", w->hold_given = value); break;
    default: return false;
    }
    return true;
}

void wanted_ask(const struct wanted *w, struct asked *a) { a->times |= w->reorder > 0; }

static void check_reorder(const struct wanted *w, const struct asked *a, const struct source *s,
                          const struct seen_plan *plan) {
    if (w->hold_given && !w->reorder) die("--hold bounds what --reorder holds back");
    if (!w->reorder) return;
    if (!s->time)
        die("--reorder sorts by the records' own time: --time FIELD says where it stands");
    if (a->landmark_on)
        die("--landmark-on marks a place in the order of arrival, which --reorder changes");
    if (plan->spec.lateness)
        die("--reorder sorts what --lateness judges as it comes; give one of them");
}

void wanted_check(const struct wanted *w, const struct asked *a, const struct source *s,
                  const struct seen_plan *plan, bool state) {
    check_reorder(w, a, s, plan);
    if (state && w->reorder) die("--state does not keep records held back; leave out --reorder");
}
