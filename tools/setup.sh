#!/bin/sh
# Installs the Debian packages that seen needs and this machine lacks; the only list of them.
#
#     tools/setup.sh build               what building takes
#     tools/setup.sh test                and what testing takes
#     tools/setup.sh papers              and what drawing the papers' figures takes
#     tools/setup.sh --only-look build   installs nothing: says what is missing, and fails
set -eu

build="gcc g++ libc6-dev meson ninja-build pkg-config libxxhash-dev libsodium-dev libsimdjson-dev
       zlib1g-dev libzstd-dev"
test="$build libcmocka-dev python3 python3-pytest clang-format tzdata binutils xz-utils
      mandoc groff-base zsh fish kcat"

only_look=
if [ "$1" = --only-look ]; then only_look=1; shift; fi
case $1 in
    build) wanted=$build ;;
    test) wanted=$test ;;
    papers) wanted="$build python3 gnuplot-nox" ;;
    *) echo "setup.sh: build, test or papers?" >&2; exit 2 ;;
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
if [ "$(id -u)" != 0 ]; then
    command -v sudo > /dev/null || { echo "Install these packages as root:$missing" >&2; exit 1; }
    sudo=sudo
fi
echo "Installing$missing"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq || true
$sudo apt-get install -y -qq --no-install-recommends $missing > /dev/null
