#!/bin/sh
# What a build shows to the world.  Prints what cmocka would, so that the counts add up.
#
#     test_surface.sh SOURCE_DIR LIBSEEN_SO LIBSEEN_A
source=$1 library=$2 archive=$3
passed=0 failed=0

check() { # check NAME COMMAND…
    name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "[  FAILED  ] $name"
    fi
}

compile() { # compile COMPILER FILE, warnings are errors
    echo "#include \"$2\"" | $1 -Wall -Wextra -Wpedantic -Werror -I "$source/include" -I "$source/src" -fsyntax-only -
}

# Kernels and the filter they share are included by design into files that define their vectors.
for header in $(cd "$source" && ls include/*.h src/*/*.h | grep -v _kernel.h); do
    check "$header compiles alone" compile "cc -x c -std=gnu11 -D_GNU_SOURCE" "$source/$header"
done

# What is installed, with every compiler that is here.
for header in seen.h seen_claims.h seen_counter.h seen_gaps.h seen_top.h; do
    for cc in gcc clang; do
        command -v $cc > /dev/null || { echo "[  SKIPPED ] $cc is not installed: tools/setup.sh test"; continue; }
        check "$header compiles as strict C11 with $cc" compile "$cc -x c -std=c11" "$source/include/$header"
        check "$header compiles as C++17 with $cc" compile "$cc -x c++ -std=c++17" "$source/include/$header"
    done
done

declared() { cat "$source"/include/*.h | sed 's|/\*.*\*/||' | grep -v '^ \*' | grep -oE '\bseen_[a-z_]+\(' | tr -d '(' | sort -u; }
exported() { nm "$@" | awk 'NF == 3 && $2 ~ /[TDBRVW]/ { sub(/@.*/, "", $3); print $3 }' | grep -v '^__odr_asan' | sort -u; }
same() { # same NM_OPTIONS...
    declared > "$scratch/declared" && exported "$@" > "$scratch/exported"
    diff "$scratch/declared" "$scratch/exported"
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
check "libseen.so exports exactly what the headers declare" same -D --defined-only "$library"
check "libseen.a has no other global names" same --defined-only "$archive"

only_ours() { ! grep -rnE '\b(fopen|time|clock_gettime|gettimeofday|pthread_create|setlocale|getenv|exit|abort)\(' "$source/src"; }
check "src has no files, clocks, threads or environment" only_ours

echo "[  PASSED  ] $passed test(s)."
[ $failed = 0 ] || { echo "[  FAILED  ] $failed test(s)." && exit 1; }
