/* seen.h - "have I seen this before?" for endless streams, in fixed memory.
 *
 *     spec      what the caller asks for; any option may be unset, as in
 *               "jumping:1h/12 fp=1e-6 rate=5000"
 *     plan      every decision made: structure, geometry, bytes, predicted errors
 *     detector  the running structure, built from a plan
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
 * Failure.  A function that can fail returns 0 on success or a negative SEEN_E* code.  On failure
 * it fills the caller's seen_error (which may be NULL) with one sentence.  Functions that return
 * void, a count or a size cannot fail: refusals come from the spec, the plan or seen_new.
 *
 * Ownership.  Specs, plans, errors and stats are plain values that belong to the caller.  A
 * detector is freed with seen_free, a counter with its own free function.  The library keeps no
 * pointer that it is given, except the allocator, which must outlive what it allocated.
 *
 * Threads.  The library has no global state, reads no clock and does no I/O.  Use one detector
 * from one thread at a time.  Two kinds of calls may run in parallel: those that take a const
 * detector, and seen_observe_shards of different shards.
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
typedef uint64_t seen_time; /* microseconds since the Unix epoch; at most 2^60, larger ones count
                               as 2^60 */

/* Verdicts.  Every verdict other than SEEN_NEW is a duplicate. */
#define SEEN_NEW       0
#define SEEN_DUPLICATE 1
#define SEEN_CONFIRMED 2 /* certainly a duplicate; only with cache= */

#define SEEN_NEVER UINT64_MAX /* the age of a key that is not in the window */

enum seen_code {
    SEEN_OK = 0,
    SEEN_EINVAL = -1,    /* the spec, an option or an argument makes no sense */
    SEEN_EREFUSED = -2,  /* valid, but not possible: too little memory for fp=, a missing trait */
    SEEN_ENOMEM = -3,    /* the allocator returned NULL */
    SEEN_EFORMAT = -4,   /* a snapshot is damaged, truncated or of another version */
    SEEN_EMISMATCH = -5, /* two detectors, or a detector and a plan, do not belong together */
    SEEN_EIO = -6        /* the caller's read or write function failed */
};

struct seen_error {
    int code;       /* an enum seen_code */
    size_t where;   /* column of the mistake in the caller's text, from 1; 0: no column */
    char text[256]; /* one sentence: what, where and what to do */
};

/* -- hashing: bytes -> digest ------------------------------------------------------------- */

/* XXH3-128 of `len` bytes, seeded: the digest of hash=xxh3, the default. */
seen_digest seen_hash(const void *key, size_t len, uint64_t seed);

/* The digest of a key under the detector's own hash= and seed.  A key of more than 128 bits (bits=
 * of substrings, up to 512) has several digests, side by side: this function writes plan.digests of
 * them, and every other function of the detector reads as many for each key.  SEEN_EINVAL:
 * hash=int, and the key is not an integer below 2^128; hash=raw, and the key is longer than 16
 * bytes a digest; or the plan has bits= (bitvector, substrings), and the key takes more bits. */
int seen_key(const seen_detector *, const void *key, size_t len, seen_digest *out,
             struct seen_error *);
#define SEEN_DIGESTS_MOST 4 /* of one key */

/* Appends one field of a key at buf+at and returns the new end.  If the field does not fit into
 * `cap` bytes, writes nothing and returns an end beyond `cap`.  A key of several fields is the
 * concatenation of (varint length, bytes) of each, so that ("ab","c") differs from ("a","bc").
 * A key of one field is just its bytes: call this for keys of two or more fields. */
size_t seen_key_append(void *buf, size_t cap, size_t at, const void *field, size_t len);

/* -- spec: what the caller asks for ------------------------------------------------------- */

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
    uint64_t gaps;            /* expected maximum of records between a key and its repeat */
    uint64_t lambda, moves;   /* timed-cuckoo: cells a table, moves a record */
    uint64_t signature;       /* timed-cuckoo, line, cache: bits of a fingerprint */
    uint64_t bits, substring; /* bits of a key (of its digest, if hashed); bits of a substring */
    uint64_t generations;     /* in a window of age-partitioned or line */
    uint64_t ways;            /* cache: entries a set, of `signature` bits each */
    uint64_t lateness;        /* records up to this late (microseconds) keep their own time */
    uint64_t control;         /* sampled keys a shard, which measure errors; 0: no sample */
};

