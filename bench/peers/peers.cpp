/* peers - test and add, beside what else a C or C++ program can have from its distribution.
 *
 *     tools/setup.sh bench; ninja -C build bench/peers/peers; build/bench/peers/peers
 *
 * n different keys and a third as many repeats of them, as digests of 128 bits: into exact sets (of
 * room for n from the start, where they take that), into Bloom filters of fp=1e-3, and through
 * windows of seen, a batch of 256 at a time.  The peers never forget keys, so nothing compares with
 * the sliding windows of seen, which are shown beside.  In one run, alternating, medians of
 * processor time; bits are of everything allocated, a key; fp counts new records called duplicates.
 * Which peers there are, the build found out (bench/peers/meson.build). */
#include "seen.h"

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#ifdef HAVE_LIBBLOOM
#include <bloom.h>
#endif
#ifdef HAVE_ABSL
#include <absl/container/flat_hash_set.h>
#endif
#ifdef HAVE_HOPSCOTCH
#include <tsl/hopscotch_set.h>
#endif
#ifdef HAVE_ROBIN
#include <tsl/robin_set.h>
#endif
#ifdef HAVE_CUCKOO
#include <libcuckoo/cuckoohash_map.hh>
#endif

namespace {

constexpr size_t BATCH = 256;
constexpr double FP = 1e-3;

/* -- keys --------------------------------------------------------------------------------- */

struct Key {
    uint64_t lo, hi;
    bool operator==(const Key &o) const { return lo == o.lo && hi == o.hi; }
};

/* They are hashes already. */
struct Low {
    size_t operator()(const Key &k) const { return k.lo; }
};

uint64_t draw(uint64_t &rng) {
    uint64_t z = rng += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Every fourth record repeats one of the last n. */
std::vector<Key> stream(size_t n, uint64_t seed) {
    std::vector<Key> keys(n / 3 * 4);
    for (size_t i = 0; i < keys.size(); i++)
        keys[i] =
            i % 4 == 3 ? keys[i - 1 - draw(seed) % std::min(i, n)] : Key{draw(seed), draw(seed)};
    return keys;
}

/* -- contenders --------------------------------------------------------------------------- */

struct Outcome {
    double bytes;
    size_t duplicates;
};
using Run = std::function<Outcome(size_t n, const std::vector<Key> &)>;

size_t allocated() {
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* `add` says whether the key is new. */
template <class Set, class Add> Outcome fill(const std::vector<Key> &keys, Set &set, Add add) {
    size_t fresh = 0;
    for (const Key &key : keys) fresh += add(set, key);
    return {0, keys.size() - fresh};
}

template <class Set> Outcome exact(size_t n, const std::vector<Key> &keys) {
    size_t before = allocated();
    auto set = std::make_unique<Set>();
    set->reserve(n);
    Outcome o = fill(keys, *set, [](Set &s, const Key &k) { return s.insert(k).second; });
    o.bytes = double(allocated() - before);
    return o;
}

#ifdef HAVE_CUCKOO
Outcome cuckoo(size_t n, const std::vector<Key> &keys) {
    using Map = libcuckoo::cuckoohash_map<Key, char, Low>;
    size_t before = allocated();
    auto map = std::make_unique<Map>(n);
    Outcome o = fill(keys, *map, [](Map &m, const Key &k) { return m.insert(k, 0); });
    o.bytes = double(allocated() - before);
    return o;
}
#endif

#ifdef HAVE_LIBBLOOM
Outcome libbloom(size_t n, const std::vector<Key> &keys) {
    struct bloom b;
    if (bloom_init(&b, int(n), FP)) exit(2);
    Outcome o =
        fill(keys, b, [](struct bloom &f, const Key &k) { return !bloom_add(&f, &k, sizeof k); });
    o.bytes = double(b.bytes);
    bloom_free(&b);
    return o;
}
#endif

Outcome seen(const char *form, size_t n, const std::vector<Key> &keys) {
    char text[100];
    seen_spec spec;
    seen_plan plan;
    seen_detector *d;
    seen_error e;
    snprintf(text, sizeof text, form, (unsigned long long)n);
    if (seen_spec_parse(&spec, text, &e) || seen_plan_make(&plan, &spec, &e) ||
        seen_new(&d, &plan, nullptr, &e)) {
        fprintf(stderr, "%s: %s\n", text, e.text);
        exit(2);
    }
    uint8_t verdict[BATCH];
    seen_digest digest[BATCH];
    for (size_t i = 0; i < keys.size(); i += BATCH) {
        size_t m = std::min(BATCH, keys.size() - i);
        for (size_t j = 0; j < m; j++) digest[j] = {keys[i + j].lo, keys[i + j].hi};
        seen_observe(d, m, digest, verdict);
    }
    struct seen_stats stats;
    seen_stats(d, &stats);
    seen_free(d);
    return {double(stats.bytes), size_t(stats.duplicates)};
}

Run window(const char *form) {
    return [form](size_t n, const std::vector<Key> &keys) { return seen(form, n, keys); };
}

/* -- the run ------------------------------------------------------------------------------ */

struct Contender {
    std::string name;
    Run run;
    std::vector<double> ns;
    Outcome outcome;
};

double seconds() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

std::vector<Contender> contenders() {
    std::vector<Contender> all = {
        {"seen sliding:N filter=line fp=1e-3", window("sliding:%llu filter=line fp=1e-3"), {}, {}},
        {"seen landmark filter=blocked fp=1e-3",
         window("landmark filter=blocked fp=1e-3 items=%llu"),
         {},
         {}},
        {"seen sliding:N filter=exact", window("sliding:%llu filter=exact"), {}, {}},
        {"seen landmark filter=exact", window("landmark filter=exact items=%llu"), {}, {}},
        {"std::unordered_set", exact<std::unordered_set<Key, Low>>, {}, {}}};
#ifdef HAVE_LIBBLOOM
    all.push_back({"libbloom, fp=1e-3", libbloom, {}, {}});
#endif
#ifdef HAVE_ABSL
    all.push_back({"absl::flat_hash_set", exact<absl::flat_hash_set<Key, Low>>, {}, {}});
#endif
#ifdef HAVE_HOPSCOTCH
    all.push_back({"tsl::hopscotch_set", exact<tsl::hopscotch_set<Key, Low>>, {}, {}});
#endif
#ifdef HAVE_ROBIN
    all.push_back({"tsl::robin_set", exact<tsl::robin_set<Key, Low>>, {}, {}});
#endif
#ifdef HAVE_CUCKOO
    all.push_back({"libcuckoo::cuckoohash_map", cuckoo, {}, {}});
#endif
    return all;
}

void compare(size_t n, int runs) {
    std::vector<Contender> all = contenders();
    std::vector<Key> keys = stream(n, n);
    size_t fresh = keys.size() / 4 * 3;
    for (int r = 0; r < runs; r++)
        for (Contender &c : all) {
            double start = seconds();
            c.outcome = c.run(n, keys);
            c.ns.push_back((seconds() - start) / double(keys.size()) * 1e9);
        }
    double least = 0;
    printf("n = %zu\n", n);
    for (Contender &c : all) {
        std::sort(c.ns.begin(), c.ns.end());
        double ns = c.ns[c.ns.size() / 2];
        if (!least) least = ns;
        double wrong = double(c.outcome.duplicates) - double(keys.size() - fresh);
        printf("  %-38s %6.1f ns, %5.2fx  %6.1f bits  fp %.1e\n", c.name.c_str(), ns, ns / least,
               c.outcome.bytes * 8 / double(n), wrong / double(fresh));
    }
    fflush(stdout);
}

} // namespace

int main() {
    compare(99999, 15);
    compare(9999999, 3);
    return 0;
}
