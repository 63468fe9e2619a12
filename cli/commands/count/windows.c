/* windows.c - opens the windows of `seen count` and `seen top` for their records, and ends them. */
#include "commands/count/count.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY UINT64_C(86400000000)

static void take_window(struct windows *p, const struct seen_plan *plan) {
    const struct seen_spec *asked = &plan->asked;
    p->subwindows = plan->spec.window == SEEN_WINDOW_JUMPING ? asked->subwindows : 1;
    if (plan->spec.window == SEEN_WINDOW_SLIDING && p->may_slide) {
        bool timed = asked->unit == SEEN_UNIT_MICROSECONDS;
        p->slides = asked->length;
        if (!p->every) return;
        p->length = timed ? option_span("--every", p->every) : option_count("--every", p->every);
        if (!p->length)
            die("--every %s: give %s", p->every, timed ? "a span, such as 5m" : "1 or more");
        return;
    }
    if (plan->spec.window != SEEN_WINDOW_LANDMARK && plan->spec.window != SEEN_WINDOW_JUMPING)
        die("keys are counted in landmark%s jumping windows, such as landmark:1d or jumping:1h/12",
            p->may_slide ? ", sliding and" : " and");
    if (asked->length % p->subwindows)
        die("a window is counted in equal parts here: make its length a multiple of %" PRIu64,
            p->subwindows);
    p->length = asked->length / p->subwindows;
}

void windows_init(struct windows *p, struct window_options *a, struct input_options *input,
                  const struct layout *layout, struct state *state) {
    char text[256], window[64], hash[16], seed[24];
    struct seen_plan plan, ticks;
    struct seen_spec spec;
    struct seen_error e;
    if (a->specs > 1) die("-w is given twice; one window at a time is counted");
    enum zone_window zone = window_plan(a, 0, input, &plan);
    take_window(p, &plan);
    /* A landmark detector begins a window for each window, or sub-window, that is counted here. */
    struct seen_spec ticking = {.window = SEEN_WINDOW_LANDMARK, .length = p->length};
    if (p->length) ticking.unit = plan.asked.unit;
    seen_spec_print(&ticking, window, sizeof window);
    seen_spec_get(&plan.spec, "hash", hash, sizeof hash);
    snprintf(text, sizeof text, "%s items=1 filter=exact hash=%s", window, hash);
    snprintf(seed, sizeof seed, "%" PRIu64, seen_spec_get_count(&plan.spec, "seed"));
    if (seen_spec_parse(&spec, text, &e)) die("%s", e.text);
    if (seen_spec_has(&plan.asked, "seed") && seen_spec_set(&spec, "seed", seed, &e))
        die("%s", e.text);
    if (seen_plan_make(&ticks, &spec, &e)) die("%s", e.text);
    p->detector = state_detector(state); /* of an earlier run, which also has the seed */
    if (!p->detector && seen_new(&p->detector, &ticks, NULL, &e)) die("%s", e.text);
    if (!kept_same_plan(&ticks, p->detector)) saved_refuse(state->name);
    judge_init(&p->judge, p->detector, layout, input->max_record);
    window_of_judge(a, input, zone, &p->judge);
    p->seed = seen_seed(p->detector);
    p->timed = p->judge.timed || zone || (p->slides && plan.asked.unit == SEEN_UNIT_MICROSECONDS);
    p->judge.times |= p->timed;
    p->own_times = p->timed && input->time && !a->landmark_on && !p->slides &&
                   !(p->by_order && p->subwindows > 1);
    p->live = !input_options_regular_file(input);
    p->calendar = (struct calendar){p->length, zone};
    p->at = SIZE_MAX;
    if ((p->most || p->lateness) && !p->own_times)
        die("--open-windows and --lateness serve windows of the records' own time: landmark:1d or "
            "jumping:1h/12, and --time FIELD");
}

void windows_free(struct windows *p) {
    judge_free(&p->judge);
    seen_free(p->detector);
    free(p->open);
    free(p->past);
}

void windows_begin(struct windows *p, const struct windows_events *on, void *ctx, uint64_t most) {
    p->on = on;
    p->ctx = ctx;
    if (!p->most) p->most = most;
    p->past = calloc(p->subwindows, sizeof *p->past);
    if (!p->past) die("out of memory for %" PRIu64 " sub-windows", p->subwindows);
}

enum { LATENESS = 1, OPEN_WINDOWS };

const struct option_row windows_rows[] = {
    {"lateness", 0, "SPAN", "from pipes: keep windows open so long for late records", LATENESS},
    {"open-windows", 0, "N", "windows of time open at once (default: 10000; top: 400)",
     OPEN_WINDOWS},
    {0},
};

