#!/bin/sh
# Compares what libseen offers to compiled programs with abi/libseen.abi: functions, their parameters, and the
# layout of every struct in include/.  Needs abidw and abidiff (Debian: abigail-tools).
#
#     tools/abi.sh check     fails if a program compiled against the committed headers would notice
#     tools/abi.sh write     writes abi/libseen.abi again; commit it, with a line in CHANGELOG.md
#
# The library is compiled once more, with debug information and without optimization: abidw reads types there.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! command -v abidw > /dev/null || ! command -v abidiff > /dev/null; then
    echo "abi: skipped, abigail-tools is not installed: tools/setup.sh test"
    exit 77
fi

kernels='_avx2\.c$|_avx512\.c$|_vbmi2\.c$'
for source in $(git ls-files 'src/*.c' | grep -vE "$kernels"); do
    object=$(echo "$source" | tr / _)
    echo "${CC:-cc} -std=gnu11 -D_GNU_SOURCE -g -O0 -fPIC -fvisibility=hidden -w -Iinclude -Isrc -c $source -o $work/$object.o"
done | xargs -P 2 -I{} sh -c '{}'
# Kernels are not linked, because they export nothing.
${CC:-cc} -shared -Wl,-soname,libseen.so -Wl,--version-script=src/libseen.map -o "$work/libseen.so" "$work"/*.o
abidw --headers-dir include --drop-private-types --no-corpus-path --no-comp-dir-path --no-show-locs \
    --out-file "$work/libseen.abi" "$work/libseen.so"

if [ "${1:-check}" = write ]; then
    mkdir -p abi
    cp "$work/libseen.abi" abi/libseen.abi
    echo "abi/libseen.abi is written"
elif abidiff --no-added-syms abi/libseen.abi "$work/libseen.abi"; then
    echo "abi: programs compiled before work on"
else
    echo "abi: programs compiled before would break, or the reserved room of a struct was used; make abi accepts it"
    exit 1
fi
