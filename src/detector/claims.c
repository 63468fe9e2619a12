/* claims.c - keeps the claims of a detector: an exact table, ordered by the end of their leases.
 *
 * Guarantee  A claim is found by its key, exactly up to the digest's 128 bits, until it is acked or
 *            its key is observed.  Claims that ended otherwise stay as long as there is room.
 * Layout     One table a detector, at the end of its block, of fixed size:
 *
 *                | struct claims | claim[N] | heap[N] | index[slots] |
 *                                  digest, token, place in the heap, slot in the index
 *                                  heap:  the end of each lease, the first at the top; four
 *                                         children a node, which lie side by side
 *                                  index: digest -> claim + 1, linear probing
 *
 *            A slot of the index is taken if the claim that it names is in use and names the slot.
 *            So all claims end at once when `used` becomes 0, and nothing is cleared.
 * Example    claims=1: a is claimed until 30.  At 20 a claim of b is refused, because the lease of
 *            a lasts.  At 30 b takes its place.
 * Cost       56 to 64 bytes a claim; a probe or two, and at most log4 N steps in the heap.
 */
#include "detector/claims.h"

#include "base/base.h"
#include "base/bits.h"
#include "seen_claims.h"
#include "spec/spec.h"

#include <stdbool.h>

#define CHUNK 128  /* claims saved at once, few enough that to find them places takes no time */
#define REACH 4096 /* slots; no search is that long in a table that seen_claim filled */

struct claim {
    seen_digest key;
    uint64_t token;
    uint32_t place, slot;
};

/* A node of the heap. */
struct turn {
    seen_time until; /* the end of the claim's lease */
    uint64_t claim;
};

/* The part of the table that a snapshot keeps as it is. */
struct claims_head {
    uint64_t used;
    uint64_t token; /* the last one given */
    seen_time last; /* when a claim changed last */
    uint64_t claimed, again, acked, nacked, dropped;
};

struct claims {
    struct claims_head head;
    uint64_t most, slots, seed;
    struct claim claim[];
};

/* A power of two, at least twice as many as claims. */
static uint64_t slots_of(uint64_t most) {
    return (uint64_t)1 << (64 - __builtin_clzll(2 * most - 1));
}

uint64_t claims_bytes(uint64_t most) {
    if (!most) return 0;
    uint64_t each = sizeof(struct claim) + sizeof(struct turn);
    uint64_t bytes = sizeof(struct claims) + most * each + slots_of(most) * sizeof(uint32_t);
    return (bytes + 63) / 64 * 64;
}

/* The table of a detector; NULL: its spec has no claims=. */
static struct claims *claims_of(const seen_detector *d) {
    uint64_t bytes = claims_bytes(options_get(&d->plan.spec, OPTION_CLAIMS));
    return bytes ? (struct claims *)((uintptr_t)d + d->bytes - bytes) : NULL;
}

static struct turn *heap_of(struct claims *c) {
    return (struct turn *)(void *)(c->claim + c->most);
}
static uint32_t *index_of(struct claims *c) { return (uint32_t *)(void *)(heap_of(c) + c->most); }

void claims_init(seen_detector *d) {
    struct claims *c = claims_of(d);
    c->most = options_get(&d->plan.spec, OPTION_CLAIMS);
    c->slots = slots_of(c->most);
    c->seed = options_get(&d->plan.spec, OPTION_SEED);
}

int claims_plan(const struct seen_plan *plan, struct seen_error *e) {
    const struct seen_spec *s = &plan->spec;
    if (!options_has(s, OPTION_CLAIMS)) return 0;
    if (!(plan->traits & SEEN_NO_FN))
        return error_set(e, SEEN_EREFUSED, 0,
                         "claims= needs a window that knows every key it has seen; use landmark, "
                         "jumping or sliding");
    if (options_get(s, OPTION_VERIFY) || options_get(s, OPTION_LATENESS))
        return error_set(e, SEEN_EREFUSED, 0, "claims= and %s= exclude each other; leave one out",
                         options_get(s, OPTION_VERIFY) ? "verify" : "lateness");
    if (options_get(s, OPTION_OVERLOAD) == SEEN_OVERLOAD_SATURATE)
        return error_set(e, SEEN_EREFUSED, 0,
                         "under overload=saturate new keys count as seen, and their work would be "
                         "lost; leave overload= out");
    if (options_get(s, OPTION_REFRESH) == SEEN_REFRESH_FIRST && !(plan->traits & SEEN_NO_FP) &&
        s->window != SEEN_WINDOW_LANDMARK)
        return error_set(e, SEEN_EREFUSED, 0,
                         "under refresh=first a false positive keeps an acked key out of the "
                         "window; use refresh=last or filter=exact with claims=");
    if (options_has(s, OPTION_BITS))
        return error_set(e, SEEN_EREFUSED, 0,
                         "claims= tells keys apart by all their bits, and filter=%s by bits=; use "
                         "another filter",
                         plan->filter);
    return 0;
}

