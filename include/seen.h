/* seen.h - "have I seen this before?" for endless streams, in fixed memory.
 *
 * seen_counter.h counts different keys, seen_top.h finds the most frequent ones, and seen_gaps.h
 * learns from a sample how far apart repeats are.
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
 *     seen_digest digest;
 *     uint8_t verdict;
 *     if (seen_key(d, key, len, &digest, &e)) ...           // the key is not fit for hash=
 *     seen_observe(d, 1, &digest, &verdict);                // SEEN_NEW or SEEN_DUPLICATE
 *     seen_free(d);
 *
 * Failure.  A function that can fail returns 0 on success or a negative SEEN_E* code.  On failure
 * it fills the caller's seen_error (which may be NULL) with one sentence.  Functions that return
 * void, a count or a size cannot fail: refusals come from the spec, the plan or seen_new.
 *
 * Misuse.  A call that only a mistake in the program can make, such as seen_observe without times
 * on a window of time, ends the program: assert(3) prints a sentence, and abort(3) follows in
 * builds without assertions.
 *
 * Parameters stand in one order: the object, inputs, outputs, the allocator, the error.
 *
 * Compatibility.  Structs have a fixed size and `reserved` room at their end.  A later version of
 * the library may use that room for more options, predictions or statistics; what a program was
 * compiled against stays where it is.  The library sets reserved room to zero.
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

#define SEEN_VERSION "0.1.0" /* of this header */

/* The version of the library that is running. */
const char *seen_version(void);

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
#define SEEN_CONFIRMED 2 /* certainly a duplicate; only with verify= */

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
 * of substrings, up to 512) has several digests, side by side: this function writes seen_digests()
 * of them, and every other function of the detector reads as many for each key.  SEEN_EINVAL:
 * hash=int, and the key is not an integer below 2^128; hash=raw, and the key is longer than 16
 * bytes a digest; or the plan has bits= (bitvector, substrings), and the key takes more bits. */
int seen_key(const seen_detector *, const void *key, size_t len, seen_digest *out,
             struct seen_error *);
#define SEEN_MAX_DIGESTS 4 /* of one key */

/* Appends one field of a key at buf+at and returns the new end.  If the field does not fit into
 * `cap` bytes, writes nothing and returns an end beyond `cap`.  A key of several fields is the
 * concatenation of (varint length, bytes) of each, so that ("ab","c") differs from ("a","bc").
 * A key of one field is just its bytes: call this for keys of two or more fields. */
size_t seen_key_append(void *buf, size_t cap, size_t at, const void *field, size_t len);

/* -- spec: what the caller asks for ------------------------------------------------------- */

enum seen_window {
    SEEN_WINDOW_LANDMARK = 1,
    SEEN_WINDOW_JUMPING,
    SEEN_WINDOW_SLIDING,
    SEEN_WINDOW_DECAYING
};
enum seen_unit { SEEN_UNIT_NONE, SEEN_UNIT_RECORDS, SEEN_UNIT_MICROSECONDS };

/* The values of options that are a choice, in the order of seen_option.choices. */
enum seen_refresh { SEEN_REFRESH_LAST, SEEN_REFRESH_FIRST };
/* What a window does when it holds more keys than planned. */
enum seen_overload {
    SEEN_OVERLOAD_KEEP,     /* keeps all of them, and errs more */
    SEEN_OVERLOAD_SATURATE, /* keeps its length, and calls new keys duplicates that find no place */
    SEEN_OVERLOAD_SHRINK, /* forgets its oldest keys; `kept` of seen_stats is the shortest window */
    SEEN_OVERLOAD_GROW    /* takes more memory */
};
enum seen_hash_kind { SEEN_HASH_XXH3, SEEN_HASH_SIPHASH, SEEN_HASH_INT, SEEN_HASH_RAW };
enum seen_decrement { SEEN_DECREMENT_RUN, SEEN_DECREMENT_EACH };
enum seen_combine { SEEN_COMBINE_OR, SEEN_COMBINE_SUBTRACT };

#define SEEN_MAX_OPTIONS 64

/* A spec is a plain value: copy it freely.  The first four fields are the window; read and write
 * options with the functions below.  A spec that is all zero has no window and no options. */
struct seen_spec {
    uint32_t window;     /* enum seen_window */
    uint32_t unit;       /* enum seen_unit of `length`; SEEN_UNIT_NONE: no length */
    uint64_t length;     /* records or microseconds */
    uint64_t subwindows; /* Q of jumping */
    uint64_t given;      /* the library's: which options have a value, and their values */
    union seen_value {
        uint64_t count;
        double real;
        const char *name;
    } value[SEEN_MAX_OPTIONS];
};

