/* seen.h - "have I seen this before?" for endless streams, in fixed memory.
 *
 *     spec      what is asked, any part of it unset      "jumping:1h/12 fp=1e-6 rate=5000"
 *     plan      everything decided: structure, geometry, bytes, predicted errors
 *     detector  the running thing, built from a plan
 *
 *     struct seen_error e;
 *     struct seen_spec spec;
 *     struct seen_plan plan;
 *     seen_detector *d;
 *     if (seen_spec_parse(&spec, "landmark:1e6 fp=1e-6", &e) || seen_plan_make(&plan, &spec, &e) ||
 *         seen_new(&d, &plan, NULL, &e))
 *             return fprintf(stderr, "%s\n", e.text), 2;
 *     seen_digest digest = seen_hash(key, len, seen_seed(d));
 *     uint8_t verdict;
 *     seen_observe(d, 1, &digest, NULL, &verdict);          // SEEN_NEW or SEEN_DUPLICATE
 *     seen_free(d);
 *
 * Failure.  Functions that can fail return 0 on success or a negative SEEN_E* code, and then fill
 * the caller's seen_error (which may be NULL) with one sentence.  Functions that return void, a
 * count or a size cannot fail: what can be refused is refused in the spec, the plan or seen_new.
 *
 * Ownership.  Specs, plans, errors and stats are plain values of the caller's.  A detector is
 * freed with seen_free.  Nothing else is allocated, and no pointer passed in is kept, except the
 * allocator, which must outlive its detectors.
 *
 * Threads.  No global state, no clock, no I/O.  One detector, one thread; calls that take a
 * const detector may run together, and seen_observe_shards of different shards.
 */
#ifndef SEEN_H
#define SEEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define SEEN_VERSION "0.1.0"

/* -- values ------------------------------------------------------------------------------- */

typedef struct seen_detector seen_detector;
typedef struct {
    uint64_t lo, hi;
} seen_digest;              /* 128 bits that stand for a key */
typedef uint64_t seen_time; /* microseconds since the Unix epoch; above 2^60 it is taken as 2^60 */

/* Verdicts: any but SEEN_NEW is a duplicate. */
#define SEEN_NEW       0
#define SEEN_DUPLICATE 1
#define SEEN_CONFIRMED 2 /* with cache= only: a duplicate for certain */

#define SEEN_NEVER UINT64_MAX /* the age of a key that is not in the window */

enum seen_code {
    SEEN_OK = 0,
    SEEN_EINVAL = -1,    /* the spec, an option or an argument makes no sense */
    SEEN_EREFUSED = -2,  /* it makes sense, and cannot be had (memory against fp, traits) */
    SEEN_ENOMEM = -3,    /* the allocator returned NULL */
    SEEN_EFORMAT = -4,   /* a snapshot is damaged, truncated or of another version */
    SEEN_EMISMATCH = -5, /* two detectors, or a detector and a plan, do not belong together */
    SEEN_EIO = -6        /* the caller's read or write function failed */
};

struct seen_error {
    int code;       /* an enum seen_code */
    size_t where;   /* column in the text it is about, from 1; 0 if there is none */
    char text[256]; /* one sentence: what, where and what to do */
};

/* -- hashing: bytes -> digest ------------------------------------------------------------- */

/* XXH3-128 of `len` bytes, seeded: the digest of hash=xxh3, the default. */
seen_digest seen_hash(const void *key, size_t len, uint64_t seed);

/* The digest of a key under the detector's own hash= and seed.  A key of more than 128 bits (bits=
 * of substrings, up to 512) has several: plan.digests of them are written, and read, side by side,
 * wherever a function of this detector takes digests.  Fails (SEEN_EINVAL) where hash=int is given
 * something that is no integer below 2^128, or hash=raw more than 16 bytes a digest, and where
 * either takes more than the bits= of a plan that has them (bitvector, substrings). */
