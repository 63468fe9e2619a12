/* wire.c - commands as a Redis server reads them:
 *
 *     *3\r\n $8\r\nSEEN.ADD\r\n $5\r\nclick\r\n $3\r\na,b\r\n        (without the spaces)
 */
#include "judge/redis/wire.h"

#include "base/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wire_free(struct wire *w) {
    free(w->at);
    *w = (struct wire){0};
}

static void reserve(struct wire *w, size_t more) {
    if (more <= w->cap - w->n) return;
    size_t cap = w->cap + more + (w->cap < 4096 ? 4096 : w->cap);
    char *at = cap > more ? realloc(w->at, cap) : NULL;
    if (!at) die("out of memory for a command of %zu bytes", w->n + more);
    w->at = at;
    w->cap = cap;
}

void wire_put(struct wire *w, const void *bytes, size_t n) {
    if (!n) return;
    reserve(w, n);
    memcpy(w->at + w->n, bytes, n);
    w->n += n;
}

/* "$17\r\n": digits by hand, because this is done for every record. */
static void put_head(struct wire *w, char kind, size_t value) {
    char text[24], *p = text + sizeof text;
    *--p = '\n';
    *--p = '\r';
    do *--p = (char)('0' + value % 10);
    while (value /= 10);
    *--p = kind;
    wire_put(w, p, (size_t)(text + sizeof text - p));
}

void wire_array(struct wire *w, size_t n) { put_head(w, '*', n); }

void wire_bulk(struct wire *w, const void *bytes, size_t n) {
    put_head(w, '$', n);
    wire_put(w, bytes, n);
    wire_put(w, "\r\n", 2);
}

void wire_word(struct wire *w, const char *word) { wire_bulk(w, word, strlen(word)); }

void wire_command(struct wire *w, const char *text) {
    size_t words = 0;
    for (const char *p = text; *(p += strspn(p, " ")); p += strcspn(p, " ")) words++;
    wire_array(w, words);
    for (const char *p = text; *(p += strspn(p, " ")); p += strcspn(p, " "))
        wire_bulk(w, p, strcspn(p, " "));
}
