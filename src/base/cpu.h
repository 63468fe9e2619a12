/* cpu.h - finds the instruction sets of this machine.  Only speed depends on them, never answers.
 */
#ifndef CPU_H
#define CPU_H

#include <stdint.h>

enum cpu {
    CPU_BEST = 0,
    CPU_PORTABLE,
    CPU_AVX2,
    CPU_AVX512,
    CPU_VBMI2
}; /* each includes those before it */

/* `wanted` if the machine has it, else the best that it has. */
uint32_t cpu_choose(uint32_t wanted);

#endif
