/* line_rival - what `line` was chosen over: a two-bucket cuckoo table with stamps.
 *
 *     build/bench-line-rival
 *
 * Partial-key cuckoo hashing: buckets of 8 lanes of 32 bits, a fingerprint and the generation of
 * its last occurrence in each, two buckets a key, the second drawn from the first and the
 * fingerprint. Expired lanes are free.  A generation cleans a 32nd of the table, so that no stamp
 * of six bits is met again.  Filled to 95 %, a new key moves others until one finds a free lane.
 * Prints the bits a key in lanes of 32 bits, and in as few as fp=5e-4 would need; lines touched;
 * moves; and ns beside `line` in the same run, new keys only and with 25 % duplicates. */
#include "bench.h"

#include <math.h>
#include <string.h>

#if !defined __x86_64__
int main(void) { return 0; }
#else
#include <immintrin.h>

#define AVX2       __attribute__((target("avx2,bmi")))
#define RUNS       9
#define LIVE       31
#define BUCKETS    ((uint64_t)1 << 17)
#define STAMPS     63
#define MOVES_MOST 500

struct rival {
    uint32_t *lanes;
    uint32_t generation;
    uint64_t window, step, records, boundary;
    uint64_t touched, moves, lost;
};

static uint32_t *bucket(const struct rival *r, uint64_t b) { return r->lanes + 8 * b; }

static uint64_t other(uint64_t b, uint32_t print) {
    return b ^ (print * (uint64_t)0x9e3779b97f4a7c15u >> 47);
}

/* Bit i: lane i is live (age below 32), and is the print. */
AVX2 static uint32_t match(const struct rival *r, const uint32_t *lanes, uint32_t print,
                           uint32_t *live) {
    __m256i v = _mm256_load_si256((const __m256i *)(const void *)lanes);
    __m256i age = _mm256_sub_epi32(_mm256_set1_epi32((int)r->generation), v);
    __m256i old = _mm256_slli_epi32(age, 26); /* the sign: an age of 32 or more */
    __m256i same = _mm256_cmpeq_epi32(_mm256_srli_epi32(v, 6), _mm256_set1_epi32((int)print));
    __m256i none = _mm256_cmpeq_epi32(v, _mm256_setzero_si256());
    *live = 255 & ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(old, none)));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same)) & *live;
}

/* A generation begins: a 32nd of the table is cleaned of what expired. */
AVX2 static void begin(struct rival *r) {
    r->generation = (r->generation + 1) & STAMPS;
    r->boundary += r->step;
    uint64_t from = r->generation % 32 * BUCKETS / 32;
    for (uint64_t b = from; b < from + BUCKETS / 32; b++) {
        uint32_t live;
        match(r, bucket(r, b), 0, &live);
        for (int i = 0; i < 8; i++)
            if (!(live >> i & 1)) bucket(r, b)[i] = 0;
    }
}

/* Into a free lane of this bucket, or in place of one that moves on to its other. */
AVX2 static void move_on(struct rival *r, uint64_t b, uint32_t lane) {
    for (int i = 0; i < MOVES_MOST; i++) {
        uint32_t live, place;
        match(r, bucket(r, b), 0, &live);
        if (live != 255) {
            bucket(r, b)[_tzcnt_u32(~live)] = lane;
            return;
        }
        place = (lane >> 6 ^ (uint32_t)i) & 7;
        uint32_t out = bucket(r, b)[place];
        bucket(r, b)[place] = lane;
        lane = out;
        b = other(b, lane >> 6);
        r->moves++;
        r->touched++;
    }
    r->lost++;
}

static uint32_t print_of(seen_digest d) { return (uint32_t)d.hi >> 6 | 1; }

AVX2 static uint8_t observe_one(struct rival *r, seen_digest d) {
    uint32_t print = print_of(d), live[2], found;
    uint64_t b[2] = {d.lo % BUCKETS, 0};
    if (r->records++ == r->boundary) begin(r);
    b[1] = other(b[0], print);
    uint32_t lane = print << 6 | r->generation;
    for (int i = 0; i < 2; i++) {
        r->touched++;
        found = match(r, bucket(r, b[i]), print, &live[i]);
        if (found) {
            bucket(r, b[i])[_tzcnt_u32(found)] = lane;
            return SEEN_DUPLICATE;
        }
    }
    int emptier = __builtin_popcount(live[1]) < __builtin_popcount(live[0]);
    move_on(r, b[emptier], lane);
    return SEEN_NEW;
}

AVX2 static double observe_rival(struct rival *r, const seen_digest *d, size_t n) {
    double start = seconds();
    uint64_t seen = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + 16 < n) {
            uint64_t b = d[i + 16].lo % BUCKETS;
            __builtin_prefetch(bucket(r, b), 1);
            __builtin_prefetch(bucket(r, other(b, print_of(d[i + 16]))), 1);
        }
        seen += observe_one(r, d[i]);
    }
    if (seen > n) exit(2);
    return (seconds() - start) / (double)n * 1e9;
}

static void row(int repeats) {
    const double load = .95;
    /* Full generations, and half of the current one on average. */
    uint64_t window = (uint64_t)(load * 8 * BUCKETS * LIVE / (LIVE + .5));
    if (repeats) window = (uint64_t)((double)window / .87); /* as many keys */
    struct rival r = {.window = window, .step = (window + LIVE - 1) / LIVE};
    struct bench_table table = table_new(BUCKETS / 2);
    struct seen_plan plan;
    char spec[80];
    double ours[RUNS], theirs[RUNS];
    size_t part = 1 << 17, n = 4 * window;
    seen_digest *d = stream(n, window - 2, 1);
    for (uint64_t i = 0; i < n && !repeats; i++) d[i] = seen_hash(&i, sizeof i, 2);
    snprintf(spec, sizeof spec, "sliding:%llu fp=5e-4 filter=line seed=1",
             (unsigned long long)window);
    seen_detector *line = detector(spec, 0, &plan);
    memset(table.lines, 0, BUCKETS * 32);
    r.lanes = (uint32_t *)(void *)table.lines;
    r.boundary = r.step;
    size_t warm = n - RUNS * part;
    observe(line, d, warm);
    observe_rival(&r, d, warm);
    r.touched = r.moves = 0;
    for (int run = 0; run < RUNS; run++) {
        ours[run] = observe(line, d + warm + (size_t)run * part, part);
        theirs[run] = observe_rival(&r, d + warm + (size_t)run * part, part);
    }
    double lane = 6 + ceil(log2(16 * load / 5e-4)), records = RUNS * (double)part;
    printf(
        "%2d %% repeat  rival: %.1f bits in lanes of 32, %.1f in lanes of %.0f; %.2f lines, %.2f "
        "moves a record, %llu lost; %.1f ns   line: %.1f bits, %.2f lines planned; %.1f ns\n",
        repeats, BUCKETS * 256. / (double)window, BUCKETS * 8 * lane / (double)window, lane,
        (double)r.touched / records, (double)r.moves / records, (unsigned long long)r.lost,
        median(theirs, RUNS), (double)plan.bytes * 8 / (double)window, plan.touches,
        median(ours, RUNS));
    seen_free(line);
    table_free(&table);
    free(d);
}

int main(void) {
    row(25);
    row(0);
    return 0;
}
#endif
