/* wire.h - commands as a Redis server reads them: an array of byte strings, each with its length.
 */
#ifndef SEEN_WIRE_H
#define SEEN_WIRE_H

#include <stddef.h>

/* Bytes on their way out; zeroed to begin with. */
struct wire {
    char *at;
    size_t n, cap;
};

void wire_free(struct wire *);
void wire_put(struct wire *, const void *, size_t);

/* The head of a command of n words, and each word. */
void wire_array(struct wire *, size_t n);
void wire_bulk(struct wire *, const void *, size_t);
void wire_word(struct wire *, const char *);

/* A whole command whose words, none with a space inside, stand in a text. */
void wire_command(struct wire *, const char *text);

#endif
