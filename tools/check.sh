#!/bin/sh
# Runs every test of one build and says how many passed: unit and law tests in C, the tests of make, of the
# command line and of the module in pytest, the papers, the source's form.  Closes with the seed and with
# "N passed, N failed", and fails if one failed.
#
#     tools/check.sh build
#
# All that tests draw comes from SEEN_SEED, the same in every run: SEEN_SEED=$RANDOM make check tries another.
# SEEN_PAPERS=no leaves the papers out, and the tests of make; SEEN_RATES=no the laws of rates.
set -u
build=${1:-build}
cd "$(dirname "$0")/.."
export SEEN_SEED="${SEEN_SEED:-20050510}"
export PYTHONHASHSEED=$((SEEN_SEED % 4294967296)) # the order of sets
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0

count() { # count WHAT PASSED FAILED SECONDS
    passed=$((passed + $2)) failed=$((failed + $3))
    printf '%-28s %4d passed, %d failed, in %d:%02d\n' "$1" "$2" "$3" $(($4 / 60)) $(($4 % 60))
}

# timed NAME COMMAND...: keeps what it prints, how it ended and how long it took.
timed() {
    name=$1
    shift
    begin=$(date +%s)
    "$@" > "$log/$name" 2>&1
    echo $? > "$log/$name.status"
    echo $(($(date +%s) - begin)) > "$log/$name.seconds"
}

# number WORD NAME: how many the last line of that log counts.
number() { tail -n 1 "$log/$2" | grep -oE "[0-9]+ $1" | grep -oE '[0-9]+' || echo 0; }

# -- unit and law tests: meson runs them, cmocka counts them -----------------------------------------
sum() { awk -v k="$1" '$0 ~ k { for (i = 1; i < NF; i++) if ($(i + 1) ~ /^test/) n += $i } END { print n + 0 }' "$2"; }

rates=
[ "${SEEN_RATES:-yes}" = yes ] || rates="--no-suite rate"

report_meson() {
    status=$(cat "$log/meson.status")
    text="$build/meson-logs/testlog.txt"
    p=$(sum 'PASSED  ' "$text") f=$(sum 'FAILED  ' "$text")
    # A program that crashed or timed out reports no count of its own.
    if [ "$status" -ne 0 ] && [ "$f" = 0 ]; then f=1; fi
    [ "$status" -eq 0 ] || cat "$log/meson"
    count "unit and law tests" "$p" "$f" "$(cat "$log/meson.seconds")"
}

# -- the command line, the module on the servers there are, make itself, the papers ------------------
pytest() { # pytest NAME DIRECTORY
    SEEN="$build/seen" SEEN_MODULE="$build/module/seen.so" \
        timed "$1" /usr/bin/python3 -m pytest -q -p no:cacheprovider -rs "$2"
}

report() { # report NAME WHAT
    status=$(cat "$log/$1.status")
    p=$(number passed "$1") f=$(($(number failed "$1") + $(number error "$1")))
    [ "$status" -ne 5 ] || status=0 # nothing to run, which the skips below explain
    if [ "$status" -ne 0 ] && [ "$f" = 0 ]; then f=1; fi
    [ "$status" -eq 0 ] || cat "$log/$1"
    grep '^SKIPPED' "$log/$1"
    count "$2" "$p" "$f" "$(cat "$log/$1.seconds")"
}

papers() { [ "${SEEN_PAPERS:-yes}" = yes ]; }

# All side by side, each one after another: the module's tests wait for servers most of the time.
{
    pytest module test/module
    if papers; then timed papers /usr/bin/python3 bench/paper/papers.py --build "$build" --quick; fi
} &
{
    pytest cli test/cli
    pytest python test/python
} &
timed meson meson test -C "$build" --no-rebuild --print-errorlogs -t 5 --num-processes 1 $rates
if papers; then pytest make test/build; fi
wait
report_meson
report cli "command line"
report module "module"
report python "python, and the one file"
if papers; then
    report make "make"
    report papers "papers"
fi

# -- what libseen offers to compiled programs -----------------------------------------------------------
tools/abi.sh check > "$log/abi" 2>&1
case $? in
    0) count "binary interface" 1 0 0 ;;
    77) cat "$log/abi" ;;
    *) cat "$log/abi" && count "binary interface" 0 1 0 ;;
esac

# -- the source's form -------------------------------------------------------------------------------
if command -v clang-format > /dev/null; then
    f=0
    git ls-files '*.c' '*.h' '*.cpp' 2> /dev/null | xargs -r clang-format --dry-run -Werror > "$log/format" 2>&1 || f=1
    [ $f = 0 ] || { grep -E 'error:' "$log/format" | head -5; echo "make format mends it"; }
    count "source format" $((1 - f)) $f 0
fi

# form NAME WHAT COMMAND...: one check, which prints what it finds.
form() {
    name=$1 what=$2
    shift 2
    f=0
    "$@" > "$log/$name" 2>&1 || f=1
    [ $f = 0 ] || head -20 "$log/$name"
    count "$what" $((1 - f)) $f 0
}

spelling() { # of all text but outputs and pictures
    git ls-files -- ':!*/golden/*' ':!bench/paper/results/*' ':!abi/*' ':!*.svg' ':!*.png' | xargs -r codespell
}

if git rev-parse --git-dir > /dev/null 2>&1; then
    form house "the house" /usr/bin/python3 tools/house.py
    form words "plain English" /usr/bin/python3 tools/words.py
    if command -v codespell > /dev/null; then
        form spelling "spelling" spelling
    else
        echo "spelling skipped: codespell is not installed (tools/setup.sh test)"
    fi
fi

echo "SEEN_SEED=$SEEN_SEED make check repeats what was drawn"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