/* -- the index ---------------------------------------------------------------------------- */

static uint64_t home(const struct claims *c, seen_digest key) {
    return bits_draw(key.lo ^ c->seed, key.hi, DRAW_CLAIMS) & (c->slots - 1);
}

/* The claim that a slot names; NULL: the slot is free. */
static struct claim *at_slot(struct claims *c, uint64_t slot) {
    uint32_t named = c->head.used ? index_of(c)[slot] : 0;
    bool taken = named && named <= c->head.used && c->claim[named - 1].slot == slot;
    return taken ? &c->claim[named - 1] : NULL;
}

/* The slot of a key's claim, or the free one where it would be. */
static uint64_t probe(struct claims *c, seen_digest key) {
    uint64_t slot = home(c, key);
    const struct claim *claim;
    while ((claim = at_slot(c, slot)) && (claim->key.lo != key.lo || claim->key.hi != key.hi))
        slot = (slot + 1) & (c->slots - 1);
    return slot;
}

static void put_slot(struct claims *c, uint32_t i, uint64_t slot) {
    c->claim[i].slot = (uint32_t)slot;
    index_of(c)[slot] = i + 1;
}

/* Frees a slot.  Claims behind it that could no longer be found move up. */
static void free_slot(struct claims *c, uint64_t hole) {
    uint64_t mask = c->slots - 1;
    const struct claim *claim;
    for (uint64_t slot = (hole + 1) & mask; (claim = at_slot(c, slot)); slot = (slot + 1) & mask) {
        uint64_t from = home(c, claim->key);
        if (((slot - from) & mask) < ((slot - hole) & mask)) continue;
        put_slot(c, (uint32_t)(claim - c->claim), hole);
        hole = slot;
    }
    index_of(c)[hole] = 0;
}

/* -- the heap ----------------------------------------------------------------------------- */

enum { CHILDREN = 4 };

static void put_turn(struct claims *c, uint64_t place, struct turn turn) {
    heap_of(c)[place] = turn;
    c->claim[turn.claim].place = (uint32_t)place;
}

/* Puts a turn at `place`, or above or below it where it belongs. */
static void settle(struct claims *c, uint64_t place, struct turn turn) {
    const struct turn *heap = heap_of(c);
    for (uint64_t up; place && heap[up = (place - 1) / CHILDREN].until > turn.until; place = up)
        put_turn(c, place, heap[up]);
    for (uint64_t child; (child = CHILDREN * place + 1) < c->head.used; place = child) {
        uint64_t end = bits_min(child + CHILDREN, c->head.used);
        for (uint64_t i = child + 1; i < end; i++)
            if (heap[i].until < heap[child].until) child = i;
        if (heap[child].until >= turn.until) break;
        put_turn(c, place, heap[child]);
    }
    put_turn(c, place, turn);
}

static seen_time until_of(struct claims *c, const struct claim *claim) {
    return heap_of(c)[claim->place].until;
}

static void set_until(struct claims *c, const struct claim *claim, seen_time until) {
    settle(c, claim->place, (struct turn){until, (uint64_t)(claim - c->claim)});
}

/* -- adding and removing ------------------------------------------------------------------ */

/* A claim of a key that has none.  If all places are taken, it takes that of the claim that ended
 * first. */
