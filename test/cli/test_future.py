"""Times in the future: a wrong clock, a wrong zone or a wrong unit must not spoil a window."""

import pytest

NOW = ["--now", "2024-11-20T10:00:00Z"]
HOUR = ["-d,", "--time=1", "-k2", "-w", "sliding:1h", "--tag"]
ROWS = "2024-11-20T09:00:00Z,k\n%s,k\n2024-11-20T10:10:00Z,k\n2024-11-20T11:30:00Z,k\n"


def verdicts(done):
    return [line.split("\t")[0] for line in done.lines]


def test_one_record_of_2062_does_not_make_all_later_ones_duplicates(seen):
    done = seen(*HOUR, *NOW, text=ROWS % "2062-01-01T00:00:00Z")
    assert verdicts(done) == ["new", "-", "new", "new"] and done.code == 0
    told = done.err.decode()
    for word in ("1 record was passed on unjudged", "record 2 says 2062-01-01T00:00:00Z", "the clock 2024-11-20T10:00:00Z",
                 "--allow-future", "--zone"):
        assert word in told, told


def test_allow_future_judges_it_like_others(seen):
    done = seen(*HOUR, *NOW, "--allow-future", "-q", text=ROWS % "2062-01-01T00:00:00Z")
    assert verdicts(done) == ["new", "new", "dup", "dup"] and done.err == b""


@pytest.mark.parametrize("time, verdict", [("2024-11-21T10:00:00Z", "new"), ("2024-11-21T10:00:00.000001Z", "-")])
def test_a_day_later_than_the_clock_is_the_limit(seen, time, verdict):
    done = seen(*HOUR, *NOW, text=time + ",k\n")
    assert verdicts(done) == [verdict]


def test_the_machines_own_clock_is_what_counts_without_now(seen):
    done = seen(*HOUR, text="9999-01-01T00:00:00Z,k\n2024-11-20T10:00:00Z,k\n")
    assert verdicts(done)[0] == "-" and b"9999-01-01T00:00:00Z, the clock 20" in done.err


def test_a_clock_that_is_not_set_turns_the_rule_off_with_one_warning(seen):
    text = ROWS % "2062-01-01T00:00:00Z"
    done = seen(*HOUR, "--now", "1970-01-02T00:00:00Z", text=text * 3000)
    assert verdicts(done)[1] == "new"
    assert done.err.decode().count("the clock says 1970-01-02T00:00:00Z and is not set") == 1
    assert seen(*HOUR, "--now", "1970-01-02T00:00:00Z", "-q", text=text).err == b""


def test_without_a_field_of_time_the_clock_needs_no_limit(seen):
    done = seen("-w", "sliding:1h", "--now", "1970-01-02T00:00:00Z", "-q", text="a\na\n")
    assert done.lines == ["a"] and done.err == b""


@pytest.mark.parametrize("threads", ["-j1", "-j2", "-j4"])
def test_the_count_and_the_record_are_those_of_one_thread(seen, rng, threads):
    times = [rng.choice([1_732_000_000, 1_732_000_100]) for _ in range(40000)]
    wrong = sorted(rng.sample(range(len(times)), 50))
    for i in wrong:
        times[i] = 2_900_000_000 + i
    done = seen(*HOUR, *NOW, threads, text="".join("%d,k%d\n" % (t, i % 9) for i, t in enumerate(times)))
    assert b"50 records were passed on unjudged" in done.err and b"record %d says " % (wrong[0] + 1) in done.err
    assert [i for i, v in enumerate(verdicts(done)) if v == "-"] == wrong


@pytest.mark.parametrize("command", [["count", "-w", "landmark:1d"], ["top", "-w", "landmark:1d"],
                                     ["compare", "-w", "sliding:1h"]])
def test_every_subcommand_with_windows_of_time_leaves_them_out(seen, command):
    done = seen(*command, "-d,", "--time=1", "-k2", *NOW, text=ROWS % "2062-01-01T00:00:00Z")
    assert b"record 2 says 2062-01-01T00:00:00Z" in done.err and b"2062" not in done.out


def test_a_merge_does_not_wait_for_2062(seen, tmp_path):
    (tmp_path / "a").write_text("2024-11-20T08:00:00Z,x\n2062-01-01T00:00:00Z,x\n2024-11-20T08:02:00Z,x\n")
    (tmp_path / "b").write_text("2024-11-20T08:01:00Z,y\n2024-11-20T08:03:00Z,y\n")
    done = seen("--merge", "--time=1", "-d,", *NOW, "-w", "landmark", "-q", "a", "b", cwd=tmp_path)
    assert [line[14:16] for line in done.lines] == ["00", "00", "01", "02", "03"]
    assert done.lines[1].startswith("2062")


def test_reorder_does_not_hold_back_for_2062(seen):
    done = seen(*HOUR, *NOW, "--reorder", "1h", "-q", text=ROWS % "2062-01-01T00:00:00Z")
    assert sorted(verdicts(done)) == ["-", "new", "new", "new"]


def test_now_that_is_no_time_is_refused(seen):
    seen(*HOUR, "--now", "noon").refused("--now noon", "2024-11-20T10:00:00Z")


def test_a_state_goes_on_whatever_the_clock_says(seen, state):
    args = [*HOUR, "--state", state]
    assert verdicts(seen(*args, *NOW, text=ROWS % "2062-01-01T00:00:00Z"))[1] == "-"
    assert seen(*args, "--allow-future", text="2024-11-20T11:40:00Z,k\n").lines == ["dup\t2024-11-20T11:40:00Z,k"]
