/* fixed_random.c - part of every test in C, and preloaded into the programs that the tests in
 * Python run (test/drawn.py).
 *
 * A filter whose spec names no seed asks the system for one with getrandom().  Here the i-th such
 * seed of a process is the i-th number drawn from SEEN_SEED, so that a run can be repeated.  Draws
 * of other sizes are not seeds and go to the system. */
#include "chance.h"
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t getrandom(void *buf, size_t len, unsigned flags) {
    static atomic_uint_fast64_t drawn;
    if (len != sizeof(uint64_t)) return syscall(SYS_getrandom, buf, len, flags);
    uint64_t rng = chance_seed(20050510) + 0x9e3779b97f4a7c15u * atomic_fetch_add(&drawn, 1);
    uint64_t seed = chance_next(&rng);
    memcpy(buf, &seed, sizeof seed);
    return sizeof seed;
}
