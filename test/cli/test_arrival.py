"""Windows of time: by whose clock?  A file's records are all there at once; those of a pipe arrive."""

import gzip
import os
import subprocess
import time

import pytest

from conftest import SEEN

HOUR = ["-w", "sliding:1h"]
CLICKS = "user,when\nann,2024-11-20T10:00:00Z\nann,2024-11-20T12:00:00Z\nann,2024-11-21T12:00:00Z\n"
LOG = "".join('10.0.0.1 - - [20/Nov/2024:%02d:00:00 +0000] "GET / HTTP/1.1" 200 5\n' % hour for hour in (1, 3, 5))


@pytest.fixture
def clicks(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text(CLICKS)
    return path


@pytest.mark.parametrize("command", [[*HOUR], ["-w", "jumping:1h/6"], ["-w", "landmark:1d"],
                                     ["-w", "landmark:1d", "--zone", "Europe/Berlin"],
                                     ["count", "-w", "landmark:1d"], ["count", "-w", "jumping:1h/6"],
                                     ["top", "-w", "landmark:1h"], ["compare", *HOUR]])
def test_a_file_without_times_is_refused_in_every_window_of_time(seen, clicks, command):
    done = seen(*command, "--csv", "-k", "user", clicks)
    done.refused("window of time", str(clicks), "--time FIELD", "--arrival")
    assert done.out == b""


def test_a_file_as_standard_input_is_a_file(seen, clicks):
    with open(clicks) as text:
        done = subprocess.run([SEEN, *HOUR, "--csv", "-k", "user"], stdin=text, capture_output=True, timeout=300)
    assert done.returncode == 2 and b"standard input is a file" in done.stderr and b"--time FIELD" in done.stderr


def test_a_packed_file_is_a_file(seen, tmp_path):
    (tmp_path / "clicks.csv.gz").write_bytes(gzip.compress(CLICKS.encode()))
    seen(*HOUR, "--csv", "-k", "user", tmp_path / "clicks.csv.gz").refused("clicks.csv.gz", "--arrival")


def test_one_file_among_pipes_is_enough(seen, clicks):
    seen(*HOUR, "--csv", "-k", "user", "-", clicks, text=CLICKS).refused(str(clicks), "--arrival")


def test_with_their_own_time_records_of_a_file_are_judged(seen, clicks):
    done = seen(*HOUR, "--csv", "-k", "user", "--time", "when", clicks)
    assert len(done.lines) == 4 and done.err == b""


def test_arrival_says_that_it_is_meant(seen, clicks):
    done = seen(*HOUR, "--csv", "-k", "user", "--arrival", clicks)
    assert len(done.lines) == 2 and done.code == 0 and done.err == b""


def test_a_state_outlives_the_run_so_that_arrival_means_something(seen, clicks, state):
    done = seen(*HOUR, "--csv", "-k", "user", "--state", state, clicks)
    assert len(done.lines) == 2 and done.code == 0 and done.err == b""


def test_windows_of_records_need_no_time(seen, clicks):
    assert seen("-w", "sliding:1000", "--csv", "-k", "user", clicks).code == 0


def test_a_web_log_goes_by_its_own_time(seen, tmp_path):
    (tmp_path / "access.log").write_text(LOG)
    log = tmp_path / "access.log"
    assert len(seen(*HOUR, "--clf", "-k", "host", log).lines) == 3
    assert len(seen(*HOUR, "--clf", "-k", "host", text=LOG).lines) == 3
    assert len(seen(*HOUR, "--clf", "-k", "host", "--arrival", log).lines) == 1
    assert len(seen("-w", "sliding:100", "--clf", "-k", "host", log).lines) == 1
    assert len(seen("count", "-w", "landmark:1h", "--clf", "-k", "host", log).lines) == 5
    assert seen(*HOUR, "--clf", "-k", "host", "--reorder", "1h", log).code == 0


def test_tags_of_a_web_log_tell_its_own_time(seen):
    assert seen("--clf", "-k", "host", "--tag=time", "-q", text=LOG).lines[0].startswith("2024-11-20T01:00:00Z\t")


def test_several_web_logs_merge_by_their_own_time(seen, tmp_path):
    for name, hours in ("a", (0, 2)), ("b", (1, 3)):
        (tmp_path / name).write_text("".join(LOG.splitlines(True)[0].replace("01:00", "%02d:00" % h) for h in hours))
    done = seen("--merge", "--clf", "-w", "landmark", "a", "b", cwd=tmp_path)
    assert [line.split(":")[1] for line in done.lines] == ["00", "01", "02", "03"]


def test_a_pipe_that_is_over_at_once_is_told_to_be_judged_by_arrival(seen):
    done = seen(*HOUR, text="a\nb\na\n")
    assert done.lines == ["a", "b"] and done.code == 0
    told = done.err.decode()
    assert len(told.splitlines()) == 1
    for word in ("arrived", "window of 1h", "--time FIELD", "--arrival"):
        assert word in told, told


@pytest.mark.parametrize("more", [["-q"], ["--arrival"], ["--now", "2024-11-20T10:00:00Z", "-q"]])
def test_nothing_is_told_where_it_is_meant_or_not_wanted(seen, more):
    assert seen(*HOUR, *more, text="a\nb\na\n").err == b""


def test_no_records_no_word(seen):
    assert seen(*HOUR, text="").err == b""


def test_a_pipe_that_takes_its_time_is_as_before():
    with subprocess.Popen([SEEN, "-w", "sliding:20s"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdin.write(b"a\n")
        run.stdin.flush()
        assert run.stdout.readline() == b"a\n"  # the first record has arrived, however slow the program began
        time.sleep(0.3)
        assert run.communicate(b"a\n", timeout=300) == (b"", b"")


def test_a_fifo_arrives(seen, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    feed = subprocess.Popen(["sh", "-c", "printf 'a\\na\\n' > fifo"], cwd=tmp_path)
    done = seen(*HOUR, "-q", tmp_path / "fifo")
    feed.wait()
    assert done.lines == ["a"] and done.code == 0


def test_arrival_and_time_exclude_each_other(seen):
    seen(*HOUR, "--arrival", "--time", "1", text="a\n").refused("--time", "--arrival")


def test_arrival_without_a_window_of_time_is_refused(seen):
    seen("-w", "sliding:100", "--arrival", text="a\n").refused("--arrival", "windows of time")