int seen_key(const seen_detector *, const void *key, size_t len, seen_digest *out,
             struct seen_error *);
#define SEEN_DIGESTS_MOST 4 /* of one key */

/* A key of several fields is the concatenation of (varint length, bytes) of each, so that
 * ("ab","c") is not ("a","bc").  Appends one field at buf+at; returns the new end, which is
 * beyond `cap` if it did not fit (then nothing was written).  A key of one field is its bytes. */
size_t seen_key_append(void *buf, size_t cap, size_t at, const void *field, size_t len);

/* -- spec: what is asked ------------------------------------------------------------------ */

enum seen_window { SEEN_LANDMARK = 1, SEEN_JUMPING, SEEN_SLIDING, SEEN_DECAYING };
enum seen_unit { SEEN_EXPLICIT, SEEN_RECORDS, SEEN_MICROSECONDS };
enum seen_refresh { SEEN_REFRESH_LAST, SEEN_REFRESH_FIRST };
/* What a window does when it holds more keys than planned. */
enum seen_overload {
    SEEN_KEEP,     /* keeps all of them, and errs more */
    SEEN_SATURATE, /* keeps its length, and calls new keys duplicates that find no place */
    SEEN_SHRINK,   /* forgets its oldest keys; the shortest window is `kept` of seen_stats */
    SEEN_GROW      /* takes more memory */
};
enum seen_decrement { SEEN_RUN, SEEN_EACH };
enum seen_by { SEEN_OR, SEEN_SUBTRACT };
enum seen_hash_kind { SEEN_XXH3, SEEN_SIPHASH, SEEN_INT, SEEN_RAW };

struct seen_spec {
    uint64_t set;        /* bit i: option i of seen_options() was given */
    uint32_t window;     /* enum seen_window */
    uint32_t unit;       /* enum seen_unit of `length`; SEEN_EXPLICIT: no length */
    uint64_t length;     /* records or microseconds */
    uint64_t subwindows; /* Q of jumping */
    double fp;           /* false-positive rate allowed at a full window, 0 < fp < 1 */
    uint64_t mem;        /* bytes allowed */
    uint64_t items;      /* distinct keys expected in a window */
    double rate;         /* records a second (time windows) */
    char filter[16];     /* catalogue name */
    uint32_t refresh, overload, hash, decrement, by, vla;
    uint64_t seed;
    uint64_t shards;
    uint64_t cache;           /* keys called duplicates to keep exactly */
    uint64_t k;               /* probes a key */
    uint64_t lines;           /* 64-byte lines a shard */
    uint64_t width;           /* bits of a counter */
    uint64_t stamp;           /* bits of a time stamp */
    uint64_t ticks;           /* steps a sliding window of time is cut into */
    uint64_t max;             /* value of a fresh cell */
    uint64_t p;               /* cells decremented a record */
    uint64_t gaps;            /* most records between a key and its repeat, expected */
    uint64_t lambda, moves;   /* timed-cuckoo: cells a table, moves a record */
    uint64_t signature;       /* timed-cuckoo, line, cache: bits of a fingerprint */
    uint64_t bits, substring; /* of a key (of its digest, if hashed); of its substrings */
    uint64_t generations;     /* that the window of age-partitioned or line spans */
    uint64_t ways;            /* cache: entries a set, of `signature` bits */
    uint64_t lateness;        /* microseconds a record may be late, and judged by its own time */
    uint64_t control;         /* sampled keys a shard, by which errors are measured; 0: none */
};

