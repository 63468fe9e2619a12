# The two commands: `make demo` shows what seen does, `make check` passes every test.  Both install
# what is missing (Debian packages, as root or with sudo).  The build itself is meson's.

BUILD = build
MESON = meson setup $(MESONFLAGS)

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@tools/setup.sh --only-look build
	@$(MESON) $(BUILD) > /dev/null

demo: setup-build all
	@tools/demo.sh

check: setup-test setup-module all
	@tools/check.sh $(BUILD)

# The same tests, but for the papers, on a build in which every wrong access and every overflow stops
# the program.
check-asan: setup-test setup-module
	@test -f build-asan/build.ninja || meson setup build-asan -Dbuildtype=debugoptimized \
		-Db_sanitize=address,undefined -Db_lundef=false > /dev/null
	@ninja -C build-asan --quiet
	@SEEN_PAPERS=no tools/check.sh build-asan

# What runs on threads, on a build in which a race fails the test.
check-tsan: setup-test
	@test -f build-tsan/build.ninja || meson setup build-tsan -Dbuildtype=debugoptimized \
		-Db_sanitize=thread -Db_lundef=false > /dev/null
	@ninja -C build-tsan --quiet seen test/law_threads
	@tools/check_threads.sh build-tsan

# The module's tests on servers under valgrind, on a build that clears all memory where valgrind sees
# it: half an hour.
check-valgrind: setup-valgrind setup-module
	@test -f build-valgrind/build.ninja || meson setup build-valgrind -Dbuildtype=debugoptimized \
		-Dc_args=-DMEMORY_LARGE=SIZE_MAX > /dev/null
	@ninja -C build-valgrind --quiet
	@SEEN_VALGRIND=1 SEEN=build-valgrind/seen SEEN_MODULE=build-valgrind/module/seen.so \
		/usr/bin/python3 -m pytest -q -p no:cacheprovider test/module

# Hours rather than minutes: 10 GiB streams, filters of 5e9 bits, 100,000 mutations.
check-long: setup-test setup-module all
	@SEEN_LONG=1 tools/check.sh $(BUILD)

bench: setup-build all
	@bench/run.sh $(BUILD)

# The figures and tables of the source papers, made anew: doc/papers.md.  What was measured before is
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

setup-build setup-test setup-papers setup-module setup-valgrind: setup-%:
	@tools/setup.sh $*

clean:
	rm -rf build build-asan build-tsan build-valgrind

.PHONY: all demo check check-asan check-tsan check-valgrind check-long bench papers papers-quick install uninstall \
	format clean setup-build setup-test setup-papers setup-module setup-valgrind
