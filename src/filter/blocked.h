/* blocked.h - the kernels of the blocked filter: one algorithm, a file for each instruction set. */
#ifndef BLOCKED_H
#define BLOCKED_H

#include "filter/filter.h"
#include "table/table.h"

#define BLOCKED_K_MOST 24 /* three rounds of a probe in each of 8 lanes */

/* As filter_ops.observe; live = 1 and k <= 8 are specialised inside. */
size_t blocked_observe_portable(struct filter *, uint64_t generation, size_t n, const seen_digest *,
                                uint8_t *verdict);
size_t blocked_observe_avx2(struct filter *, uint64_t generation, size_t n, const seen_digest *,
                            uint8_t *verdict);
size_t blocked_observe_avx512(struct filter *, uint64_t generation, size_t n, const seen_digest *,
                              uint8_t *verdict);

/* As filter_ops.find. */
void blocked_find_avx2(const struct filter *, uint64_t generation, size_t n, const seen_digest *,
                       uint32_t *age);
void blocked_find_avx512(const struct filter *, uint64_t generation, size_t n, const seen_digest *,
                         uint32_t *age);

#endif