/* One row of the option table: it drives parsing, bounds, --help, completions and printing. */
enum seen_kind {
    SEEN_COUNT,  /* 1000000, 1_000_000, 1e6 */
    SEEN_SIZE,   /* 64MiB, 64M (powers of 1024), 64MB (powers of 1000) */
    SEEN_REAL,   /* a share: 0.01, 1e-6, 1% */
    SEEN_NAME,   /* of a structure */
    SEEN_CHOICE, /* one of `choices` */
    SEEN_SPAN,   /* 90s, 15m, 1h, 2days */
    SEEN_RATE    /* records a second: 500, 3e4/m, 1e9/d */
};
struct seen_option {
    const char *name;
    const char *help;           /* one line */
    const char *of;             /* structures it is for, "stable, lru"; NULL: any */
    const char *const *choices; /* SEEN_CHOICE: NULL-ended names, in enum order */
    double min, max;            /* bounds, inclusive (SEEN_REAL, SEEN_RATE: exclusive) */
    uint32_t kind;              /* enum seen_kind */
    uint32_t offset;            /* of the value in struct seen_spec */
    uint32_t geometry;          /* 1: decided by the plan, seldom by a person */
};
const struct seen_option *seen_options(size_t *n);

/* The i-th name that filter= may have, or NULL when there are no more. */
const char *seen_filter_name(size_t i);

/* For "did you mean": how many letters of a word are missing, too many, wrong or swapped, if it is
 * the name but for that; SIZE_MAX if it is too far from the name to be a slip of the finger. */
size_t seen_slip(const char *word, size_t len, const char *name);

/* Reads "window name=value …" (grammar in DESIGN.md).  Every option at most once. */
int seen_spec_parse(struct seen_spec *, const char *text, struct seen_error *);

/* Sets one option, as if the spec had held name=value; "window" sets the window.  Replaces. */
int seen_spec_set(struct seen_spec *, const char *name, const char *value, struct seen_error *);

/* The canonical text: parsing it gives the same spec.  Like snprintf: returns the length it needs
 * without the NUL, writes at most cap bytes. */
int seen_spec_print(const struct seen_spec *, char *buf, size_t cap);

/* Print in the largest unit that gives a short exact number; like snprintf. */
int seen_print_size(uint64_t bytes, char *buf, size_t cap); /* 64MiB, 1.5KiB */
int seen_print_span(uint64_t us, char *buf, size_t cap);    /* 1h, 1.5ms */
/* "1h", "90s", "2days" -> microseconds; "1e6", "1_000_000" -> count; "64MiB", "64M" -> bytes. */
int seen_parse_span(uint64_t *us, const char *text, struct seen_error *);
int seen_parse_count(uint64_t *count, const char *text, struct seen_error *);
int seen_parse_size(uint64_t *bytes, const char *text, struct seen_error *);

/* -- plan: everything decided ------------------------------------------------------------- */

enum seen_trait {
    SEEN_NO_FN = 1,       /* no false negatives inside the window, or inside `kept` of seen_stats */
    SEEN_NO_FP = 2,       /* no false positives, up to the digest's 128 bits */
    SEEN_DELETABLE = 4,   /* seen_forget works */
    SEEN_MERGEABLE = 8,   /* seen_merge works */
    SEEN_GROWS = 16,      /* allocates as it fills; `bytes` is then what `capacity` keys take */
    SEEN_ANY_DIGEST = 32, /* works on digests that are not uniform: hash=int, hash=raw */
    SEEN_BY_NAME = 64,    /* for special wishes: chosen only where filter= names it */
    SEEN_NO_AGES = 128    /* knows who is in the window, not since when: seen_last_seen gives the
                             youngest age possible, so any `within` of seen_query finds all */
};

struct seen_plan {
    struct seen_spec spec;       /* resolved: every option that applies is set */
    struct seen_spec asked;      /* as given */
    const char *window, *filter; /* names, static */
    uint32_t traits;             /* enum seen_trait, or-ed */
    uint32_t digests;            /* a key: 1, but of keys of more than 128 bits (seen_key) */
    uint32_t cpu;                /* 0: the best this machine has; else an enum of cpu.h (tests) */
    uint64_t bytes;              /* everything the detector allocates */
    uint64_t capacity;           /* distinct keys in a window up to which fp_full holds */
    double fp_full;              /* predicted false-positive rate at a full window */
    double fp_mean;   /* predicted mean over a window that fills (landmark), or in steady state */
    double fn;        /* predicted false-negative rate inside the window */
    double slack;     /* the window is kept for at most length x (1+slack) */
    double touches;   /* cache lines touched a record, expected */
    char reason[160]; /* why this structure */
};

