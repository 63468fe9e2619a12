#!/bin/sh
# Reads the source without running it: gcc and clang compile all of it without a warning, clang-tidy and cppcheck
# find nothing.  Closes with "N passed, N failed", a file each.
#
#     tools/lint.sh build-clang
set -u
build=$1
cd "$(dirname "$0")/.."
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
passed=0 failed=0

report() { # report WHAT FILES LOG: FILES that were read, and what the log says of some
    bad=$(grep -E '(error|warning|style|performance|portability):' "$3" | cut -d: -f1 | sort -u | grep -c .)
    [ "$bad" = 0 ] || head -40 "$3"
    passed=$((passed + $2 - bad)) failed=$((failed + bad))
    printf '%-28s %4d passed, %d failed\n' "$1" $(($2 - bad)) "$bad"
}

compile() { # compile NAME BUILD CC CXX
    CC=$3 CXX=$4 tools/configure.sh "$2" -Dwerror=true || exit 1
    ninja --quiet -C "$2" -k 0 > "$log/$1" 2>&1 || echo "$1: error: the build failed" >> "$log/$1"
    report "$1 -Werror" "$(git ls-files '*.c' '*.cpp' | wc -l)" "$log/$1"
}

compile gcc "$build-gcc" gcc g++
compile clang "$build" clang clang++

sources=$(git ls-files 'src/*.c' 'cli/*.c' 'module/*.c' | grep -vE '_(avx2|avx512|vbmi2|neon)\.c$|_none\.c$|/none\.c$')
count=$(echo "$sources" | wc -l)
echo "$sources" | xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet > "$log/tidy" 2> /dev/null
report "clang-tidy" "$count" "$log/tidy"

# shellcheck disable=SC2086
cppcheck -j "$(nproc)" --quiet --std=c11 --enable=warning,portability,performance --inline-suppr \
    --suppressions-list=tools/cppcheck.txt -D__GNUC__=12 '-D_Noreturn=__attribute__((noreturn))' \
    -DHAVE_SODIUM -DHAVE_ZLIB -DHAVE_ZSTD -DHAVE_LZMA -DHAVE_BZIP2 -Iinclude -Isrc -Icli $sources > "$log/cppcheck" 2>&1
report "cppcheck" "$count" "$log/cppcheck"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
