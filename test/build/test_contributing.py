"""The new structure that CONTRIBUTING.md shows is complete: its three pieces, added to a copy of the tree, build; the
planner and the command line know it, and the laws hold."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAWS = ("law_truth", "law_snapshot", "law_memory", "law_merge", "law_move", "law_plan")


def pieces():
    """The blocks of code of the section, without the indent of its list."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text[text.index("## A new structure"):text.index("## Other additions")]
    blocks = re.findall(r"^   ```c\n(.*?)^   ```$", section, re.S | re.M)
    return ["\n".join(line[3:] for line in block.split("\n")) for block in blocks]


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A build of the tree with the example in it."""
    tree = tmp_path_factory.mktemp("tree")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("the tree is copied by git, and this is not a clone")
    for name in listed.stdout.split("\0"):
        if name and (ROOT / name).exists() and not name.startswith("bench/paper/results"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
    code, structure, option = pieces()
    (tree / "src/filter/banked.c").write_text(code)
    for table, row, before in (("src/detector/structures.def", structure, "\n/* Windows over any filter"),
                               ("src/spec/options.def", option, "\n#undef PROBING")):
        text = (tree / table).read_text()
        assert text.count(before) == 1, table
        (tree / table).write_text(text.replace(before, row + before))
    options = ["-D%s=disabled" % name for name in ("ndjson", "gzip", "zstd", "xz", "bzip2", "redis")]
    for command in (["meson", "setup", "build", "--buildtype=debug", "-Dtests=enabled", *options],
                    ["ninja", "-C", "build", "seen", *("test/" + law for law in LAWS)]):
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        assert "warning:" not in done.stdout, done.stdout[-3000:]
    return tree / "build"


def seen(build, *args, **more):
    return subprocess.run([build / "seen", *args], capture_output=True, text=True, timeout=60, **more)


def test_the_planner_sizes_the_new_structure_with_its_formula(build):
    done = seen(build, "plan", "landmark:1e6 filter=banked banks=4 fp=.01")
    assert done.returncode == 0, done.stderr
    assert "banks=4" in done.stdout and "filter=banked" in done.stdout


def test_its_option_is_known_and_has_bounds(build):
    done = seen(build, "plan", "landmark:1e6 filter=banked banks=65")
    assert done.returncode != 0 and "banks=65 is out of range" in done.stderr
    done = seen(build, "plan", "landmark:1e6 filter=bloom banks=2")
    assert done.returncode != 0 and "banks= is for filter=banked only" in done.stderr


def test_it_drops_duplicates_with_its_option_on_the_command_line(build):
    done = seen(build, "-w", "landmark:1e6", "--filter", "banked", "--banks", "4", input="a\nb\na\nc\nb\n")
    assert (done.returncode, done.stdout) == (0, "a\nb\nc\n"), done.stderr


@pytest.mark.parametrize("law", LAWS)
def test_the_laws_hold_for_it(build, law):
    env = dict(os.environ, SEEN_ONLY="banked", SEEN_SEED="20050510")
    done = subprocess.run([build / "test" / law], capture_output=True, text=True, env=env, timeout=600)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    assert "banked" in said and "PASSED" in said
