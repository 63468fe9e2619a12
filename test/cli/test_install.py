"""make install puts everything where it belongs, and what it put there works; make uninstall takes
all of it away.  Installed below a temporary DESTDIR, so that the build keeps its prefix."""

import os
import pathlib
import re
import subprocess

import pytest

from conftest import ROOT, SEEN
from test_manners import COMMANDS

BUILD = pathlib.Path(SEEN).parent
ASAN = ["-fsanitize=address,undefined"] if "asan" in BUILD.name else []


def make(target, destdir):
    subprocess.run(["make", "-s", "-C", ROOT, target, "BUILD=%s" % BUILD, "DESTDIR=%s" % destdir],
                   check=True, capture_output=True, timeout=600)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    if not (BUILD / "build.ninja").exists():
        pytest.skip("%s is not a build folder: nothing to install from" % BUILD)
    destdir = tmp_path_factory.mktemp("root")
    make("install", destdir)
    yield destdir
    make("uninstall", destdir)
    assert [path for path in destdir.rglob("*") if not path.is_dir()] == []


@pytest.fixture(scope="module")
def prefix(installed):
    return next(installed.rglob("bin/seen")).parents[1]


@pytest.fixture(scope="module")
def pkg_config(installed):
    folder = next(installed.rglob("seen.pc")).parent
    env = dict(os.environ, PKG_CONFIG_PATH=str(folder), PKG_CONFIG_SYSROOT_DIR=str(installed))

    def ask(*words):
        done = subprocess.run(["pkg-config", *words, "seen"], env=env, check=True, capture_output=True,
                              text=True)
        return done.stdout.split()

    return ask


def test_the_installed_program_runs(prefix):
    done = subprocess.run([prefix / "bin/seen"], input=b"a\nb\na\n", capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"a\nb\n", b"")


def test_there_is_a_manual_page_for_each_subcommand(prefix):
    folder = prefix / "share/man/man1"
    assert {path.name for path in folder.iterdir()} == \
        {"seen.1", *("seen-%s.1" % command for command in COMMANDS)}
    for path in folder.iterdir():
        assert path.read_text().startswith(".TH %s 1 " % path.name[:-2].upper())


def test_completions_are_where_the_shells_look(prefix):
    share = prefix / "share"
    assert "complete -F _seen seen" in (share / "bash-completion/completions/seen").read_text()
    assert (share / "zsh/site-functions/_seen").read_text().startswith("#compdef seen\n")
    assert "complete -c seen" in (share / "fish/vendor_completions.d/seen.fish").read_text()


def test_the_module_is_there_if_it_was_built(prefix):
    built = list(BUILD.glob("module/seen.so"))
    assert len(list(prefix.glob("lib/**/seen/seen.so"))) == len(built)


def test_the_documents_are_there_and_link_to_each_other(prefix):
    folder = prefix / "share/doc/seen"
    assert (folder / "doc/guide.md").exists()
    for page in folder.rglob("*.md"):
        for link in re.findall(r"\]\((?!http)([^)#]+)\)", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)):
            assert (page.parent / link).exists(), (page, link)


def example(tmp_path):
    source = tmp_path / "example.c"
    readme = (ROOT / "README.md").read_text()
    source.write_text(re.search(r"^```c\n(.*?)^```", readme, re.M | re.S).group(1))
    return source


FOUND = "a new\nb new\na seen before\nc new\nb seen before\n"


def test_the_example_of_the_readme_builds_with_pkg_config(installed, pkg_config, tmp_path):
    program = tmp_path / "example"
    subprocess.run(["cc", *ASAN, *pkg_config("--cflags"), example(tmp_path), "-o", program,
                    *pkg_config("--libs")], check=True)
    folder = next(installed.rglob("libseen.so.1")).parent
    env = dict(os.environ, LD_LIBRARY_PATH=str(folder))
    assert subprocess.run([program], env=env, capture_output=True, text=True).stdout == FOUND


def test_it_builds_against_the_static_library_too(installed, pkg_config, tmp_path):
    program, archive = tmp_path / "example", next(installed.rglob("libseen.a"))
    others = [word for word in pkg_config("--static", "--libs") if word not in ("-lseen",)]
    subprocess.run(["cc", *ASAN, *pkg_config("--cflags"), example(tmp_path), "-o", program, archive,
                    *others], check=True)
    assert subprocess.run([program], capture_output=True, text=True).stdout == FOUND
    needed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    assert "libseen" not in needed


def test_the_library_says_which_abi_it_has(installed):
    library = next(installed.rglob("libseen.so.1"))
    headers = subprocess.run(["readelf", "-d", library], capture_output=True, text=True).stdout
    assert "[libseen.so.1]" in headers
