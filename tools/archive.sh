#!/bin/sh
# Makes libseen.a of the engine's objects: one object, in which all but the names of seen.h is local, so that a
# program may use any other name itself.
#
#     tools/archive.sh libengine.a libseen.a
set -eu
engine=$1 library=$2
${CC:-cc} -r -nostdlib -Wl,--whole-archive "$engine" -o "$library.o"
objcopy --localize-hidden "$library.o"
rm -f "$library"
ar rcs "$library" "$library.o"
rm -f "$library.o"
