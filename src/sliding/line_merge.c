/* line_merge.c - adds the entries of one window, with their ages, to another.
 *
 * Entries of a line enter the same line of the other window, in the order of age.  An entry that
 * finds no room goes on as a new key would, because line and fingerprint give the later lines.  But
 * the place of the line in the chain of its key is unknown: it may be the first line, or the last,
 * from which a query goes on to the spare area.  `reached` finds the possible places.  For each of
 * them an entry is put where a query for such a key would look. */
#include "sliding/line.h"

struct entries {
    uint64_t print[LINE_PAYLOAD / 16], generation[LINE_PAYLOAD / 16]; /* oldest first */
    uint64_t now, before;
    uint32_t count;
};

/* -- a line, taken apart ------------------------------------------------------------------ */

static void take_apart(const struct line_state *s, const struct line_view *view, uint64_t at,
                       struct entries *e) {
    const uint64_t *line = line_at(s, at);
    uint64_t ago = line_ago(line, view->generation), i = 0;
    e->now = line[7] & LINE_MARKS, e->before = line[6] >> LINE_BEFORE & LINE_MARKS;
    if (ago > view->since) {
        e->before = ago > view->earlier ? 0 : e->now;
        e->now = 0;
    }
    e->count = 0;
    for (uint64_t map = line_map(line); map && ago <= view->live; map &= map - 1, i++) {
        uint64_t age = ago + line_age(map, i, view->ends);
        if (age > view->live) continue;
        e->print[e->count] = bits_field((const unsigned char *)line, i * s->bits, s->bits);
        e->generation[e->count++] = view->generation - age;
    }
}

static void put_together(struct line_state *s, uint64_t at, const struct entries *e) {
    uint64_t *line = line_at(s, at), map = 0;
    memset(line, 0, 64);
    for (uint64_t i = 0; i < e->count; i++) {
        bits_field_set((unsigned char *)line, i * s->bits, s->bits, e->print[i]);
        map |= (uint64_t)1 << (i + s->live - (s->view.generation - e->generation[i]));
    }
    line[6] |= s->view.generation << LINE_STAMP_SHIFT | e->before << LINE_BEFORE;
    line[7] = map << LINE_CLASSES | e->now;
}

static uint64_t *held_in(struct line_state *s, uint64_t generation) {
    return &s->held[generation % LINE_RING];
}

/* Adds an entry, unless a younger one with its fingerprint is there; replaces an older one. Returns
 * false if the line is full. */
static bool enter(struct line_state *s, struct entries *e, uint64_t print, uint64_t generation) {
    uint32_t i = 0;
    while (i < e->count && e->print[i] != print) i++;
    if (i < e->count && e->generation[i] >= generation) return true;
    if (i == e->count && e->count == s->room) return false;
    if (i < e->count) {
        --*held_in(s, e->generation[i]);
        size_t after = --e->count - i;
        memmove(e->print + i, e->print + i + 1, after * sizeof *e->print);
        memmove(e->generation + i, e->generation + i + 1, after * sizeof *e->generation);
    }
    for (i = e->count; i > 0 && e->generation[i - 1] > generation;) i--;
    size_t after = e->count++ - i;
    memmove(e->print + i + 1, e->print + i, after * sizeof *e->print);
    memmove(e->generation + i + 1, e->generation + i, after * sizeof *e->generation);
    e->print[i] = print;
    e->generation[i] = generation;
    ++*held_in(s, generation);
    return true;
}

/* -- behind a line ------------------------------------------------------------------------ */

/* Whether any key may stand in this line of its chain. */
static bool reached(const struct line_state *s, const struct line_view *view, uint32_t line) {
    return line == 0 || (s->h.reached[line] && line_counts(view, s->h.reached[line]));
}

/* Adds a key to the spare area.  If there is no room, it is lost as a new key would be, or
 * forgotten if it is too old for a window that short memory has cut. */
