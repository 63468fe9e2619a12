/* options.c - the option table: parsing, bounds, --help, completions and printing all read it.
 * A new option is one row here and one field in struct seen_spec. */
#include "spec/options.h"

#include "base/bits.h"

#include <string.h>

static const char *const refresh_names[] = {"last", "first", NULL};
static const char *const overload_names[] = {"keep", "saturate", "shrink", "grow", NULL};
static const char *const decrement_names[] = {"run", "each", NULL};
static const char *const by_names[] = {"or", "subtract", NULL};
static const char *const vla_names[] = {"0", "1", NULL};
static const char *const hash_names[] = {"xxh3", "siphash", "int", "raw", NULL};

#define AT(field) offsetof(struct seen_spec, field)

#define PROBING "bloom, partitioned, blocked, counting, stable, timing, age-partitioned"
#define STAMPED "timing, timed-cuckoo"

static const struct seen_option table[OPTION_COUNT] = {
    [OPTION_FP] = {"fp", "false-positive rate allowed at a full window (default 1e-9)", NULL, NULL,
                   0, 1, SEEN_REAL, AT(fp), 0},
    [OPTION_MEM] = {"mem", "memory allowed (64MiB where nothing else says how much)", NULL, NULL,
                    1024, 281474976710656.0, SEEN_SIZE, AT(mem), 0},
    [OPTION_ITEMS] = {"items", "distinct keys expected in a window", NULL, NULL, 1, 1e15,
                      SEEN_COUNT, AT(items), 0},
    [OPTION_RATE] = {"rate", "records a second expected, for windows of time", NULL, NULL, 0, 1e12,
                     SEEN_RATE, AT(rate), 0},
    [OPTION_FILTER] = {"filter", "structure; left out, the planner chooses", NULL, NULL, 0, 0,
                       SEEN_NAME, AT(filter), 0},
    [OPTION_REFRESH] = {"refresh", "a duplicate renews its window (last) or does not (first)", NULL,
                        refresh_names, 0, 1, SEEN_CHOICE, AT(refresh), 0},
    [OPTION_OVERLOAD] = {"overload", "when a window holds more keys than planned", NULL,
                         overload_names, 0, 3, SEEN_CHOICE, AT(overload), 0},
    [OPTION_HASH] = {"hash", "key to digest; siphash for hostile keys", NULL, hash_names, 0, 3,
                     SEEN_CHOICE, AT(hash), 0},
    [OPTION_SEED] = {"seed", "of the hash (default: drawn for each run)", NULL, NULL, 0,
                     18446744073709551615.0, SEEN_COUNT, AT(seed), 0},
    [OPTION_SHARDS] = {"shards", "independent structures, chosen by the key", NULL, NULL, 1, 1024,
                       SEEN_COUNT, AT(shards), 0},
    [OPTION_CACHE] = {"cache", "keys called duplicates to keep exactly: confirms their next", NULL,
                      NULL, 1, 2147483648.0, SEEN_COUNT, AT(cache), 0},
    [OPTION_K] = {"k", "probes a key", PROBING, NULL, 1, 64, SEEN_COUNT, AT(k), 1},
    [OPTION_LINES] = {"lines", "64-byte lines a shard (exact: keys; 0: no limit)", NULL, NULL, 0,
                      4398046511104.0, SEEN_COUNT, AT(lines), 1},
    [OPTION_WIDTH] = {"width", "bits of a counter (2 to 16; default 4)", "counting", NULL, 1, 64,
                      SEEN_COUNT, AT(width), 1},
    [OPTION_STAMP] = {"stamp", "bits of a time stamp", STAMPED, NULL, 2, 56, SEEN_COUNT, AT(stamp),
                      1},
    [OPTION_TICKS] = {"ticks", "steps a window of time is cut into (default 1024)", STAMPED, NULL,
                      1, 1048576, SEEN_COUNT, AT(ticks), 1},
    [OPTION_MAX] = {"max", "value of a cell just set", "stable", NULL, 1, 255, SEEN_COUNT, AT(max),
                    1},
    [OPTION_P] = {"p", "cells decremented a record", "stable", NULL, 0, 1e15, SEEN_COUNT, AT(p), 1},
    [OPTION_DECREMENT] = {"decrement", "cells side by side (run) or each anywhere", "stable",
                          decrement_names, 0, 1, SEEN_CHOICE, AT(decrement), 1},
    [OPTION_GAPS] = {"gaps", "longest gap between repeats expected (default 1e9)",
                     "cache, stable, lru, clock, fp-lru", NULL, 2, 1e15, SEEN_COUNT, AT(gaps), 0},
    [OPTION_LAMBDA] = {"lambda", "cells in each of two tables (2 a key)", "timed-cuckoo", NULL, 4,
                       1e15, SEEN_COUNT, AT(lambda), 1},
    [OPTION_SIGNATURE] = {"signature", "bits of a signature or fingerprint",
                          "timed-cuckoo, line, cache", NULL, 0, 48, SEEN_COUNT, AT(signature), 1},
    [OPTION_MOVES] = {"moves", "moves to make room for a key (64)", "timed-cuckoo", NULL, 1, 256,
                      SEEN_COUNT, AT(moves), 1},
    [OPTION_VLA] = {"vla", "1: tables in an array of variable bit length", "timed-cuckoo",
                    vla_names, 0, 1, SEEN_CHOICE, AT(vla), 1},
    [OPTION_BY] = {"by", "sub-windows side by side, or added to one sum and subtracted", "counting",
                   by_names, 0, 1, SEEN_CHOICE, AT(by), 1},
    [OPTION_BITS] = {"bits", "bits of a key", "bitvector, substrings", NULL, 1, 512, SEEN_COUNT,
                     AT(bits), 1},
    [OPTION_SUBSTRING] = {"substring", "bits of a substring of a key", "substrings", NULL, 1, 40,
                          SEEN_COUNT, AT(substring), 1},
    [OPTION_GENERATIONS] = {"generations", "that a window spans", "line, age-partitioned", NULL, 1,
                            255, SEEN_COUNT, AT(generations), 1},
    [OPTION_WAYS] = {"ways", "entries a set (1 to 16)", "cache", NULL, 1, 16, SEEN_COUNT, AT(ways),
                     1},
    [OPTION_LATENESS] = {"lateness", "records so late are judged by their own time", "exact", NULL,
                         1000, 1e15, SEEN_SPAN, AT(lateness), 0},
    [OPTION_CONTROL] = {"control", "sampled keys a shard by which errors are measured (0: none)",
                        NULL, NULL, 0, 1048576, SEEN_COUNT, AT(control), 1},
};

const struct seen_option *seen_options(size_t *n) {
    *n = OPTION_COUNT;
    return table;
}

int options_find(const char *name, size_t len) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strlen(table[i].name) == len && !memcmp(table[i].name, name, len)) return i;
    return -1;
}

bool options_has(const struct seen_spec *spec, enum option option) {
    return spec->set >> option & 1;
}

bool options_serve(enum option option, const char *filter) {
    const char *name = table[option].of;
    size_t len = strlen(filter);
    if (!name) return true;
    for (; *name; name += strspn(name, ", ")) {
        size_t n = strcspn(name, ",");
        if (n == len && !memcmp(name, filter, n)) return true;
        name += n;
    }
    return false;
}

void options_mark(struct seen_spec *spec, enum option option) {
    spec->set |= (uint64_t)1 << option;
}