/* Pure.  SEEN_EREFUSED says which of fp=, mem= and items= to change, and to what. */
int seen_plan_make(struct seen_plan *, const struct seen_spec *, struct seen_error *);

/* Every structure that could serve the spec, the chosen one first; returns how many (at most cap),
 * or a negative code if none can. */
int seen_plan_all(struct seen_plan *, size_t cap, const struct seen_spec *, struct seen_error *);

/* What no structure can go below, in bits for each of the keys that the window is to hold (items=,
 * rate= or the window's length; else the plan's capacity).  NAN: the bound says nothing of this
 * plan.  L is log2(1/fp_full).  Plans that may miss keys (decaying windows) have none. */
struct seen_bounds {
    double keys, universe; /* n, and how many different keys there can be */
    double bits;           /* of the plan itself */
    double set;            /* L, any set of keys; of an exact one log2 C(universe, n) / n
                              (Carter et al. 1978) */
    double dynamic;        /* L + log2 e: keys come and go in any order (Kuszmaul, Walzer 2024) */
    double sliding;        /* L + max(log2(n/m), log2 L), less O(1): sliding and jumping windows,
                              kept up to m keys too long (Naor, Yogev 2013) */
    double ordered;        /* (n - fp universe) log2(n - fp universe) / n: sliding windows (INFOCOM
                              2013, Theorem 3) */
    double ratio;          /* bits over the greatest of `set`, `sliding` and `ordered` */
};

/* universe 0: 2^bits of a plan that has bits= below 128, else the 2^128 digests. */
void seen_plan_bounds(const struct seen_plan *, double universe, struct seen_bounds *);

/* -- detector ----------------------------------------------------------------------------- */

/* Memory for one detector.  zalloc returns `size` zeroed bytes aligned to 64, or NULL. */
struct seen_allocator {
    void *(*zalloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *p, size_t size);
    void *ctx;
};

/* NULL allocator: the library's own (huge pages where they pay).  Where the plan has no seed, one
 * is drawn from the system. */
int seen_new(seen_detector **, const struct seen_plan *, const struct seen_allocator *,
             struct seen_error *);
void seen_free(seen_detector *); /* NULL is fine */

/* Moves one block of memory: returns where its bytes are now, aligned to 64, the old place being
 * given back; or NULL, and it stays. */
struct seen_mover {
    void *(*move)(void *ctx, void *p, size_t size);
    void *ctx;
};

/* For memory that is packed anew now and then.  Offers the mover each of the detector's blocks,
 * but those of 180 KB in which filter=exact keeps keys, and mends what points into the moved ones,
 * the caller's pointer included; what seen_plan_of returned is void.  `alloc` takes the place of
 * the detector's allocator, which may have moved too; NULL: it stays.  Nothing else changes. */
void seen_move(seen_detector **, const struct seen_allocator *alloc, struct seen_mover);

/* Test and add n digests in order: a duplicate inside one batch is found.  `time` is needed by time
 * windows only and may be NULL otherwise; a time below the last one is taken as the last, and
 * counted as late: with lateness=L only one more than L below, and as the last less L, so that a
 * record is a duplicate if one of its key that was called new lies less than the window before it
 * or behind it.  Writes n verdicts.  Of digests with more than the bits= of a plan that has them
 * the low bits= bits count: they are taken modulo 2^bits. */
void seen_observe(seen_detector *, size_t n, const seen_digest *, const seen_time *time,
                  uint8_t *verdict);