/* Parses "window name=value …" (grammar in doc/windows.md).  Each option may occur once. */
int seen_spec_parse(struct seen_spec *, const char *text, struct seen_error *);

/* Writes the canonical text of a spec: parsing it gives the same spec.  As snprintf does, writes
 * at most `cap` bytes and returns the length of the whole text without the NUL. */
int seen_spec_print(const struct seen_spec *, char *buf, size_t cap);

/* Options, by name: "fp", "items", "filter" and so on, as in the text of a spec.  To ask for a name
 * that seen_option_find does not know is misuse.
 *
 * An option without a value is 0, 0.0 or "".  Counts, sizes and spans (bytes, microseconds) are
 * numbers; an option that is a choice is the number of its value, such as SEEN_HASH_RAW; fp= and
 * rate= are reals.  seen_spec_get writes any option as text, as snprintf does. */
int seen_spec_has(const struct seen_spec *, const char *name);
uint64_t seen_spec_get_count(const struct seen_spec *, const char *name);
double seen_spec_get_real(const struct seen_spec *, const char *name);
int seen_spec_get(const struct seen_spec *, const char *name, char *buf, size_t cap);

/* Sets one option, or replaces its value.  seen_spec_set takes what stands behind name= in the text
 * of a spec; there the name "window" sets the window.  SEEN_EINVAL: there is no such option, it
 * takes no such value, or its kind is another (spec unchanged). */
int seen_spec_set(struct seen_spec *, const char *name, const char *value, struct seen_error *);
int seen_spec_set_count(struct seen_spec *, const char *name, uint64_t value, struct seen_error *);
int seen_spec_set_real(struct seen_spec *, const char *name, double value, struct seen_error *);
void seen_spec_unset(struct seen_spec *, const char *name);

/* One row of the option table: it drives parsing, bounds, --help, completions and printing. */
enum seen_kind {
    SEEN_KIND_COUNT,  /* 1000000, 1_000_000, 1e6 */
    SEEN_KIND_SIZE,   /* 64MiB, 64M (powers of 1024), 64MB (powers of 1000) */
    SEEN_KIND_REAL,   /* a share: 0.01, 1e-6, 1% */
    SEEN_KIND_NAME,   /* the name of a structure */
    SEEN_KIND_CHOICE, /* one of `choices` */
    SEEN_KIND_SPAN,   /* 90s, 15m, 1h, 2days */
    SEEN_KIND_RATE    /* records a second: 500, 3e4/m, 1e9/d */
};
/* A later version may add fields at the end. */
struct seen_option {
    const char *name;
    const char *old_name;       /* which the option had before, and which is accepted; or NULL */
    const char *help;           /* one line */
    const char *of;             /* structures that take it, "stable, lru"; NULL: all */
    const char *const *choices; /* SEEN_KIND_CHOICE: NULL-ended names, in enum order */
    double min, max;            /* bounds, inclusive (SEEN_KIND_REAL and _RATE: exclusive) */
    uint32_t kind;              /* enum seen_kind */
    uint32_t geometry;          /* 1: usually left to the planner */
};

/* The i-th option, or NULL when there are no more; the option of a name, old names included, or
 * NULL. */
const struct seen_option *seen_option(size_t i);
const struct seen_option *seen_option_find(const char *name);

/* The i-th name that filter= may have, or NULL when there are no more. */
const char *seen_filter_name(size_t i);

/* For "did you mean": the number of letters of a word that are missing, extra, wrong or swapped in
 * comparison with `name`.  SIZE_MAX if the word is too different to be a typing error. */
size_t seen_slip(const char *word, size_t len, const char *name);

/* Print in the largest unit that gives a short exact number.  They return what snprintf would. */
int seen_print_size(uint64_t bytes, char *buf, size_t cap); /* 64MiB, 1.5KiB */
int seen_print_span(uint64_t us, char *buf, size_t cap);    /* 1h, 1.5ms */
/* "1h", "90s", "2days" -> microseconds; "1e6", "1_000_000" -> count; "64MiB", "64M" -> bytes. */
int seen_parse_span(const char *text, uint64_t *us, struct seen_error *);
int seen_parse_count(const char *text, uint64_t *count, struct seen_error *);
int seen_parse_size(const char *text, uint64_t *bytes, struct seen_error *);

/* -- plan: every decision made ------------------------------------------------------------ */

