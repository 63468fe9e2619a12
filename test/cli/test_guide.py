"""doc/guide.md is true: each recipe is run in a folder of its own and prints what the guide shows.

    ```console            lines behind "$ " are typed, what is between them must be printed
    ```csv clicks.csv     a file of that name
    <!-- needs: kcat -->  skipped aloud where that program is missing

--update-golden writes into the guide what is printed now; read the diff.
"""

import json
import os
import pathlib
import re
import select
import shutil
import socket
import subprocess
import tomllib

import pytest

from conftest import ROOT, SEEN, skip_what_is_not_built_in

GUIDE = ROOT / "doc" / "guide.md"
BLOCK = re.compile(r"^```(\w+) ?([\w.-]*)\n(.*?)^```$", re.M | re.S)
MODULE = pathlib.Path(SEEN).parent / "module" / "seen.so"
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    HERE = {"7379": str(probe.getsockname()[1]),
            "/usr/local/lib/x86_64-linux-gnu/seen/seen.so": str(MODULE)}
RECIPES = re.split(r"^(?=## )", GUIDE.read_text(), flags=re.M)[1:]


def title(recipe):
    return re.sub(r"\W+", "-", recipe.split("\n", 1)[0][3:])


def environment(folder):
    folder = folder / ".bin"
    folder.mkdir(exist_ok=True)
    (folder / "seen").symlink_to(SEEN)
    return dict(os.environ, PATH="%s:%s" % (folder, os.environ["PATH"]), LC_ALL="C.UTF-8", TZ="UTC")


def here(line):
    """What is elsewhere on this machine: a port that is free, the module just built."""
    for name, place in HERE.items():
        line = line.replace(name, place)
    return line


started = []  # the groups of what was typed: servers may be left over


def stop(group):
    try:
        os.killpg(group, 15)
    except ProcessLookupError:
        pass


@pytest.fixture(autouse=True)
def nothing_is_left_running():
    yield
    while started:
        stop(started.pop())


def typed(line, folder, env):
    child = subprocess.Popen(["bash", "-c", here(line)], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             start_new_session=True)
    started.append(child.pid)
    printed = child.communicate(timeout=300)[0]
    skip_what_is_not_built_in(printed.encode())
    return printed


def session(block, folder, env):
    """The block as it looks when its lines are typed now."""
    return "".join("$ %s\n%s" % (line, typed(line, folder, env))
                   for line in re.findall(r"^\$ (.*)", block, re.M))


def play(recipe, folder):
    """The recipe, with what its commands print now."""
    env = environment(folder)

    def run(match):
        language, name, block = match.groups()
        if name:
            (folder / name).write_text(block)
        if language != "console":
            return match.group(0)
        return "```console\n%s```" % session(block, folder, env)

    return BLOCK.sub(run, recipe)


@pytest.mark.parametrize("recipe", RECIPES, ids=title)
def test_the_recipe_prints_what_the_guide_shows(recipe, tmp_path, request):
    for program in re.findall(r"<!-- needs: (\w+) -->", recipe):
        if not shutil.which(program):
            pytest.skip("%s is not installed: tools/setup.sh test, or module" % program)
    if "redis-server" in recipe and (not MODULE.exists() or "asan" in str(MODULE)):
        pytest.skip("no module that redis-server can load is built")
    played = play(recipe, tmp_path)
    if request.config.getoption("--update-golden"):
        GUIDE.write_text(GUIDE.read_text().replace(recipe, played))
    else:
        assert played == recipe


def test_every_recipe_runs_something():
    assert len(RECIPES) >= 12
    assert all("```console" in recipe or title(recipe).startswith("Under-") for recipe in RECIPES)


def test_every_recipe_is_in_the_list_of_contents():
    anchors = re.findall(r"^- \[(.*)\]\(#(.*)\)$", GUIDE.read_text(), re.M)
    titles = [recipe.split("\n", 1)[0][3:] for recipe in RECIPES]
    assert anchors == [(t, re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-")) for t in titles]


def test_every_file_it_links_to_is_there():
    for link in re.findall(r"\]\(([^)#]+)\)", BLOCK.sub("", GUIDE.read_text())):
        assert (GUIDE.parent / link).exists(), link


# -- the other documents ------------------------------------------------------------------------

# Indented lines behind "    $ " that need no file, and what they print.
EXAMPLE = re.compile(r"^    \$ (printf (?:.*\|\n)*.*)\n((?:    (?!\$ ).*\n)+)", re.M)
EXAMPLES = [(path.name, line, shown) for path in sorted(GUIDE.parent.glob("*.md"))
            for line, shown in EXAMPLE.findall(path.read_text())]


@pytest.mark.parametrize("name, line, shown", EXAMPLES)
def test_the_example_prints_what_the_document_shows(name, line, shown, tmp_path):
    assert typed(line, tmp_path, environment(tmp_path)) == re.sub(r"^    ", "", shown, flags=re.M)


# -- programs that start seen -------------------------------------------------------------------


def block(name):
    return next(text for _, found, text in BLOCK.findall(GUIDE.read_text()) if found == name)


@pytest.fixture
def start(tmp_path):
    """start(command) as a child whose pipes are ours; stopped at the end."""
    children = []
    env = environment(tmp_path)

    def run(command):
        child = subprocess.Popen(command, cwd=tmp_path, env=env, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 start_new_session=True)
        children.append(child)
        return child

    yield run
    for child in children:
        stop(child.pid)
        child.wait(10)


def test_a_line_in_brings_a_line_out_at_once_as_redpanda_connect_asks(start, seen):
    seen("--ndjson")  # skips where it is not built in
    arguments = re.search(r"args: (\[.*\])", block("connect.yaml")).group(1)
    child = start(["seen", *json.loads(arguments)])
    for message, verdict in ('{"id":1}', "new"), ('{"id":2}', "new"), ('{"id":1}', "dup"), ("{}", "-"):
        child.stdin.write(message + "\n")
        child.stdin.flush()
        assert child.stdout.readline() == "%s\t%s\n" % (verdict, message)
    child.stdin.close()
    assert child.wait(10) == 0 and child.stderr.read() == ""


def test_new_lines_of_a_growing_file_come_at_once_as_vector_asks(start, tmp_path):
    source = tomllib.loads(block("vector.toml"))["sources"]["clicks"]
    log = tmp_path / "clicks.log"
    log.write_text("old\tx\n")
    child = start(source["command"])
    for _ in range(100):  # tail begins at the end, wherever that is when it comes to look
        with log.open("a") as out:
            out.write("1\tready\n")
        if select.select([child.stdout], [], [], 0.1)[0]:
            break
    assert child.stdout.readline() == "1\tready\n"
    with log.open("a") as out:
        out.write("2\ta\n3\ta\n4\tb\n")
    assert [child.stdout.readline() for _ in range(2)] == ["2\ta\n", "4\tb\n"]
