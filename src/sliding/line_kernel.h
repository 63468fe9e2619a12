/* line_kernel.h - test and add for `line`, over what an instruction set gives:
 *
 *   uint32_t entries_match(line, print, f)  bit i: whether entry i of the line is the fingerprint
 *   vector entries_shift(line, gone, at,    the entries without the first `gone`, and then without
 *                        count, f)          entry `at`, if there is one; zeros behind `count`
 *   vector entries_put(v, at, print, f)     v with a fingerprint as entry `at`, which is zero in v
 *   void entries_store(line, v, w6, w7)     writes v, the upper 16 bits of w6, and w7
 *
 * Each file that includes this header compiles the algorithm for each f.  A batch takes three
 * steps:
 *
 *   near     looks each record up in its first line, and adds it there if there is room
 *   answer   looks in later lines for the records whose marks point there
 *   far      handles a record whose first line has no room
 *
 * The step that a record needs is unpredictable, so near has only one branch, which leads to far.
 */
#ifndef LINE_KERNEL_H
#define LINE_KERNEL_H

#include "sliding/line.h"

/* The map and marks of a line as they are in the current generation.  Its entries are not yet
 * moved. */
struct open {
    uint64_t map, now, before, seen; /* seen: all bits if an entry was found, else none */
    uint32_t gone, count, found;     /* entries; bit i: entry i is the one looked for */
};

ALWAYS_INLINE struct open open_line(const struct line_view *view, const uint64_t *line,
                                    uint64_t print, uint32_t f) {
    struct open o = {.found = entries_match(line, print, f)};
    uint64_t ago = line_ago(line, view->generation), now = line[7], before = line[6] >> LINE_BEFORE;
    uint64_t ends = line_ago(line, view->generation + view->extra); /* that are too old */
    uint64_t turned = bits_opaque(-(uint64_t)(ago > view->since));
    o.now = now & ~turned & LINE_MARKS;
    o.before = (before ^ ((now ^ before) & turned)) & LINE_MARKS;
    if (__builtin_expect(ago > view->live, 0)) {
        if (ago > view->earlier) o.before = 0;
        ends = view->ends + 1; /* all entries lie before this end */
    }
    uint64_t cut = line_cut(line_map(line), ends), map = line_map(line) >> cut;
    o.map = map << view->extra;
    o.gone = (uint32_t)(cut - ends);
    o.count = bits_popcount(map);
    o.found = o.found >> o.gone & (((uint32_t)1 << o.count) - 1);
    o.seen = bits_opaque(-(uint64_t)(o.found != 0));
    return o;
}

ALWAYS_INLINE void close_line(const struct line_view *view, uint64_t *line, vector entries,
                              const struct open *o) {
    entries_store(line, entries, view->generation << LINE_STAMP_SHIFT | o->before << LINE_BEFORE,
                  o->map << LINE_CLASSES | o->now);
}

/* Moves the youngest match to the newest end, or adds the entry there if there is no match.  The
 * caller counts one more entry of this generation. */
ALWAYS_INLINE void renew_or_add(struct line_state *s, const struct line_view *view, uint64_t *line,
                                struct open o, uint64_t print, uint32_t f) {
    uint32_t at = line_youngest(o.found), count = o.count + (uint32_t)o.seen; /* or -1 */
    uint64_t bit = bits_nth(o.map, at); /* 0 without a match */
    s->held[(view->generation - line_age(bit, at, view->ends)) % LINE_RING] += o.seen;
    o.map = bits_without(o.map, bit) | (uint64_t)1 << (count + view->ends);
    vector entries = entries_shift(line, o.gone, at, count, f);
    close_line(view, line, entries_put(entries, count, print, f), &o);
}

/* -- beyond the first line ---------------------------------------------------------------- */

static inline void hold(struct line_state *s, uint64_t more) {
    s->held[s->view.generation % LINE_RING] += more;
}

/* Notes that a key entered this line of its chain. */
static inline void reach(struct line_state *s, uint32_t line) {
    s->h.reached[line] = s->view.generation;
    hold(s, 1);
}

