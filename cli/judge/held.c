/* held.c - keeps records in one block of memory until they are released. */
#include "judge/holding.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = 8, GONE = 0x80, MIN_ROOM = 4096, MAX_TEXT = 1 << 20 };

void shelf_init(struct shelf *s, unsigned with, char end) {
    *s = (struct shelf){.with = with, .end = end};
    if (with & HELD_TIME) s->more += sizeof(seen_time);
    if (with & HELD_NUMBER) s->more += sizeof(uint64_t);
    if (with & HELD_GROUP) s->more += sizeof(uint32_t);
    if (with & HELD_FEED) s->more += sizeof(seen_digest) + 1;
    if (with & HELD_SERIAL) s->more += sizeof(uint32_t);
    if (with & HELD_KEY) s->more += sizeof(uint32_t);
}

void shelf_free(struct shelf *s) {
    free(s->block);
    *s = (struct shelf){0};
}

/* -- places ------------------------------------------------------------------------------- */

static size_t size_of(const struct shelf *s, size_t len) {
    return (offsetof(struct held, bytes) + s->more + len + UNIT - 1) / UNIT * UNIT;
}

static size_t offset_of(const struct shelf *s, const struct held *h) {
    return (size_t)((const char *)h - s->block);
}

static struct held *at_offset(const struct shelf *s, size_t offset) {
    return (struct held *)(void *)(s->block + offset);
}

/* The first record at or behind the offset that is still held; NULL: there is none. */
static struct held *held_from(const struct shelf *s, size_t offset) {
    while (offset < s->used && at_offset(s, offset)->gap & GONE)
        offset += size_of(s, at_offset(s, offset)->len);
    return offset < s->used ? at_offset(s, offset) : NULL;
}

struct held *shelf_oldest(struct shelf *s) {
    struct held *h = held_from(s, s->first);
    if (h)
        s->first = offset_of(s, h);
    else
        s->first = s->used = s->dead = 0;
    return h;
}

struct held *shelf_next(const struct shelf *s, const struct held *h) {
    return held_from(s, offset_of(s, h) + size_of(s, h->len));
}

/* -- in and out --------------------------------------------------------------------------- */

static bool ended(const struct shelf *s, const struct record *r) {
    return r->len > 0 && r->at[r->len - 1] == s->end;
}

static size_t key_len(const struct shelf *s, const struct reading *r) {
    return s->with & HELD_KEY ? r->key.len : 0;
}

static size_t need(const struct shelf *s, const struct record *r, const struct reading *read) {
    return size_of(s, r->len + !ended(s, r) + key_len(s, read));
}

/* Gaps are closed when they are a tenth of the used bytes.  So at most nine records move for each
 * record that goes. */
bool shelf_crowded(const struct shelf *s, const struct record *r, const struct reading *read,
                   size_t limit) {
    size_t more = s->used + need(s, r, read);
    if (s->dead > MIN_ROOM && s->dead >= s->used / 10) return true;
    return more > s->room && more > limit && s->dead > s->used / 16;
}

static char *put_part(char *to, const void *part, size_t n) {
    memcpy(to, part, n);
    return to + n;
}

static char *put_reading(const struct shelf *s, char *to, const struct reading *r,
                         uint32_t serial) {
    if (s->with & HELD_TIME) to = put_part(to, &r->time, sizeof r->time);
    if (s->with & HELD_NUMBER) to = put_part(to, &r->number, sizeof r->number);
    if (s->with & HELD_GROUP) to = put_part(to, &r->group, sizeof r->group);
    if (s->with & HELD_FEED) to = put_part(to, &r->add, sizeof r->add);
    if (s->with & HELD_FEED) to = put_part(to, &r->parts, sizeof r->parts);
    if (s->with & HELD_SERIAL) to = put_part(to, &serial, sizeof serial);
    if (s->with & HELD_KEY) to = put_part(to, &r->key.len, sizeof r->key.len);
    return to;
}

uint32_t shelf_put(struct shelf *s, const struct record *r, const struct reading *read,
                   uint64_t clock, uint32_t serial, size_t limit) {
    size_t more = need(s, r, read), text_len = r->len + !ended(s, r), key = key_len(s, read);
    if (s->used + more > s->room) {
        size_t room = 2 * s->room + MIN_ROOM;
        if (room > limit) room = limit;
        if (room < s->used + more) room = s->used + more;
        s->block = room <= MAX_HELD ? realloc(s->block, room) : NULL;
        if (!s->block) die("out of memory for records held back; --hold bounds what they take");
        s->room = room;
    }
    struct held *h = at_offset(s, s->used);
    h->key = read->digest;
    h->clock = clock;
    h->link = 0;
    h->len = (uint32_t)(text_len + key);
    h->gap = (uint8_t)(text_len - r->bare);
    char *text = put_reading(s, h->bytes, read, serial);
    memcpy(text, r->at, r->len);
    if (!ended(s, r)) text[r->len] = s->end;
    if (key) memcpy(text + text_len, read->key.at, key);
    uint32_t place = (uint32_t)(s->used / UNIT + 1);
    s->used += more;
    return place;
}

