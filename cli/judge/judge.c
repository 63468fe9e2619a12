/* judge.c - the verdict on each record of a batch. */
#include "judge/judge.h"

#include <string.h>

void judge_init(struct judge *j, seen_detector *d, const struct layout *layout,
                uint32_t max_record) {
    memset(j, 0, sizeof *j);
    j->detector = d;
    j->layout = layout;
    j->timed = seen_plan_of(d)->spec.unit == SEEN_MICROSECONDS;
    key_init(&j->keyer, d, layout, max_record);
}

void judge_free(struct judge *j) { key_free(&j->keyer); }

/* The time of each of n records; those without one drop out.  Returns how many are left. */
static size_t read_times(struct judge *j, const struct batch *b, size_t n, seen_time now) {
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        uint16_t record = j->order[i];
        j->time[m] = now;
        if (j->layout->time != NO_SLOT) {
            const struct slice *f =
                &b->field[record * j->layout->slots + (uint32_t)j->layout->time];
            if (!f->at || f->escaped || !time_parse(&j->time[m], f->at, f->len)) continue;
        }
        j->digest[m] = j->digest[i];
        j->order[m++] = record;
    }
    return m;
}

/* A record that matches starts a window even if it has no key itself: such lines are often markers.
 */
static void find_pattern(struct judge *j, const struct batch *b, size_t n) {
    size_t m = 0;
    for (size_t i = 0; i < b->n; i++) {
        regmatch_t whole = {0, (regoff_t)b->record[i].bare};
        j->due |= regexec(j->pattern, b->record[i].at, 1, &whole, REG_STARTEND) == 0;
        if (m == n || j->order[m] != i) continue;
        j->landmark[m++] = j->due;
        j->due = false;
    }
}

static void find_boundaries(struct judge *j, size_t n) {
    for (size_t m = 0; m < n; m++) {
        seen_time t = j->time[m];
        if (t < j->last) { /* late: judged as if it came now */
            uint64_t by = j->last - t;
            j->late++;
            j->late_most = by > j->late_most ? by : j->late_most;
            continue;
        }
        j->last = t;
        if (t < j->next) continue;
        j->landmark[m] |= j->next > 0;
        j->next = time_next_boundary(t, j->zone == ZONE_WEEK);
    }
}

static void observe(struct judge *j, size_t from, size_t to, uint8_t *verdict) {
    if (from == to) return;
    const seen_time *time = j->timed ? j->time + from : NULL;
    seen_observe(j->detector, to - from, j->digest + from, time, verdict + from);
}

static void observe_windows(struct judge *j, size_t n, uint8_t *verdict) {
    size_t from = 0;
    for (size_t m = 0; m < n; m++) {
        if (!j->landmark[m]) continue;
        observe(j, from, m, verdict);
        seen_landmark(j->detector);
        from = m;
    }
    observe(j, from, n, verdict);
}

/* Verdicts of n readable records go to their places among all. */
static void spread(const struct judge *j, struct batch *b, size_t n) {
    for (size_t i = b->n; i-- > 0;) {
        if (n > 0 && j->order[n - 1] == i)
            b->verdict[i] = b->verdict[--n];
        else
            b->verdict[i] = UNREADABLE;
    }
}

bool judge_landmarks(const struct judge *j) { return j->zone || j->pattern; }

size_t judge_read(struct judge *j, const struct batch *b, seen_time now) {
    size_t n = key_batch(&j->keyer, b, j->digest, j->order);
    if (j->timed || j->zone) n = read_times(j, b, n, now);
    j->unreadable += b->n - n;
    if (!judge_landmarks(j)) return n;
    memset(j->landmark, 0, n * sizeof *j->landmark);
    if (j->pattern) find_pattern(j, b, n);
    if (j->zone) find_boundaries(j, n);
    return n;
}

void judge_observe(struct judge *j, struct batch *b, size_t n) {
    if (judge_landmarks(j))
        observe_windows(j, n, b->verdict);
    else
        observe(j, 0, n, b->verdict);
    if (n < b->n) spread(j, b, n);
}

void judge_batch(struct judge *j, struct batch *b, seen_time now) {
    judge_observe(j, b, judge_read(j, b, now));
}
