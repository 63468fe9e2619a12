/* cpu.h - which instruction sets this machine has.  Answers never depend on it; only speed does. */
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

/* The best there is, or `wanted` where the machine has it. */
uint32_t cpu_choose(uint32_t wanted);

#endif
