/* line_kernel.h - test and add for `line`, over what an instruction set gives:
 *
 *   uint32_t entries_match(line, print, f)       bit i: entry i of the line, as it stands, is it
 *   vector entries_shift(line, gone, at, f)      the entries without the first `gone`, and without
 *                                                the one that is then at `at`; zeros follow
 *   vector entries_put(v, at, print, f)          with a fingerprint as entry `at`, where zeros are
 *   void entries_store(line, v, word6, word7)    with the upper 16 bits of word 6, and word 7
 *
 * A file that includes this has one algorithm, specialised for each f: nothing in a record's way
 * depends on data but whether it must be looked for or put behind its first line, which few must.
 */
#ifndef LINE_KERNEL_H
#define LINE_KERNEL_H

#include "aging/line.h"

/* What a line is in the current generation; its entries are still as they stand. */
struct open {
    uint64_t map, now, before, length; /* length: of the map, without its last 1 */
    uint32_t gone, count, found;       /* entries; bit i: entry i is the one looked for */
};

ALWAYS_INLINE struct open open_line(const struct line_view *view, const uint64_t *line,
                                    uint64_t print, uint32_t f) {
    struct open o = {.found = entries_match(line, print, f)};
    uint64_t ago = (view->generation - (line[6] >> LINE_STAMP_SHIFT)) & (LINE_STAMPS - 1);
    o.map = (line[7] & LINE_MAP) ^ view->empty;
    o.now = line[7] >> LINE_MAP_BITS;
    o.before = line[6] >> LINE_BEFORE & 31;
    if (__builtin_expect(ago > view->live, 0)) {
        o.map = view->empty;
        o.gone = line_room(f);
    } else {
        o.map = line_age_map(o.map, ago, &o.gone);
    }
    o.before = ago <= view->since ? o.before : ago <= view->since + view->ends + 1 ? o.now : 0;
    o.now = ago <= view->since ? o.now : 0;
    o.length = 63 - (uint64_t)__builtin_clzll(o.map);
    o.count = (uint32_t)o.length - view->ends;
    o.found = o.found >> o.gone & (((uint32_t)1 << o.count) - 1);
    return o;
}

ALWAYS_INLINE void close_line(const struct line_view *view, uint64_t *line, vector entries,
                              const struct open *o) {
    uint64_t stamp = view->generation & (LINE_STAMPS - 1);
    entries_store(line, entries, stamp << LINE_STAMP_SHIFT | o->before << LINE_BEFORE,
                  (o->map ^ view->empty) | o->now << LINE_MAP_BITS);
}

/* The youngest match moves to the newest end; without one the entry is added there. */
ALWAYS_INLINE void renew_or_add(struct line_state *s, const struct line_view *view, uint64_t *line,
                                struct open o, uint64_t print, uint32_t f) {
    uint32_t hit = o.found != 0, place_if_new = ((uint32_t)1 << o.count) & (hit - 1);
    uint32_t at = 31 - (uint32_t)__builtin_clz(o.found | place_if_new);
    uint64_t place = bits_select(~o.map, at); /* without a match: beyond the map */
    uint64_t below = ((uint64_t)1 << place) - 1, age = line_age(o.map, place);
    s->held[(view->generation - age) % LINE_RING] -= hit;
    s->held[view->generation % LINE_RING]++;
    o.map = (o.map & below) | (o.map >> 1 & ~below);
    o.map += (uint64_t)1 << (o.length - hit);
    vector entries = entries_shift(line, o.gone, at, f);
    close_line(view, line, entries_put(entries, o.count - hit, print, f), &o);
}

/* -- beyond the first line ---------------------------------------------------------------- */

ALWAYS_INLINE bool marked(const struct open *o, uint64_t print) {
    return (o->now | o->before) & line_class(print);
}

