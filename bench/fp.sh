#!/bin/sh
# fp= as a bound: every structure, window and stream, with items= at the true number of keys in a
# window, and the bytes of each plan: `make bench-fp`.  Real streams are taken from ../shared/data
# where it is.  Ends with 1 if a rate is more than 4.5 standard errors above fp=, or more than four
# are more than 3.
set -eu
build=${1:-build}
data=${2:-../shared/data}
ninja -C "$build" --quiet test/law_bound
. bench/streams.sh
"$build/test/law_bound" --full "$@"