/* One row of the option table: it drives parsing, bounds, --help, completions and printing. */
enum seen_kind {
    SEEN_COUNT,  /* 1000000, 1_000_000, 1e6 */
    SEEN_SIZE,   /* 64MiB, 64M (powers of 1024), 64MB (powers of 1000) */
    SEEN_REAL,   /* a share: 0.01, 1e-6, 1% */
    SEEN_NAME,   /* the name of a structure */
    SEEN_CHOICE, /* one of `choices` */
    SEEN_SPAN,   /* 90s, 15m, 1h, 2days */
    SEEN_RATE    /* records a second: 500, 3e4/m, 1e9/d */
};
struct seen_option {
    const char *name;
    const char *help;           /* one line */
    const char *of;             /* structures that take it, "stable, lru"; NULL: all */
    const char *const *choices; /* SEEN_CHOICE: NULL-ended names, in enum order */
    double min, max;            /* bounds, inclusive (SEEN_REAL, SEEN_RATE: exclusive) */
    uint32_t kind;              /* enum seen_kind */
    uint32_t offset;            /* of the value in struct seen_spec */
    uint32_t geometry;          /* 1: usually left to the planner */
};
const struct seen_option *seen_options(size_t *n);

/* The i-th name that filter= may have, or NULL when there are no more. */
const char *seen_filter_name(size_t i);

/* For "did you mean": the number of letters of a word that are missing, extra, wrong or swapped in
 * comparison with `name`.  SIZE_MAX if the word is too different to be a typing error. */
size_t seen_slip(const char *word, size_t len, const char *name);

/* Parses "window name=value …" (grammar in DESIGN.md).  Each option may occur once. */
int seen_spec_parse(struct seen_spec *, const char *text, struct seen_error *);

/* Sets one option, or replaces its value, as name=value in the text of a spec does.  The name
 * "window" sets the window. */
int seen_spec_set(struct seen_spec *, const char *name, const char *value, struct seen_error *);

/* Writes the canonical text of a spec: parsing it gives the same spec.  As snprintf does, writes
 * at most `cap` bytes and returns the length of the whole text without the NUL. */
int seen_spec_print(const struct seen_spec *, char *buf, size_t cap);

/* Print in the largest unit that gives a short exact number.  They return what snprintf would. */
int seen_print_size(uint64_t bytes, char *buf, size_t cap); /* 64MiB, 1.5KiB */
int seen_print_span(uint64_t us, char *buf, size_t cap);    /* 1h, 1.5ms */
/* "1h", "90s", "2days" -> microseconds; "1e6", "1_000_000" -> count; "64MiB", "64M" -> bytes. */
int seen_parse_span(uint64_t *us, const char *text, struct seen_error *);
int seen_parse_count(uint64_t *count, const char *text, struct seen_error *);
int seen_parse_size(uint64_t *bytes, const char *text, struct seen_error *);

/* -- plan: every decision made ------------------------------------------------------------ */

enum seen_trait {
    SEEN_NO_FN = 1,       /* no false negatives inside the window, or inside `kept` of seen_stats */
    SEEN_NO_FP = 2,       /* no false positives, up to the digest's 128 bits */
    SEEN_DELETABLE = 4,   /* seen_forget works */
    SEEN_MERGEABLE = 8,   /* seen_merge works */
    SEEN_GROWS = 16,      /* allocates as it fills; `bytes` is what `capacity` keys take */
    SEEN_ANY_DIGEST = 32, /* works on digests that are not uniform: hash=int, hash=raw */
    SEEN_BY_NAME = 64,    /* the planner chooses it only if filter= names it */
    SEEN_NO_AGES = 128    /* knows which keys are in the window, but not their ages.
                             seen_last_seen gives the youngest age possible, so seen_query finds
                             every key of the window, for any `within` */
};

struct seen_plan {
    struct seen_spec spec;       /* resolved: every option that applies is set */
    struct seen_spec asked;      /* the caller's spec, unchanged */
    const char *window, *filter; /* names, static */
    uint32_t traits;             /* enum seen_trait, or-ed */
    uint32_t digests;  /* of a key: 1, or more for keys of more than 128 bits (seen_key) */
    uint32_t cpu;      /* 0: the best instruction set here; else enum cpu.h, for tests */
    uint64_t bytes;    /* all memory that the detector allocates */
    uint64_t capacity; /* distinct keys in a window up to which fp_full holds */
    double fp_full;    /* predicted false-positive rate at a full window */
    double fp_mean;   /* predicted mean rate: while a landmark window fills, else in steady state */
    double fn;        /* predicted false-negative rate inside the window */
    double slack;     /* a key leaves at the latest after length x (1+slack) */
    double touches;   /* cache lines touched a record, expected */
    char reason[160]; /* why the planner chose this structure */
};

