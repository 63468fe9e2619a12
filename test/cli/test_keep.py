"""--keep last: the last record of each key in a window, against its definition."""

import re

import pytest


def last_ones(rows, window, timed, how):
    """Places of the records that go: of (time, key), positions from 0."""
    clock = [t if timed else i for i, (t, _) in enumerate(rows)]
    inside = (lambda a, b: clock[b] - clock[a] < window) if timed else (lambda a, b: b - a <= window)
    held, out = {}, []
    for i, (_, key) in enumerate(rows):
        first, last = held.get(key, (None, None))
        if how == "landmark":
            same = last is not None and clock[last] // window == clock[i] // window
        else:
            same = last is not None and inside(first if how == "first" else last, i)
        if last is not None and not same:
            out.append(last)
        held[key] = (first if same else i, i)
    return sorted(out + [last for _, last in held.values()])


WINDOWS = [("sliding:40", 40, False, "last"), ("sliding:40 refresh=first", 40, False, "first"),
           ("landmark:300", 300, False, "landmark"), ("sliding:90s", 90, True, "last"),
           ("sliding:90s refresh=first", 90, True, "first"), ("landmark:500s", 500, True, "landmark"),
           ("landmark:1w", 7 * 86400, True, "week"), ("landmark", 10**9, False, "landmark")]


@pytest.mark.parametrize("spec,window,timed,how", WINDOWS)
@pytest.mark.parametrize("more", [[], ["-j3"], ["--reorder=1h"]])
def test_the_last_record_of_a_key_in_a_window_goes(seen, rng, spec, window, timed, how, more):
    if more == ["--reorder=1h"] and not timed:
        pytest.skip("sorting needs times")
    now, rows = 1_704_067_200 + 3 * 3600, []
    for _ in range(9000):
        now += rng.choice([0, 1, 2, 60]) * (200 if how == "week" else 1)
        rows.append((now, rng.randrange(60)))
    judged = [(t + 3 * 86400, key) for t, key in rows] if how == "week" else rows
    truth = last_ones(judged, window, timed, "landmark" if how == "week" else how)
    text = "".join("%d,%d,%d\n" % (t, key, i) for i, (t, key) in enumerate(rows))
    args = ["-w", spec, *(["--time=1"] if timed else []), "-d,", "-k2", "--keep=last", *more]
    done = seen(*args, "--stats=json", text=text)
    places = [int(line.split(",")[2]) for line in done.lines]
    assert sorted(places) == truth and len(truth) == done.stats["unique"]
    if how != "first":
        assert places == truth  # in the order of the records
    others = seen(*args, "--duplicates", text=text).lines
    assert sorted(places + [int(line.split(",")[2]) for line in others]) == list(range(len(rows)))
    assert done.stats["let_go_early"] == 0


def test_nothing_waits_longer_than_its_window(seen):
    """A record goes when one has come that its window does not reach, before the input ends."""
    text = "1,a\n2,b\n3,a\n90,c\n"
    done = seen("-w", "sliding:10s", "--keep=last", "--time=1", "-d,", "-k2", "--tag=verdict,number", text=text)
    assert done.lines == ["dup\t1\t1,a", "new\t2\t2,b", "new\t3\t3,a", "new\t4\t90,c"]


SHORT = re.compile(r"memory was short: (\d+) duplicates were printed, because --hold=64KiB does not hold the last "
                   r"record of each key; about --hold=(\S+) would")


