/* text.h - text that is put together in a buffer of the caller's, as snprintf would. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct text {
    char *buf;
    size_t cap, len; /* len: of the whole text, also where it did not fit */
};

static inline struct text text_begin(char *buf, size_t cap) {
    if (cap) buf[0] = 0;
    return (struct text){buf, cap, 0};
}

static inline void text_add(struct text *t, const char *piece) {
    for (; *piece; piece++, t->len++)
        if (t->len + 1 < t->cap) t->buf[t->len] = *piece;
    if (t->cap) t->buf[t->len < t->cap ? t->len : t->cap - 1] = 0;
}

static inline void text_add_count(struct text *t, uint64_t value) {
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)value);
    text_add(t, number);
}

#endif
