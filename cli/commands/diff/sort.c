/* sort.c - multikey quicksort of byte strings. */
#include "commands/diff/sort.h"

#include <stdbool.h>
#include <string.h>

enum { CHUNK = 8, FEW = 12 };

/* The eight bytes at `depth`, so that integers compare as they do; zeros behind the end. */
static uint64_t chunk_at(const struct text *t, size_t depth) {
    char bytes[CHUNK] = {0};
    uint64_t chunk;
    if (t->len >= depth + CHUNK)
        memcpy(bytes, t->bytes + depth, CHUNK);
    else if (t->len > depth)
        memcpy(bytes, t->bytes + depth, t->len - depth);
    memcpy(&chunk, bytes, CHUNK);
    return __builtin_bswap64(chunk);
}

static bool before(const struct sorted *a, const struct sorted *b, size_t depth) {
    if (a->chunk != b->chunk) return a->chunk < b->chunk;
    size_t least = a->text->len < b->text->len ? a->text->len : b->text->len;
    if (least <= depth) return false;
    return memcmp(a->text->bytes + depth, b->text->bytes + depth, least - depth) < 0;
}

static void sort_few(struct sorted *s, size_t n, size_t depth) {
    for (size_t i = 1; i < n; i++) {
        struct sorted one = s[i];
        size_t j = i;
        for (; j > 0 && before(&one, &s[j - 1], depth); j--) s[j] = s[j - 1];
        s[j] = one;
    }
}

static uint64_t median(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

static uint64_t pick_pivot(const struct sorted *s, size_t n, uint64_t *seed) {
    uint64_t of[3];
    for (int i = 0; i < 3; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        of[i] = s[(*seed >> 33) % n].chunk;
    }
    return median(of[0], of[1], of[2]);
}

static void swap(struct sorted *a, struct sorted *b) {
    struct sorted c = *a;
    *a = *b;
    *b = c;
}

/* [0, *low) are below the pivot, [*low, *high) equal to it, [*high, n) above. */
static void split(struct sorted *s, size_t n, uint64_t pivot, size_t *low, size_t *high) {
    *low = 0;
    *high = n;
    for (size_t i = 0; i < *high;) {
        if (s[i].chunk < pivot)
            swap(&s[i++], &s[(*low)++]);
        else if (s[i].chunk > pivot)
            swap(&s[i], &s[--*high]);
        else
            i++;
    }
}

/* Looks at the next eight bytes of strings that are equal up to them.  False: no string has any. */
static bool go_deeper(struct sorted *s, size_t n, size_t depth) {
    bool more = false;
    for (size_t i = 0; i < n; i++) {
        s[i].chunk = chunk_at(s[i].text, depth);
        more |= s[i].text->len > depth;
    }
    return more;
}

struct part {
    struct sorted *at;
    size_t n, depth;
};

static void sort_part(struct part p, uint64_t *seed);

/* Sorts the two smaller parts and returns the largest, so that calls nest log2(n) deep at most. */
static struct part sort_smaller(struct part part[3], uint64_t *seed) {
    size_t most = 0;
    for (size_t i = 1; i < 3; i++)
        if (part[i].n > part[most].n) most = i;
    for (size_t i = 0; i < 3; i++)
        if (i != most) sort_part(part[i], seed);
    return part[most];
}

static void sort_part(struct part p, uint64_t *seed) {
    while (p.n > FEW) {
        size_t low, high;
        split(p.at, p.n, pick_pivot(p.at, p.n, seed), &low, &high);
        struct part part[3] = {{p.at, low, p.depth},
                               {p.at + low, high - low, p.depth + CHUNK},
                               {p.at + high, p.n - high, p.depth}};
        if (!go_deeper(part[1].at, part[1].n, part[1].depth)) part[1].n = 0; /* all equal */
        p = sort_smaller(part, seed);
    }
    sort_few(p.at, p.n, p.depth);
}

void sort_texts(struct sorted *s, size_t n, uint64_t seed) {
    go_deeper(s, n, 0);
    sort_part((struct part){s, n, 0}, &seed);
}