/* seen_observe in three steps, the second on several threads: verdicts, counters and snapshots are
 * those of seen_observe, whoever does how much.  `begin` reads the clock, of n records as there,
 * and writes n numbers at `at`; then shards `from` <= s < `to` (of plan.spec.shards) write the
 * verdicts of their own keys, no shard twice; when all have, `end` counts, and asks the cache.
 * Steps of different shards may run at once, with an allocator that may; no other call meanwhile.
 */
void seen_observe_begin(seen_detector *, size_t n, const seen_time *time, uint64_t *at);
void seen_observe_shards(seen_detector *, uint64_t from, uint64_t to, size_t n, const seen_digest *,
                         const uint64_t *at, uint8_t *verdict);
void seen_observe_end(seen_detector *, size_t n, const seen_digest *, const uint64_t *at,
                      uint8_t *verdict);

/* Test without effect: would these be duplicates, were they the next record at `now`?  Only what
 * was seen at most `within` records or microseconds ago counts (0: the whole window); structures
 * that keep generations round `within` up to one.  Never refreshes, rotates or sweeps. */
void seen_query(const seen_detector *, size_t n, const seen_digest *, seen_time now,
                uint64_t within, uint8_t *verdict);

/* Has memory fetch what seen_observe or seen_query of these digests, few, will look at first, where
 * the structure knows: for callers who have something else to do before.  Changes nothing. */
void seen_prefetch(const seen_detector *, size_t n, const seen_digest *);

/* How long ago each was last seen, in records (1 = the record before) or microseconds; SEEN_NEVER
 * if it is not in the window.  Structures that keep generations give the youngest age possible;
 * the true one is less than a generation older (age-partitioned: or more).  Where ages are unknown
 * (trait SEEN_NO_AGES) it is 1 record or 0 microseconds.  With lateness= it is how far away, before
 * or behind, the nearest is. */
void seen_last_seen(const seen_detector *, size_t n, const seen_digest *, seen_time now,
                    uint64_t *age);

/* Everything seen so far leaves the window, at constant cost: an explicit landmark.  Counted
 * windows start counting anew.  A landmark upon a landmark is nothing. */
void seen_landmark(seen_detector *);

/* As seen_landmark, and the counters of seen_stats start anew. */
void seen_clear(seen_detector *);

/* Take keys out.  SEEN_EREFUSED where the structure cannot (trait SEEN_DELETABLE). */
int seen_forget(seen_detector *, size_t n, const seen_digest *, struct seen_error *);

/* Everything in `from`'s window enters `into`'s with its age.  Both must have the same resolved
 * spec, seed included (SEEN_EMISMATCH), and the trait SEEN_MERGEABLE (SEEN_EREFUSED). */
int seen_merge(seen_detector *into, const seen_detector *from, struct seen_error *);

/* How far a merge in pieces has come; all zero before the first.  Plain numbers, which mean the
 * same in any process where the two detectors are the same. */
struct seen_merging {
    uint64_t done;  /* 1: there is no more */
    uint64_t stage; /* shards merged, and 1; 0: none begun */
    uint64_t began; /* `into`'s clock then */
    uint64_t place[8];
};

/* seen_merge in pieces, for callers who must not stay long: some `most` lines or keys of the tables
 * a call, until `done`.  In between `into` works on, and holds what has entered so far; `from` must
 * rest, and neither may be cleared or be given a landmark.  Given up half-way, what has entered
 * stays; a counting filter would count it twice if the merge were begun anew.  SEEN_EINVAL for a
 * place that cannot be. */
int seen_merge_some(seen_detector *into, const seen_detector *from, uint64_t most,
                    struct seen_merging *, struct seen_error *);

enum seen_source {
    SEEN_FROM_MODEL, /* the formulas: the window is as it was planned, and the sample agrees */
    SEEN_FROM_SAMPLE /* measured on the control sample */
};

