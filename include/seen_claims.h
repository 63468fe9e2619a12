/* seen_claims.h - claims: a key is reserved while it is worked on, and seen when the work is done.
 *
 * A program that marks a key as seen before it does the work loses the work if it dies.  A program
 * that marks it afterwards may do the work twice.  A claim closes the gap, for workers without
 * transactions: webhooks, jobs, mail.
 *
 *     seen_claim    SEEN_CLAIM_NEW: do the work, and keep the token
 *     seen_ack      the work is done: the key is seen for the window from now on
 *     seen_nack     the work failed: the key is new at once
 *
 * A claim lasts for a lease.  Until then others are told SEEN_CLAIM_PENDING.  If no ack came when
 * the lease ends, the key is new again.
 *
 * A detector keeps at most N claims if its spec says claims=N, in memory that is part of the plan.
 * The window has to be one without false negatives.
 *
 *     struct seen_error e;
 *     uint64_t token;
 *     switch (seen_claim(d, &digest, now, 30000000, &token, &e)) {      // for 30 seconds
 *     case SEEN_CLAIM_NEW:
 *         if (work(key)) seen_ack(d, &digest, later, token, &e);
 *         else seen_nack(d, &digest, later, token);
 *     }
 *
 * Guarantee.  Between two acks of a key lies at least the window, or `kept` of seen_stats if memory
 * was short.  A key whose claim ended without an ack is new again, without a question to the
 * window, so that no false positive loses it.  There is one exception: if all N places are taken, a
 * new claim takes the place of the claim that ended first.  The window alone answers for that key
 * then, with the false-positive rate of any other new key (none with filter=exact).
 *
 * Time.  `now` is the caller's clock in microseconds, also in windows of records, and never runs
 * backwards: an earlier time counts as the latest one at which a claim changed.
 *
 * Other calls.  seen_observe of a claimed key ends its claim, because the key is seen then.
 * seen_query, seen_landmark, seen_forget and seen_merge do not look at claims, and seen_clear ends
 * all of them.  Snapshots hold them.
 *
 * Failure, misuse, ownership and threads are as in seen.h.  To claim, ack or nack a key of a
 * detector without claims= is misuse. */
#ifndef SEEN_CLAIMS_H
#define SEEN_CLAIMS_H

#include "seen.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

enum seen_claim_answer {
    SEEN_CLAIM_NEW,     /* the caller has the claim; the number is its token */
    SEEN_CLAIM_PENDING, /* another has it; the number is how long its lease still lasts, in us */
    SEEN_CLAIM_SEEN     /* the key is in the window; the number is 0 */
};

/* Claims a key for `lease` microseconds.  Returns an enum seen_claim_answer and writes its number,
 * or returns a negative code: SEEN_EREFUSED if N claims are open, SEEN_EINVAL for a lease of 0.
 *
 * A token is above all tokens that the detector gave before, and at least `now`.  So a store that
 * refuses smaller tokens than it has seen is safe from workers whose lease has ended.
 *
 * Only SEEN_CLAIM_NEW changes the detector.  A key that is in the window is not renewed and not
 * counted: call seen_observe as well if it should be, as refresh= says. */
int seen_claim(seen_detector *, const seen_digest *, seen_time now, uint64_t lease,
               uint64_t *number, struct seen_error *);

/* Ends a claim whose work is done: the key enters the window as with seen_observe, in windows of
 * time at `now`.  Returns 1, or 0 if the token is not that of a claim of the key whose lease lasts;
 * then nothing changes, and the work may be done again.  SEEN_ENOMEM: the window has no memory for
 * even this one key (filter=exact); the claim stays. */
int seen_ack(seen_detector *, const seen_digest *, seen_time now, uint64_t token,
             struct seen_error *);

/* Ends a claim whose work was not done: the key is new at once.  Returns 1 or 0 as seen_ack. */
int seen_nack(seen_detector *, const seen_digest *, seen_time now, uint64_t token);

struct seen_claims_stats {
    uint64_t most;    /* claims= of the spec; 0: all fields are 0 */
    uint64_t held;    /* places taken, by claims that are open and by claims that ended without an
                         ack; they are told apart when their key or their place is asked for */
    uint64_t claimed; /* SEEN_CLAIM_NEW so far ... */
    uint64_t again;   /* ... and those among them for keys whose last claim was not acked */
    uint64_t acked, nacked;
    uint64_t dropped; /* claims that ended without an ack and whose place another key took */
    uint64_t bytes;   /* of the table, a part of plan.bytes */
    seen_time last;   /* when a claim changed last */
    uint64_t reserved[15];
};
void seen_claims_stats(const seen_detector *, struct seen_claims_stats *);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
