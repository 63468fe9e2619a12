"""seen count and seen top group records by the window of their own time, in any order of arrival."""

import collections
import datetime
import subprocess

import pytest

from conftest import SEEN

DAY = 86400
BASE = 1_732_060_800  # 2024-11-20


def stamp(t):
    return datetime.datetime.fromtimestamp(t, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def rows_of(done):
    return [tuple(line.split("\t")) for line in done.lines[1:]]


@pytest.fixture
def table(tmp_path, rng):
    """A table of 40 days that is in no order: its path, and its rows (time, key, partner)."""
    rows = [(BASE + rng.randrange(40 * DAY), "k%d" % rng.randrange(30), "p%d" % rng.randrange(9))
            for _ in range(6000)]
    path = tmp_path / "table.csv"
    path.write_text("when,key,partner\n" + "".join("%d,%s,%s\n" % row for row in rows))
    return path, rows


def by_window(rows, length=DAY):
    windows = collections.defaultdict(list)
    for row in rows:
        windows[row[0] // length].append(row)
    return [windows[w] for w in sorted(windows)]


TABLE = ["--csv", "-k", "key", "--time", "when"]


@pytest.mark.parametrize("threads", ["-j1", "-j3"])
def test_count_by_day_of_a_table_in_no_order_has_a_row_for_each_day(seen, table, threads):
    path, rows = table
    done = seen("count", *TABLE, "-w", "landmark:1d seed=7", threads, path)
    truth = [(stamp(min(r[0] for r in day)), str(len(day)), str(len({r[1] for r in day})))
             for day in by_window(rows)]
    assert [row[:3] for row in rows_of(done)] == truth + [("all", "6000", "30")] and done.err == b""


def test_the_rows_are_those_of_the_sorted_table(seen, table, tmp_path):
    path, rows = table
    (tmp_path / "sorted.csv").write_text("when,key,partner\n" + "".join("%d,%s,%s\n" % r for r in sorted(rows)))
    for args in (["count", "-w", "landmark:1d seed=7"], ["count", "-w", "landmark:1w seed=7"], ["count", "-w", "jumping:4d/4 seed=7"],
                 ["count", "-w", "landmark:1d seed=7", "--zone", "America/New_York"],
                 ["count", "-w", "landmark:1d seed=7", "--group-by", "partner"],
                 ["top", "-w", "landmark:1d seed=7", "-n", "100"]):
        either = [sorted(seen(*args, *TABLE, p).lines) for p in (path, tmp_path / "sorted.csv")]
        assert either[0] == either[1], args


def test_a_jumping_window_holds_its_own_records(seen, table):
    path, rows = table
    done = seen("count", *TABLE, "-w", "jumping:4d/4 seed=7", path)
    for row, day in zip(rows_of(done), by_window(rows)):
        end = day[0][0] // DAY
        held = [r for r in rows if end - 4 < r[0] // DAY <= end]
        assert row[1:3] == (str(len(held)), str(len({r[1] for r in held})))


def test_top_by_day_of_a_table_in_no_order(seen, table):
    path, rows = table
    done = seen("top", *TABLE, "-w", "landmark:1d seed=7", "-n", "1", path)
    for row, day in zip(rows_of(done), by_window(rows)):
        count = collections.Counter(r[1] for r in day)
        assert int(row[2]) == max(count.values()) == count[row[1]]


def test_partners_of_each_day(seen, table):
    path, rows = table
    done = seen("top", *TABLE, "-w", "landmark:1d mem=64KiB", "--distinct", "partner", "-n", "100", path)
    found = {(row[0][:10], row[1]): int(row[2]) for row in rows_of(done) if row[0] != "all"}
    truth = collections.defaultdict(set)
    for t, key, partner in rows:
        truth[stamp(t)[:10], key].add(partner)
    assert found == {k: len(v) for k, v in truth.items()}


def test_from_a_pipe_a_window_is_printed_as_soon_as_it_is_over_and_late_records_are_told(seen):
    text = "".join("%d,%s\n" % (BASE + t, k) for t, k in [(0, "a"), (10, "b"), (DAY, "c"), (20, "d"), (DAY + 9, "c")])
    done = seen("count", "-d,", "--time=1", "-k2", "-w", "landmark:1d seed=7", text=text)
    assert [row[1:3] for row in rows_of(done)] == [("2", "2"), ("2", "1"), ("5", "4")]
    assert b"1 record came when the window of its time was over" in done.err
    assert b"--lateness" in done.err and b"'all'" in done.err


def test_lateness_holds_the_windows_of_a_pipe_open(seen):
    text = "".join("%d,%s\n" % (BASE + t, k) for t, k in [(0, "a"), (DAY, "c"), (20, "d"), (DAY + 3600, "c"), (30, "e")])
    done = seen("count", "-d,", "--time=1", "-k2", "-w", "landmark:1d seed=7", "--lateness", "1h", text=text)
    assert [row[1:3] for row in rows_of(done)] == [("2", "2"), ("2", "1"), ("5", "4")]
    assert b"came when the window" in done.err
    done = seen("count", "-d,", "--time=1", "-k2", "-w", "landmark:1d seed=7", "--lateness", "2h", text=text)
    assert [row[1:3] for row in rows_of(done)] == [("3", "3"), ("2", "1"), ("5", "4")] and done.err == b""


def test_a_window_of_a_pipe_is_printed_before_the_input_ends(seen):
    p = subprocess.Popen([SEEN, "count", "-d,", "--time=1", "-k2", "-w", "landmark:1d seed=7"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    p.stdin.write(b"%d,a\n%d,b\n" % (BASE, BASE + DAY))
    p.stdin.flush()
    assert p.stdout.readline().startswith(b"from") and p.stdout.readline().startswith(b"2024-11-20T")
    p.stdin.close()
    p.wait()


def test_few_open_windows_lose_nothing_in_order_and_tell_what_they_lose(seen, table, tmp_path):
    path, rows = table
    (tmp_path / "sorted.csv").write_text("when,key,partner\n" + "".join("%d,%s,%s\n" % r for r in sorted(rows)))
    few = ["count", *TABLE, "-w", "landmark:1d seed=7", "--open-windows", "2"]
    done = seen(*few, tmp_path / "sorted.csv")
    assert done.err == b"" and len(rows_of(done)) == 41
    done = seen(*few, path)
    told = done.err.decode()
    inside = sum(int(row[1]) for row in rows_of(done) if row[0] != "all")
    lost = int(told.split("seen: ")[1].split()[0])
    assert inside + lost == 6000 and rows_of(done)[-1][1] == "6000" and "--open-windows" in told
    assert [row[0] for row in rows_of(done)[:-1]] == sorted(row[0] for row in rows_of(done)[:-1])


@pytest.mark.parametrize("option", [["--open-windows", "0"], ["--open-windows", "x"], ["--lateness", "x"]])
def test_open_windows_that_cannot_be(seen, option):
    seen("count", "-d,", "--time=1", "-k2", "-w", "landmark:1d seed=7", *option, text="").refused(option[0])


@pytest.mark.parametrize("command", ["count", "top"])
def test_open_windows_without_windows_of_time_are_refused(seen, command):
    seen(command, "-w", "landmark:100", "--open-windows", "5", text="a\n").refused("--open-windows", "--time FIELD")


def test_a_pattern_follows_the_order_of_records(seen):
    done = seen("count", "-w", "landmark", "--landmark-on", "^--$", text="a\nb\n--\na\n")
    assert [row[1] for row in rows_of(done)] == ["2", "2", "4"]
