/* line_kernel.h - test and add for `line`, over what an instruction set gives:
 *
 *     vector entries_load(line)                      the entries; the rest of the line is 0
 *     uint32_t entries_match(line, print, f)         bit i: entry i of the line, as it stands, is
 * it vector entries_drop(v, n)                      without its lowest n bits vector entries_cut(v,
 * at, f)                   without the f bits from `at` on vector entries_put(v, at, print) with a
 * fingerprint at `at`, where all is 0 void entries_store(line, v, word6, word7)      with the upper
 * 16 bits of word 6, and word 7
 *
 * A file that includes this has one algorithm, specialised for each f: nothing in a record's way
 * depends on data but whether the key is found, or added, in its first line, which nearly all are.
 */
#ifndef LINE_KERNEL_H
#define LINE_KERNEL_H

#include "aging/line.h"

/* A line as of the current generation. */
struct open {
    vector entries;
    uint64_t map, now, before, length; /* length: of the map, without its last 1 */
    uint32_t count, found;             /* entries; bit i: entry i is the one looked for */
};

ALWAYS_INLINE struct open open_line(const struct line_state *s, const struct line_view *view,
                                    const uint64_t *line, uint64_t print, uint32_t f) {
    struct open o = {.entries = entries_load(line), .found = entries_match(line, print, f)};
    uint64_t ago = (view->generation - (line[6] >> LINE_STAMP_SHIFT)) & (LINE_STAMPS - 1);
    uint32_t gone;
    o.map = (line[7] & LINE_MAP) ^ line_empty_map(s->live);
    o.now = line[7] >> LINE_MAP_BITS;
    o.before = line[6] >> LINE_BEFORE & 31;
    if (__builtin_expect(ago > view->live, 0)) {
        o.map = line_empty_map(s->live);
        o.entries = entries_drop(o.entries, LINE_PAYLOAD);
        gone = 32;
    } else {
        o.map = line_age_map(o.map, ago, &gone);
        o.entries = entries_drop(o.entries, gone * f);
    }
    o.before = ago <= view->since ? o.before : ago <= view->since + s->live + 1 ? o.now : 0;
    o.now = ago <= view->since ? o.now : 0;
    o.length = 63 - (uint64_t)__builtin_clzll(o.map);
    o.count = (uint32_t)o.length - s->live;
    o.found = (uint32_t)((uint64_t)o.found >> gone) & (((uint32_t)1 << o.count) - 1);
    return o;
}

ALWAYS_INLINE void close_line(const struct line_state *s, uint64_t *line, const struct open *o) {
    uint64_t stamp = s->view.generation & (LINE_STAMPS - 1);
    entries_store(line, o->entries, stamp << LINE_STAMP_SHIFT | o->before << LINE_BEFORE,
                  (o->map ^ line_empty_map(s->live)) | o->now << LINE_MAP_BITS);
}

/* The youngest match moves to the newest end; without one (found = 0) the entry is added there. */
ALWAYS_INLINE void renew_or_add(struct line_state *s, struct open *o, uint64_t print, uint32_t f) {
    uint32_t hit = o->found != 0, at = hit ? 31 - (uint32_t)__builtin_clz(o->found) : o->count;
    uint64_t place = bits_select(~o->map, at); /* without a match: beyond the map */
    uint64_t below = ((uint64_t)1 << place) - 1, age = line_age(o->map, place);
    s->held[(s->view.generation - age) % LINE_RING] -= hit;
    s->held[s->view.generation % LINE_RING]++;
    o->map = (o->map & below) | (o->map >> 1 & ~below);
    o->map += (uint64_t)1 << (o->length - hit);
    o->entries = entries_put(entries_cut(o->entries, at * f, f), (o->count - hit) * f, print);
}

/* -- beyond the first line ---------------------------------------------------------------- */

static inline bool marked(const struct line_state *s, uint64_t at, uint64_t class) {
    const uint64_t *line = line_at(s, at);
    return (line[7] >> LINE_MAP_BITS | line[6] >> LINE_BEFORE) & class;
}

static inline void mark(const struct line_state *s, uint64_t at, uint64_t class) {
    line_at(s, at)[7] |= class << LINE_MAP_BITS;
}