void windows_take(void *windows, const struct option_row *row, const char *value) {
    struct windows *p = windows;
    if (row->id == LATENESS) {
        p->lateness = option_span("--lateness", value);
        if (p->lateness > UINT64_C(1000000000000000))
            die("--lateness %s: give it between 1ms and 1653w", value);
    } else {
        p->most = option_count("--open-windows", value);
        if (!p->most || p->most > 1000000)
            die("--open-windows %s: give it between 1 and 1e6", value);
    }
}

/* -- the windows that are open ------------------------------------------------------------ */

static struct window *window_at(struct windows *p, size_t i) { return &p->open[p->first + i]; }

/* Drops ended sub-windows that are in no row from that of sub-window `number` on. */
static void drop_past(struct windows *p, uint64_t number) {
    size_t old = 0;
    while (old < p->pasts && p->past[old].number + p->subwindows <= number)
        p->on->drop(p->ctx, p->past[old++].counts);
    p->pasts -= old;
    memmove(p->past, p->past + old, p->pasts * sizeof *p->past);
}

static void end_first(struct windows *p) {
    struct window w = *window_at(p, 0);
    if (w.end > p->over) p->over = w.end;
    p->first++;
    p->n--;
    p->at = SIZE_MAX;
    drop_past(p, w.number);
    p->past[p->pasts++] = w;
    p->on->end(p->ctx, p->past, p->pasts);
    drop_past(p, w.number + 1);
}

void windows_end(struct windows *p) {
    while (p->n) end_first(p);
    drop_past(p, UINT64_MAX);
}

static void make_room(struct windows *p) {
    if (p->first + p->n < p->room) return;
    if (p->first <= p->n) {
        p->room = 2 * p->room + 16;
        p->open = realloc(p->open, p->room * sizeof *p->open);
        if (!p->open) die("out of memory for %zu windows", p->n);
    } else {
        memmove(p->open, window_at(p, 0), p->n * sizeof *p->open);
        p->first = 0;
    }
}

/* Opens a new window, the i-th of the open ones. */
static struct window *insert(struct windows *p, size_t i, struct window w) {
    w.counts = p->on->begin(p->ctx);
    make_room(p);
    struct window *at = window_at(p, i);
    memmove(at + 1, at, (p->n++ - i) * sizeof *at);
    *at = w;
    p->at = i;
    return at;
}

/* -- windows of the records' own time ----------------------------------------------------- */

