#!/bin/sh
# Configures a build folder: when it is new, and again when what meson found has changed since.  Meson
# itself keeps what it found for ever.  Installs nothing, and fails with the names of required packages
# that are missing.
#
#     tools/configure.sh build [meson option...]
#
# What was found is a line each in build/found: the compilers' versions, the version of every package and
# the presence of every header that a meson.build names.  Comparing it takes a tenth of a second.
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
[ "$*" ] || set -- ${MESONFLAGS:-}
cc=${CC:-cc} cxx=${CXX:-c++} pkg_config=${PKG_CONFIG:-pkg-config}

names() { sed -nE "$1" meson.build ./*/meson.build ./*/*/meson.build | sort -u; }
version() { $1 --version 2> /dev/null | head -n 1 | grep . || echo missing; }

# Says of each header whether the compiler finds it.
headers() {
    for name; do
        printf '#if __has_include(<%s>)\n"%s found"\n#else\n"%s missing"\n#endif\n' "$name" "$name" "$name"
    done | $cc -E - 2> /dev/null | sed -n 's/^"\(.*\)"$/\1/p'
}

find_all() {
    echo "place $PWD"
    echo "cc $(version "$cc")"
    echo "c++ $(version "$cxx")"
    for name in $(names "s/.*dependency\('([^']+)'.*/\1/p"); do
        echo "$name $($pkg_config --modversion "$name" 2> /dev/null || echo missing)"
    done
    headers stdio.h xxhash.h $(names "s/.*'([a-z0-9_\/]+\.hh?)'.*/\1/p")
}

# Where Debian's loader and pkg-config look.  Meson asks dpkg-architecture, which comes with dpkg-dev,
# and without it picks lib64, where they do not look.  What a user has chosen stays.
libdir() {
    ! grep -q '^libdir' "$build/meson-private/cmd_line.txt" 2> /dev/null || return 0
    multiarch=$($cc -print-multiarch 2> /dev/null) || return 0
    [ -z "$multiarch" ] || [ ! -d "/usr/lib/$multiarch" ] || echo "-Dlibdir=lib/$multiarch"
}

# Prints the Debian packages that building cannot do without and that are missing.
missing() {
    for pair in gcc:"$cc" meson:meson ninja-build:ninja pkg-config:"$pkg_config"; do
        command -v "${pair#*:}" > /dev/null || echo "${pair%%:*}"
    done
    for pair in libc6-dev:stdio.h libxxhash-dev:xxhash.h uthash-dev:uthash.h; do
        header=${pair#*:}
        echo "$found" | grep -q "^$header found" ||
            { ! command -v "$cc" > /dev/null && [ -e "/usr/include/$header" ]; } || echo "${pair%%:*}"
    done
}

configure() {
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    "$@" > "$log" 2>&1 && return
    grep -E 'ERROR|rror:' "$log" >&2 || cat "$log" >&2
    return 1
}

found=$(find_all)
lacking=$(missing | tr '\n' ' ')
if [ -n "$lacking" ]; then
    echo "seen needs packages that are missing here: $lacking" >&2
    echo "Install them with: sudo apt-get install $lacking" >&2
    echo "or, with all that is optional: tools/setup.sh build" >&2
    exit 1
fi

old=$(cat "$build/found" 2> /dev/null || true)
options=$(echo "$old" | sed -n 's/^options //p')
[ -z "$*" ] || options=$*
found="options $options
$found"
if [ -f "$build/build.ninja" ]; then
    [ "$found" != "$old" ] || exit 0
    # Who installs as root what a user has built finds other programs on the path; that changes nothing.
    [ -O "$build/build.ninja" ] || exit 0
fi

known=
[ ! -e "$build/meson-private/coredata.dat" ] || known=yes
changed=$(printf '%s\n%s\n%s\n' "$old" "$old" "$found" | sort | uniq -u | cut -d ' ' -f 1 | tr '\n' ' ')
if [ -z "$known" ]; then
    echo "Configuring $build"
    configure meson setup $(libdir) "$@" "$build"
elif [ -z "$old" ] || echo " $changed" | grep -qE ' (place|cc|c\+\+) '; then
    echo "Configuring $build from scratch${old:+, because the compiler or the place has changed}"
    configure meson setup --wipe $(libdir) "$@" "$build"
else
    echo "Configuring $build again, because these have changed: $changed"
    meson configure --clearcache "$build" > /dev/null 2>&1
    configure meson setup --reconfigure $(libdir) "$@" "$build" ||
        configure meson setup --wipe $(libdir) "$@" "$build"
fi
echo "$found" > "$build/found"