enum seen_trait {
    SEEN_NO_FN = 1,       /* no false negatives inside the window, or inside `kept` of seen_stats */
    SEEN_NO_FP = 2,       /* no false positives, up to the digest's 128 bits */
    SEEN_DELETABLE = 4,   /* seen_forget works */
    SEEN_MERGEABLE = 8,   /* seen_merge works */
    SEEN_GROWS = 16,      /* allocates as it fills; `bytes` is what `capacity` keys take */
    SEEN_ANY_DIGEST = 32, /* works on digests that are not uniform: hash=int, hash=raw */
    SEEN_ON_REQUEST = 64, /* the planner chooses it only if filter= names it */
    SEEN_NO_AGES = 128    /* knows which keys are in the window, but not their ages.
                             seen_last_seen gives the youngest age possible, so seen_query finds
                             every key of the window, for any `within` */
};

struct seen_plan {
    struct seen_spec spec;       /* resolved: every option that applies has a value */
    struct seen_spec asked;      /* the caller's spec, unchanged */
    const char *window, *filter; /* names, static */
    uint32_t traits;             /* enum seen_trait, or-ed */
    uint32_t digests;  /* of a key: 1, or more for keys of more than 128 bits (seen_key) */
    uint64_t bytes;    /* all memory that the detector allocates */
    uint64_t capacity; /* distinct keys in a window up to which fp_full holds */
    double fp_full;    /* predicted false-positive rate at a full window */
    double fp_mean;   /* predicted mean rate: while a landmark window fills, else in steady state */
    double fn;        /* predicted false-negative rate inside the window */
    double slack;     /* a key leaves at the latest after length x (1+slack) */
    double touches;   /* cache lines touched a record, expected */
    char reason[160]; /* why the planner chose this structure */
    uint64_t reserved[32];
};

/* Makes the plan of a spec.  The plan depends on the spec only.  SEEN_EREFUSED: the message says
 * which of fp=, mem= and items= to change, and to what. */
int seen_plan_make(struct seen_plan *, const struct seen_spec *, struct seen_error *);

/* Fills in one plan for each structure that could serve the spec, the chosen one first.  Returns
 * how many (at most cap), or a negative code if no structure can. */
int seen_plan_all(const struct seen_spec *, struct seen_plan *, size_t cap, struct seen_error *);

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
    double reserved[8];
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

/* Tests and adds n digests in order and writes n verdicts.  A duplicate inside one batch is found.
 * If the plan has bits=, only the low bits= bits of a digest count.
 *
 * seen_observe serves windows of records and windows without a length; seen_observe_at serves
 * windows of time (plan.spec.unit is SEEN_UNIT_MICROSECONDS), and `time` holds the n times of the
 * records.  The wrong one of the two is misuse.
 *
 * Time never runs backwards: a record older than the newest one is judged at the newest time and
 * counted as late.  With lateness=L, a record up to L late is judged at its own time, and a later
 * one at the newest time minus L.  It is a duplicate if a record of its key that was called new
 * lies less than a window away, before it or after it. */
void seen_observe(seen_detector *, size_t n, const seen_digest *, uint8_t *verdict);
void seen_observe_at(seen_detector *, size_t n, const seen_digest *, const seen_time *time,
                     uint8_t *verdict);

/* Tests n digests without adding them: writes the verdict that each would get as the next record,
 * or in windows of time as a record at `now`.  Only records at most `within` records or
 * microseconds old count (0: the whole window).  Structures that keep generations round `within` up
 * to a whole generation.  The detector does not change: a query never refreshes, rotates or sweeps.
 * Which of the two serves which window is as for seen_observe. */
void seen_query(const seen_detector *, size_t n, const seen_digest *, uint64_t within,
                uint8_t *verdict);
void seen_query_at(const seen_detector *, size_t n, const seen_digest *, seen_time now,
                   uint64_t within, uint8_t *verdict);

/* Writes how long ago each key was last seen: in records (1 = the previous record) or microseconds
 * before `now`; SEEN_NEVER if the key is not in the window.  Structures that keep generations give
 * the youngest age possible.  The true age is less than a generation older, except with
 * age-partitioned, where it may be older still.  Structures without ages (trait SEEN_NO_AGES) give
 * 1 record or 0 microseconds.  With lateness=, the result is the distance to the nearest record of
 * the key, before or after `now`.  Which of the two serves which window is as for seen_observe. */
