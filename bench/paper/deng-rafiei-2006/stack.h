/* stack.h - keys in order of their last use, reached by depth: the most recent has depth 1.
 *
 * Keys stand in an array in the order of their last use, with gaps where a key was used again; a
 * bitmap says which places are live, a Fenwick tree how many are live before each block of places.
 * When the array is full the gaps are squeezed out, which is seldom: it has twice the room.
 *
 *     use depth 3 of        a b c d      b is taken out and put at the end
 *                           a - c d b */
#ifndef STACK_H
#define STACK_H

#include <stdint.h>

struct stack;

struct stack *stack_new(uint64_t most); /* keys */
void stack_free(struct stack *);
uint64_t stack_size(const struct stack *);

void stack_push(struct stack *, uint32_t key);      /* one that is not there */
uint32_t stack_use(struct stack *, uint64_t depth); /* moves it to the top; 1 <= depth <= size */

#endif
