/* cuckoo_cells.c - reads and writes the cells of a timed cuckoo table, flat or in lines. */
#include "sliding/timed_cuckoo.h"
#include "spec/spec.h"

#define LINE_WORDS 8

/* -- geometry ----------------------------------------------------------------------------- */

uint32_t cuckoo_place_bits(uint64_t lambda) {
    uint32_t bits = 1;
    while (bits < 63 && lambda > (uint64_t)1 << bits) bits++;
    return bits;
}

static uint32_t entry_bits(const struct seen_spec *spec) {
    return (uint32_t)(options_get(spec, OPTION_STAMP) +
                      cuckoo_place_bits(options_get(spec, OPTION_LAMBDA)) +
                      options_get(spec, OPTION_SIGNATURE));
}

static uint32_t capacity_of(uint32_t positions, uint32_t entry) {
    return (512 - positions) / entry;
}

/* The highest number of positions a line at which a quarter of them fills at most five sixths of
 * the line's room for keys. */
static uint32_t positions_of(uint32_t entry) {
    uint32_t positions = 64;
    while (3 * positions > 10 * capacity_of(positions, entry)) positions--;
    return positions;
}

uint64_t cuckoo_lines(const struct seen_spec *spec) {
    uint32_t entry = entry_bits(spec);
    uint64_t cells = 2 * options_get(spec, OPTION_LAMBDA), tail = 64; /* bits.h */
    bits_u128 bits = (bits_u128)cells * entry;
    if (options_get(spec, OPTION_PACKED))
        bits = (bits_u128)bits_ceil_div(cells, positions_of(entry)) * 512;
    return (uint64_t)((bits + tail + 511) / 512);
}

void cuckoo_init(struct cuckoo_cells *c, const struct seen_spec *spec, uint64_t at) {
    c->cells = c->parts = 2 * options_get(spec, OPTION_LAMBDA);
    c->lines = cuckoo_lines(spec);
    c->at = at;
    c->stamp = (uint32_t)options_get(spec, OPTION_STAMP);
    c->entry = entry_bits(spec);
    c->key = c->entry - c->stamp;
    c->vla = (uint32_t)options_get(spec, OPTION_PACKED);
    if (!c->vla) return;
    c->positions = positions_of(c->entry);
    c->capacity = capacity_of(c->positions, c->entry);
    c->inverse = UINT64_MAX / c->positions + 1;
    c->parts = bits_ceil_div(c->cells, c->positions);
}

/* -- lines of variable length ------------------------------------------------------------- */

static uint64_t *words_of(const struct cuckoo_cells *c, uint64_t line) {
    return (uint64_t *)(void *)(cuckoo_bytes(c) + line * 64);
}

/* Puts `moved` in the place of all bits from `from` on. */
static void replace(uint64_t *words, uint32_t from, const uint64_t *moved) {
    uint32_t first = from / 64;
    uint64_t stays = ((uint64_t)1 << from % 64) - 1;
    words[first] = (words[first] & stays) | (moved[first] & ~stays);
    for (uint32_t i = first + 1; i < LINE_WORDS; i++) words[i] = moved[i];
}

/* Moves all bits from `from` on up by `by`; the bits of the gap are left to be written. */
static void open_gap(uint64_t *words, uint32_t from, uint32_t by) {
    uint64_t line[2 + LINE_WORDS] = {0}, moved[LINE_WORDS];
    const uint64_t *below = line + 2 - by / 64;
    memcpy(line + 2, words, LINE_WORDS * 8);
    for (int i = 0; i < LINE_WORDS; i++)
        moved[i] = below[i] << by % 64 | below[i - 1] >> 1 >> (63 - by % 64);
    replace(words, from, moved);
}

/* Moves all bits from `from + by` on down to `from`, and zeros behind them. */
static void close_gap(uint64_t *words, uint32_t from, uint32_t by) {
    uint64_t line[LINE_WORDS + 2] = {0}, moved[LINE_WORDS];
    const uint64_t *above = line + by / 64;
    memcpy(line, words, LINE_WORDS * 8);
    for (int i = 0; i < LINE_WORDS; i++)
        moved[i] = above[i] >> by % 64 | above[i + 1] << 1 << (63 - by % 64);
    replace(words, from, moved);
}

