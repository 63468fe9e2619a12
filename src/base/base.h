/* base.h - what every part of the library needs: errors, memory, and what the processor can do.
 *
 * Only speed depends on the processor, never answers. */
#ifndef BASE_H
#define BASE_H

#include "seen.h"

#include <assert.h>
#include <stdint.h>

/* -- errors ------------------------------------------------------------------------------- */

/* Fills *e with one sentence and the column of the mistake (0: no column), and returns `code`, so
 * that `return error_set(...)` refuses.  e may be NULL. */
int error_set(struct seen_error *e, int code, size_t where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ends the program if `bad` holds, a mistake that only the program itself can make.  assert(3)
 * prints the sentence, which is a literal.  Builds without assertions stop too. */
#define ERROR_MISUSE(bad, sentence)                                                                \
    do {                                                                                           \
        assert(!(bad) && sentence);                                                                \
        if (bad) __builtin_trap();                                                                 \
    } while (0)

/* -- memory ------------------------------------------------------------------------------- */

/* The allocator for callers that give none.  Blocks are zeroed and aligned to 64 bytes.
 * Those of 2 MiB and more are mapped from the system, on huge pages if it has them. */
extern const struct seen_allocator alloc_default;

/* -- the processor ------------------------------------------------------------------------ */

/* Instruction sets; each includes those before it. */
enum cpu { CPU_BEST, CPU_PORTABLE, CPU_AVX2, CPU_AVX512, CPU_VBMI2 };

/* Returns `wanted` if the machine has that instruction set, else the best that it has. */
uint32_t cpu_choose(uint32_t wanted);

/* -- merges in pieces --------------------------------------------------------------------- */

/* How far a merge in pieces has come: what the bytes of a struct seen_merge_cursor hold. */
struct merge_cursor {
    uint64_t stage;    /* number of the shard being merged, from 1; 0: not begun */
    uint64_t began;    /* clock of the receiving detector when the merge began */
    uint64_t place[8]; /* where in that shard: the structure decides; all zero at first */
};

#endif
