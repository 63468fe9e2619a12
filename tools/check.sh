#!/bin/sh
# Runs every test of one build and says how many passed: unit and law tests in C, the command line's
# and the module's in pytest, the source's form.  Closes with "N passed, N failed" and fails if one failed.
#
#     tools/check.sh build
set -u
build=${1:-build}
cd "$(dirname "$0")/.."
export SEEN_SEED="${SEEN_SEED:-20050510}" # the same everywhere; SEEN_SEED=$RANDOM make check tries another
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
passed=0 failed=0

count() { # count WHAT PASSED FAILED
    passed=$((passed + $2)) failed=$((failed + $3))
    printf '%-28s %4d passed, %d failed\n' "$1" "$2" "$3"
}

sum() { awk -v k="$2" '$0 ~ k { for (i = 1; i < NF; i++) if ($(i + 1) ~ /^test/) n += $i } END { print n + 0 }' "$1"; }

# -- unit and law tests: meson runs them, cmocka counts them -----------------------------------------
meson test -C "$build" --no-rebuild --print-errorlogs -t 5 > "$log/meson" 2>&1
status=$?
tail -n 40 "$log/meson" | grep -vE '^(ninja|$)' > "$log/tail"
text="$build/meson-logs/testlog.txt"
p=$(sum "$text" 'PASSED  ') f=$(sum "$text" 'FAILED  ')
# A program that crashed or timed out reports no count of its own.
if [ $status -ne 0 ] && [ "$f" = 0 ]; then f=1; fi
[ $status -eq 0 ] || cat "$log/meson"
count "unit and law tests" "$p" "$f"

# -- the command line, the module on the servers there are: pytest -----------------------------------
python_tests() { # python_tests WHAT DIRECTORY
    SEEN="$build/seen" SEEN_MODULE="$build/module/seen.so" \
        /usr/bin/python3 -m pytest -q -p no:cacheprovider -rs "$2" > "$log/pytest" 2>&1
    status=$?
    line=$(tail -n 1 "$log/pytest")
    p=$(number passed) f=$(($(number failed) + $(number error)))
    [ $status -ne 5 ] || status=0 # nothing to run, which the skips below explain
    if [ $status -ne 0 ] && [ "$f" = 0 ]; then f=1; fi
    [ $status -eq 0 ] || cat "$log/pytest"
    grep '^SKIPPED' "$log/pytest"
    count "$1" "$p" "$f"
}
number() { echo "$line" | grep -oE "[0-9]+ $1" | grep -oE '[0-9]+' || echo 0; }
python_tests "command line" test/cli
python_tests "module" test/module

# -- the papers, at a tenth of their size (SEEN_PAPERS=no: not) --------------------------------------
if [ "${SEEN_PAPERS:-yes}" = yes ]; then
    /usr/bin/python3 bench/paper/papers.py --build "$build" --quick > "$log/papers" 2> "$log/progress"
    status=$?
    line=$(tail -n 1 "$log/papers")
    p=$(number passed) f=$(number failed)
    if [ $status -ne 0 ] && [ "$f" = 0 ]; then f=1; tail -n 5 "$log/progress"; fi
    [ $status -eq 0 ] || cat "$log/papers"
    count "papers" "$p" "$f"
fi

# -- the source's form -------------------------------------------------------------------------------
if command -v clang-format > /dev/null; then
    f=0
    git ls-files '*.c' '*.h' '*.cpp' 2> /dev/null | xargs -r clang-format --dry-run -Werror > "$log/format" 2>&1 || f=1
    [ $f = 0 ] || { grep -E 'error:' "$log/format" | head -5; echo "make format mends it"; }
    count "source format" $((1 - f)) $f
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
