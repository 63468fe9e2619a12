#!/bin/sh
# All benchmarks, each a ratio within one run: `make bench`.
set -eu
build=${1:-build}
ninja -C "$build" --quiet bench-blocked bench-cache bench-control bench-growth bench-line bench-plans bench-sliding \
    bench-spaces
echo "== blocked: test-and-add of digests in batches"
"$build/bench-blocked"
echo "== cache: windows without length, against stable"
"$build/bench-cache"
echo "== control: the sample that measures errors, against the same without it"
"$build/bench-control"
echo "== line: sliding windows without false negatives, and the papers' structures"
"$build/bench-line"
echo "== growth: tables of up to 10^9 bits"
"$build/bench-growth" 1e9
echo "== plans: from the text of a spec to its plan, microseconds"
"$build/bench-plans"
echo "== sliding: exact windows, 25 % duplicates, in batches"
"$build/bench-sliding"
if command -v redis-benchmark > /dev/null; then
    ninja -C "$build" --quiet bench-module
    echo "== the module: commands against no-ops of the same shape"
    bench/module/bench.py --build "$build"
fi
echo "== spaces: one for all hash functions against one for each"
"$build/bench-spaces"
echo "== seen: against cat FILE | cat"
bench/cli/speed.py "$build/seen"
if [ -d ../shared/data ]; then
    echo "== seen --ndjson: the shared click and URL streams"
    bench/cli/ndjson.py "$build/seen"
fi
if command -v redis-server > /dev/null && /usr/bin/python3 -c 'import redis, pytest' 2> /dev/null; then
    echo "== seen --redis: one server and a cluster of three primaries, against a filter in the process"
    bench/module/cluster.py "$build"
fi
