/* line_generations.c - when a generation of `line` begins, and when the oldest one leaves.
 *
 *     steps of the clock  |        |        |        |  boundary
 *     generations         | 5 | 6  |   7    |8|9| 10 |
 *                         └ floor                 └ current
 *
 * A step of the clock ends the current generation.  Generations that ended a window ago leave at
 * that step, so a window needs one generation for each step.  Under overload=shrink a generation
 * also ends when it has taken in `quota` new keys; a map has spare ends for these.  Such a
 * generation makes no verdict or age worse, because all generations between two steps leave
 * together.  They serve bursts.  When there are more than `most` entries, the oldest
 * generation leaves before its time, and the keys of one burst should not leave all at once.
 *
 * The state alone decides after which records entries are counted.  So batches make no difference,
 * and a query gives the verdict that the next record will get. */
#include "sliding/line.h"

#define SLICES 896 /* generations after which every line is due to be swept again */
#define LATE   32  /* generations that it may be swept later */

/* Generations after its last touch when a line has neither entries nor marks that count. */
#define DEAD(live) (2 * ((live) + 1))

#define WEIGHED 256 /* entries are counted again after at least a 256th of them has come */

_Static_assert(DEAD(LINE_MAX_LIVE) + SLICES + LATE < LINE_STAMPS, "stamps must not come round");

static uint64_t *start_of(struct line_state *s, uint64_t generation) {
    return &s->h.start[generation % LINE_RING];
}

static uint64_t bit_of(uint64_t generation) { return (uint64_t)1 << generation % LINE_RING; }

/* -- views -------------------------------------------------------------------------------- */

static struct line_view view_of(const struct line_state *s, uint64_t generation, uint64_t floor) {
    uint64_t live = bits_min(s->live, generation - floor);
    return (struct line_view){.generation = generation,
                              .live = (uint32_t)live,
                              .ends = s->live,
                              .extra = (uint32_t)(s->live - live),
                              .since = generation - s->h.epoch,
                              .earlier = generation - s->h.before};
}

struct line_view line_view_now(const struct line_state *s) {
    return view_of(s, s->h.rotation.generation, s->h.floor);
}

/* The oldest generation that is in the window at a step of the clock. */
static uint64_t floor_at(const struct line_state *s, uint64_t point) {
    uint64_t i = s->h.floor;
    while (i < s->h.rotation.generation &&
           point - s->h.start[(i + 1) % LINE_RING] >= s->steps * s->step)
        i++;
    return i;
}

bool line_expired(const struct line_state *s, uint64_t at) {
    return s->h.cleared || rotation_steps(&s->h.rotation, s->step, at) > s->steps;
}

/* The view that line_advance would leave. */
struct line_view line_view_at(const struct line_state *s, uint64_t at) {
    uint64_t steps = line_expired(s, at) ? 0 : rotation_steps(&s->h.rotation, s->step, at);
    if (!steps) return s->view;
    uint64_t now = s->h.rotation.generation;
    uint64_t floor = floor_at(s, s->h.rotation.boundary + (steps - 1) * s->step);
    struct line_view view = view_of(s, now + steps, floor);
    if (floor <= s->h.epoch) return view;
    uint64_t left = 1; /* steps until the next epoch of marks */
    while (floor_at(s, s->h.rotation.boundary + (left - 1) * s->step) <= s->h.epoch) left++;
    view.since = steps - left;
    view.earlier = now + steps - s->h.epoch;
    return view;
}

/* -- sweeping ----------------------------------------------------------------------------- */

/* Empties lines that were dead when they were due, before their stamps come round.  The moment does
 * not matter for answers: a line with dead keys only counts as empty. */
void line_sweep(struct line_state *s, uint64_t n, uint64_t until) {
    struct line_head *h = &s->h;
    while (n > 0 && h->due <= until) {
        uint64_t slice = h->due % SLICES;
        uint64_t start = (uint64_t)((bits_u128)s->lines * slice / SLICES), i = start + h->swept;
        uint64_t end = (uint64_t)((bits_u128)s->lines * (slice + 1) / SLICES);
        uint64_t since = s->view.generation - h->due;
        for (; n > 0 && i < end; i++, n--) {
            uint64_t *line = line_at(s, i);
            if (line_ago(line, s->view.generation) < since + DEAD(s->live)) continue;
            memset(line, 0, 64);
            line[6] = h->due << LINE_STAMP_SHIFT;
        }
        h->swept = i < end ? i - start : 0;
        h->due += i >= end;
    }
}

/* -- generations come and go -------------------------------------------------------------- */

void line_count_none(struct line_state *s) {
    memset(s->held, 0, sizeof s->held);
    memset(s->spared, 0, sizeof s->spared);
}

uint64_t line_stored(const struct line_state *s) {
    uint64_t stored = 0;
    for (uint64_t i = 0; i <= s->view.live; i++)
        stored += s->held[(s->view.generation - i) % LINE_RING];
    return stored;
}

/* The youngest key of a generation came just before the next one began. */
void line_forget(struct line_state *s, uint64_t generation, uint64_t keys) {
    uint64_t kept = s->clock - *start_of(s, generation + 1) + s->time;
    if (!keys || kept >= s->length) return;
    s->h.forgotten += keys;
    s->h.kept = bits_min(s->h.kept, kept);
}