ALWAYS_INLINE bool marked(const struct open *o, uint64_t print) {
    return (o->now | o->before) >> line_class(print) & 1;
}

/* Marks a line for the class of a fingerprint, in the current epoch. */
ALWAYS_INLINE void mark(const struct line_view *view, uint64_t *line, struct open o, uint64_t print,
                        uint32_t f) {
    o.now |= (uint64_t)1 << line_class(print);
    close_line(view, line, entries_shift(line, o.gone, LINE_NO_ENTRY, o.count, f), &o);
}

ALWAYS_INLINE void mark_all(struct line_state *s, const uint64_t *at, uint32_t n, uint64_t print,
                            uint32_t f) {
    for (uint32_t i = 0; i < n; i++) {
        uint64_t *line = line_at(s, at[i]);
        mark(&s->view, line, open_line(&s->view, line, print, f), print, f);
    }
}

/* Whether keys that found no place may be in the window. */
static inline bool flooded(const struct line_state *s, const struct line_view *view) {
    return s->h.flood && line_counts(view, s->h.flood);
}

/* Follows the marks from the first line, which does not hold the key.  *last: the line of the chain
 * at which they end; LINE_CHAIN: the spare area. */
ALWAYS_INLINE bool found_behind(struct line_state *s, struct open o, uint64_t *at, uint64_t print,
                                uint32_t f, uint32_t *last) {
    for (*last = 0; marked(&o, print);) {
        if (++*last == LINE_CHAIN) {
            uint64_t tag = line_tag(at[LINE_CHAIN - 1], print);
            struct line_spare *spare = line_spare_find(s, &s->view, tag, false);
            if (spare && !s->first) line_spare_stamp(s, spare, s->view.generation);
            if (spare && !s->first) mark_all(s, at, LINE_CHAIN, print, f);
            return spare;
        }
        at[*last] = line_next(s, at[*last - 1], print);
        s->h.looked++;
        uint64_t *line = line_at(s, at[*last]);
        o = open_line(&s->view, line, print, f);
        if (!o.found) continue;
        if (s->first) return true;
        renew_or_add(s, &s->view, line, o, print, f);
        reach(s, *last);
        mark_all(s, at, *last, print, f);
        return true;
    }
    return false;
}

/* Adds a key to the first line of its chain that has room; false: none has.  The chain begins with
 * `o`. */
ALWAYS_INLINE bool add_to_chain(struct line_state *s, struct open o, uint64_t *at, uint64_t print,
                                uint32_t f) {
    for (uint32_t i = 0;;) {
        uint64_t *line = line_at(s, at[i]);
        o.found = 0, o.seen = 0;
        if (o.count < line_room(f)) {
            renew_or_add(s, &s->view, line, o, print, f);
            reach(s, i);
            return true;
        }
        mark(&s->view, line, o, print, f);
        if (++i == LINE_CHAIN) return false;
        if (at[i] == LINE_NONE) {
            at[i] = line_next(s, at[i - 1], print);
            s->h.looked++;
        }
        o = open_line(&s->view, line_at(s, at[i]), print, f);
    }
}

/* Adds a key to a line or to the spare area.  If neither has room, the oldest generation leaves, or
 * (overload=saturate) keys that are not found behind all their lines count as seen until this key
 * would have left. */
ALWAYS_INLINE void add_behind(struct line_state *s, struct open first, uint64_t *at, uint64_t print,
                              uint32_t f) {
    while (!add_to_chain(s, first, at, print, f)) {
        uint64_t tag = line_tag(at[LINE_CHAIN - 1], print);
        struct line_spare *spare = line_spare_find(s, &s->view, tag, true);
        if (spare) {
            line_spare_stamp(s, spare, s->view.generation);
            return;
        }
        if (!line_shrink(s)) {
            s->h.lost++;
            s->h.flood = s->view.generation;
            return;
        }
        first = open_line(&s->view, line_at(s, at[0]), print, f);
    }
}

/* -- records ------------------------------------------------------------------------------ */

