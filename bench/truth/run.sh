#!/bin/sh
# What detectors say of their own errors, against the truth: every structure, window, load and stream,
# real ones from ../shared/data where it is: `make bench-truth`.  Each run is a line of truth.tsv in the
# build.  Ends with 1 if the intervals of a family held the truth too seldom.
set -eu
build=${1:-build}
data=${2:-../shared/data}
RECORDS=1500000
ninja -C "$build" --quiet test/law_coverage
. bench/streams.sh
status=0
"$build/test/law_coverage" --full "$@" > "$build/truth.tsv" || status=$?
grep 'held the truth\|refused' "$build/truth.tsv"
echo "$(grep -c ' in \[' "$build/truth.tsv") runs, each a line of $build/truth.tsv"
exit $status