/* Marks must outlive what they point to. */
ALWAYS_INLINE void mark(const struct line_view *view, uint64_t *line, struct open o, uint64_t print,
                        uint32_t f) {
    o.now |= line_class(print);
    close_line(view, line, entries_shift(line, o.gone, line_room(f), f), &o);
}

ALWAYS_INLINE void mark_all(struct line_state *s, const uint64_t *at, uint32_t n, uint64_t print,
                            uint32_t f) {
    for (uint32_t i = 0; i < n; i++) {
        uint64_t *line = line_at(s, at[i]);
        mark(&s->view, line, open_line(&s->view, line, print, f), print, f);
    }
}

/* Also a new one, which is of no generation. */
static inline void renew_spare(struct line_state *s, struct line_spare *spare) {
    if (spare->generation) s->held[spare->generation % LINE_RING]--;
    s->held[s->view.generation % LINE_RING]++;
    spare->generation = s->view.generation;
}

/* Keys that found no place may be in the window. */
static inline bool flooded(const struct line_state *s, const struct line_view *view) {
    return s->h.flood && view->generation - s->h.flood <= view->live;
}

/* Follows the marks from the first line, in which it is not.  *last: where in the chain they end,
 * LINE_CHAIN if in the spare area; `compared`: with so many entries. */
ALWAYS_INLINE bool found_behind(struct line_state *s, struct open o, uint64_t *at, uint64_t print,
                                uint32_t f, uint32_t *last, uint64_t *compared) {
    for (*last = 0, *compared = o.count; marked(&o, print); *compared += o.count) {
        if (++*last == LINE_CHAIN) {
            uint64_t tag = line_tag(at[LINE_CHAIN - 1], print);
            struct line_spare *spare = line_spare_find(s, &s->view, tag, false);
            if (spare && !s->first) renew_spare(s, spare);
            if (spare && !s->first) mark_all(s, at, LINE_CHAIN, print, f);
            return spare;
        }
        at[*last] = line_next(s, at[*last - 1], print);
        s->h.looked++;
        uint64_t *line = line_at(s, at[*last]);
        o = open_line(&s->view, line, print, f);
        if (!o.found) continue;
        if (!s->first) renew_or_add(s, &s->view, line, o, print, f);
        if (!s->first) mark_all(s, at, *last, print, f);
        return true;
    }
    return false;
}