/* Makes the plan of a spec.  The plan depends on the spec only.  SEEN_EREFUSED: the message says
 * which of fp=, mem= and items= to change, and to what. */
int seen_plan_make(struct seen_plan *, const struct seen_spec *, struct seen_error *);

/* Fills in one plan for each structure that could serve the spec, the chosen one first.  Returns
 * how many (at most cap), or a negative code if no structure can. */
int seen_plan_all(struct seen_plan *, size_t cap, const struct seen_spec *, struct seen_error *);

/* Lower bounds for the memory of every structure, in bits for each key that the window holds
 * (items=, rate= or the window's length; else the plan's capacity).  NAN: the bound does not apply
 * to this plan; none applies to plans that may miss keys (decaying windows).  L is log2(1/fp_full).
 */
struct seen_bounds {
    double keys, universe; /* n, and the number of possible keys */
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

/* universe: the number of possible keys.  0: 2^bits if the plan has bits= below 128, else 2^128. */
void seen_plan_bounds(const struct seen_plan *, double universe, struct seen_bounds *);

/* -- detector ----------------------------------------------------------------------------- */

/* Where a detector gets its memory.  zalloc returns `size` zeroed bytes aligned to 64, or NULL. */
struct seen_allocator {
    void *(*zalloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *p, size_t size);
    void *ctx;
};

/* Builds the detector of a plan.  A NULL allocator stands for the library's own, which takes huge
 * pages where they make access faster.  If the plan has no seed, the system's random numbers give
 * one.  Free with seen_free. */
int seen_new(seen_detector **, const struct seen_plan *, const struct seen_allocator *,
             struct seen_error *);
void seen_free(seen_detector *); /* NULL is fine */

/* move() moves one block of memory: it copies the bytes to a new place aligned to 64, frees the old
 * place and returns the new one.  NULL: the block stays where it is. */
struct seen_mover {
    void *(*move)(void *ctx, void *p, size_t size);
    void *ctx;
};

/* Moves a detector's memory, for programs that defragment their heap.  Offers each of the
 * detector's blocks to the mover, except the blocks of 180 KB in which filter=exact keeps keys.
 * Updates all pointers into moved blocks, the caller's pointer to the detector included.  A pointer
 * that seen_plan_of returned before is invalid afterwards.  `alloc` replaces the detector's
 * allocator, which may have moved too; NULL keeps it.  Nothing else changes. */
void seen_move(seen_detector **, const struct seen_allocator *alloc, struct seen_mover);

/* Tests and adds n digests in order and writes n verdicts.  A duplicate inside one batch is found.
 *
 * `time` holds the n times of the records.  Windows of time need it; others accept NULL.  Time
 * never runs backwards: a record older than the newest one is judged at the newest time and counted
 * as late.  With lateness=L, a record up to L late is judged at its own time, and a later one at
 * the newest time minus L.  It is a duplicate if a record of its key that was called new lies less
 * than a window away, before it or after it.
 *
 * If the plan has bits=, only the low bits= bits of a digest count. */
void seen_observe(seen_detector *, size_t n, const seen_digest *, const seen_time *time,
                  uint8_t *verdict);

/* seen_observe in three steps, for callers with several threads.  Verdicts, counters and snapshots
 * are the same as with seen_observe, for any split of the work.
 *
 * 1. seen_observe_begin, once: takes the times of n records and writes n numbers to `at`.
 * 2. seen_observe_shards: shards `from` <= s < `to` judge their own keys and write their verdicts.
 *    Run each of the plan.spec.shards shards exactly once.  Different shards may run in parallel
 *    if the allocator is thread-safe.
 * 3. seen_observe_end, once all shards are done: updates the counters, and with cache= confirms
 *    duplicates.
 *
 * No other call may run on the detector meanwhile. */
void seen_observe_begin(seen_detector *, size_t n, const seen_time *time, uint64_t *at);
void seen_observe_shards(seen_detector *, uint64_t from, uint64_t to, size_t n, const seen_digest *,
                         const uint64_t *at, uint8_t *verdict);
void seen_observe_end(seen_detector *, size_t n, const seen_digest *, const uint64_t *at,
                      uint8_t *verdict);

/* Tests n digests without adding them: writes the verdict that each would get as the next record at
 * `now`.  Only records at most `within` records or microseconds old count (0: the whole window).
 * Structures that keep generations round `within` up to a whole generation.  The detector does not
 * change: a query never refreshes, rotates or sweeps. */
void seen_query(const seen_detector *, size_t n, const seen_digest *, seen_time now,
                uint64_t within, uint8_t *verdict);

/* Prefetches the cache lines that seen_observe or seen_query will read first for these digests.
 * Useful for a few digests, if the caller has other work to do before it asks.  Structures that
 * cannot prefetch do nothing.  The detector does not change. */
void seen_prefetch(const seen_detector *, size_t n, const seen_digest *);

/* Writes how long ago each key was last seen: in records (1 = the previous record) or microseconds;
 * SEEN_NEVER if the key is not in the window.  Structures that keep generations give the youngest
 * age possible.  The true age is less than a generation older, except with age-partitioned, where
 * it may be older still.  Structures without ages (trait SEEN_NO_AGES) give 1 record or
 * 0 microseconds.  With lateness=, the result is the distance to the nearest record of the key,
 * before or after `now`. */
void seen_last_seen(const seen_detector *, size_t n, const seen_digest *, seen_time now,
                    uint64_t *age);

/* Sets a landmark: all keys seen so far leave the window, at constant cost.  Windows of records
 * count from 0 again.  Setting a landmark twice in a row has no further effect. */
void seen_landmark(seen_detector *);

/* Sets a landmark and resets the counters of seen_stats. */
void seen_clear(seen_detector *);

/* Removes keys.  SEEN_EREFUSED: the structure lacks the trait SEEN_DELETABLE. */
int seen_forget(seen_detector *, size_t n, const seen_digest *, struct seen_error *);

/* Adds all keys in `from`'s window, with their ages, to `into`'s.  SEEN_EMISMATCH: the two resolved
 * specs differ, seed included.  SEEN_EREFUSED: the structure lacks the trait SEEN_MERGEABLE. */
int seen_merge(seen_detector *into, const seen_detector *from, struct seen_error *);

/* How far a merge in pieces has come.  All fields are zero before the first piece.  They are plain
 * numbers: another process that holds the same two detectors can go on from them. */
struct seen_merging {
    uint64_t done;  /* 1: the merge is complete */
    uint64_t stage; /* number of the shard being merged, from 1; 0: not begun */
    uint64_t began; /* `into`'s clock when the merge began */
    uint64_t place[8];
};

/* Does one piece of a merge, for callers that must return soon: about `most` lines or keys of the
 * tables.  Call it until `done` is 1.
 *
 * Between pieces `into` works as usual and holds the keys that entered so far.  `from` must not
 * change, and neither detector may be cleared or given a landmark.  If the caller gives up
 * half-way, the keys that entered stay.  Do not restart such a merge on a counting filter: it would
 * count these keys twice.  SEEN_EINVAL: the progress in seen_merging is not possible. */
int seen_merge_some(seen_detector *into, const seen_detector *from, uint64_t most,
                    struct seen_merging *, struct seen_error *);

enum seen_source {
    SEEN_FROM_MODEL, /* the formulas, because the window is as planned and the sample agrees */
    SEEN_FROM_SAMPLE /* measured on the control sample */
};

struct seen_stats {
    uint64_t records, unique, duplicates;
    uint64_t confirmed;    /* duplicates that are certain, with cache= */
    uint64_t stored;       /* keys in the window now; a refreshed key may count once a generation.
                              An estimate for many exact keys of a sliding window, until those
                              that are too old have left */
    uint64_t capacity;     /* as planned; beyond it fp rises above fp_full */
    double fp_now;         /* false-positive rate of the next record */
    double fp_worst;       /* the highest fp_now of any shard since the start */
    double expected_false; /* estimated number of false duplicates so far ... */
    uint64_t false_lo, false_hi; /* ... and its central 95 % interval */
    double expected_missed;      /* estimated number of records called new although their key was in
                                    the window; 0 if the structure has no false negatives and
                                    forgot nothing */
    uint64_t missed_lo, missed_hi; /* its central 95 % interval */
    uint32_t source;               /* of expected_false: enum seen_source */
    uint64_t sampled_keys;         /* in the control sample now; 0 if the plan has no sample */
    uint64_t sampled_records;      /* records of sampled keys so far; their verdicts were checked */
    uint64_t bytes;                /* allocated now */
    uint64_t landmarks;            /* windows or sub-windows begun after the first */
    uint64_t late;                 /* records with a time before the newest */
    uint64_t clamped;              /* late records judged at a later time than their own */
    seen_time late_most;           /* the latest record was this late, microseconds */
    uint64_t forgotten;            /* keys dropped inside the window because memory was short */
    uint64_t saturated; /* counting: counters that stuck at their maximum; overload=saturate: keys
                           without a place in the table, which make others count as seen */
    uint64_t rebuilt;   /* stuck counters that were counted again (sliding, counting) */
    uint64_t listed; /* keys kept beside the table, because it had no place for them (timed-cuckoo,
                        line) */
    uint64_t kept;   /* shortest window kept, in records or microseconds, if forgotten > 0 and the
                        structure knows it; else SEEN_NEVER */
    uint64_t oldest; /* begin of the oldest generation that holds a key, in records or microseconds
                        before the newest; SEEN_NEVER: no key, or unknown */
    seen_time last;  /* the newest time so far */
};
void seen_stats(const seen_detector *, struct seen_stats *);

const struct seen_plan *seen_plan_of(
    const seen_detector *); /* includes the seed; valid until seen_free or seen_move */
uint64_t seen_seed(const seen_detector *);

/* -- snapshots ---------------------------------------------------------------------------- */

/* write() writes all `len` bytes and returns 0, or returns nonzero on failure.  read() fills all
 * `len` bytes and returns 0, or returns nonzero on failure; an early end is a failure. */
struct seen_writer {
    int (*write)(void *ctx, const void *buf, size_t len);
    void *ctx;
};
struct seen_reader {
    int (*read)(void *ctx, void *buf, size_t len);
    void *ctx;
};

/* Writes a snapshot: a header (version, resolved spec, counters), `blob` (the application's own
 * bytes, at most 16 MiB) and the detector's block, with checksums.  Format: doc/snapshot.md.
 *
 * One call of `write` gets at most 64 KiB, or a few KiB if loading has to find a place for each
 * key. A server that loads the bytes of one such call at a time therefore stops for a few tenths of
 * a millisecond only. */
int seen_save(const seen_detector *, const void *blob, size_t blob_len, struct seen_writer,
              struct seen_error *);

/* Loads a snapshot.  The bytes may be hostile: each is checked before it is used, and at most
 * `limit` bytes are allocated (0: SIZE_MAX).  The caller frees *blob with free(); `blob` may be
 * NULL.  Bytes are checked as they are read, so the last read is not slower than others. */
int seen_load(seen_detector **, void **blob, size_t *blob_len, struct seen_reader, size_t limit,
              const struct seen_allocator *, struct seen_error *);

/* -- counting distinct keys --------------------------------------------------------------- */

/* Counts different keys: exactly while they are few, then with a sketch of fixed size.  Free it
 * with seen_counter_free.  Use one counter from one thread at a time.  All digests must come from
 * the same hash and seed.
 *
 * The first keys are kept as digests beside the sketch, in up to four times its memory.  A standard
 * error of one percent takes a sketch of 16 KiB, which counts 3072 keys exactly.  If there is no
 * memory for the digests, the sketch counts from the start. */
typedef struct seen_counter seen_counter;

enum seen_counter_kind {
    SEEN_HLL, /* HyperLogLog with Ertl's estimator: relative standard error 1.04/sqrt(bytes) */
    SEEN_FM,  /* Flajolet-Martin, linear hashing: 0.78/sqrt(k) with k mappings of 24 bytes */
    SEEN_SET  /* no sketch: keeps all digests, in 22 to 43 bytes each, and half as much again while
                 the set grows; seen_counter_new ignores the error */
};

/* Makes a counter with a relative standard error (0.01: one percent).  SEEN_EREFUSED: no size gives
 * this error. */
int seen_counter_new(seen_counter **, uint32_t kind, double error, uint64_t seed,
                     const struct seen_allocator *, struct seen_error *);
void seen_counter_free(seen_counter *); /* NULL is fine */
void seen_counter_add(seen_counter *, size_t n, const seen_digest *);

/* Returns the number of different keys.  *error (may be NULL) becomes the relative standard error.
 * 0: the count is exact.  INFINITY: a SEEN_SET had no memory for some keys and counts the others.
 */
double seen_counter_estimate(const seen_counter *, double *error);
uint64_t seen_counter_bytes(const seen_counter *); /* now */
void seen_counter_clear(seen_counter *);

/* Adds the keys of `from`: `into` then counts the union of both.  SEEN_EMISMATCH: kind, error or
 * seed differ. */
int seen_counter_merge(seen_counter *into, const seen_counter *from, struct seen_error *);

/* Write and load a snapshot with checksums.  The bytes may be hostile.  SEEN_EFORMAT: they are
 * damaged, or need more than `limit` bytes of memory (0: no limit); nothing needs to be freed. */
int seen_counter_save(const seen_counter *, struct seen_writer, struct seen_error *);
int seen_counter_load(seen_counter **, struct seen_reader, size_t limit,
                      const struct seen_allocator *, struct seen_error *);

/* -- counting distinct keys of a sliding window ------------------------------------------- */

/* Counts different keys of the last `window` records or microseconds: exactly while they are few
 * (2688 keys with a standard error of one percent), then with a sliding HyperLogLog.  Its estimate
 * equals that of a HyperLogLog over exactly the keys of the window.  Free it with
 * seen_sliding_counter_free.  Threads and digests are as for seen_counter. */
typedef struct seen_sliding_counter seen_sliding_counter;

/* kind: SEEN_HLL, or SEEN_SET, which keeps the digests of the window in up to 98 bytes each.  Error
 * and failures are those of seen_counter_new.  SEEN_EINVAL: another kind, or a window of 0. */
int seen_sliding_counter_new(seen_sliding_counter **, uint32_t kind, double error, uint64_t window,
                             const struct seen_allocator *, struct seen_error *);
void seen_sliding_counter_free(seen_sliding_counter *); /* NULL is fine */

/* Adds n keys.  Times may come in any order; the window ends at the newest.  With NULL times the
 * window counts records. */
void seen_sliding_counter_add(seen_sliding_counter *, size_t n, const seen_digest *,
                              const seen_time *);

/* Returns the number of different keys in the last `last` records or microseconds, at most the
 * window (0: the whole window).  *error is as for seen_counter_estimate; INFINITY: there was no
 * memory for some keys. */
double seen_sliding_counter_estimate(const seen_sliding_counter *, uint64_t last, double *error);
uint64_t seen_sliding_counter_bytes(const seen_sliding_counter *); /* now */

/* 1 if both are of the same kind, error and window. */
int seen_sliding_counter_alike(const seen_sliding_counter *, const seen_sliding_counter *);

/* Write and load a snapshot, as for seen_counter. */
int seen_sliding_counter_save(const seen_sliding_counter *, struct seen_writer,
                              struct seen_error *);
int seen_sliding_counter_load(seen_sliding_counter **, struct seen_reader, size_t limit,
                              const struct seen_allocator *, struct seen_error *);

/* -- heavy hitters ------------------------------------------------------------------------ */

/* Space-Saving: finds the most frequent keys with k counters.  After N records, every key that came
 * more than N/k times has a counter.  A counter is never below the truth, and above it by at most
 * its `error`, which is at most N/k.  Free it with seen_top_free. */
typedef struct seen_top seen_top;

struct seen_heavy {
    seen_digest key;
    uint64_t count, error; /* count - error <= truth <= count */
    size_t counter;        /* 0 to k-1, as seen_top_add returns it */
};

int seen_top_new(seen_top **, uint64_t k, const struct seen_allocator *, struct seen_error *);
void seen_top_free(seen_top *); /* NULL is fine */

/* Counts one record of a key and returns the number of its counter.  *taken becomes 1 if the
 * counter was unused or belonged to another key before. */
size_t seen_top_add(seen_top *, seen_digest, int *taken);

/* An upper bound for the number of records of a key. */
uint64_t seen_top_most(const seen_top *, seen_digest);

/* Writes the keys that have counters, the highest count first.  `out` has room for k.  Returns how
 * many it wrote. */
size_t seen_top_list(const seen_top *, struct seen_heavy *out);
void seen_top_clear(seen_top *);
uint64_t seen_top_bytes(const seen_top *);

/* Write and load a snapshot, as for seen_counter.  Counters keep their numbers. */
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
