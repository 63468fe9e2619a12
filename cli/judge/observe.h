/* observe.h - windows of time and other windows by one call: `time` is NULL for the others. */
#ifndef SEEN_OBSERVE_H
#define SEEN_OBSERVE_H

#include "seen.h"

static inline void observe_records(seen_detector *d, size_t n, const seen_digest *digest,
                                   const seen_time *time, uint8_t *verdict) {
    if (time)
        seen_observe_at(d, n, digest, time, verdict);
    else
        seen_observe(d, n, digest, verdict);
}

static inline void observe_query(const seen_detector *d, size_t n, const seen_digest *digest,
                                 const seen_time *now, uint64_t within, uint8_t *verdict) {
    if (now)
        seen_query_at(d, n, digest, *now, within, verdict);
    else
        seen_query(d, n, digest, within, verdict);
}

static inline void observe_ages(const seen_detector *d, size_t n, const seen_digest *digest,
                                const seen_time *now, uint64_t *age) {
    if (now)
        seen_last_seen_at(d, n, digest, *now, age);
    else
        seen_last_seen(d, n, digest, age);
}

#endif
