#include "stack.h"

#include "../lab.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 8, BLOCK = 64 * WORDS }; /* places a block */

struct stack {
    uint32_t *key, *tree; /* tree[i]: live places of the blocks that Fenwick's node i covers */
    uint64_t *live;
    uint64_t blocks, next, size, most;
};

struct stack *stack_new(uint64_t most) {
    struct stack *s = lab_alloc(1, sizeof *s);
    s->most = most;
    s->blocks = 2 * most / BLOCK + 2;
    s->key = lab_alloc(s->blocks * BLOCK, sizeof *s->key);
    s->live = lab_alloc(s->blocks * WORDS, sizeof *s->live);
    s->tree = lab_alloc(s->blocks + 1, sizeof *s->tree);
    return s;
}

void stack_free(struct stack *s) {
    free(s->key);
    free(s->live);
    free(s->tree);
    free(s);
}

uint64_t stack_size(const struct stack *s) { return s->size; }

static void count(struct stack *s, uint64_t place, uint32_t change) {
    for (uint64_t i = place / BLOCK + 1; i <= s->blocks; i += i & -i) s->tree[i] += change;
    s->live[place / 64] ^= (uint64_t)1 << place % 64;
}

/* The live place that `rank` others stand before. */
static uint64_t find(const struct stack *s, uint64_t rank) {
    uint64_t block = 0, step = (uint64_t)1 << (63 - __builtin_clzll(s->blocks));
    for (; step; step /= 2)
        if (block + step <= s->blocks && s->tree[block + step] <= rank)
            rank -= s->tree[block += step];
    const uint64_t *word = s->live + block * WORDS;
    for (uint64_t n; (n = (uint64_t)__builtin_popcountll(*word)) <= rank; word++) rank -= n;
    uint64_t bits = *word;
    while (rank--) bits &= bits - 1;
    return (uint64_t)(word - s->live) * 64 + (uint64_t)__builtin_ctzll(bits);
}

static void squeeze(struct stack *s) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < s->next; i++)
        if (s->live[i / 64] >> i % 64 & 1) s->key[n++] = s->key[i];
    memset(s->live, 0, s->blocks * WORDS * sizeof *s->live);
    memset(s->tree, 0, (s->blocks + 1) * sizeof *s->tree);
    for (uint64_t i = 0; i < n; i++) count(s, i, 1);
    s->next = n;
}

static void put(struct stack *s, uint32_t key) {
    if (s->next == s->blocks * BLOCK) squeeze(s);
    s->key[s->next] = key;
    count(s, s->next++, 1);
}

void stack_push(struct stack *s, uint32_t key) {
    if (s->size++ == s->most) lab_die("more than %llu keys", (unsigned long long)s->most);
    put(s, key);
}

uint32_t stack_use(struct stack *s, uint64_t depth) {
    uint64_t place = find(s, s->size - depth);
    uint32_t key = s->key[place];
    count(s, place, (uint32_t)-1);
    put(s, key);
    return key;
}
