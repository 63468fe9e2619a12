"""Records out of order: judged by their own time (--lateness), or sorted first (--reorder), against an
oracle written from each definition alone; also on a real stream with mostly late rows."""

import bisect
import re
import signal
import subprocess

import pytest

from conftest import SEEN

HOUR = 3600 * 10**6


def spans(text):
    return int(text[:-1]) * {"m": 60, "h": 3600, "d": 86400}[text[-1]] * 10**6


def judged_by_their_own_time(rows, window, lateness):
    """Duplicate: an accepted record of the key has |t - t'| < W, t being at least newest - L."""
    accepted, newest, unique, clamped = {}, 0, 0, 0
    for t, key in rows:
        newest = max(newest, t)
        clamped += t < newest - lateness
        t = max(t, newest - lateness)
        times = accepted.setdefault(key, [])
        i = bisect.bisect_left(times, t)
        near = times[max(0, i - 1):i + 1]
        if any(abs(t - other) < window for other in near):
            continue
        times.insert(i, t)
        unique += 1
    return unique, clamped


def cran(path):
    """Its rows as (time, key)."""
    for line in path.read_text().splitlines()[1:]:
        epoch, client, package, version, _ = line.split("\t")
        yield int(epoch) * 10**6, (client, package, version)


@pytest.mark.parametrize("window", ["10m", "1h", "1d"])
def test_late_records_of_a_mirrors_log_are_judged_by_their_own_time(seen, stream, window):
    path = stream("cran_2014w51_arrival.tsv")
    unique, clamped = judged_by_their_own_time(cran(path), spans(window), HOUR)
    stats = seen("-w", "sliding:" + window, "--lateness", "1h", "--tsv", "--time", "#epoch", "-k",
                 "client,package,version", "--stats=json", path, stdout=-3).stats
    assert (stats["records"], stats["unique"], stats["clamped"]) == (1_345_192, unique, clamped)


def random_rows(rng, n, lateness):
    now, rows = 10**9, []
    for _ in range(n):
        now += rng.choice([0, 1, 7, 1000])
        rows.append((now - rng.choice([0, 0, rng.randrange(2 * lateness), lateness, lateness + 1]),
                     rng.randrange(30)))
    return rows


def as_text(rows):
    return "".join("%d.%06d,%d\n" % (*divmod(t, 10**6), key) for t, key in rows)


