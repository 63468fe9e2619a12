#!/bin/bash
# Proves the commands of the README from nothing: `make check-bare`.  It makes a minimal Debian 12 with git and
# make, clones the repository's last commit into it and runs there what a new user would type.
#
#     tools/check_bare.sh [ORDER...]       all of them, if none is named
#
#     demo-check   as root: make demo, make check, make install
#     check-demo   as root: make check, make demo, make install
#     user         as an ordinary user with sudo: make, make demo, make check, sudo make install
#
# Packages come from the machine's own apt sources.  What is mounted is mounted in a namespace of its own and
# goes with it, also after a failure.  build-bare/ keeps the bootstrapped system and the downloaded packages for
# the next time.  Where no such system can be made, a clone on the machine itself stands in, and that is said.
# Closes with "N passed, N failed": the tests of make check, and each other command as one.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
keep=$root/build-bare
suite=bookworm
self=$root/tools/check_bare.sh
say() { printf -- '-- %s\n' "$*"; }
minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# tally COMMAND STATUS OUTPUT: prints how many passed and failed; a command that counts nothing is one.
tally() {
    local p=0 f=0
    case $1 in
    "make check") read -r p f < <(awk '/^[0-9]+ passed, [0-9]+ failed$/ { p = $1; f = $3 } END { print p + 0, f + 0 }' "$3") ;;
    *) [ "$2" != 0 ] || p=1 ;;
    esac
    if [ "$2" != 0 ] && [ "$f" = 0 ]; then f=1; fi
    echo "$p $f"
}

# -- one order, in the namespace ----------------------------------------------------------------------

# What the machine's apt does, the bare system's apt does: sources of this suite, proxies, credentials.
machines_apt() { # machines_apt SYSTEM
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' |
        awk -v s="$suite" '$3 == s || $3 == s "-updates" || $3 == s "-security"' | sort -u > "$1/etc/apt/sources.list"
    apt-config dump Acquire > "$1/etc/apt/apt.conf.d/00machine"
    cp -a /etc/apt/auth.conf /etc/apt/auth.conf.d "$1/etc/apt/" 2> /dev/null
    cp -L /etc/resolv.conf /etc/hosts "$1/etc/" 2> /dev/null
    echo "127.0.0.1 $(hostname)" >> "$1/etc/hosts"
}

mounts() { # mounts SYSTEM HOME
    mount --make-rprivate / && mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" || return 1
    mkdir -p "$keep/packages" && mount --bind "$keep/packages" "$1/var/cache/apt/archives"
    [ -d "$root/../shared" ] || return 0
    mkdir -p "$1$2/shared" && mount --bind "$root/../shared" "$1$2/shared"
}

# The example of the README finds the installed library as it is.
installed='sed -n "/^\`\`\`c$/,/^\`\`\`$/p" README.md | grep -v "^\`\`\`" > /tmp/example.c &&
cc /tmp/example.c $(pkg-config --cflags --libs seen) -o /tmp/example && test "$(/tmp/example | wc -l)" = 5 &&
printf "a\na\n" | seen | grep -qx a && man_page=$(ls /usr/local/share/man/man1/seen.1) && echo "found: library, program, $man_page"'

order() { # order SYSTEM NAME RESULTS: runs its commands and appends "passed failed" of each
    local system=$1 name=$2 results=$3 user=root home=/root sudo= steps
    case $name in
    demo-check) steps=("make demo" "make check") ;;
    check-demo) steps=("make check" "make demo") ;;
    user) user=guest home=/home/guest sudo=sudo steps=("make demo" "make check") ;;
    esac
    mounts "$system" "$home" || return 1
    machines_apt "$system"
    inside() { # inside USER COMMAND
        chroot --userspec="$1:$1" "$system" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            HOME="$home" ${http_proxy+"http_proxy=$http_proxy"} ${https_proxy+"https_proxy=$https_proxy"} \
            ${SEEN_SEED+"SEEN_SEED=$SEEN_SEED"} /bin/sh -c "cd $home && { [ ! -d seen ] || cd seen; } && $2" < /dev/null 2>&1
    }
    if [ "$user" != root ]; then
        mkdir -p "$system$home"
        inside root "apt-get update -qq && apt-get install -y -qq --no-install-recommends sudo > /dev/null &&
            useradd -m -s /bin/bash $user && chown $user $home && chmod 700 $home &&
            echo '$user ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/$user" || return 1
    fi
    steps=("git clone -q /srv/seen.git seen" "${steps[@]}" "$sudo make install" "$installed" "$sudo make uninstall" "make")
    local step begin status
    for step in "${steps[@]}"; do
        say "$name, as $user: ${step%%$'\n'*}"
        begin=$SECONDS
        inside "$user" "$step" | tee "$results.step"
        status=$?
        tally "$step" $status "$results.step" >> "$results"
        say "$name, as $user: ${step%%$'\n'*}: $([ $status = 0 ] && echo done || echo FAILED), $(minutes $((SECONDS - begin)))"
    done
}

