#!/bin/sh
# Tests all code that starts threads, on a build that finds races: `make check-tsan`.  Closes with
# "N passed, N failed" and fails if one failed.
#
#     tools/check_threads.sh build-tsan
set -u
build=${1:-build-tsan}
cd "$(dirname "$0")/.."
export SEEN_SEED="${SEEN_SEED:-20050510}"
out=$(mktemp)
trap 'rm -f "$out"' EXIT

number() { grep -oE "[0-9]+ $1" "$out" | tail -n 1 | grep -oE '[0-9]+' || echo 0; }

"$build/test/law_threads" > "$out" 2>&1
status=$?
passed=$(grep -c '       OK' "$out") failed=$(grep -c '  FAILED  \] threads' "$out")
[ $status = 0 ] || cat "$out"

SEEN="$build/seen" /usr/bin/python3 -m pytest -q -p no:cacheprovider -rs test/cli/test_parallel.py > "$out" 2>&1 ||
    { status=1; cat "$out"; }
grep '^SKIPPED' "$out"
passed=$((passed + $(number passed))) failed=$((failed + $(number failed) + $(number error)))
if [ $status != 0 ] && [ $failed = 0 ]; then failed=1; fi
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
