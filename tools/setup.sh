#!/bin/sh
# Installs the Debian packages that seen needs and this machine lacks; the only list of them.
#
#     tools/setup.sh build               what building takes
#     tools/setup.sh test                and what testing takes
#     tools/setup.sh papers              and what drawing the papers' figures takes
#     tools/setup.sh bench               and what bench/peers compares with
#     tools/setup.sh module              servers to test the module on, as far as they can be had
#     tools/setup.sh valgrind            and what make check-valgrind takes
#     tools/setup.sh --only-look build   installs nothing: says what is missing, and fails
set -eu

build="gcc g++ libc6-dev meson ninja-build pkg-config libxxhash-dev uthash-dev libsodium-dev
       libsimdjson-dev zlib1g-dev libzstd-dev libhiredis-dev"
test="$build libcmocka-dev python3 python3-pytest clang-format tzdata binutils xz-utils zstd
      mandoc groff-base zsh fish kcat"

only_look=
if [ "$1" = --only-look ]; then only_look=1; shift; fi
case $1 in
    build) wanted=$build ;;
    test) wanted=$test ;;
    papers) wanted="$build python3 gnuplot-nox" ;;
    bench) wanted="$build libbloom-dev libabsl-dev libtsl-hopscotch-map-dev robin-map-dev libcuckoo-dev" ;;
    module) wanted="redis-server redis-tools python3-redis python3-xxhash valkey-server" ;;
    valgrind) wanted="$test valgrind" ;;
    *) echo "setup.sh: build, test, papers, bench, module or valgrind?" >&2; exit 2 ;;
esac

command -v dpkg-query > /dev/null || exit 0 # not Debian: meson will name what it misses
missing=
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ -n "$only_look" ]; then
    echo "seen needs these packages:$missing" >&2
    echo "Install them with: tools/setup.sh $1" >&2
    exit 1
fi
sudo=
if [ "$(id -u)" != 0 ] && [ "$1" = module ] && ! command -v sudo > /dev/null; then
    echo "setup.sh: not root: the module's tests do without$missing" >&2
    exit 0
fi
if [ "$(id -u)" != 0 ]; then
    command -v sudo > /dev/null || { echo "Install these packages as root:$missing" >&2; exit 1; }
    sudo=sudo
fi
echo "Installing$missing"
export DEBIAN_FRONTEND=noninteractive

# Debian 12 has valkey-server in its backports alone: where they are not among the sources, they are
# taken from where the updates come from, whatever mirror that is.
add_backports() {
    apt-cache show valkey-server > /dev/null 2>&1 && return
    sources=/etc/apt/sources.list.d/seen-backports.sources
    awk 'BEGIN { RS = ""; ORS = "\n\n" } /bookworm-updates/' /etc/apt/sources.list.d/*.sources 2> /dev/null |
        sed 's/^Suites:.*/Suites: bookworm-backports/' | $sudo tee $sources > /dev/null
    $sudo apt-get update -qq || true
}

# The servers: one is enough, and tests that find none say so.
install_servers() {
    add_backports
    for package in $missing; do
        from=
        [ "$package" = valkey-server ] && apt-cache policy $package | grep -q backports && from="-t bookworm-backports"
        # At run level 1 packages start no service.
        $sudo env RUNLEVEL=1 apt-get install -y -qq --no-install-recommends $from "$package" > /dev/null ||
            echo "setup.sh: $package cannot be installed here; the module's tests do without" >&2
    done
}

$sudo apt-get update -qq || true
if [ "$1" = module ]; then install_servers; exit 0; fi
$sudo apt-get install -y -qq --no-install-recommends $missing > /dev/null
