# The two commands: `make demo` shows what seen does, `make check` passes every test.  Both install
# what is missing (Debian packages, as root or with sudo).  `make` installs nothing: it builds with the
# packages that are installed.  The build itself is meson's; MESONFLAGS are options for meson setup.

BUILD = build
NINJA = [ -t 1 ] || quiet=--quiet; ninja $$quiet -C

all: configure
	@echo "Building $(BUILD)/seen"
	@$(NINJA) $(BUILD)
	@cat $(BUILD)/without.txt
	@echo "$(BUILD)/seen is ready: make demo shows what it does, $(BUILD)/seen --help what it can do"

configure:
	@tools/configure.sh $(BUILD)

demo: setup-build all
	@tools/demo.sh

check: setup-test setup-module all
	@tools/check.sh $(BUILD)

# The same tests, but for the papers and the laws of rates, on a build in which every wrong access and
# every overflow stops the program.
check-asan: setup-test setup-module
	@tools/configure.sh build-asan -Dbuildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false
	@$(NINJA) build-asan
	@ASAN_OPTIONS=suppressions=$(CURDIR)/tools/asan.supp SEEN_PAPERS=no SEEN_RATES=no tools/check.sh build-asan

# What runs on threads, on a build in which a race fails the test.
check-tsan: setup-test
	@tools/configure.sh build-tsan -Dbuildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false
	@$(NINJA) build-tsan seen test/law_threads
	@tools/check_threads.sh build-tsan

# The library as two files for programs that compile it in, seen.c and seen.h: build/amalgamation.
amalgamation:
	@tools/amalgamation.py $(BUILD)/amalgamation
	@echo "$(BUILD)/amalgamation/seen.c and seen.h are ready: cc -O2 -c seen.c, and link with -lm"

# Accepts what libseen offers to compiled programs now: writes abi/libseen.abi, which make check compares.
abi:
	@tools/abi.sh write

# What gcc, clang, clang-tidy and cppcheck find in the source.
check-lint: setup-lint
	@tools/lint.sh build-clang

# The commands of the README in a minimal Debian 12, from nothing: ORDERS="demo-check check-demo user".
check-bare:
	@tools/check_bare.sh $(ORDERS)

# All tests that draw, under N seeds from the FIRST on.
N = 20
FIRST = 1
check-seeds: setup-test setup-module all
	@tools/check_seeds.sh $(BUILD) $(N) $(FIRST)

# The module's tests on servers under valgrind, on a build that clears all memory where valgrind sees
# it: half an hour.
check-valgrind: setup-valgrind setup-module
	@tools/configure.sh build-valgrind -Dbuildtype=debugoptimized -Dc_args=-DMEMORY_LARGE=SIZE_MAX
	@$(NINJA) build-valgrind
	@SEEN_VALGRIND=1 SEEN=build-valgrind/seen SEEN_MODULE=build-valgrind/module/seen.so \
		/usr/bin/python3 -m pytest -q -p no:cacheprovider test/module

# Hours rather than minutes: 10 GiB streams, filters of 5e9 bits, 100,000 mutations.
check-long: setup-test setup-module all
	@SEEN_LONG=1 tools/check.sh $(BUILD)

bench: setup-build all
	@bench/run.sh $(BUILD)

# fp= as a bound, over all structures, windows and streams.
bench-fp: setup-build all
	@bench/fp.sh $(BUILD)

bench-truth: setup-build all
	@bench/truth/run.sh $(BUILD)

# Makes the figures and tables of the source papers again: doc/papers.md.  Earlier measurements are
# kept (bench/paper/results); FULL=1 runs the largest streams at their full size.
papers: setup-papers all
	@bench/paper/papers.py --build $(BUILD)

papers-quick: setup-build all
	@bench/paper/papers.py --build $(BUILD) --quick

# make install prefix=/opt/seen DESTDIR=/tmp/package: both may be left out.  A prefix is remembered
# (at first /usr/local); uninstalling takes away what was installed last from this build.
install: all
	@$(if $(prefix),meson configure $(BUILD) -Dprefix=$(abspath $(prefix)))
	@meson install -C $(BUILD) $(if $(DESTDIR),--destdir $(abspath $(DESTDIR))) > $(BUILD)/install.log \
		|| { cat $(BUILD)/install.log; exit 1; }
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig
	@echo "Installed; make uninstall takes it away again"

uninstall:
	@ninja -C $(BUILD) uninstall > $(BUILD)/install.log || { cat $(BUILD)/install.log; exit 1; }
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig

format:
	@git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format -i

setup-build setup-test setup-papers setup-module setup-valgrind setup-lint: setup-%:
	@tools/setup.sh $*

clean:
	rm -rf build build-asan build-tsan build-valgrind build-clang build-bare

# One after the other, also under make -j: what is installed is there before the build is configured.
.NOTPARALLEL:

.PHONY: all configure demo check check-bare check-seeds check-asan check-tsan check-lint check-valgrind check-long bench bench-fp bench-truth papers papers-quick install uninstall abi amalgamation \
	format clean setup-build setup-test setup-papers setup-module setup-valgrind setup-lint
