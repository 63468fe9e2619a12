"""--state: a run goes on where the last one stopped, in its answers and in its files, or says what it
found instead."""

import os
import pathlib
import resource
import signal
import subprocess
import time

import pytest

from conftest import SEEN

SMALL = ["-w", "landmark fp=1e-9 mem=64KiB"]  # a state that is written in no time


@pytest.fixture
def state(tmp_path):
    return tmp_path / "run.state"


# -- the same as one run -------------------------------------------------------------------------------


def click_stream(rng, n=6000):
    """Records with repeats near and far, in order of time: text lines of key, quoted name, time."""
    t, lines = 1_600_000_000, []
    for _ in range(n):
        t += rng.randrange(40)
        key = rng.randrange(n // 3) if rng.random() < 0.7 else rng.randrange(20)
        lines.append(b'%d,"k ""%d""\n",%d\n' % (rng.randrange(10), key, t))
    return lines


RUNS = {
    "landmark": ["-w", "landmark"],
    "landmark by count": ["-w", "landmark:1000"],
    "jumping": ["-w", "jumping:1000/4 fp=1e-6"],
    "sliding": ["-w", "sliding:1000 fp=1e-6"],
    "sliding by time": ["-w", "sliding:1h rate=1", "--time", "3"],
    "exactly": ["-w", "sliding:1h filter=exact", "--time", "3"],
    "decaying": ["-w", "decaying mem=64KiB"],
    "days of a zone": ["-w", "landmark:1d", "--zone", "Europe/Berlin", "--time", "3"],
    "landmarks": ["-w", "landmark fp=1e-6 mem=1MiB", "--landmark-on", "^7,"],
    "confirmed": ["-w", "sliding:1000 fp=1e-6 cache=100", "--confirmed"],
}


@pytest.mark.parametrize("how", RUNS)
@pytest.mark.parametrize("mode", [[], ["--tag"], ["--duplicates"]], ids=["unique", "tag", "duplicates"])
def test_parts_print_what_one_run_would(seen, state, rng, how, mode):
    if "--confirmed" in RUNS[how] and mode == ["--tag"]:
        pytest.skip("--confirmed and --tag exclude each other")
    args = [*RUNS[how], *mode, "--csv", "-k", "name"]
    args = [a if a != "3" else "when" for a in args] + ["--seed", "1"]
    header, lines = b"x,name,when\n", click_stream(rng)
    whole = seen(*args, text=header + b"".join(lines)).out
    cuts = [0, *sorted(rng.randrange(len(lines)) for _ in range(4)), len(lines)]
    out = b""
    for a, b in zip(cuts, cuts[1:]):
        done = seen(*args, "--state", state, "-q", text=header + b"".join(lines[a:b]))
        assert done.code == 0 and done.err == b""
        out += done.out
    assert out == whole


def test_a_file_goes_on_where_it_was_left(seen, state, tmp_path):
    log = tmp_path / "log"
    log.write_text("a\nb\na\n")
    assert seen(*SMALL, "--state", state, log).out == b"a\nb\n"
    with open(log, "a") as more:
        more.write("b\nc\n")
    done = seen("--state", state, "--tag", log)
    assert done.out == b"dup\tb\nnew\tc\n"
    assert done.err.decode() == "seen: %s: resuming after record 3\n" % state