struct seen_stats {
    uint64_t records, unique, duplicates;
    uint64_t confirmed;    /* of the duplicates, with cache=: none of them is false */
    uint64_t stored;       /* keys in the window now; refreshed keys may count once a generation;
                              of many exact ones in a sliding window, an estimate until those
                              that are too old have left */
    uint64_t capacity;     /* as planned; beyond it fp rises above fp_full */
    double fp_now;         /* false-positive rate of the next record */
    double fp_worst;       /* the worst fp_now since the start, of any shard */
    double expected_false; /* false duplicates so far, estimated ... */
    uint64_t false_lo, false_hi; /* ... and the central 95 % interval */
    double expected_missed;      /* records called new whose key was in the window, likewise: where
                                    none are promised and nothing was forgotten, 0 */
    uint64_t missed_lo, missed_hi;
    uint32_t source;          /* of expected_false: enum seen_source */
    uint64_t sampled_keys;    /* in the control sample now; 0 where the plan has none */
    uint64_t sampled_records; /* of sampled keys, so far: their verdicts were checked */
    uint64_t bytes;           /* allocated now */
    uint64_t landmarks;       /* windows begun after the first, or sub-windows */
    uint64_t late;            /* records whose time was below the last one's */
    uint64_t clamped;         /* of those, judged by a later time than their own */
    seen_time late_most;      /* by how much at most, microseconds */
    uint64_t forgotten;       /* keys dropped inside the window because memory was short */
    uint64_t saturated;       /* counting: counters that reached their top, and then count no more;
                                 overload=saturate: keys that found no place, and made others
                                 count as seen */
    uint64_t rebuilt;         /* counters set free again, counted anew (sliding, counting) */
    uint64_t listed; /* keys kept beside the table, for want of a place in it (timed-cuckoo,
                        line) */
    uint64_t kept;   /* shortest window kept, records or microseconds, where forgotten > 0 and the
                        structure knows; else SEEN_NEVER */
    uint64_t oldest; /* how long ago, in records or microseconds before the last, the oldest
                        generation began that holds a key; SEEN_NEVER: none does, or unknown */
    seen_time last;  /* the last time seen */
};
void seen_stats(const seen_detector *, struct seen_stats *);

const struct seen_plan *seen_plan_of(
    const seen_detector *); /* with the seed; lives as long as the detector, and moves with it */
uint64_t seen_seed(const seen_detector *);

/* -- snapshots ---------------------------------------------------------------------------- */

/* write: all `len` bytes, 0 or a nonzero failure.  read: likewise; fewer bytes is a failure. */
struct seen_writer {
    int (*write)(void *ctx, const void *buf, size_t len);
    void *ctx;
};
struct seen_reader {
    int (*read)(void *ctx, void *buf, size_t len);
    void *ctx;
};

/* Writes header (version, resolved spec, counters), `blob` (the application's own bytes, at most
 * 16 MiB) and the detector's block, with checksums.  Format: doc/snapshot.md.  One call of `write`
 * gets 64 KiB at most, and a few KiB where each key has to be found a place in loading: so that
 * what one call wrote, any of them, loads in some tenths of a millisecond. */
int seen_save(const seen_detector *, const void *blob, size_t blob_len, struct seen_writer,
              struct seen_error *);

/* The inverse, on hostile bytes: nothing is believed before it is checked, and at most `limit`
 * bytes are allocated (0: SIZE_MAX).  *blob, if asked for, is the caller's to free() .  Bytes are
 * checked as they come, so that no work is left for the end. */
int seen_load(seen_detector **, void **blob, size_t *blob_len, struct seen_reader, size_t limit,
              const struct seen_allocator *, struct seen_error *);

/* -- counting distinct keys --------------------------------------------------------------- */

/* How many different keys there were: exactly while they are few, then from a sketch of fixed size.
 * Freed with seen_counter_free; one counter, one thread.  All digests must come from one hash, of
 * one seed.
 *
 * The few are kept as digests, in up to four times the sketch's memory beside it: 3072 keys of the
 * 16 KiB that a standard error of one percent takes.  Where there is no memory for them the sketch
 * counts at once. */
