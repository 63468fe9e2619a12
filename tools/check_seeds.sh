#!/bin/sh
# Runs all tests that draw, under several seeds: `make check-seeds N=20`.  They are those of make check but for
# the papers and make: unit and law tests, the command line, the module.  Closes with "N passed, N failed".
#
#     tools/check_seeds.sh build 20 [first]
set -u
build=${1:-build} n=${2:-20} first=${3:-1}
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 bad=
for seed in $(seq "$first" $((first + n - 1))); do
    begin=$(date +%s)
    SEEN_SEED=$seed SEEN_PAPERS=no tools/check.sh "$build" > "$log" 2>&1 < /dev/null
    status=$?
    line=$(tail -n 1 "$log")
    [ $status = 0 ] || { bad="$bad $seed"; cat "$log"; }
    passed=$((passed + $(echo "$line" | sed -n 's/ passed.*//p'))) failed=$((failed + (status != 0)))
    seconds=$(($(date +%s) - begin))
    printf 'SEEN_SEED=%-8d %s, in %d:%02d\n' "$seed" "$line" $((seconds / 60)) $((seconds % 60))
done
[ -n "$bad" ] && found="failures under$bad" || found="no failure"
echo "$n seeds, $first to $((first + n - 1)): $found"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