void seen_last_seen(const seen_detector *, size_t n, const seen_digest *, uint64_t *age);
void seen_last_seen_at(const seen_detector *, size_t n, const seen_digest *, seen_time now,
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

enum seen_source {
    SEEN_FROM_MODEL, /* the formulas, because the window is as planned and the sample agrees */
    SEEN_FROM_SAMPLE /* measured on the control sample */
};

struct seen_stats {
    uint64_t records, unique, duplicates;
    uint64_t confirmed;    /* duplicates that are certain, with verify= */
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
    seen_time max_late;            /* the latest record was this late, microseconds */
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
    uint64_t reserved[32];
};
void seen_stats(const seen_detector *, struct seen_stats *);

/* The plan that a detector was built from.  Its `spec` includes the seed; its `asked` holds the
 * options that were asked for with the values that they have in `spec`, and its `reason` is empty.
 * seen_spec_of gives the same spec without a copy; the pointer is valid until seen_free or
 * seen_move. */
struct seen_plan seen_plan_of(const seen_detector *);
const struct seen_spec *seen_spec_of(const seen_detector *);
uint64_t seen_seed(const seen_detector *);
uint32_t seen_digests(const seen_detector *); /* of a key: plan.digests */

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

/* Where seen_load puts the application's own bytes: room() returns a place of the caller's for
 * `len` bytes, or NULL to refuse them.  It is called once, and not at all if the snapshot has none.
 * The place stays the caller's, also when loading fails afterwards. */
struct seen_room {
    void *(*room)(void *ctx, size_t len);
    void *ctx;
};

/* Loads a snapshot.  The bytes may be hostile: each is checked before it is used, and at most
 * `limit` bytes are allocated, the application's own included (0: SIZE_MAX).  Without a `blob`
 * (NULL) the application's bytes are checked and dropped.  Bytes are checked as they are read, so
 * the last read is not slower than others. */
int seen_load(seen_detector **, struct seen_reader, size_t limit, const struct seen_room *blob,
              const struct seen_allocator *, struct seen_error *);

/* == for programs that embed a detector in something larger ================================= */

/* -- several threads ---------------------------------------------------------------------- */

/* seen_observe or seen_observe_at in three steps, for callers with several threads.  Verdicts,
 * counters and snapshots are the same as with one call, for any split of the work.
 *
 * 1. seen_observe_begin, once: takes the times of n records (windows of time; NULL in others) and
 *    writes n numbers to `at`.
 * 2. seen_observe_shards: shards `from` <= s < `to` judge their own keys and write their verdicts.
 *    Run each of the shards (shards= of seen_spec_of) exactly once.  Different shards may run in
 *    parallel if the allocator is thread-safe.
 * 3. seen_observe_end, once all shards are done: updates the counters, and with verify= confirms
 *    duplicates.
 *
 * No other call may run on the detector meanwhile. */
void seen_observe_begin(seen_detector *, size_t n, const seen_time *time, uint64_t *at);
void seen_observe_shards(seen_detector *, uint64_t from, uint64_t to, size_t n, const seen_digest *,
                         const uint64_t *at, uint8_t *verdict);
void seen_observe_end(seen_detector *, size_t n, const seen_digest *, const uint64_t *at,
                      uint8_t *verdict);

/* -- work that waits ---------------------------------------------------------------------- */

/* Prefetches the cache lines that seen_observe or seen_query will read first for these digests.
 * Useful for a few digests, if the caller has other work to do before it asks.  Structures that
 * cannot prefetch do nothing.  The detector does not change. */
void seen_prefetch(const seen_detector *, size_t n, const seen_digest *);

/* How far a merge in pieces has come: all zero before the first piece.  The bytes do not depend on
 * where the detectors stand: another process that holds the same two can go on from them. */
struct seen_merging {
    uint64_t opaque[12];
};

/* Does one piece of a merge, for callers that must return soon: about `most` lines or keys of the
 * tables.  Returns 1 while there is more to merge, 0 when the merge is complete, or a negative
 * code: those of seen_merge, and SEEN_EINVAL for a seen_merging that no merge has left.
 *
 * Between pieces `into` works as usual and holds the keys that entered so far.  `from` must not
 * change, and neither detector may be cleared or given a landmark.  If the caller gives up
 * half-way, the keys that entered stay.  Do not restart such a merge on a counting filter: it would
 * count these keys twice. */
int seen_merge_some(seen_detector *into, const seen_detector *from, uint64_t most,
                    struct seen_merging *, struct seen_error *);

/* -- memory that moves -------------------------------------------------------------------- */

/* move() moves one block of memory: it copies the bytes to a new place aligned to 64, frees the old
 * place and returns the new one.  NULL: the block stays where it is. */
struct seen_mover {
    void *(*move)(void *ctx, void *p, size_t size);
    void *ctx;
};

/* Moves a detector's memory, for programs that defragment their heap.  Offers each of the
 * detector's blocks to the mover, except the blocks of 180 KB in which filter=exact keeps keys.
 * Updates all pointers into moved blocks, the caller's pointer to the detector included.  A pointer
 * that seen_spec_of returned before is invalid afterwards.  `alloc` replaces the detector's
 * allocator, which may have moved too; NULL keeps it.  Nothing else changes. */
void seen_move(seen_detector **, struct seen_mover, const struct seen_allocator *alloc);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