/* The oldest generation leaves before its time. */
static void let_go(struct line_state *s) {
    struct line_head *h = &s->h;
    uint64_t held = s->held[h->floor % LINE_RING];
    line_forget(s, h->floor, held);
    h->cut = ++h->floor;
    h->base -= bits_min(h->base, held);
    s->view = line_view_now(s);
}

static void begin(struct line_state *s, uint64_t start, bool by_count) {
    struct line_head *h = &s->h;
    uint64_t generation = ++h->rotation.generation;
    *start_of(s, generation) = start;
    h->by_count = by_count ? h->by_count | bit_of(generation) : h->by_count & ~bit_of(generation);
    if (!by_count) h->floor = floor_at(s, start);
    s->held[generation % LINE_RING] = s->spared[generation % LINE_RING] = 0;
    while (generation - h->floor > s->live) let_go(s);
    if (h->floor > h->epoch) { /* all entries from before this epoch of marks have left */
        h->before = h->epoch;
        h->epoch = generation;
    }
    s->view = line_view_now(s);
    h->base = line_stored(s);
    line_sweep(s, UINT64_MAX, generation - LATE - 1);
}

/* Begins a generation behind all records so far.  The first of two records at one time may be in
 * the generation before. */
static void begin_by_count(struct line_state *s) { begin(s, s->clock + s->time, true); }

void line_advance(struct line_state *s, uint64_t at) {
    struct rotation *r = &s->h.rotation;
    s->clock = at;
    if (line_expired(s, at)) {
        s->h.floor = r->generation + 1;
        s->h.cleared = s->h.cut = s->h.until = 0;
        r->boundary = at + s->step;
        line_count_none(s);
        begin(s, at, false);
        return;
    }
    for (uint64_t n = rotation_steps(r, s->step, at); n > 0; n--, r->boundary += s->step)
        begin(s, r->boundary, false);
}

void line_begin(struct line_state *s) {
    struct line_head *h = &s->h;
    h->rotation.generation = h->floor = h->epoch = h->before = LINE_RING;
    h->due = LINE_RING + 1;
    h->cleared = h->wait = 1;
    h->kept = SEEN_NEVER;
    s->view = line_view_now(s);
}

/* -- memory that is short ----------------------------------------------------------------- */

bool line_shrink(struct line_state *s) {
    if (!s->shrink) return false;
    if (s->h.floor == s->h.rotation.generation) begin_by_count(s);
    let_go(s);
    return true;
}

/* Whether a map has a spare end for a generation that begins by count.  Steps of the clock need the
 * others. */
static bool may_split(const struct line_state *s) {
    uint64_t splits = 0;
    for (uint64_t i = 0; i < s->view.live; i++)
        splits += (s->h.by_count & bit_of(s->view.generation - i)) != 0;
    return s->quota && splits < s->live - s->steps;
}

void line_weigh(struct line_state *s, uint64_t clock) {
    struct line_head *h = &s->h;
    s->clock = clock;
    /* More than `most` entries are more keys than planned.  From then on, for the length of the
     * window, the limit is the planned number, and so the planned rate holds. */
    if (line_stored(s) > s->most) h->until = clock + s->length;
    uint64_t limit = clock < h->until ? s->planned : s->most;
    while (line_stored(s) > limit) line_shrink(s);
    uint64_t stored = line_stored(s), wait = limit - stored + 1;
    if (may_split(s) && stored - h->base >= s->quota) begin_by_count(s);
    if (may_split(s)) wait = bits_min(wait, s->quota - (stored - h->base));
    h->wait = bits_max(wait, 1 + s->most / WEIGHED);
}

/* -- snapshot ----------------------------------------------------------------------------- */

bool line_head_sane(const struct line_state *s, uint64_t at) {
    const struct line_head *h = &s->h;
    const struct rotation *r = &h->rotation;
    bool fine = r->generation >= LINE_RING && r->generation < MAX_COUNT &&
                h->floor <= r->generation && r->generation - h->floor <= s->live &&
                h->cut <= h->floor && h->flood <= r->generation &&
                r->boundary <= bits_min(at, MAX_COUNT / 2) + s->step &&
                h->until <= bits_min(at, MAX_COUNT / 2) + s->length;
    fine = fine && r->begun < MAX_COUNT && h->lost < MAX_COUNT && h->forgotten < MAX_COUNT &&
           h->looked < MAX_COUNT && h->cleared <= 1 && h->wait && h->wait <= s->most + 2;
    fine = fine && h->before <= h->epoch && h->epoch <= r->generation &&
           r->generation - h->epoch <= s->live;
    for (uint64_t ago = 0; ago <= s->view.live && fine && !h->cleared; ago++) {
        uint64_t start = h->start[(r->generation - ago) % LINE_RING];
        fine = at + 1 - start < MAX_COUNT &&
               (!ago || h->start[(r->generation - ago + 1) % LINE_RING] - start < MAX_COUNT);
    }
    for (uint32_t i = 0; i < LINE_CHAIN && fine; i++) fine = h->reached[i] <= r->generation;
    return fine && r->generation + 1 - h->due <= LATE + 1 && h->swept <= s->lines;
}
