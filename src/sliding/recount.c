/* recount.c - counts the keys of stuck counters again. */
#include "sliding/counting_queue.h"

#define REGIONS 16

uint64_t recount_lines(uint64_t lines) { return lines - bits_ceil_div(lines, REGIONS + 1); }

static uint32_t a_line(const struct filter_shape *s) { return TABLE_BITS / s->width; }

uint64_t recount_cells(const struct filter_shape *s) { return recount_lines(s->lines) * a_line(s); }

void recount_init(struct recount *r, const struct filter_shape *s) {
    r->lines = recount_lines(s->lines);
    r->shadow = s->lines - r->lines;
    r->width = s->width;
    r->top = counters_top(s->width);
    r->a_line = a_line(s);
}

/* -- counters ----------------------------------------------------------------------------- */

static bool stale(const struct recount *r, const uint64_t *line) {
    return table_stamp(line) != (uint16_t)r->h.epoch;
}

static uint64_t *fresh(const struct recount *r, uint64_t *table, uint64_t i) {
    uint64_t *line = table + 8 * i;
    if (stale(r, line)) {
        memset(line, 0, 64);
        line[7] = r->h.epoch << TABLE_STAMP_SHIFT;
    }
    return line;
}

/* The line of the shadow that stands for line i, or NULL. */
static uint64_t *shadow_of(const struct recount *r, uint64_t *table, uint64_t i) {
    uint64_t first = r->h.region * r->shadow;
    if (i < first || i >= first + r->shadow) return NULL;
    return fresh(r, table, r->lines + i - first);
}

uint32_t recount_get(const struct recount *r, const uint64_t *table, struct cells_probe p) {
    const uint64_t *line = table + 8 * p.line;
    return stale(r, line) ? 0 : counters_get(line, p.cell * r->width, r->top);
}

/* Lines of the shadow taken over already are zero, and stay so for the next region. */
static uint64_t *counted_in(const struct recount *r, uint64_t *table, struct cells_probe p) {
    bool idle = !r->h.walking && !r->h.taken;
    uint64_t *line = idle ? NULL : shadow_of(r, table, p.line);
    return line && p.line - r->h.region * r->shadow >= r->h.taken ? line : NULL;
}

void recount_walked(struct recount *r, uint64_t *table, struct cells_probe p) {
    uint64_t *line = counted_in(r, table, p);
    if (line) counters_up(line, p.cell * r->width, r->top);
}

void recount_up(struct recount *r, uint64_t *table, struct cells_probe p) {
    uint32_t was = counters_up(fresh(r, table, p.line), p.cell * r->width, r->top);
    r->set += was == 0;
    r->stuck += was + 1 == r->top;
    r->h.saturated += was + 1 == r->top;
    recount_walked(r, table, p);
}

void recount_down(struct recount *r, uint64_t *table, struct cells_probe p, bool shadowed) {
    uint32_t was = counters_down(fresh(r, table, p.line), p.cell * r->width, r->top);
    r->set -= was == 1;
    uint64_t *line = shadowed ? counted_in(r, table, p) : NULL;
    if (line) counters_down(line, p.cell * r->width, r->top);
}

void recount_empty(struct recount *r, uint64_t *table) {
    uint64_t i, end;
    r->h.epoch++;
    r->h.walking = r->h.taken = r->set = r->stuck = 0;
    for (table_slice(r->h.epoch, r->lines + r->shadow, &i, &end); i < end; i++) fresh(r, table, i);
}

/* -- counting again ----------------------------------------------------------------------- */

/* A stuck counter becomes what the shadow counted, if that is below the top. */
static void set_free(struct recount *r, uint64_t *line, const uint64_t *shadow, uint32_t bit) {
    if (counters_get(line, bit, r->top) != r->top) return;
    uint32_t count = counters_get(shadow, bit, r->top);
    if (count == r->top) return;
    counters_set(line, bit, r->top, count);
    r->set -= count == 0;
    r->stuck--;
    r->h.rebuilt++;
}

static void take_over(struct recount *r, uint64_t *table) {
    uint64_t i = r->h.region * r->shadow + r->h.taken;
    uint64_t *shadow = fresh(r, table, r->lines + r->h.taken);
    uint64_t *line = i < r->lines ? fresh(r, table, i) : shadow; /* the last region is shorter */
    for (uint32_t cell = 0; cell < r->a_line; cell++) set_free(r, line, shadow, cell * r->width);
    memset(shadow, 0, 56);
    shadow[7] = r->h.epoch << TABLE_STAMP_SHIFT;
    if (++r->h.taken < r->shadow) return;
    r->h.taken = 0;
    if (++r->h.region * r->shadow >= r->lines) r->h.region = 0;
}

bool recount_step(struct recount *r, uint64_t *table, uint64_t begin, uint64_t end) {
    if (r->h.walking && r->h.walk > begin) return true;
    if (r->h.walking || r->h.taken) {
        r->h.walking = 0;
        take_over(r, table);
    } else if (r->stuck) {
        r->h.walking = 1;
        r->h.walk = end;
    }
    return false;
}

/* -- snapshot ----------------------------------------------------------------------------- */

bool recount_sane(const struct recount *r, uint64_t end) {
    const struct recount_head *h = &r->h;
    return h->epoch < MAX_COUNT && h->region * r->shadow < r->lines && h->walking <= 1 &&
           h->region <= REGIONS && h->walk <= end && h->taken < r->shadow &&
           (!h->walking || !h->taken) && h->saturated < MAX_COUNT && h->rebuilt < MAX_COUNT;
}

void recount_tally(struct recount *r, const uint64_t *table, uint64_t line) {
    for (uint32_t cell = 0; line < r->lines && cell < r->a_line; cell++) {
        uint32_t value = recount_get(r, table, (struct cells_probe){line, cell});
        r->set += value > 0;
        r->stuck += value == r->top;
    }
}
