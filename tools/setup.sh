#!/bin/sh
# Installs the Debian packages that seen needs and this machine lacks; the only list of them.
#
#     tools/setup.sh build               what building takes, with all that is optional
#     tools/setup.sh test                and what testing takes
#     tools/setup.sh papers              and what drawing the papers' figures takes
#     tools/setup.sh bench               and what bench/peers compares with
#     tools/setup.sh module              servers to test the module on, as far as they can be had
#     tools/setup.sh valgrind            and what make check-valgrind takes
#     tools/setup.sh lint                and what make check-lint takes
#     tools/setup.sh bare                what make check-bare takes
set -eu

required="gcc libc6-dev meson ninja-build pkg-config libxxhash-dev uthash-dev" # tools/configure.sh names them too
optional="g++ libsodium-dev libsimdjson-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev libhiredis-dev"
servers="redis-server redis-tools python3-redis python3-xxhash valkey-server"
build="$required $optional"
test="$build libcmocka-dev python3 python3-pytest clang-format tzdata binutils xz-utils bzip2 zstd
      mandoc groff-base zsh fish kcat codespell abigail-tools clang
      python3-dev python3-setuptools python3-wheel python3-pip python3-venv python3-numpy"

case $1 in
    build) wanted=$build ;;
    test) wanted=$test ;;
    papers) wanted="$build python3 gnuplot-nox" ;;
    bench) wanted="$build libbloom-dev libabsl-dev libtsl-hopscotch-map-dev robin-map-dev libcuckoo-dev" ;;
    module) wanted=$servers ;;
    valgrind) wanted="$test valgrind" ;;
    lint) wanted="$build libcmocka-dev clang clang-tidy cppcheck" ;;
    bare) wanted="debootstrap" ;;
    *) echo "setup.sh: build, test, papers, bench, module, valgrind, lint or bare?" >&2; exit 2 ;;
esac

command -v dpkg-query > /dev/null || exit 0 # not Debian: meson will name what it misses
missing=
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

# Without what is only optional, building and the module's tests go on; else this is the end.
cannot() { # cannot TARGET REASON
    needed=
    for package in $missing; do
        case " $optional $servers " in *" $package "*) ;; *) needed="$needed $package" ;; esac
    done
    if [ -n "$needed" ] || [ "$1" = test ]; then
        echo "setup.sh: $2; install these packages as root:$missing" >&2
        exit 1
    fi
    echo "setup.sh: $2; going on without:$missing" >&2
    exit 0
}

sudo=
if [ "$(id -u)" != 0 ]; then
    command -v sudo > /dev/null || cannot "$1" "you are not root and there is no sudo"
    sudo=sudo
fi
echo "Installing$missing"
export DEBIAN_FRONTEND=noninteractive

# Debian 12 has valkey-server in its backports alone: where they are not among the sources, they are
# taken from the mirror that has bookworm.
add_backports() {
    apt-cache show valkey-server > /dev/null 2>&1 && return
    mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Identifier: Packages' |
        awk '$1 == "bookworm" { print $2; exit }')
    [ -n "$mirror" ] || return 0
    echo "deb $mirror bookworm-backports main" | $sudo tee /etc/apt/sources.list.d/seen-backports.list > /dev/null
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
$sudo apt-get install -y -qq --no-install-recommends $missing > /dev/null ||
    cannot "$1" "apt-get failed"