/* How many of the open windows begin at or before t. */
static size_t begun(struct windows *p, seen_time t) {
    size_t low = 0, high = p->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (window_at(p, middle)->begin <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_over(const struct windows *p, seen_time end) {
    return p->live && p->newest >= p->lateness && end <= p->newest - p->lateness;
}

/* Begins the window of t, which is not open.  NULL: it is over, or too many are open. */
static struct window *begin_at(struct windows *p, seen_time t) {
    struct window w = {.from = t};
    uint64_t shift = p->length % (7 * DAY) == 0 ? 3 * DAY : 0;
    calendar_window(&p->calendar, t, &w.begin, &w.end);
    /* The number follows from the end, because the first of the weeks is cut at 1970. */
    w.number = p->calendar.zone ? w.begin : (w.end + shift) / p->length;
    if (w.end <= p->over || is_over(p, w.end)) {
        if (w.end > p->over) p->over = w.end;
        p->late += p->live;
        p->crowded += !p->live;
        return NULL;
    }
    if (p->n == p->most && w.begin < window_at(p, 0)->begin) {
        p->crowded++;
        return NULL;
    }
    if (p->n == p->most) end_first(p);
    return insert(p, begun(p, t), w);
}

static struct window *own_window(struct windows *p, seen_time t) {
    if (t > p->newest) {
        p->newest = t;
        while (p->n && is_over(p, window_at(p, 0)->end)) end_first(p);
    }
    if (p->at < p->n && window_at(p, p->at)->begin <= t && t < window_at(p, p->at)->end)
        return window_at(p, p->at);
    size_t i = begun(p, t);
    if (!i || t >= window_at(p, i - 1)->end) return begin_at(p, t);
    p->at = i - 1;
    return window_at(p, i - 1);
}

/* -- windows in the order of records ------------------------------------------------------ */

/* The number of sub-windows from one moment to another. */
static uint64_t between(const struct windows *p, uint64_t from, uint64_t to) {
    uint64_t shift = p->length % (7 * DAY) == 0 ? 3 * DAY : 0;
    return (to + shift) / p->length - (from + shift) / p->length;
}

static struct window *next_window(struct windows *p, size_t m) {
    bool endless = !p->length && !judge_landmarks(&p->judge);
    if (p->n && endless) return window_at(p, 0);
    const struct judge *j = &p->judge;
    static const seen_digest same = {1, 1};
    uint8_t verdict;
    if (judge_landmarks(j) && j->in->landmark[m]) seen_landmark(p->detector);
    observe_records(p->detector, 1, &same, j->timed ? &j->in->time[m] : NULL, &verdict);
    if (verdict != SEEN_NEW && p->n) return window_at(p, 0); /* no window begins here */
    struct window w = {.from = p->timed ? p->judge.in->time[m] : p->records};
    if (p->n) {
        const struct window *before = window_at(p, 0);
        uint64_t passed = p->judge.timed ? between(p, before->from, w.from) : 1;
        w.number = before->number + (passed ? passed : 1);
        end_first(p);
    }
    return insert(p, 0, w);
}

struct window *windows_find(struct windows *p, size_t m) {
    p->records++;
    if (!p->own_times) return next_window(p, m);
    seen_time t = p->judge.in->time[m];
    struct window *w = own_window(p, t);
    if (w && t < w->from) w->from = t;
    return w;
}

/* -- in a state --------------------------------------------------------------------------- */

static void save_windows(const struct windows *p, const struct window *w, size_t n,
                         struct blocks_out *out) {
    blocks_put_number(out, n);
    for (; n; n--, w++) {
        blocks_put_number(out, w->number);
        blocks_put_number(out, w->from);
        blocks_put_number(out, w->begin);
        blocks_put_number(out, w->end);
        p->on->save(p->ctx, w->counts, out);
    }
}

void windows_save(const struct windows *p, struct blocks_out *out) {
    blocks_put_number(out, p->records);
    blocks_put_number(out, p->newest);
    blocks_put_number(out, p->over);
    save_windows(p, p->past, p->pasts, out);
    save_windows(p, p->open + p->first, p->n, out);
}

/* Can a window from a state follow the one before it? */
static bool follows(const struct windows *p, const struct window *before, const struct window *w) {
    if ((w->number | w->from | w->begin | w->end) >> 62) return false;
    if (before && w->number <= before->number) return false;
    if (!p->own_times) return true;
    if (w->begin > w->from || w->from >= w->end) return false;
    return !before || w->begin >= before->end;
}

static bool load_window(struct windows *p, const struct window *before, struct blocks_in *in,
                        struct window *w) {
    *w = (struct window){.number = blocks_get_number(in)};
    w->from = blocks_get_number(in);
    w->begin = blocks_get_number(in);
    w->end = blocks_get_number(in);
    return follows(p, before, w) && (w->counts = p->on->load(p->ctx, in));
}

/* Loads the ended sub-windows of later rows, which are fewer than a window has.  Returns the
 * last. */
static const struct window *load_past(struct windows *p, struct blocks_in *in, bool *bad) {
    const struct window *before = NULL;
    uint64_t n = blocks_get_number(in);
    *bad = n >= p->subwindows;
    for (; n && !*bad; n--) {
        *bad = in->bad || !load_window(p, before, in, &p->past[p->pasts]);
        if (!*bad) before = &p->past[p->pasts++];
    }
    return before;
}

bool windows_load(struct windows *p, struct blocks_in *in) {
    bool bad;
    p->records = blocks_get_number(in);
    p->newest = blocks_get_number(in);
    p->over = blocks_get_number(in);
    if ((p->records | p->newest | p->over) >> 62) return false;
    const struct window *before = load_past(p, in, &bad);
    uint64_t n = bad ? 0 : blocks_get_number(in), most = p->own_times ? p->most : 1;
    if (bad || n > most) return false;
    for (; n && !in->bad; n--) {
        struct window w;
        if (!load_window(p, before, in, &w)) return false;
        make_room(p);
        *window_at(p, p->n++) = w;
        before = window_at(p, p->n - 1);
    }
    return !in->bad;
}

/* -- messages and rows -------------------------------------------------------------------- */

void windows_tell(const struct windows *p, const struct input_options *input, const char *where) {
    bool one = p->late == 1;
    if (input->quiet) return;
    if (p->late)
        warn("%" PRIu64 " record%s came when the window of %s time was over, and %s counted %s; "
             "--lateness SPAN keeps windows open for so long",
             p->late, one ? "" : "s", one ? "its" : "their", one ? "is" : "are", where);
    one = p->crowded == 1;
    if (p->crowded)
        warn("%" PRIu64 " record%s earlier than the %" PRIu64
             " windows that may be open, and counted %s; give more --open-windows, or sort the "
             "input by time",
             p->crowded, one ? " was" : "s were", p->most, where);
}

const char *windows_from(const struct windows *p, uint64_t from, char buf[32]) {
    struct tm tm;
    time_t seconds = (time_t)(from / 1000000);
    if (p->timed && gmtime_r(&seconds, &tm))
        strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
    else
        snprintf(buf, 32, "%" PRIu64, from);
    return buf;
}