void shelf_drop(struct shelf *s, struct held *h) {
    h->gap |= GONE;
    s->dead += size_of(s, h->len);
}

static const char *get_part(const char *from, void *part, size_t n) {
    memcpy(part, from, n);
    return from + n;
}

static void shelf_reading(const struct shelf *s, const struct held *h, struct reading *r) {
    const char *from = h->bytes;
    *r = (struct reading){.digest = h->key, .time = h->clock};
    if (s->with & HELD_TIME) from = get_part(from, &r->time, sizeof r->time);
    if (s->with & HELD_NUMBER) from = get_part(from, &r->number, sizeof r->number);
    if (s->with & HELD_GROUP) from = get_part(from, &r->group, sizeof r->group);
    if (s->with & HELD_FEED) from = get_part(from, &r->add, sizeof r->add);
    if (s->with & HELD_FEED) from = get_part(from, &r->parts, sizeof r->parts);
    if (!(s->with & HELD_KEY)) return;
    get_part(from, &r->key.len, sizeof r->key.len);
    r->key.at = h->bytes + s->more + h->len - r->key.len;
}

/* The serial stands right in front of the text. */
uint32_t shelf_serial(const struct shelf *s, const struct held *h) {
    uint32_t serial;
    get_part(h->bytes + s->more - sizeof serial, &serial, sizeof serial);
    return serial;
}

/* -- closing gaps ------------------------------------------------------------------------- */

void shelf_plan(struct shelf *s) {
    size_t to = 0;
    for (struct held *h = shelf_oldest(s); h; h = shelf_next(s, h)) {
        h->link = (uint32_t)(to / UNIT + 1);
        to += size_of(s, h->len);
    }
}

void shelf_slide(struct shelf *s) {
    size_t to = 0;
    for (struct held *h = shelf_oldest(s), *next; h; h = next) {
        size_t size = size_of(s, h->len);
        next = shelf_next(s, h);
        h->link = 0;
        memmove(s->block + to, h, size);
        to += size;
    }
    s->used = to;
    s->first = s->dead = 0;
}

/* -- batches of records that are let go --------------------------------------------------- */

void released_init(struct released *o, unsigned with) {
    *o =
        (struct released){.batch = calloc(1, sizeof *o->batch), .read = calloc(1, sizeof *o->read)};
    if (!o->batch || !o->read) die("out of memory for records let go");
    if (!(with & HELD_KEY)) return;
    o->read->key = calloc(BATCH, sizeof *o->read->key);
    if (!o->read->key) die("out of memory for records let go");
}

void released_free(struct released *o) {
    if (o->read) free(o->read->key);
    free(o->batch);
    free(o->read);
    free(o->text);
    free(o->keys);
    *o = (struct released){0};
}

void released_begin(struct released *o) {
    o->batch->n = o->read->n = 0;
    o->read->due = false;
    o->used = o->keys_used = 0;
}

bool released_full(const struct released *o) {
    return o->batch->n == BATCH || o->used + o->keys_used >= MAX_TEXT;
}

static void append(char **text, size_t *used, size_t *cap, const char *from, size_t n) {
    if (*used + n > *cap) {
        *cap = 2 * *cap + n;
        *text = realloc(*text, *cap);
        if (!*text) die("out of memory for records let go");
    }
    if (n) memcpy(*text + *used, from, n);
    *used += n;
}

void released_take(struct released *o, const struct shelf *s, const struct held *h,
                   uint8_t verdict) {
    size_t i = o->batch->n++;
    struct reading read;
    shelf_reading(s, h, &read);
    uint32_t len = h->len - read.key.len;
    append(&o->text, &o->used, &o->cap, h->bytes + s->more, len);
    o->batch->record[i] = (struct record){NULL, len, len - (h->gap & (GONE - 1))};
    o->batch->verdict[i] = verdict;
    o->read->order[i] = (uint16_t)i;
    o->read->landmark[i] = false;
    readable_put(o->read, i, &read);
    o->read->n = o->batch->n;
    if (!o->read->key) return;
    append(&o->keys, &o->keys_used, &o->keys_cap, read.key.at, read.key.len);
    o->read->key[i] = read.key;
}

/* The text stands still from now on. */
void released_end(struct released *o) {
    const char *at = o->text, *key = o->keys;
    for (size_t i = 0; i < o->batch->n; at += o->batch->record[i++].len) {
        o->batch->record[i].at = at;
        if (!o->read->key) continue;
        o->read->key[i].at = key;
        key += o->read->key[i].len;
    }
}
