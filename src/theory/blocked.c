#include "theory/bloom.h"

#include <math.h>
#include <stddef.h>

#define RARE           1e-18 /* a share that no double shows */
#define LINE_MEAN_MOST 600   /* far beyond full: each bit of 496 is set */
#define LINE_KEYS_MOST 1041  /* in a line, of that mean */

/* A lane of `width` bits into which each of j keys throws b bits. */
struct lane {
    double width, miss[4], step[4]; /* miss[i] = P(no throw hits i given bits) = (1-i/width)^(bj) */
    uint32_t b, power;              /* `power` lanes are alike */
};

static struct lane lane_empty(double width, uint32_t b, uint32_t power) {
    struct lane lane = {.width = width, .b = b, .power = power};
    for (int i = 0; i < 4; i++) {
        lane.miss[i] = 1;
        lane.step[i] = pow(1 - i / width, b);
    }
    return lane;
}

static void lane_add_key(struct lane *lane) {
    for (int i = 0; i < 4; i++) lane->miss[i] *= lane->step[i];
}

/* P(the b probes of another key are all set): by how many different bits they ask for (Stirling),
 * and by inclusion and exclusion over those bits. */
static double lane_hit(const struct lane *lane) {
    const double *m = lane->miss, w = lane->width;
    double one = 1 - m[1], two = 1 - 2 * m[1] + m[2], three = 1 - 3 * m[1] + 3 * m[2] - m[3],
           hit = 1;
    if (lane->b == 1) hit = one;
    if (lane->b == 2) hit = (one + (w - 1) * two) / w;
    if (lane->b == 3) hit = (one + 3 * (w - 1) * two + (w - 1) * (w - 2) * three) / (w * w);
    double all = 1;
    for (uint32_t i = 0; i < lane->power; i++) all *= hit > 0 ? hit : 0;
    return all;
}

/* A line of 8 lanes, its keys coming one by one. */
struct line {
    struct lane lanes[3];
};

static struct line line_empty(uint32_t k) {
    uint32_t rounds = k / 8, more = k % 8;
    return (struct line){{lane_empty(64, rounds + 1, more), lane_empty(64, rounds, 7 - more),
                          lane_empty(48, rounds, 1)}};
}

/* Its rate with one key more. */
static double line_add_key(struct line *line) {
    double hit = 1;
    for (int i = 0; i < 3; i++) {
        struct lane *lane = &line->lanes[i];
        if (!lane->power || !lane->b) continue;
        lane_add_key(lane);
        hit *= lane_hit(lane);
    }
    return hit;
}

/* -- all lines ---------------------------------------------------------------------------- */

struct blocked {
    double lines;
    uint32_t k;
    bool scattered;
    const double *hit; /* rates of lines of 1, 2, … keys, from [1] on; NULL: not yet known */
};

static double line_end(double mean) { return mean + 16 * sqrt(mean) + 48; }

/* The mean over how many keys a line has: of j as often as of j-1 (first - fall (j-1)) / j times.
 * Where the sum of all is large it is scaled down, so that no term of weight is lost. */
static double over_lines(const struct blocked *b, double first, double fall, double mean) {
    struct line line = line_empty(b->k);
    double often = 1, all = 1, sum = 0, last = line_end(mean);
    for (double j = 1; j < last && first > fall * (j - 1); j++) {
        often *= (first - fall * (j - 1)) / j;
        all += often;
        sum += often * (b->hit ? b->hit[(uint32_t)j] : line_add_key(&line));
        if (all > 1e200) often *= 1e-200, all *= 1e-200, sum *= 1e-200;
        if (j > mean && often < RARE * sum) break;
    }
    return sum / all;
}

/* All in one line: of a fraction of a key, that fraction of the step. */
static double in_one_line(const struct blocked *b, double n) {
    struct line line = line_empty(b->k);
    double before = 0, hit = 0;
    for (double j = 0; j < n; j++)
        before = hit, hit = b->hit ? b->hit[(uint32_t)j + 1] : line_add_key(&line);
    return before + (hit - before) * (n - ceil(n) + 1);
}

static double rate(const void *ctx, double n) {
    const struct blocked *b = ctx;
    double others = b->lines - 1, mean = n / b->lines;
    if (mean > LINE_MEAN_MOST) return 1;
    if (b->scattered) return over_lines(b, mean, 0, mean);
    return others > 0 ? over_lines(b, n / others, 1 / others, mean) : in_one_line(b, n);
}

double theory_blocked(double lines, double n, uint32_t k) {
    return rate(&(struct blocked){lines, k, false, NULL}, n);
}

double theory_blocked_scattered(double lines, double n, uint32_t k) {
    return rate(&(struct blocked){lines, k, true, NULL}, n);
}

double theory_blocked_filling(double lines, double n, uint32_t k, bool scattered) {
    double hit[LINE_KEYS_MOST + 1];
    struct line line = line_empty(k);
    uint32_t end = (uint32_t)line_end(fmin(n / lines, LINE_MEAN_MOST)) + 1;
    for (uint32_t j = 1; j <= end; j++) hit[j] = line_add_key(&line);
    return theory_mean(rate, &(struct blocked){lines, k, scattered, hit}, n);
}
