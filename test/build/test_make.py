"""What make does with the packages that are there: required ones are named when they are missing, optional
ones are left out, and a build is configured again when they come or go.

Nothing is installed or removed here.  Programs that stand first on the path hide what is there.
"""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ("awk cat cc cut dirname env g++ gcc grep head id mktemp mkdir ninja meson pkg-config printf rm sed sh sort tr "
         "uniq dpkg-query")


@pytest.fixture
def shims(tmp_path):
    """shims(name, text): a program of that name that comes before the real one."""
    folder = tmp_path / "shims"
    folder.mkdir()

    def add(name, text):
        path = folder / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    add.folder = folder
    return add


@pytest.fixture
def hide(shims):
    """hide(package...): pkg-config no longer knows these, and knows all others again; meson asks CMake else."""
    shims("cmake", "exit 1\n")

    def these(*packages):
        shims("pkg-config", "case \"$*\" in %s) exit 1 ;; esac\nexec %s \"$@\"\n" %
              ("|".join("*%s*" % p for p in packages or ["nothing-is-hidden"]), shutil.which("pkg-config")))

    return these


@pytest.fixture
def run(shims):
    """run(tool, arguments...): one of tools/, in plain language, where the shims come first."""

    def call(tool, *args, path=os.environ["PATH"], **env):
        ours = {key: value for key, value in os.environ.items() if key not in ("CC", "CXX", "MESONFLAGS", "PKG_CONFIG")}
        ours.update(env, LC_ALL="C", PATH="%s:%s" % (shims.folder, path))
        return subprocess.run([ROOT / "tools" / tool, *map(str, args)], env=ours, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)

    return call


@pytest.fixture
def configure(run, tmp_path):
    """configure(...): configures build/ below the test's folder and returns what was printed."""

    def call(*args, **more):
        done = run("configure.sh", tmp_path / "build", *args, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return call


def only(folder, *missing):
    """A path with the tools that make takes, and no others."""
    folder.mkdir()
    for name in TOOLS.split():
        if name not in missing and shutil.which(name):
            (folder / name).symlink_to(shutil.which(name))
    return str(folder)


def test_make_goes_on_without_optional_libraries_and_names_them(hide, configure, tmp_path):
    hide("libzstd", "hiredis")
    configure()
    assert (tmp_path / "build/without.txt").read_text() == \
        "Built without .zst files, --redis: tools/setup.sh build installs what that takes\n"


def test_who_disables_an_option_is_not_told(configure, tmp_path):
    configure("-Dzstd=disabled")
    assert ".zst" not in (tmp_path / "build/without.txt").read_text()


def test_a_build_is_configured_again_when_cmocka_appears_and_when_it_vanishes(hide, configure, tmp_path):
    def has_tests():
        return "law_truth" in (tmp_path / "build/build.ninja").read_text()

    hide("cmocka")
    assert configure() == "Configuring %s\n" % (tmp_path / "build") and not has_tests()
    hide()
    assert "again, because these have changed: cmocka \n" in configure() and has_tests()
    hide("cmocka")
    assert "cmocka" in configure() and not has_tests()


def test_a_build_is_configured_once_where_nothing_changes(configure, tmp_path):
    configure()
    before = (tmp_path / "build/build.ninja").stat()
    assert configure() == ""
    after = (tmp_path / "build/build.ninja").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_options_given_once_are_kept_when_it_is_configured_again(hide, configure, tmp_path):
    def prefix():
        options = json.loads((tmp_path / "build/meson-info/intro-buildoptions.json").read_text())
        return next(o["value"] for o in options if o["name"] == "prefix")

    configure(MESONFLAGS="-Dprefix=/opt/seen")
    assert configure() == ""
    hide("cmocka")
    configure()
    assert prefix() == "/opt/seen"


def test_a_build_from_another_place_is_made_from_scratch(configure, tmp_path):
    configure()
    found = tmp_path / "build/found"
    found.write_text(found.read_text().replace("place %s" % ROOT, "place /elsewhere"))
    assert "from scratch" in configure() and configure() == ""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a build to another user")
def test_root_who_installs_does_not_configure_a_users_build(hide, configure, tmp_path):
    configure()
    os.chown(tmp_path / "build/build.ninja", 65534, 65534)
    hide("cmocka")
    assert configure() == ""


def test_the_library_goes_where_the_loader_looks(shims, configure, tmp_path):
    multiarch = subprocess.run(["cc", "-print-multiarch"], capture_output=True, text=True).stdout.strip()
    if not multiarch or not os.path.isdir("/usr/lib/" + multiarch):
        pytest.skip("this system has no folders for each architecture")
    shims("dpkg-architecture", "exit 127\n")  # it comes with dpkg-dev, which a bare system lacks
    configure()
    options = json.loads((tmp_path / "build/meson-info/intro-buildoptions.json").read_text())
    assert next(o["value"] for o in options if o["name"] == "libdir") == "lib/" + multiarch


@pytest.mark.parametrize("program, package", [("meson", "meson"), ("ninja", "ninja-build"), ("cc", "gcc"),
                                              ("pkg-config", "pkg-config")])
def test_make_names_a_missing_program_by_its_package(run, tmp_path, program, package):
    done = run("configure.sh", tmp_path / "build", path=only(tmp_path / "bin", program))
    assert done.returncode == 1
    assert "missing here: %s \n" % package in done.stderr and "apt-get install %s \n" % package in done.stderr
    assert not (tmp_path / "build").exists()


@pytest.mark.parametrize("header, package", [("uthash.h", "uthash-dev"), ("xxhash.h", "libxxhash-dev"),
                                             ("stdio.h", "libc6-dev")])
def test_make_names_a_missing_header_by_its_package(run, shims, tmp_path, header, package):
    shims("cc", "exec %s \"$@\" | sed 's/%s found/%s missing/'\n" % (shutil.which("cc"), header, header))
    done = run("configure.sh", tmp_path / "build")
    assert done.returncode == 1 and "apt-get install %s \n" % package in done.stderr


def lacks(shims, *packages):
    """dpkg-query says that all packages but these are installed, and the user may install none."""
    shims("dpkg-query", "case \"$4\" in %s) exit 1 ;; esac\nprintf installed\n" % "|".join(packages))
    shims("id", "echo 1000\n")


@pytest.mark.parametrize("target, package", [("build", "libzstd-dev"), ("module", "redis-server")])
def test_who_may_not_install_goes_on_without_what_is_optional(run, shims, tmp_path, target, package):
    lacks(shims, package)
    done = run("setup.sh", target, path=only(tmp_path / "bin"))
    assert done.returncode == 0
    assert "no sudo; going on without: %s\n" % package in done.stderr


@pytest.mark.parametrize("target, package", [("build", "uthash-dev"), ("test", "libcmocka-dev")])
def test_who_may_not_install_is_told_what_is_required(run, shims, tmp_path, target, package):
    lacks(shims, package)
    done = run("setup.sh", target, path=only(tmp_path / "bin"))
    assert done.returncode == 1
    assert "install these packages as root: %s\n" % package in done.stderr


def test_what_is_there_is_not_installed_again(run, shims, tmp_path):
    lacks(shims, "nothing")
    done = run("setup.sh", "test", path=only(tmp_path / "bin"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