static void enter_spare(struct line_state *s, uint64_t tag, uint64_t generation) {
    while (line_counts(&s->view, generation)) {
        struct line_spare *spare = line_spare_find(s, &s->view, tag, true);
        if (spare) {
            line_spare_stamp(s, spare, bits_max(spare->generation, generation));
            return;
        }
        if (line_shrink(s)) continue;
        s->h.lost++;
        s->h.flood = bits_max(s->h.flood, generation);
        return;
    }
    line_forget(s, generation, 1);
}

/* Adds an entry to the next line behind at[0] that has room.  Returns the number of lines it went
 * on; LINE_CHAIN: none has room. */
static uint32_t enter_line(struct line_state *s, uint64_t *at, uint64_t print,
                           uint64_t generation) {
    for (uint32_t on = 1; on < LINE_CHAIN; on++) {
        struct entries e;
        at[on] = line_next(s, at[on - 1], print);
        take_apart(s, &s->view, at[on], &e);
        bool room = enter(s, &e, print, generation);
        if (!room) e.now |= (uint64_t)1 << line_class(print);
        put_together(s, at[on], &e);
        if (room) return on;
    }
    return LINE_CHAIN;
}

/* Puts an entry of a full line, which has its mark, into a later line. */
static void enter_behind(struct line_state *s, uint64_t line, uint64_t print, uint64_t generation) {
    uint64_t at[LINE_CHAIN] = {line};
    if (!line_counts(&s->view, generation)) {
        line_forget(s, generation, 1);
        return;
    }
    uint32_t on = enter_line(s, at, print, generation);
    for (uint32_t from = LINE_CHAIN; from-- > 0;) {
        uint32_t last = LINE_CHAIN - 1 - from; /* lines left in the chain of such a key */
        if (!reached(s, &s->view, from)) continue;
        if (on <= last)
            s->h.reached[from + on] = s->view.generation;
        else
            enter_spare(s, line_tag(at[last], print), generation);
    }
}

/* -- generations from before the floor count again, with nothing in them ------------------- */

static void empty_line(struct line_state *s, uint64_t *line) {
    uint64_t now = s->view.generation;
    if (line_ago(line, now) <= s->view.live) return;
    memset(line, 0, 64);
    line[6] = now << LINE_STAMP_SHIFT;
}

/* Whether the window began so recently that it lacks generations for its oldest keys.  Generations
 * that short memory removed do not come back. */
static bool young(const struct line_state *s) {
    uint64_t point = s->h.rotation.boundary - s->step;
    return s->view.extra && s->h.floor != s->h.cut &&
           point - s->h.start[s->h.floor % LINE_RING] < s->steps * s->step;
}

/* Adds the missing generations, once no line holds entries of theirs. */
static void widen(struct line_state *s) {
    struct line_head *h = &s->h;
    uint64_t floor = h->floor;
    for (uint32_t i = 0; i < LINE_CHAIN; i++)
        if (h->reached[i] < floor) h->reached[i] = 0;
    if (h->flood < floor) h->flood = 0;
    while (young(s)) {
        uint64_t i = --h->floor;
        h->start[i % LINE_RING] = h->start[(i + 1) % LINE_RING] - s->step;
        h->by_count &= ~((uint64_t)1 << i % LINE_RING);
        *held_in(s, i) = s->spared[i % LINE_RING] = 0;
        s->view = line_view_now(s);
    }
}

static void merge_line(struct line_state *s, const struct line_state *from,
                       const struct line_view *theirs, const uint64_t *to, uint64_t at) {
    struct entries mine, others;
    uint32_t behind[LINE_PAYLOAD / 16], n = 0;
    take_apart(from, theirs, at, &others);
    take_apart(s, &s->view, at, &mine);
    mine.now |= others.now | others.before;
    for (uint32_t i = others.count; i-- > 0;) {
        uint64_t generation = to[theirs->generation - others.generation[i]];
        others.generation[i] = generation;
        if (!line_counts(&s->view, generation)) {
            line_forget(s, generation, 1);
            continue;
        }
        if (enter(s, &mine, others.print[i], generation)) continue;
        mine.now |= (uint64_t)1 << line_class(others.print[i]);
        behind[n++] = i;
    }
    put_together(s, at, &mine);
    for (uint32_t i = 0; i < n; i++)
        enter_behind(s, at, others.print[behind[i]], others.generation[behind[i]]);
}

