/* cpu.c - asks the processor for its instruction sets. */
#include "base/cpu.h"

static uint32_t best(void) {
#if defined __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("bmi2"))
        return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2")
                   ? CPU_VBMI2
                   : CPU_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) return CPU_AVX2;
#endif
    return CPU_PORTABLE;
}

uint32_t cpu_choose(uint32_t wanted) {
    uint32_t have = best();
    return wanted == CPU_BEST || wanted > have ? have : wanted;
}