/* Into the first line of the chain, which begins with `o`, that has room; false if none has. */
ALWAYS_INLINE bool add_to_chain(struct line_state *s, struct open o, uint64_t *at, uint64_t print,
                                uint32_t f) {
    for (uint32_t i = 0;;) {
        uint64_t *line = line_at(s, at[i]);
        o.found = 0;
        if (o.count < line_room(f)) {
            renew_or_add(s, &s->view, line, o, print, f);
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

/* Into a line, the spare area, or nowhere: then the oldest generation goes, or keys that are looked
 * for behind all their lines count as seen until this one would have left. */
ALWAYS_INLINE void add_behind(struct line_state *s, struct open first, uint64_t *at, uint64_t print,
                              uint32_t f) {
    while (!add_to_chain(s, first, at, print, f)) {
        uint64_t tag = line_tag(at[LINE_CHAIN - 1], print);
        struct line_spare *spare = line_spare_find(s, &s->view, tag, true);
        if (spare) {
            renew_spare(s, spare);
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

/* A record whose first line is full, or marked as it stands.  Behind all marks, while keys without
 * a place may be in the window, a key that is not found may be one of them: it counts as seen, and
 * is given a place. */
ALWAYS_INLINE uint8_t observe_far(struct line_state *s, uint64_t home, uint64_t print, uint32_t f) {
    uint64_t at[LINE_CHAIN] = {home, LINE_NONE, LINE_NONE, LINE_NONE}, compared;
    uint64_t *line = line_at(s, home);
    uint32_t last;
    struct open first = open_line(&s->view, line, print, f);
    if (first.found && !s->first) renew_or_add(s, &s->view, line, first, print, f);
    if (first.found || found_behind(s, first, at, print, f, &last, &compared))
        return SEEN_DUPLICATE;
    bool taken = last == LINE_CHAIN && flooded(s, &s->view);
    s->h.taken += taken;
    s->h.compared += taken ? 0 : compared;
    if (!(taken && s->first)) add_behind(s, first, at, print, f);
    return taken;
}

typedef uint8_t observe_far_fn(struct line_state *, uint64_t home, uint64_t print);

/* Marks of a line that may be old: never too few. */
ALWAYS_INLINE uint64_t old_marks(const uint64_t *line, uint64_t print) {
    return (line[7] >> LINE_MAP_BITS | line[6] >> LINE_BEFORE) & line_class(print);
}

/* The line behind one that is here already, if that has marks, or was full.  No branch: nobody
 * could tell. */
ALWAYS_INLINE void fetch_next(const struct line_state *s, uint64_t empty, uint64_t home,
                              uint64_t print, uint32_t f) {
    const uint64_t *line = line_at(s, home);
    uint64_t full = (line[7] ^ empty) >> (line_room(f) + s->live) & 1;
    uint64_t follow = -(uint64_t)((old_marks(line, print) | full) != 0);
    __builtin_prefetch(line_at(s, home ^ ((line_next(s, home, print) ^ home) & follow)), 1);
}

/* A record whose first line has no marks for it; false if it has no room either. */
ALWAYS_INLINE bool observe_near(struct line_state *s, const struct line_view *view, uint64_t *line,
                                uint64_t print, uint32_t f, bool first, uint8_t *verdict) {
    struct open o = open_line(view, line, print, f);
    uint32_t seen = o.found != 0;
    if (__builtin_expect((o.count == line_room(f)) & ~seen, 0)) return false;
    *verdict = (uint8_t)seen;
    s->h.compared += o.count & (seen - 1);
    if (!(seen & first)) renew_or_add(s, view, line, o, print, f);
    return true;
}

/* Marks are asked about first, so that a wrong guess is known soon. */
ALWAYS_INLINE void observe_all(struct line_state *s, size_t n, const seen_digest *d,
                               const uint64_t *at, uint8_t *verdict, uint32_t f,
                               observe_far_fn *far) {
    uint64_t home[DETECTOR_BATCH + LINE_AHEAD];
    struct line_view view = s->view;
    bool first = s->first, large = s->lines > LINE_NEAR;
    for (size_t i = 0; i < n; i++) home[i] = line_home(s, d[i]);
    for (size_t i = n; i < n + LINE_AHEAD; i++) home[i] = home[n - 1];
    for (size_t i = 0; i < LINE_AHEAD; i++) __builtin_prefetch(line_at(s, home[i]), 1);
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(line_at(s, home[i + LINE_AHEAD]), 1);
        size_t soon = bits_min(i + LINE_AHEAD / 2, n - 1);
        if (large) fetch_next(s, view.empty, home[soon], line_print(d[soon], f), f);
        uint64_t *line = line_at(s, home[i]), print = line_print(d[i], f);
        if (__builtin_expect(old_marks(line, print) != 0, 0) ||
            !observe_near(s, &view, line, print, f, first, &verdict[i])) {
            s->clock = at[i];
            verdict[i] = far(s, home[i], print);
            view = s->view;
        }
    }
}

/* -- all widths of fingerprints there are ------------------------------------------------- */

#define LINE_WIDTH(f)                                                                              \
    static __attribute__((noinline))                                                               \
    uint8_t observe_far_##f(struct line_state *s, uint64_t home, uint64_t print) {                 \
        return observe_far(s, home, print, f);                                                     \
    }                                                                                              \
    static void observe_##f(struct line_state *s, size_t n, const seen_digest *d,                  \
                            const uint64_t *at, uint8_t *verdict) {                                \
        observe_all(s, n, d, at, verdict, f, observe_far_##f);                                     \
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