@pytest.mark.parametrize("spec", ["landmark", "sliding:1e6", "sliding:1e6 refresh=first"])
def test_a_key_whose_last_record_went_early_is_printed_again_told_and_exits_3(seen, rng, spec):
    keys = [rng.randrange(1000) for _ in range(20000)]
    text = "".join("%d,%s\n" % (key, "x" * 50) for key in keys)
    args = ["-w", spec, "-d,", "-k1", "--keep=last"]
    whole = seen(*args, "--stats=json", text=text)
    assert len(whole.lines) == 1000 and whole.stats["let_go_early"] == 0 and whole.code == 0
    small = seen(*args, "--hold=64KiB", text=text)
    repeats, enough = SHORT.search(small.err.decode()).groups()
    assert len(small.lines) == 1000 + int(repeats) and int(repeats) > 1000 and small.code == 3
    quiet = seen(*args, "--hold=64KiB", "-q", "--exit-code", text=text)
    assert quiet.code == 3 and quiet.err == b""  # 3 comes before 1
    stats = seen(*args, "--hold=64KiB", "--stats=json", text=text).stats
    assert stats["let_go_early"] >= int(repeats) and stats["held_most_bytes"] <= 64 << 10
    advised = seen(*args, "--hold=" + enough, "--exit-code", text=text)
    assert advised.out == whole.out and advised.code == 1 and advised.err == b""


def test_trouble_comes_before_a_degraded_answer(seen):
    text = "".join("%d,%s\n" % (i % 1000, "x" * 50) for i in range(20000)) + "no key\n"
    assert seen("-w", "landmark", "-d,", "-k2", "--keep=last", "--hold=4KiB", "--strict", "-q", text=text).code == 2


def test_records_that_go_early_without_a_repeat_change_no_verdict(seen):
    text = "".join("%d,%s\n" % (i, "x" * 50) for i in range(5000))
    done = seen("-w", "landmark", "-d,", "-k1", "--keep=last", "--hold=64KiB", text=text)
    assert done.out.decode() == text and done.code == 0
    assert "--hold=64KiB let" in done.err.decode() and "no verdict changed" in done.err.decode()


@pytest.mark.parametrize("length", [20, 50, 100])
@pytest.mark.parametrize("records,keys", [(70000, None), (200000, 40000)])
def test_a_held_record_takes_60_bytes_at_most_beside_itself(seen, rng, length, records, keys):
    """All keys new, or most records in another's place; the table of places is at its largest after 65,536."""
    drawn = ["%06d" % (rng.randrange(keys) if keys else i) for i in range(records)]
    text = "".join("%s,%s\n" % (key, "x" * (length - 8)) for key in drawn)
    stats = seen("-w", "landmark", "-d,", "-k1", "--keep=last", "--stats=json", text=text).stats
    held = len(set(drawn))
    assert length < stats["held_most_bytes"] / held <= length + 60
    half = (length + 60) * held // 2  # half of it holds half of them
    short = seen("-w", "landmark", "-d,", "-k1", "--keep=last", "--hold=%dKiB" % (half >> 10), "--stats=json",
                 text="".join("%s,%s\n" % (key, "x" * (length - 8)) for key in sorted(set(drawn)))).stats
    assert held - short["let_go_early"] >= 0.45 * held


def test_what_cannot_be_judged_goes_at_once_and_last_lines_get_their_end(seen):
    done = seen("-w", "landmark", "-d,", "-k2", "--keep=last", "-q", text="a,1\nnothing\nb,1\nc,2")
    assert done.out == b"nothing\nb,1\nc,2\n"


def test_a_pattern_ends_the_window(seen):
    done = seen("-w", "landmark", "--landmark-on", "^#", "-d,", "-k2", "--keep=last", "-q", text="a,1\nb,1\n#,0\nc,1\n")
    assert done.lines == ["b,1", "#,0", "c,1"]


def test_keep_first_is_as_without(seen):
    assert seen("--keep=first", text="a 1\na 1\n").out == b"a 1\n"


@pytest.mark.parametrize("args,words", [
    (["--keep=both"], ["first or last"]),
    (["-w", "jumping:10/2"], ["sliding"]),
    (["-w", "decaying mem=1MiB"], ["decaying"]),
    (["-w", "sliding:10 filter=line"], ["filter=exact"]),
    (["-w", "sliding:1h lateness=1h"], ["--lateness"]),
    (["--audit"], ["--audit"]),
    (["--tag=age"], ["--tag=age"]),
    (["--state", "s"], ["--state"]),
])
def test_what_makes_no_sense_is_refused(seen, tmp_path, args, words):
    keep = [] if args[0].startswith("--keep") else ["--keep=last"]
    seen(*keep, *args, cwd=tmp_path).refused(*words)