/* Handles a record that is not in its first line, if that line is full or its marks must be
 * followed first.  While keys without a place may be in the window, a key that is not found behind
 * all marks may be one of them: it counts as seen, and gets a place. */
ALWAYS_INLINE uint8_t observe_far(struct line_state *s, uint64_t home, uint64_t print, uint32_t f) {
    uint64_t at[LINE_CHAIN] = {home, LINE_NONE, LINE_NONE, LINE_NONE};
    uint32_t last;
    struct open first = open_line(&s->view, line_at(s, home), print, f);
    if (found_behind(s, first, at, print, f, &last)) return SEEN_DUPLICATE;
    bool taken = last == LINE_CHAIN && flooded(s, &s->view);
    if (!(taken && s->first)) add_behind(s, first, at, print, f);
    return taken;
}

/* A record that entered its first line, although marks say that it may be behind.  The kernel looks
 * for it later, together with others, when their lines have been fetched.  Until then only records
 * that enter their first lines can change the answer; older() takes account of them. */
struct question {
    uint64_t line;
    uint32_t record;
};

struct work {
    struct line_state *s;
    const seen_digest *d;
    uint8_t *verdict;
    size_t done; /* records */
    uint32_t asked, found;
    struct question ask[LINE_GROUP];
    uint32_t duplicate[LINE_GROUP]; /* records found behind their first lines */
    uint64_t home[DETECTOR_BATCH + LINE_AHEAD];
};

/* Whether an entry was in the line before record i, and no later record put it there. */
static inline bool older(const struct work *w, size_t i, uint64_t line, uint64_t print,
                         uint32_t bits) {
    for (; i < w->done; i++)
        if (w->home[i] == line && line_fingerprint(w->d[i], bits) == print) return w->verdict[i];
    return true;
}

/* Answers a question behind all marks: the spare area. */
ALWAYS_INLINE void answer_last(struct work *w, struct question q, uint64_t print) {
    struct line_state *s = w->s;
    struct line_spare *spare = line_spare_find(s, &s->view, line_tag(q.line, print), false);
    bool taken = !spare && flooded(s, &s->view);
    if (spare || taken) w->duplicate[w->found++] = q.record;
}

/* Answers questions in the next line of each.  Questions that marks send on stay. */
ALWAYS_INLINE void answer_some(struct work *w, uint32_t behind, uint32_t f) {
    struct line_state *s = w->s;
    struct line_view view = s->view;
    uint32_t n = w->asked, left = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct question q = w->ask[i];
        uint64_t print = line_fingerprint(w->d[q.record], f);
        struct open o = open_line(&view, line_at(s, q.line), print, f);
        if (o.found && older(w, q.record, q.line, print, f)) {
            w->duplicate[w->found++] = q.record;
            continue;
        }
        uint64_t on = bits_opaque(marked(&o, print));
        if (behind + 1 < LINE_CHAIN) q.line = line_next(s, q.line, print);
        w->ask[left] = q;
        left += (uint32_t)on;
        __builtin_prefetch(line_at(s, q.line), 0);
    }
    s->h.looked += n;
    w->asked = left;
}

ALWAYS_INLINE void answer_all(struct work *w, uint32_t f) {
    for (uint32_t behind = 1; w->asked && behind < LINE_CHAIN; behind++) answer_some(w, behind, f);
    for (uint32_t i = 0; i < w->asked; i++)
        answer_last(w, w->ask[i], line_fingerprint(w->d[w->ask[i].record], f));
    for (uint32_t i = 0; i < w->found; i++) w->verdict[w->duplicate[i]] = SEEN_DUPLICATE;
    w->asked = w->found = 0;
}

/* Observes records up to number `end` in their first lines, and notes questions about later lines.
 * It has only one branch, because others would often be mispredicted.  It stops at a record that
 * needs the far step. */
