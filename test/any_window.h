/* any_window.h - calls on a detector of any window: times are used where the window is one of
 * time. */
#ifndef ANY_WINDOW_H
#define ANY_WINDOW_H

#include "seen.h"

static inline int any_timed(const seen_detector *d) {
    return seen_spec_of(d)->unit == SEEN_UNIT_MICROSECONDS;
}

static inline void any_observe(seen_detector *d, size_t n, const seen_digest *digest,
                               const seen_time *time, uint8_t *verdict) {
    if (any_timed(d))
        seen_observe_at(d, n, digest, time, verdict);
    else
        seen_observe(d, n, digest, verdict);
}

static inline void any_begin(seen_detector *d, size_t n, const seen_time *time, uint64_t *at) {
    seen_observe_begin(d, n, any_timed(d) ? time : NULL, at);
}

static inline void any_query(const seen_detector *d, size_t n, const seen_digest *digest,
                             seen_time now, uint64_t within, uint8_t *verdict) {
    if (any_timed(d))
        seen_query_at(d, n, digest, now, within, verdict);
    else
        seen_query(d, n, digest, within, verdict);
}

static inline void any_last_seen(const seen_detector *d, size_t n, const seen_digest *digest,
                                 seen_time now, uint64_t *age) {
    if (any_timed(d))
        seen_last_seen_at(d, n, digest, now, age);
    else
        seen_last_seen(d, n, digest, age);
}

#endif