static void insert(struct claims *c, seen_digest key, uint64_t token, seen_time until) {
    uint64_t i = c->head.used, place = i;
    if (i == c->most) {
        place = 0;
        i = heap_of(c)[0].claim;
        free_slot(c, c->claim[i].slot);
        c->head.dropped++;
    }
    uint64_t slot = probe(c, key);
    if (c->head.used < c->most) c->head.used++;
    c->claim[i] = (struct claim){.key = key, .token = token};
    put_slot(c, (uint32_t)i, slot);
    settle(c, place, (struct turn){until, i});
}

/* The last claim takes the place of this one, in the heap and among the claims. */
static void removed(struct claims *c, struct claim *gone) {
    uint64_t i = (uint64_t)(gone - c->claim), place = gone->place, last = c->head.used - 1;
    struct turn moved = heap_of(c)[last];
    free_slot(c, gone->slot);
    c->head.used = last;
    if (moved.claim != i) settle(c, place, moved);
    if (i == last) return;
    c->claim[i] = c->claim[last];
    put_slot(c, (uint32_t)i, c->claim[i].slot);
    heap_of(c)[c->claim[i].place].claim = i;
}

void claims_observe(seen_detector *d, size_t n, const seen_digest *key) {
    struct claims *c = claims_of(d);
    for (size_t i = 0; i < n && c->head.used; i++) {
        struct claim *claim = at_slot(c, probe(c, key[i]));
        if (claim) removed(c, claim);
    }
}

void claims_clear(seen_detector *d) {
    struct claims *c = claims_of(d);
    c->head = (struct claims_head){.token = c->head.token, .last = c->head.last};
}

/* -- claims ------------------------------------------------------------------------------- */

static bool is_timed(const seen_detector *d) { return d->plan.spec.unit == SEEN_UNIT_MICROSECONDS; }

static bool is_seen(const seen_detector *d, const seen_digest *key, seen_time now) {
    uint8_t verdict;
    if (is_timed(d))
        seen_query_at(d, 1, key, now, 0, &verdict);
    else
        seen_query(d, 1, key, 0, &verdict);
    return verdict != SEEN_NEW;
}

static struct claims *check_claims(const seen_detector *d) {
    struct claims *c = claims_of(d);
    ERROR_MISUSE(!c, "seen: only detectors whose spec has claims= take claims");
    return c;
}

/* Time never runs backwards. */
static seen_time clock_of(const struct claims *c, seen_time now) {
    return bits_max(c->head.last, bits_min(now, MAX_TIME));
}

int seen_claim(seen_detector *d, const seen_digest *key, seen_time now, uint64_t lease,
               uint64_t *number, struct seen_error *e) {
    struct claims *c = check_claims(d);
    now = clock_of(c, now);
    *number = 0;
    seen_prefetch(d, 1, key);
    if (!lease) return error_set(e, SEEN_EINVAL, 0, "a lease lasts for a microsecond at least");
    struct claim *claim = at_slot(c, probe(c, *key));
    if (claim && until_of(c, claim) > now) {
        *number = until_of(c, claim) - now;
        return SEEN_CLAIM_PENDING;
    }
    if (!claim && is_seen(d, key, now)) return SEEN_CLAIM_SEEN;
    if (!claim && c->head.used == c->most && heap_of(c)[0].until > now)
        return error_set(e, SEEN_EREFUSED, 0,
                         "%llu claims are open; ack sooner, or ask for more with claims=",
                         (unsigned long long)c->most);
    c->head.last = now;
    c->head.claimed++;
    c->head.again += claim != NULL;
    *number = c->head.token = bits_max(c->head.token + 1, now);
    seen_time until = now + bits_min(lease, MAX_TIME - now);
    if (claim) {
        claim->token = *number;
        set_until(c, claim, until);
    } else {
        insert(c, *key, *number, until);
    }
    return SEEN_CLAIM_NEW;
}

/* The claim of a key that lasts at `now` and has this token; NULL: none. */
static struct claim *find(struct claims *c, seen_digest key, seen_time now, uint64_t token) {
    struct claim *claim = at_slot(c, probe(c, key));
    bool lasts = claim && claim->token == token && until_of(c, claim) > clock_of(c, now);
    return lasts ? claim : NULL;
}