ALWAYS_INLINE void observe_near(struct work *w, size_t end, uint32_t f, bool first) {
    struct line_state *s = w->s;
    const struct line_view view = s->view;
    uint64_t held = 0;
    uint32_t asked = w->asked;
    size_t i = w->done;
    for (; i < end; i++) {
        __builtin_prefetch(line_at(s, w->home[i + LINE_AHEAD]), 1);
        uint64_t home = w->home[i], *line = line_at(s, home);
        uint64_t print = line_fingerprint(w->d[i], f), next = line_next(s, home, print);
        struct open o = open_line(&view, line, print, f);
        uint64_t asks = bits_opaque((o.now | o.before) >> line_class(print) & 1 & ~o.seen);
        if (__builtin_expect(o.count + (uint32_t)o.seen == line_room(f), 0)) break;
        if (first && __builtin_expect(asks != 0, 0)) break;
        __builtin_prefetch(line_at(s, home ^ ((next ^ home) & -asks)), 0);
        w->ask[asked] = (struct question){next, (uint32_t)i};
        asked += (uint32_t)asks;
        w->verdict[i] = (uint8_t)(o.seen & 1);
        if (first && o.seen) continue;
        renew_or_add(s, &view, line, o, print, f);
        held++;
    }
    w->done = i;
    w->asked = asked;
    hold(s, held);
}

/* The three steps for one width of fingerprints. */
struct steps {
    void (*near)(struct work *, size_t end);
    void (*answer)(struct work *);
    uint8_t (*far)(struct line_state *, uint64_t home, uint64_t print);
};

ALWAYS_INLINE void observe_all(struct line_state *s, size_t n, const seen_digest *d,
                               const uint64_t *at, uint8_t *verdict, uint32_t f,
                               struct steps steps) {
    struct work w;
    w.s = s, w.d = d, w.verdict = verdict, w.done = w.asked = w.found = 0;
    for (size_t i = 0; i < n; i++) w.home[i] = line_home(s, d[i]);
    for (size_t i = bits_max(n, LINE_AHEAD); i < n + LINE_AHEAD; i++) w.home[i] = w.home[n - 1];
    for (size_t i = 0; i < bits_min(n, LINE_AHEAD); i++)
        __builtin_prefetch(line_at(s, w.home[i]), 1);
    while (w.done < n) {
        size_t end = bits_min(n, w.done + LINE_GROUP);
        steps.near(&w, end);
        steps.answer(&w);
        if (w.done == end) continue;
        s->clock = at[w.done];
        verdict[w.done] = steps.far(s, w.home[w.done], line_fingerprint(d[w.done], f));
        w.done++;
    }
}

/* -- all widths of fingerprints ----------------------------------------------------------- */

#define LINE_WIDTH(f)                                                                              \
    static __attribute__((noinline)) void near_##f(struct work *w, size_t end) {                   \
        if (w->s->first)                                                                           \
            observe_near(w, end, f, true);                                                         \
        else                                                                                       \
            observe_near(w, end, f, false);                                                        \
    }                                                                                              \
    static __attribute__((noinline)) void answer_##f(struct work *w) { answer_all(w, f); }         \
    static __attribute__((noinline))                                                               \
    uint8_t far_##f(struct line_state *s, uint64_t home, uint64_t print) {                         \
        return observe_far(s, home, print, f);                                                     \
    }                                                                                              \
    static void observe_##f(struct line_state *s, size_t n, const seen_digest *d,                  \
                            const uint64_t *at, uint8_t *verdict) {                                \
        observe_all(s, n, d, at, verdict, f, (struct steps){near_##f, answer_##f, far_##f});       \
    }

LINE_WIDTH(16)
LINE_WIDTH(18)
LINE_WIDTH(20)
LINE_WIDTH(22)
LINE_WIDTH(24)
LINE_WIDTH(27)
LINE_WIDTH(30)
LINE_WIDTH(33)
LINE_WIDTH(36)
LINE_WIDTH(43)

static inline line_observe_fn *observe_width(uint32_t bits) {
    switch (bits) {
    case 16: return observe_16;
    case 18: return observe_18;
    case 20: return observe_20;
    case 22: return observe_22;
    case 24: return observe_24;
    case 27: return observe_27;
    case 30: return observe_30;
    case 33: return observe_33;
    case 36: return observe_36;
    default: return observe_43;
    }
}
#endif