typedef struct seen_counter seen_counter;

enum seen_counter_kind {
    SEEN_HLL, /* HyperLogLog with Ertl's estimator: relative standard error 1.04/sqrt(bytes) */
    SEEN_FM,  /* Flajolet-Martin, linear hashing: 0.78/sqrt(k) of k mappings, 24 bytes each */
    SEEN_SET  /* no sketch: all digests are kept, in 22 to 43 bytes each, half as much again while
                 the set grows; seen_counter_new ignores the error */
};

/* Sized for a relative standard error (0.01: one percent); SEEN_EREFUSED where none gives that. */
int seen_counter_new(seen_counter **, uint32_t kind, double error, uint64_t seed,
                     const struct seen_allocator *, struct seen_error *);
void seen_counter_free(seen_counter *); /* NULL is fine */
void seen_counter_add(seen_counter *, size_t n, const seen_digest *);
/* error (may be NULL): the relative standard error.  0: the count is exact.  INFINITY: a SEEN_SET
 * had no memory for some keys, and counts the others. */
double seen_counter_estimate(const seen_counter *, double *error);
uint64_t seen_counter_bytes(const seen_counter *); /* now */
void seen_counter_clear(seen_counter *);

/* `into` counts the union of both; SEEN_EMISMATCH unless kind, error and seed are the same. */
int seen_counter_merge(seen_counter *into, const seen_counter *from, struct seen_error *);

/* A snapshot, with checksums.  Loading trusts no byte: SEEN_EFORMAT, and nothing to free, where it
 * is damaged or needs more than `limit` bytes (0: any). */
int seen_counter_save(const seen_counter *, struct seen_writer, struct seen_error *);
int seen_counter_load(seen_counter **, struct seen_reader, size_t limit,
                      const struct seen_allocator *, struct seen_error *);

/* -- counting distinct keys of a sliding window ------------------------------------------- */

/* How many different keys came in the last `window` records or microseconds: exactly while they
 * are few (2688 of a standard error of one percent), then from a sliding HyperLogLog.  Its estimate
 * is that of a HyperLogLog over exactly the keys of the window.  Freed with
 * seen_sliding_counter_free; one counter, one thread; digests as for seen_counter. */
typedef struct seen_sliding_counter seen_sliding_counter;

/* kind: SEEN_HLL, or SEEN_SET, which keeps the digests of the window in up to 98 bytes each.  Error
 * and failures are those of seen_counter_new; SEEN_EINVAL for another kind, or a window of 0. */
int seen_sliding_counter_new(seen_sliding_counter **, uint32_t kind, double error, uint64_t window,
                             const struct seen_allocator *, struct seen_error *);
void seen_sliding_counter_free(seen_sliding_counter *); /* NULL is fine */

/* Times may come in any order; the window ends with the latest.  NULL: a key is one record later
 * than the one before it. */
void seen_sliding_counter_add(seen_sliding_counter *, size_t n, const seen_digest *,
                              const seen_time *);

/* Of the `last` records or microseconds, at most the window; 0: the window.  error (may be NULL):
 * as of seen_counter_estimate; INFINITY: there was no memory for some keys. */
double seen_sliding_counter_estimate(const seen_sliding_counter *, uint64_t last, double *error);
uint64_t seen_sliding_counter_bytes(const seen_sliding_counter *); /* now */

/* 1 if both are of the same kind, error and window. */
int seen_sliding_counter_alike(const seen_sliding_counter *, const seen_sliding_counter *);

/* A snapshot, as of a counter. */
int seen_sliding_counter_save(const seen_sliding_counter *, struct seen_writer,
                              struct seen_error *);
int seen_sliding_counter_load(seen_sliding_counter **, struct seen_reader, size_t limit,
                              const struct seen_allocator *, struct seen_error *);