int seen_ack(seen_detector *d, const seen_digest *key, seen_time now, uint64_t token,
             struct seen_error *e) {
    struct claims *c = check_claims(d);
    struct claim *claim = find(c, *key, now, token);
    const struct window *w = &d->shard[shards_of(d, *key)];
    uint64_t age;
    uint8_t verdict;
    if (!claim) return 0;
    seen_time until = until_of(c, claim);
    now = c->head.last = clock_of(c, now);
    uint64_t at = detector_now(d, now);
    if (is_timed(d)) /* which ends the claim */
        seen_observe_at(d, 1, key, &now, &verdict);
    else
        seen_observe(d, 1, key, &verdict);
    w->ops->find(w, 1, key, at, &age);
    if (age != SEEN_NEVER) {
        c->head.acked++;
        return 1;
    }
    insert(c, *key, token, until);
    return error_set(e, SEEN_ENOMEM, 0,
                     "no memory to keep the acked key; the claim stays, so ack it again later");
}

int seen_nack(seen_detector *d, const seen_digest *key, seen_time now, uint64_t token) {
    struct claims *c = check_claims(d);
    struct claim *claim = find(c, *key, now, token);
    if (!claim) return 0;
    c->head.last = clock_of(c, now);
    set_until(c, claim, c->head.last);
    c->head.nacked++;
    return 1;
}

void seen_claims_stats(const seen_detector *d, struct seen_claims_stats *out) {
    const struct claims *c = claims_of(d);
    *out = (struct seen_claims_stats){0};
    if (!c) return;
    *out = (struct seen_claims_stats){.most = c->most,
                                      .held = c->head.used,
                                      .claimed = c->head.claimed,
                                      .again = c->head.again,
                                      .acked = c->head.acked,
                                      .nacked = c->head.nacked,
                                      .dropped = c->head.dropped,
                                      .last = c->head.last,
                                      .bytes = claims_bytes(c->most)};
}

/* -- snapshot: the claims in the order of the heap ---------------------------------------- */

struct saved_claim {
    seen_digest key;
    uint64_t token, until;
};

int claims_save(const seen_detector *d, struct seen_writer out) {
    struct claims *c = claims_of(d);
    struct saved_claim chunk[CHUNK];
    if (out.write(out.ctx, &c->head, sizeof c->head)) return -1;
    for (uint64_t i = 0, n; i < c->head.used; i += n) {
        n = bits_min(c->head.used - i, CHUNK);
        for (uint64_t j = 0; j < n; j++) {
            const struct turn *turn = &heap_of(c)[i + j];
            const struct claim *claim = &c->claim[turn->claim];
            chunk[j] = (struct saved_claim){claim->key, claim->token, turn->until};
        }
        if (out.write(out.ctx, chunk, n * sizeof *chunk)) return -1;
    }
    return 0;
}

/* Appends a claim.  False: it is not one that seen_claim made, or does not follow in the heap. */
static bool load_claim(struct claims *c, const struct saved_claim *saved) {
    uint64_t slot = probe(c, saved->key), i = c->head.used;
    bool astray = i && heap_of(c)[(i - 1) / CHILDREN].until > saved->until;
    if (at_slot(c, slot) || astray || ((slot - home(c, saved->key)) & (c->slots - 1)) > REACH ||
        !saved->token || saved->token > c->head.token || saved->until > MAX_TIME)
        return false;
    insert(c, saved->key, saved->token, saved->until);
    return true;
}

int claims_load(seen_detector *d, struct seen_reader in, struct seen_error *e) {
    struct claims *c = claims_of(d);
    struct claims_head head;
    struct saved_claim claim;
    if (in.read(in.ctx, &head, sizeof head))
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends before its claims");
    if (head.used > c->most || head.token > MAX_COUNT || head.last > MAX_TIME ||
        head.claimed > MAX_COUNT || head.again > head.claimed || head.acked > head.claimed ||
        head.nacked > head.claimed || head.dropped > head.claimed || head.used > head.claimed)
        return error_set(e, SEEN_EFORMAT, 0, "the snapshot's claims do not fit its spec");
    c->head = head;
    for (c->head.used = 0; c->head.used < head.used;) {
        if (in.read(in.ctx, &claim, sizeof claim))
            return error_set(e, SEEN_EFORMAT, 0, "the snapshot ends inside its claims");
        if (!load_claim(c, &claim))
            return error_set(e, SEEN_EFORMAT, 0,
                             "the snapshot holds a claim twice, or one that was never made");
    }
    return 0;
}