@pytest.mark.parametrize("window,lateness", [(5000, 3000), (1000, 40000), (20000, 1000)])
def test_lateness_on_random_streams(seen, rng, window, lateness):
    rows = random_rows(rng, 5000, lateness)
    unique, clamped = judged_by_their_own_time(rows, window, lateness)
    stats = seen("-w", "sliding:%dms" % (window // 1000), "--lateness", "%dms" % (lateness // 1000), "-d,",
                 "--time=1", "-k2", "--stats=json", text=as_text(rows)).stats
    assert (stats["unique"], stats["clamped"]) == (unique, clamped)


def in_order(rows, lateness):
    """Those more than L late as L late, then sorted; equal times as they came."""
    newest, clamped, out = 0, 0, []
    for t, key in rows:
        newest = max(newest, t)
        clamped += t < newest - lateness
        out.append((max(t, newest - lateness), key))
    out.sort(key=lambda row: row[0])
    return out, clamped


def judged_in_order(rows, window, lateness):
    """Duplicate: an equal key less than W before."""
    last, unique = {}, 0
    rows, clamped = in_order(rows, lateness)
    for t, key in rows:
        unique += key not in last or t - last[key] >= window
        last[key] = t
    return unique, clamped


@pytest.mark.parametrize("window", ["10m", "1h", "1d"])
def test_a_mirrors_log_is_brought_into_order(seen, stream, window):
    path = stream("cran_2014w51_arrival.tsv")
    unique, clamped = judged_in_order(cran(path), spans(window), HOUR)
    stats = seen("-w", "sliding:%s filter=exact" % window, "--reorder", "1h", "--tsv", "--time", "#epoch", "-k",
                 "client,package,version", "--stats=json", path, stdout=-3).stats
    assert (stats["records"], stats["unique"], stats["clamped"]) == (1_345_192, unique, clamped)
    assert stats["late"] > 0.94 * 1_345_192 and sum(s["records"] for s in stats["late_by"]) == stats["late"]
    assert stats["let_go_early"] == 0


@pytest.mark.parametrize("window,lateness", [(5000, 3000), (1000, 40000), (20000, 1000)])
def test_records_come_out_in_the_order_of_their_times(seen, rng, window, lateness):
    rows = [(t, "%d,%d" % (key, i)) for i, (t, key) in enumerate(random_rows(rng, 3000, lateness))]
    text = "".join("%d.%06d,%s\n" % (*divmod(t, 10**6), key) for t, key in rows)
    done = seen("-w", "sliding:%dms filter=exact" % (window // 1000), "--reorder", "%dms" % (lateness // 1000),
                "-d,", "--time=1", "-k2", "--tag", text=text)
    last, expected = {}, []
    for t, key in in_order(rows, lateness)[0]:
        user, serial = key.split(",")
        dup = user in last and t - last[user] < window
        last[user] = t
        expected.append("%s\t%d.%06d,%s" % ("dup" if dup else "new", *divmod(rows[int(serial)][0], 10**6), key))
    assert done.lines == expected


def test_batches_and_pieces_do_not_matter(seen, rng, tmp_path):
    """A file and a pipe, with and without threads, in little memory: one output."""
    rows = random_rows(rng, 20000, 300000)
    text = as_text(rows) + "no time\n" + as_text(rows)
    (tmp_path / "rows").write_text(text)
    args = ["-w", "sliding:2ms filter=exact", "--reorder", "300ms", "--hold", "4KiB", "-d,", "--time=1", "-k2", "-q"]
    whole = seen(*args, tmp_path / "rows").out
    assert whole == seen(*args, text=text).out == seen(*args, "-j3", tmp_path / "rows").out
    assert whole.count(b"\n") > 1000


def test_what_cannot_be_held_goes_early_and_is_told(seen):
    text = "".join("%d,k%d\n" % (1000 + i, i) for i in range(5000))
    done = seen("-w", "sliding:1h filter=exact", "--reorder", "1d", "--hold", "64KiB", "-d,", "--time=1", "-k2",
                text=text)
    assert done.out.decode() == text and done.code == 0
    assert "--hold=64KiB let" in done.err.decode() and "no verdict changed" in done.err.decode()


def test_records_displaced_for_want_of_memory_are_told_and_exit_3(seen, rng):
    """An hour of records, each up to half an hour late; --hold is as the message advises."""
    rows = [(10**6 + i + rng.randrange(1800), i) for i in range(20000)]
    text = "".join("%d,%d\n" % row for row in rows)
    args = ["-w", "sliding:1s filter=exact", "--reorder", "1h", "-d,", "--time=1", "-k2"]
    done = seen(*args, "--hold", "16KiB", text=text)
    told = re.search(r"memory was short: (\d+) records were judged later than their own time says, because --hold=16KiB "
                     r"let others go early; about --hold=(\S+) would hold all", done.err.decode())
    assert done.code == 3 and int(told[1]) > 1000
    quiet = seen(*args, "--hold", "16KiB", "-q", text=text)
    assert quiet.code == 3 and quiet.err == b""
    advised = seen(*args, "--hold", told[2], text=text)
    assert advised.code == 0 and advised.err == b""
    assert [int(line.split(",")[0]) for line in advised.lines] == sorted(t for t, _ in rows)


def test_a_last_line_without_newline_finds_its_place(seen):
    done = seen("-w", "sliding:1h filter=exact", "--reorder", "1m", "-d,", "--time=1", "-k2", text="20,a\n10,b")
    assert done.out == b"10,b\n20,a\n"


@pytest.mark.parametrize("args,words", [
    (["--reorder", "1h"], ["--time FIELD"]),
    (["--reorder", "0s", "--time=1"], ["--reorder 0s"]),
    (["--reorder", "x", "--time=1"], ["--reorder x", "span"]),
    (["--hold", "1MiB"], ["--hold"]),
    (["--reorder", "1h", "--lateness", "1h", "--time=1"], ["--lateness"]),
    (["--reorder", "1h", "--time=1", "--state", "s"], ["--state"]),
    (["--time-format", "%d", "-k1"], ["--time"]),
    (["--time=1", "--time-format", "%Q"], ["strptime"]),
    (["--time=1", "--time-format", "%H:%M %Z"], ["%Z"]),
    (["--time=1", "--time-format", "%s"], ["%s"]),
])
def test_what_makes_no_sense_is_refused(seen, tmp_path, args, words):
    seen("-w", "sliding:1h", "--filter=exact", *args, cwd=tmp_path).refused(*words)


FORMATS = {
    ("%d/%b/%Y:%H:%M:%S %z", "06/Nov/2020:19:10:51 +0100"): 1604686251,
    ("%Y%m%d %H%M%S", "20201106 181051"): 1604686251,
    ("%d.%m.%Y %H:%M:%S.%f", "06.11.2020 18:10:51.25"): 1604686251.25,
    ("%FT%T.%f%z", "2020-11-06T18:10:51.000001Z"): 1604686251.000001,
    ("[%A, %d %B %Y %I:%M:%S %p]", "[Friday, 06 November 2020 06:10:51 PM]"): 1604686251,
    ("%F %T", "2016-12-31 23:59:60"): 1483228800,
    ("%F", "2020-02-29"): 1582934400,
}


@pytest.mark.parametrize("format,text", FORMATS)
def test_time_formats(seen, format, text):
    start = round(FORMATS[format, text] * 1000000)
    other = {"%F": "2020-02-28"}.get(format)
    done = seen("-w", "sliding:1h filter=exact", "-d;", "--time=1", "-k2", "--tag", "--time-format", format,
                "--stats=json", text="%s;k\n%s;k\n%s;k\n" % (text, text, other or text))
    assert [line.split("\t")[0] for line in done.lines] == ["new", "dup", "dup"]
    assert done.stats["unparseable"] == 0
    assert done.stats["last_time_us"] == start


@pytest.mark.parametrize("text", ["", "2021-02-29", "2021-06-31", "2021-06-30 ", "2021-06-30x", "1969-12-31", "x",
                                  "2021-13-01", "2021-06-30\0", "2" * 200])
def test_dates_that_are_none(seen, text):
    done = seen("-w", "sliding:1h filter=exact", "-d,", "--time=1", "-k2", "--tag", "--time-format", "%F", "--strict",
                text="%s,k\n" % text)
    assert done.out.startswith(b"-\t") and done.code == 2


@pytest.mark.parametrize("how", [["--lateness", "40ms"], []])
def test_a_state_keeps_late_records_too(seen, rng, tmp_path, how):
    """In one run or in three: the same records, the same account of how late they were."""
    rows = random_rows(rng, 6000, 40000)
    args = ["-w", "sliding:1ms filter=exact", *how, "-d,", "--time=1", "-k2", "--stats=json"]
    whole = seen(*args, text=as_text(rows))
    parts, out = [rows[:1000], rows[1000:1001], rows[1001:]], b""
    for part in parts:
        done = seen(*args, "--state", tmp_path / "state", text=as_text(part))
        out += done.out
    assert out == whole.out
    for name in ["unique", "late", "late_most_us", "clamped", "late_by", "last_time_us"]:
        assert done.stats[name] == whole.stats[name], name


def piped(*args):
    return subprocess.Popen([SEEN, "-d,", "--time=1", "-k2", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("held", [["--reorder", "10s"], ["-w", "sliding:10s", "--keep=last"]])
def test_held_records_wait_for_newer_ones_and_go_at_a_signal(held):
    window = [] if "-w" in held else ["-w", "sliding:1s filter=exact"]
    process = piped(*window, *held)
    process.stdin.write(b"100,a\n101,b\n115,c\n")
    process.stdin.flush()
    assert process.stdout.readline() + process.stdout.readline() == b"100,a\n101,b\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.read() == b"115,c\n"
    process.stdin.close()
    process.stdout.close()
    assert process.wait(10) == -signal.SIGTERM
