"""The commands of bench/paper/sources.tsv, which doc/papers.md shows, run; and the table there is that one."""

import csv
import json
import math
import shlex
import subprocess

import pytest

from conftest import ROOT, SEEN

with (ROOT / "bench/paper/sources.tsv").open(newline="") as f:
    ROWS = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
COMMANDS = [row["command"] for row in ROWS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("sources")
    (path / "ids").write_text("".join(f"{i * 7919 % 3000}\n" for i in range(5000)))
    rows = [f"2026-01-{1 + i // 200:02}T00:{i % 60:02}:00Z,ad{i % 7},c{i * 31 % 97},10.0.0.{i % 11},p{i % 3}" for i in range(1000)]
    (path / "clicks.csv").write_text("\n".join(["when,ad,cookie,ip,publisher", *rows]) + "\n")
    (path / "peer-a").write_text("rain\nsun\n")
    (path / "peer-b").write_text("goal\n")
    (path / "queries").write_text("rain and sun\nnothing\na goal\n")
    (path / "good").write_text("10.0.0.3\n10.0.0.7\n")
    return path


@pytest.mark.parametrize("command", [c for c in dict.fromkeys(COMMANDS) if c.startswith("seen ") and "HOST" not in c])
def test_each_command_runs(folder, command):
    done = subprocess.run([SEEN, *shlex.split(command)[1:]], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == 0 and done.stdout, done.stderr


@pytest.mark.parametrize("words,fp", [
    ("bits=16 substring=16", 1 - (1 - 2**-16) ** 65536), ("bloom k=1 blocks=16130", 1 - math.exp(-1 / 8)),
    ("bloom k=2 blocks=16130", (1 - math.exp(-1 / 4)) ** 2), ("partitioned k=6", (1 - math.exp(-6 / 8)) ** 6)])
def test_plans_show_the_sources_numbers(words, fp):
    command = next(c for c in COMMANDS if words in c)
    done = subprocess.run([SEEN, *shlex.split(command)[1:], "-o", "json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["plans"][0]["fp_full"] == pytest.approx(fp, rel=0.01)


def test_what_is_no_command_of_seen_is_there():
    makefile, others = (ROOT / "Makefile").read_text(), {c for c in COMMANDS if not c.startswith("seen ")}
    for command in others:
        first, second = (command.split() + [""])[:2]
        if first == "make":
            assert f"\n{second}:" in makefile
        elif first == "build/bench-spaces":
            assert (ROOT / "bench/micro/spaces.c").exists()
        else:
            assert f"`{first} " in (ROOT / "doc/module.md").read_text(), command


def test_every_row_has_all_cells_and_stands_in_the_document():
    page = (ROOT / "doc/papers.md").read_text()
    for row in ROWS:
        assert all(row.values()) and None not in row, row
        assert f"| {row['source']} | {row['place']} | {row['what']} | `{row['command']}` |" in page, row