void cuckoo_insert(struct cuckoo_cells *c, uint64_t i, struct cuckoo_key key) {
    struct cuckoo_spot s = cuckoo_spot(c, i);
    uint64_t *words = words_of(c, s.line), bit = cuckoo_bit(c, s);
    open_gap(words, (uint32_t)(bit % 512), c->entry);
    words[0] |= (uint64_t)1 << s.position;
    cuckoo_write(c, bit, key);
}

static void erase(struct cuckoo_cells *c, struct cuckoo_spot s) {
    uint64_t *words = words_of(c, s.line);
    close_gap(words, (uint32_t)(cuckoo_bit(c, s) % 512), c->entry);
    words[0] &= ~((uint64_t)1 << s.position);
}

void cuckoo_erase(struct cuckoo_cells *c, uint64_t i) {
    if (c->vla)
        erase(c, cuckoo_spot(c, i));
    else
        bits_field_set(cuckoo_bytes(c), i * c->entry, c->stamp, 0);
}

/* Drops the keys of a line that count no more; returns its bitmap. */
static uint64_t clean(struct cuckoo_cells *c, struct stamps *t, struct cuckoo_spot s) {
    uint64_t bit = s.line * 512 + c->positions;
    for (uint64_t left = s.map; left; left &= left - 1) {
        uint64_t stamp = bits_field(cuckoo_bytes(c), bit, c->stamp);
        bit += c->entry;
        if (!cuckoo_dead(t, stamp)) continue;
        stamps_count(t, stamp, false);
        s.position = (uint32_t)__builtin_ctzll(left);
        erase(c, s);
        s.map &= ~((uint64_t)1 << s.position);
        bit -= c->entry;
    }
    return s.map;
}

uint32_t cuckoo_line_room(struct cuckoo_cells *c, struct stamps *t, uint64_t i) {
    struct cuckoo_spot s = cuckoo_spot(c, i);
    if (cuckoo_taken(s) && !cuckoo_dead(t, bits_field(cuckoo_bytes(c), cuckoo_bit(c, s), c->stamp)))
        return 0;
    uint32_t keys = bits_popcount(s.map);
    if (keys == c->capacity) keys = bits_popcount(clean(c, t, s));
    return c->capacity - keys;
}

void cuckoo_sweep(struct cuckoo_cells *c, struct stamps *t, uint64_t part) {
    if (c->vla) {
        clean(c, t, cuckoo_spot(c, part * c->positions));
        return;
    }
    uint64_t stamp = cuckoo_get(c, part).stamp;
    if (!stamp || !cuckoo_dead(t, stamp)) return;
    stamps_count(t, stamp, false);
    cuckoo_erase(c, part);
}

/* -- loaded bytes ------------------------------------------------------------------------- */

static const char *line_wrong(const struct cuckoo_cells *c, uint64_t line) {
    struct cuckoo_spot s = cuckoo_spot(c, line * c->positions);
    uint64_t cells = c->cells - line * c->positions;
    uint32_t keys = bits_popcount(s.map), used = c->positions + keys * c->entry;
    if (keys > c->capacity) return "a line of the snapshot holds more keys than it can";
    if (cells < 64 && s.map >> cells) return "a line of the snapshot holds keys of no cell";
    for (; used < 512; used += 32)
        if (bits_field(cuckoo_bytes(c), line * 512 + used, (uint32_t)bits_min(32, 512 - used)))
            return "a line of the snapshot has bits behind its keys";
    return NULL;
}

uint64_t cuckoo_cells_within(const struct cuckoo_cells *c, uint64_t lines) {
    return bits_min(c->cells, c->vla ? lines * c->positions : lines * 512 / c->entry);
}

const char *cuckoo_wrong(const struct cuckoo_cells *c, uint64_t from, uint64_t end,
                         uint64_t lambda) {
    uint64_t place = ((uint64_t)1 << cuckoo_place_bits(lambda)) - 1;
    const char *wrong = NULL;
    for (uint64_t i = from; c->vla && i < end && !wrong; i += c->positions)
        wrong = line_wrong(c, i / c->positions);
    if (wrong) return wrong;
    for (uint64_t i = from; i < end; i++)
        if ((cuckoo_get(c, i).key & place) >= lambda)
            return "a key of the snapshot stands outside the table";
    return NULL;
}
