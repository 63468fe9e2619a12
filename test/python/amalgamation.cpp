// amalgamation.cpp - prints a sum of every verdict and every snapshot that the library gives.
//
// The tests link it once with libseen and once with each build of seen.c: all must print the same.
//
//     amalgamation SPEC...
#include <seen.h>

#include <cstdio>
#include <vector>

#if !defined SEEN_COUNTER_H // libseen has a header for each part, the amalgamation one for all
#include <seen_counter.h>
#include <seen_top.h>
#endif

namespace {

constexpr size_t records = 60000, batch = 1000;

struct sum {
    uint64_t value = 0xcbf29ce484222325u, bytes = 0;
    void add(const void *p, size_t len) {
        for (size_t i = 0; i < len; i++)
            value = (value ^ static_cast<const unsigned char *>(p)[i]) * 0x100000001b3u;
        bytes += len;
    }
};

int add(void *ctx, const void *p, size_t len) {
    static_cast<sum *>(ctx)->add(p, len);
    return 0;
}

uint64_t next(uint64_t &state) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

void run(const seen_plan &asked) {
    seen_error e;
    seen_spec spec = asked.spec;
    seen_plan plan;
    seen_detector *d;
    seen_spec_set_count(&spec, "seed", 7, &e);
    if (seen_plan_make(&plan, &spec, &e) || seen_new(&d, &plan, nullptr, &e)) {
        printf("%s: %s\n", asked.filter, e.text);
        return;
    }
    sum verdicts, snapshot;
    uint64_t state = 88172645463325252u;
    std::vector<seen_digest> digest(batch);
    std::vector<seen_time> time(batch);
    std::vector<uint8_t> verdict(batch);
    for (size_t at = 0; at < records; at += batch) {
        for (size_t i = 0; i < batch; i++) {
            uint64_t key = next(state) % 20000;
            digest[i] = seen_hash(&key, sizeof key, 7);
            time[i] = (at + i) * 1000;
        }
        if (plan.spec.unit == SEEN_UNIT_MICROSECONDS)
            seen_observe_at(d, batch, digest.data(), time.data(), verdict.data());
        else
            seen_observe(d, batch, digest.data(), verdict.data());
        verdicts.add(verdict.data(), batch);
    }
    int bad = seen_save(d, nullptr, 0, {add, &snapshot}, &e);
    printf("%s %s %016llx %016llx %llu %d\n", plan.window, plan.filter,
           (unsigned long long)verdicts.value, (unsigned long long)snapshot.value,
           (unsigned long long)snapshot.bytes, bad);
    seen_free(d);
}

void sketches() {
    seen_error e;
    seen_counter *counter;
    seen_top *top;
    if (seen_counter_new(&counter, SEEN_COUNTER_HLL, .01, 7, nullptr, &e) ||
        seen_top_new(&top, 100, nullptr, &e))
        return;
    for (uint64_t i = 0; i < records; i++) {
        uint64_t key = i * i % 9973;
        int taken;
        seen_digest digest = seen_hash(&key, sizeof key, 7);
        seen_counter_add(counter, 1, &digest);
        seen_top_add(top, digest, &taken);
    }
    sum c, t;
    seen_counter_save(counter, {add, &c}, &e);
    seen_top_save(top, {add, &t}, &e);
    printf("sketches %.17g %016llx %016llx\n", seen_counter_estimate(counter, nullptr),
           (unsigned long long)c.value, (unsigned long long)t.value);
    seen_counter_free(counter);
    seen_top_free(top);
}

} // namespace

int main(int argc, char **argv) {
    std::vector<seen_plan> plans(32);
    for (int i = 1; i < argc; i++) {
        seen_error e;
        seen_spec spec;
        int n = seen_spec_parse(&spec, argv[i], &e);
        if (!n) n = seen_plan_all(&spec, plans.data(), plans.size(), &e);
        if (n < 0) printf("%s: %s\n", argv[i], e.text);
        for (int p = 0; p < n; p++) run(plans[p]);
    }
    sketches();
}
