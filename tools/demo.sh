#!/bin/sh
# demo.sh - makes a click stream, removes its duplicates under several windows, and compares the
# errors that were predicted with those that were made.  `make demo` runs it after the build.
#
# Everything happens in a temporary folder that is removed at the end (it takes 650 MB meanwhile).
set -eu

seen=$(cd "$(dirname "$0")/.." && pwd)/build/seen
seen=${SEEN:-$seen}
case $seen in /*) ;; *) seen=$PWD/$seen ;; esac
[ -x "$seen" ] || { echo "demo: $seen is not there; run make first" >&2; exit 2; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/seen-demo.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
cd "$dir"
export LC_ALL=C

say() { printf '%s\n' "$*"; }
group() { echo "$1" | awk '{ for (s = sprintf("%.0f", $1); length(s) > 3; s = substr(s, 1, length(s) - 3))
                                 t = "," substr(s, length(s) - 2) t; print s t }'; }
mib() { echo "$1" | awk '{ printf "%.*f MiB", $1 < 10485760, $1 / 1048576 }'; }

# The value of one name in the JSON of --stats or --truth, where it first stands; the low and high
# end of a pair.
value() { grep -o '"'"$1"'": *"\{0,1\}[^,"}]*' "$2" | sed 's/[^:]*: *"\{0,1\}//;q'; }
low() { sed -n 's/.*"'"$1"'": *\[\([0-9]*\),.*/\1/p' "$2"; }
high() { sed -n 's/.*"'"$1"'": *\[[0-9]*, *\([0-9]*\)\].*/\1/p' "$2"; }

# run OUTPUT ARGUMENT...: shows the command as one would type it, runs it, keeps its account.
run() {
    output=$1
    shift
    typed=
    for word; do
        case $word in *' '*) word="'$word'" ;; esac
        typed="$typed $word"
    done
    [ "$output" = /dev/null ] && shown= || shown=" > $output"
    say "  \$ seen$typed$shown"
    "$seen" "$@" --quiet --stats=json >"$output" 2>stats || { cat stats >&2; exit 2; }
    unique=$(value unique stats)
    say "    $(group "$unique") of $(group "$(value records stats)") records are new;" \
        "$(mib "$(value memory_bytes stats)"), $(value seconds stats | awk '{ printf "%.1f s", $1 }')"
}

# compare NAME TRUTH: the account of the last run against the true number of new records.
compare() {
    made=$(($2 - unique))
    lo=$(low expected_false_duplicates_95 stats)
    hi=$(high expected_false_duplicates_95 stats)
    told=$(value expected_false_duplicates stats)
    case $(printf '%.0f' "$told") in ? | ??) told=$(printf '%.2g' "$told") ;; *) told=$(group "$told") ;; esac
    hit=yes
    { [ "$made" -lt "$lo" ] || [ "$made" -gt "$hi" ]; } && hit=no
    printf '  %-30s %12s %20s %12s   %s\n' "$1" "$told" "$(group "$lo") to $(group "$hi")" \
        "$(group "$made")" "$hit" >>table
}

say "seen removes duplicates from a stream in a fixed amount of memory.  First, a stream: the clicks"
say "of one day on an advertising network, with the statistics published in 2004."
say
say "  \$ seen generate --truth truth.json > clicks.txt"
"$seen" generate --truth truth.json >clicks.txt
records=$(value records truth.json)
distinct=$(value distinct truth.json)
say "    $(group "$records") clicks, $(wc -c <clicks.txt | awk '{ printf "%.0f MB", $1 / 1e6 }');" \
    "$(group "$(value duplicates truth.json)") of them are duplicates, one id comes 10,781 times"
say
say "Keep the first of each, in the memory that bare seen takes, however long the stream:"
run unique.txt clicks.txt
compare "bare seen" "$distinct"
rm unique.txt
say
say "Far too little memory, on purpose: a duplicate is still never missed, but some new clicks are"
say "now taken for duplicates.  How many, seen can tell without knowing the truth:"
run /dev/null -w "landmark mem=5MiB items=$distinct" clicks.txt
compare "5 MiB" "$distinct"
say
say "Not since the beginning, but within the last million clicks; and once more exactly, to know"
say "the truth, which takes ten times the memory:"
run /dev/null -w 'jumping:1e6/8 fp=1e-3' clicks.txt
cp stats estimate
window=$(value window stats) # the very same: a plan may take more sub-windows than asked
run /dev/null -w "$window filter=exact" clicks.txt
exact=$unique
mv estimate stats
unique=$(value unique stats)
compare "last million, fp=1e-3" "$exact"
say
say "A click log with columns and times; one click an hour for each user and advertisement:"
say "  \$ seen generate --format csv --records 1e6 --gaps loguniform > log.csv"
"$seen" generate --format csv --records 1e6 --gaps loguniform >log.csv
run /dev/null -w 'sliding:1h' --csv -k cookie,ad --time time log.csv
say
say "How far were the predictions from the truth?  New records wrongly called duplicates:"
printf '\n  %-30s %12s %20s %12s   %s\n' "" predicted "in 95 of 100 runs" truth inside
cat table
say
grep -q 'no$' table && say "("no" alone is not a fault: each run has 5 chances in 100 of it.)"
say "Now yours: build/seen FILE, or build/seen plan 'sliding:1h rate=500' to see what it would take."