/* -- all of it, in pieces ------------------------------------------------------------------ */

struct merging {
    struct line_state *s;
    const struct line_state *from;
    struct line_view theirs;
    uint64_t to[LINE_MAX_LIVE + 1];
};

/* Prepares a piece: what holds for the whole table is computed again, because the clock may have
 * moved. */
static void look(struct merging *g, uint64_t at, uint64_t from_at) {
    struct line_state *s = g->s;
    const struct line_state *from = g->from;
    uint64_t ago = 0;
    for (uint64_t i = 0; i <= g->theirs.live; i++) {
        uint64_t age = line_age_at(from, &g->theirs, i, from_at);
        while (ago <= s->view.live && line_age_at(s, &s->view, ago + 1, at) <= age) ago++;
        g->to[i] = s->view.generation - ago;
    }
    for (uint32_t i = 1; i < LINE_CHAIN; i++)
        if (reached(from, &g->theirs, i)) s->h.reached[i] = s->view.generation;
    if (from->h.flood && line_counts(&g->theirs, from->h.flood))
        s->h.flood = bits_max(s->h.flood, g->to[g->theirs.generation - from->h.flood]);
}

static void merge_spare(struct merging *g, const struct line_spare *spare) {
    if (spare->generation && line_counts(&g->theirs, spare->generation))
        enter_spare(g->s, spare->tag, g->to[g->theirs.generation - spare->generation]);
}

enum phase { WIDENING, LINES, SPARES, PHASES };

static void step(struct merging *g, enum phase phase, uint64_t i) {
    switch (phase) {
    case WIDENING:
        if (i < g->s->lines) empty_line(g->s, line_at(g->s, i));
        if (i < g->s->spares) {
            if (line_spares(g->s)[i].generation < g->s->h.floor)
                line_spares(g->s)[i].generation = 0;
        }
        break;
    case LINES: merge_line(g->s, g->from, &g->theirs, g->to, i); break;
    default: merge_spare(g, &line_spares(g->from)[i]);
    }
}

static uint64_t steps_of(const struct merging *g, enum phase phase) {
    if (phase == SPARES) return g->from->spares;
    return phase == LINES ? g->s->lines : bits_max(g->s->lines, g->s->spares);
}

/* The cursor holds the steps done of the phase, the phase, and the floor below which lines are
 * emptied. */
bool line_merge(struct window *w, uint64_t at, const struct window *other, uint64_t from_at,
                uint64_t most, struct merge_cursor *m) {
    struct line_state *s = w->state;
    struct merging g = {.s = s, .from = other->state};
    enum phase phase = (enum phase)bits_min(m->place[1], SPARES);
    if (!m->place[0] && !phase) {
        s->h.lost += g.from->h.lost;
        s->h.forgotten += g.from->h.forgotten;
        s->h.looked += g.from->h.looked;
        s->h.kept = bits_min(s->h.kept, g.from->h.kept);
    }
    if (line_expired(g.from, from_at)) return true;
    if (s->h.cleared || at >= s->h.rotation.boundary) line_advance(s, at);
    if (phase == WIDENING && !young(s)) phase = LINES, m->place[0] = 0;
    if (phase == WIDENING && m->place[2] != s->h.floor) m->place[0] = 0, m->place[2] = s->h.floor;
    uint64_t steps = steps_of(&g, phase);
    uint64_t i = bits_min(m->place[0], steps), end = i + bits_min(most, steps - i);
    g.theirs = line_view_at(g.from, from_at);
    s->clock = at;
    if (phase != WIDENING) look(&g, at, from_at);
    while (i < end) step(&g, phase, i++);
    if (phase == WIDENING && end == steps) widen(s);
    m->place[0] = end < steps ? end : 0;
    m->place[1] = end < steps ? phase : phase + 1;
    s->h.wait = 1; /* there may be too many entries now */
    if (s->shrink && m->place[1] == PHASES) line_weigh(s, at);
    return m->place[1] == PHASES;
}
