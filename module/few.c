/* few.c - keeps, finds, saves and loads the fingerprints of a small part of a chain. */
#include "few.h"

#include <stddef.h>
#include <string.h>

#define ROOM_FIRST 4

/* Saved: this, the fingerprints, and a checksum of both (u64). */
struct few_head {
    char magic[8];
    uint64_t seed;
    uint32_t width, used;
};

const char few_magic[8] = {'S', 'E', 'E', 'N', 'F', 'E', 'W', 1};

uint32_t few_width(uint64_t capacity, double error) {
    if (capacity > FEW_MOST) return 0;
    if ((double)capacity <= error * 0x1p16) return 2;
    return (double)capacity <= error * 0x1p32 ? 4 : 0;
}

static size_t bytes_of(uint64_t room, uint32_t width) { return sizeof(struct few) + room * width; }

static struct few *allocate(struct memory *m, uint64_t room, uint32_t width) {
    struct few *f = RedisModule_TryAlloc(bytes_of(room, width));
    if (!f) return NULL;
    *f = (struct few){.room = (uint16_t)room, .width = width};
    m->bytes += bytes_of(room, width);
    return f;
}

struct few *few_new(struct memory *m, uint32_t width) {
    return allocate(m, ROOM_FIRST, width);
}

size_t few_bytes(const struct few *f) { return bytes_of(f->room, f->width); }

void few_free(struct memory *m, struct few *f) {
    if (!f) return;
    m->bytes -= few_bytes(f);
    RedisModule_Free(f);
}

/* All are compared, so that the compiler compares many at once. */
bool few_has(const struct few *f, seen_digest digest) {
    bool found = false;
    if (f->width == 2) {
        const uint16_t *print = (const uint16_t *)(const void *)f->print;
        for (uint32_t i = 0; i < f->used; i++) found |= print[i] == (uint16_t)digest.hi;
    } else {
        const uint32_t *print = (const uint32_t *)(const void *)f->print;
        for (uint32_t i = 0; i < f->used; i++) found |= print[i] == (uint32_t)digest.hi;
    }
    return found;
}

static bool grow(struct memory *m, struct few **place, uint64_t capacity) {
    struct few *old = *place;
    uint64_t room = old->room * (uint64_t)2 < capacity ? old->room * (uint64_t)2 : capacity;
    struct few *f = allocate(m, room, old->width);
    if (!f) return false;
    memcpy(f->print, old->print, (size_t)old->used * old->width);
    f->used = old->used;
    few_free(m, old);
    *place = f;
    return true;
}

bool few_add(struct memory *m, struct few **place, uint64_t capacity, seen_digest digest) {
    if ((*place)->used == (*place)->room && !grow(m, place, capacity)) return false;
    struct few *f = *place;
    memcpy(f->print + (size_t)f->used++ * f->width, &digest.hi, f->width); /* little-endian */
    return true;
}

/* -- as bytes ----------------------------------------------------------------------------- */

static uint64_t sum_of(const struct few_head *h, const void *print) {
    uint64_t head = seen_hash(h, sizeof *h, 0).lo;
    return seen_hash(print, (size_t)h->used * h->width, head).lo;
}

int few_save(const struct few *f, uint64_t seed, struct seen_writer w) {
    struct few_head h = {.seed = seed, .width = f->width, .used = f->used};
    char bytes[sizeof h + FEW_MOST * sizeof(uint32_t) + sizeof(uint64_t)];
    size_t prints = (size_t)f->used * f->width;
    memcpy(h.magic, few_magic, sizeof h.magic);
    uint64_t sum = sum_of(&h, f->print);
    memcpy(bytes, &h, sizeof h);
    memcpy(bytes + sizeof h, f->print, prints);
    memcpy(bytes + sizeof h + prints, &sum, sizeof sum);
    return w.write(w.ctx, bytes,
                   sizeof h + prints + sizeof sum); /* at once: it may grow meanwhile */
}

static struct few *fail(struct seen_error *e, int code, const char *text) {
    *e = (struct seen_error){.code = code};
    strcpy(e->text, text);
    return NULL;
}

struct few *few_load(struct memory *m, uint64_t *seed, uint64_t capacity, struct seen_reader r,
                     struct seen_error *e) {
    struct few_head h;
    unsigned char print[FEW_MOST * sizeof(uint32_t)];
    uint64_t sum;
    if (r.read(r.ctx, &h, sizeof h) || memcmp(h.magic, few_magic, sizeof h.magic) != 0 ||
        (h.width != 2 && h.width != 4) || h.used > capacity || h.used > FEW_MOST ||
        r.read(r.ctx, print, (size_t)h.used * h.width) || r.read(r.ctx, &sum, sizeof sum) ||
        sum != sum_of(&h, print))
        return fail(e, SEEN_EFORMAT, "a small part of the chain is damaged or cut short");
    uint64_t room = ROOM_FIRST;
    while (room < h.used) room = room * 2 < capacity ? room * 2 : capacity;
    struct few *f = allocate(m, room, h.width);
    if (!f) return fail(e, SEEN_ENOMEM, "no memory for a part of the chain");
    memcpy(f->print, print, (size_t)h.used * h.width);
    f->used = (uint16_t)h.used;
    *seed = h.seed;
    return f;
}