/* -- heavy hitters ------------------------------------------------------------------------ */

/* Space-Saving: the most frequent keys, with k counters.  After N keys each that came more than N/k
 * times has a counter, which is at most `error` <= N/k above the truth and never below it.  Freed
 * with seen_top_free. */
typedef struct seen_top seen_top;

struct seen_heavy {
    seen_digest key;
    uint64_t count, error; /* count - error <= truth <= count */
    size_t counter;        /* 0 to k-1, as seen_top_add returns it */
};

int seen_top_new(seen_top **, uint64_t k, const struct seen_allocator *, struct seen_error *);
void seen_top_free(seen_top *); /* NULL is fine */

/* Counts one key; returns its counter.  *taken: 1 if that was another key's, or nobody's, before.
 */
size_t seen_top_add(seen_top *, seen_digest, int *taken);

/* The key came so often at most. */
uint64_t seen_top_most(const seen_top *, seen_digest);

/* The greatest first; `out` has room for k.  Returns how many. */
size_t seen_top_list(const seen_top *, struct seen_heavy *out);
void seen_top_clear(seen_top *);
uint64_t seen_top_bytes(const seen_top *);

/* A snapshot, as of a counter.  Counters keep their numbers. */
int seen_top_save(const seen_top *, struct seen_writer, struct seen_error *);
int seen_top_load(seen_top **, struct seen_reader, size_t limit, const struct seen_allocator *,
                  struct seen_error *);

/* -- gaps: how far apart the repeats of a stream are ------------------------------------------- */

/* What decaying windows miss depends on the stream.  A seen_gaps learns from a sample how many
 * records and how many different keys lie between two of a key, and then predicts and plans.  Freed
 * with seen_gaps_free; one seen_gaps, one thread. */
typedef struct seen_gaps seen_gaps;

/* `mem` bytes (2 MiB at least) are allocated, once.  Keys that do not fit, 64 bytes each, are
 * sampled: half of them are followed, then a quarter, and so on, chosen by their digests. */
int seen_gaps_new(seen_gaps **, uint64_t mem, const struct seen_allocator *, struct seen_error *);
void seen_gaps_free(seen_gaps *); /* NULL is fine */

/* The next n records.  All digests must come from one hash, of one seed. */
void seen_gaps_add(seen_gaps *, size_t n, const seen_digest *);

struct seen_gaps_stats {
    uint64_t records;  /* in the sample */
    double keys;       /* different ones among them */
    double repeats;    /* records whose key came before in the sample, of them ... */
    double decade[16]; /* ... 10^i to 10^(i+1)-1 records before */
    double followed;   /* share of the keys that was followed; 1: all numbers here are exact */
    uint64_t reach;    /* longest gap, in records, that counts in predictions without end */
    double within;  /* in a stream that goes on like this: share of the records that repeat a key at
                       such a gap.  Others are new, or repeat after more records than the sample can
                       show; nothing tells them apart. */
    uint64_t bytes; /* allocated */
};
void seen_gaps_stats(const seen_gaps *, struct seen_gaps_stats *);

/* The rates at which a plan's detector is expected to call new keys duplicates, and repeats within
 * reach new: for ever (run = 0), or in all of the first `run` records of an empty one.
 * SEEN_EREFUSED where the window is not decaying, or under refresh=first. */
int seen_gaps_predict(const seen_gaps *, const struct seen_plan *, uint64_t run, double *fp,
                      double *fn, struct seen_error *);

/* As seen_plan_all, for a decaying window of given memory: fp_mean and fn are what is predicted for
 * ever, the first misses the least of those that keep fp=, and `asked` of each plan has what was
 * decided for the sample: filter= and max= and k=, or ways=.  [Deng, Rafiei 2006, 4.1] */
int seen_gaps_plan(const seen_gaps *, struct seen_plan *, size_t cap, const struct seen_spec *,
                   struct seen_error *);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