if [ "${1:-}" = --inside ]; then
    shift
    order "$@"
    exit
fi

# -- around it ----------------------------------------------------------------------------------------
orders=("$@")
[ ${#orders[@]} -gt 0 ] || orders=(demo-check check-demo user)
for name in "${orders[@]}"; do
    case $name in
    demo-check | check-demo | user) ;;
    *) echo "check_bare: '$name' is not an order: demo-check, check-demo or user" >&2; exit 2 ;;
    esac
done
if [ "$(id -u)" != 0 ] && sudo -n true 2> /dev/null; then exec sudo -n SEEN_SEED="${SEEN_SEED:-20050510}" "$self" "$@"; fi

work=$(mktemp -d "${TMPDIR:-/tmp}/seen-bare.XXXXXX")
child=
clean() {
    [ -z "$child" ] || kill -KILL "$child" 2> /dev/null
    rm -rf --one-file-system "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM HUP
: > "$work/results"

# in_namespace COMMAND...: its mounts and its processes end with it.
in_namespace() {
    unshare --mount --pid --fork --kill-child "$@" < /dev/null &
    child=$!
    wait $child
    local status=$?
    child=
    return $status
}

# The bootstrapped system, once, as an archive.
bootstrap() {
    local mirror
    [ ! -s "$keep/$suite.tar" ] || return 0
    mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Identifier: Packages' |
        awk -v s="$suite" '$1 == s { print $2; exit }')
    [ -n "$mirror" ] || { why="the machine's apt sources have no $suite"; return 1; }
    tools/setup.sh bare || { why="debootstrap cannot be installed"; return 1; }
    mkdir -p "$keep"
    eval "$(apt-config shell http_proxy Acquire::http::Proxy)" && [ -z "${http_proxy:-}" ] || export http_proxy
    if in_namespace debootstrap --variant=minbase --include=git,make "$suite" "$work/base" "$mirror" > "$work/log" 2>&1; then
        tar -C "$work/base" --numeric-owner -cf "$keep/$suite.tar.part" .
    elif command -v mmdebstrap > /dev/null; then
        mmdebstrap --variant=minbase --include=git,make,apt "$suite" "$keep/$suite.tar.part" "$mirror" > "$work/log" 2>&1
    else
        false
    fi || { why="debootstrap failed: $(tail -n 1 "$work/log")"; return 1; }
    rm -rf --one-file-system "$work/base"
    mv "$keep/$suite.tar.part" "$keep/$suite.tar"
}

possible() {
    [ "$(id -u)" = 0 ] || { why="you are not root, and sudo asks for a password"; return 1; }
    command -v apt-get > /dev/null || { why="this machine has no apt"; return 1; }
    unshare --mount --pid --fork true 2> /dev/null || { why="namespaces are not allowed here"; return 1; }
    bootstrap
}

begin=$SECONDS
if possible; then
    say "a minimal Debian 12 ($suite), in $(minutes $((SECONDS - begin)))"
    git -c safe.directory='*' clone -q --bare . "$work/seen.git" || exit 1
    for name in "${orders[@]}"; do
        mkdir "$work/$name"
        tar -C "$work/$name" --numeric-owner -xf "$keep/$suite.tar" && cp -r "$work/seen.git" "$work/$name/srv/seen.git" &&
            in_namespace "$self" --inside "$work/$name" "$name" "$work/results" || echo "0 1" >> "$work/results"
        rm -rf --one-file-system "${work:?}/$name"
    done
else
    say "NO BARE SYSTEM: $why"
    say "A clone on this machine itself stands in: packages that are installed here hide what a bare system lacks"
    mkdir "$work/clone"
    [ ! -d ../shared ] || ln -s "$(cd ../shared && pwd)" "$work/clone/shared"
    git -c safe.directory='*' clone -q . "$work/clone/seen"
    for step in demo check; do
        make -C "$work/clone/seen" --no-print-directory $step < /dev/null 2>&1 | tee "$work/step"
        status=$?
        tally "make $step" $status "$work/step" >> "$work/results"
    done
fi

awk '{ p += $1; f += $2 } END { printf "%d passed, %d failed\n", p, f; exit f > 0 || p == 0 }' "$work/results"