/* Marks must outlive what they point to. */
static inline void mark_all(const struct line_state *s, const uint64_t *at, uint32_t n,
                            uint64_t class) {
    for (uint32_t i = 0; i < n; i++) mark(s, at[i], class);
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

/* Follows the marks from the first line, which is up to date; all lines passed are afterwards.
 * *last: the place in the chain where they ended, LINE_CHAIN if in the spare area. */
ALWAYS_INLINE bool found_behind(struct line_state *s, uint64_t *at, uint64_t print, uint32_t f,
                                uint32_t *last) {
    uint64_t class = line_class(print);
    for (*last = 0; marked(s, at[*last], class);) {
        if (++*last == LINE_CHAIN) {
            uint64_t tag = line_tag(at[LINE_CHAIN - 1], print);
            struct line_spare *spare = line_spare_find(s, &s->view, tag, false);
            if (spare && !s->first) renew_spare(s, spare);
            if (spare && !s->first) mark_all(s, at, LINE_CHAIN, class);
            return spare;
        }
        at[*last] = line_next(s, at[*last - 1], print);
        s->h.looked++;
        uint64_t *line = line_at(s, at[*last]);
        struct open o = open_line(s, &s->view, line, print, f);
        s->h.compared += o.count;
        if (o.found && !s->first) renew_or_add(s, &o, print, f);
        close_line(s, line, &o);
        if (!o.found) continue;
        if (!s->first) mark_all(s, at, *last, class);
        return true;
    }
    return false;
}

/* Into the first line of the chain that has room; false if none has. */
ALWAYS_INLINE bool add_to_chain(struct line_state *s, uint64_t *at, uint64_t print, uint32_t f) {
    for (uint32_t i = 0; i < LINE_CHAIN; i++) {
        if (i && at[i] == LINE_NONE) {
            at[i] = line_next(s, at[i - 1], print);
            s->h.looked++;
        }
        uint64_t *line = line_at(s, at[i]);
        struct open o = open_line(s, &s->view, line, print, f);
        bool room = o.count < s->room;
        o.found = 0;
        if (room) renew_or_add(s, &o, print, f);
        close_line(s, line, &o);
        if (room) return true;
        mark(s, at[i], line_class(print));
    }
    return false;
}

/* Into a line, the spare area, or nowhere: then the oldest generation goes, or keys that are looked
 * for behind all their lines count as seen until this one would have left. */
ALWAYS_INLINE void add_behind(struct line_state *s, uint64_t *at, uint64_t print, uint32_t f) {
    do {
        if (add_to_chain(s, at, print, f)) return;
        struct line_spare *spare =
            line_spare_find(s, &s->view, line_tag(at[LINE_CHAIN - 1], print), true);
        if (!spare) continue;
        renew_spare(s, spare);
        return;
    } while (line_shrink(s));
    s->h.lost++;
    s->h.flood = s->view.generation;
}

/* -- records ------------------------------------------------------------------------------ */

/* Behind all marks, while keys without a place may be in the window, a key that is not found may be
 * one of them: it counts as seen, and is given a place. */
static __attribute__((noinline)) uint8_t look_behind(struct line_state *s, uint64_t home,
                                                     uint64_t print, uint32_t f, uint32_t count) {
    uint64_t at[LINE_CHAIN] = {home, LINE_NONE, LINE_NONE, LINE_NONE}, compared = s->h.compared;
    uint32_t last;
    s->h.compared += count;
    bool found = found_behind(s, at, print, f, &last);
    bool seen = found || (last == LINE_CHAIN && flooded(s, &s->view));
    if (seen) s->h.compared = compared;
    s->h.taken += seen && !found;
    s->h.fresh += !seen;
    if (!found && !(seen && s->first)) add_behind(s, at, print, f);
    return seen;
}

ALWAYS_INLINE uint8_t observe_one(struct line_state *s, const struct line_view *view, uint64_t home,
                                  uint64_t print, uint32_t f) {
    uint64_t *line = line_at(s, home);
    struct open o = open_line(s, view, line, print, f);
    bool seen = o.found, behind = (o.now | o.before) & line_class(print);
    if (__builtin_expect(!seen && (behind || o.count == s->room), 0)) {
        close_line(s, line, &o);
        return look_behind(s, home, print, f, o.count);
    }
    s->h.fresh += !seen;
    s->h.compared += seen ? 0 : o.count;
    if (!(seen && s->first)) renew_or_add(s, &o, print, f);
    close_line(s, line, &o);
    return seen;
}

ALWAYS_INLINE void observe_all(struct line_state *s, size_t n, const seen_digest *d,
                               const uint64_t *at, uint8_t *verdict, uint32_t f) {
    uint64_t home[DETECTOR_BATCH + LINE_AHEAD];
    for (size_t i = 0; i < n; i++) home[i] = line_home(s, d[i]);
    for (size_t i = n; i < n + LINE_AHEAD; i++) home[i] = home[n - 1];
    for (size_t i = 0; i < LINE_AHEAD; i++) __builtin_prefetch(line_at(s, home[i]), 1);
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(line_at(s, home[i + LINE_AHEAD]), 1);
        s->clock = at[i];
        verdict[i] = observe_one(s, &s->view, home[i], line_print(s, d[i]), f);
    }
}

/* All widths of fingerprints there are. */
#define LINE_KERNEL(name)                                                                          \
    void name(struct line_state *s, size_t n, const seen_digest *d, const uint64_t *at,            \
              uint8_t *verdict) {                                                                  \
        switch (s->bits) {                                                                         \
        case 16: observe_all(s, n, d, at, verdict, 16); break;                                     \
        case 18: observe_all(s, n, d, at, verdict, 18); break;                                     \
        case 20: observe_all(s, n, d, at, verdict, 20); break;                                     \
        case 22: observe_all(s, n, d, at, verdict, 22); break;                                     \
        case 24: observe_all(s, n, d, at, verdict, 24); break;                                     \
        case 27: observe_all(s, n, d, at, verdict, 27); break;                                     \
        case 30: observe_all(s, n, d, at, verdict, 30); break;                                     \
        case 33: observe_all(s, n, d, at, verdict, 33); break;                                     \
        case 36: observe_all(s, n, d, at, verdict, 36); break;                                     \
        default: observe_all(s, n, d, at, verdict, 43); break;                                     \
        }                                                                                          \
    }
#endif
