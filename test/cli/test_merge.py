"""--merge: several files, each in order of time, come out as one."""

import gzip
import heapq
import os
import subprocess

import pytest

from conftest import SEEN

UNIQUE = ["-w", "landmark:1e6"]


def lane(rng, n, start=1600000000):
    """Lines of time TAB text, mostly in order, some without a time."""
    t = start + rng.randrange(100)
    for _ in range(n):
        t += rng.choice([0, 0, 1, 5, 60])
        time = rng.choice([b"none", b""]) if rng.random() < 0.05 else b"%d" % (t - (rng.random() < 0.05) * 30)
        yield time + b"\t%x" % rng.getrandbits(64) + b"y" * rng.choice([0, 1, 300])


def merged(lanes):
    """As promised: the earliest head next; without a time it takes that of the one before."""

    def timed(number, lines):
        time = 0
        for line in lines:
            first = line.split(b"\t")[0]
            time = int(first) if first.isdigit() else time
            yield (time, number, line)

    heads, out = [], []
    for number, lines in enumerate(lanes):
        rest = timed(number, lines)
        head = next(rest, None)
        if head:
            heads.append((head[0], number, head[2], rest))
    heapq.heapify(heads)
    while heads:
        _, number, line, rest = heads[0]
        out.append(line)
        head = next(rest, None)
        if head:
            heapq.heapreplace(heads, (head[0], number, head[2], rest))
        else:
            heapq.heappop(heads)
    return b"".join(line + b"\n" for line in out)


def write(tmp_path, lanes, end=b"\n", pack=lambda i, data: data):
    paths = []
    for i, lines in enumerate(lanes):
        paths.append(tmp_path / ("lane%d" % i))
        data = b"".join(line + b"\n" for line in lines)
        paths[-1].write_bytes(pack(i, data[:-1] + end if lines else data))
    return paths


@pytest.mark.parametrize("lanes", [1, 2, 3, 17])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_earliest_head_goes_next(seen, rng, tmp_path, lanes, threads):
    texts = [list(lane(rng, rng.choice([0, 1, 3000]))) for _ in range(lanes)]
    paths = write(tmp_path, texts, end=rng.choice([b"", b"\n"]),
                  pack=lambda i, data: gzip.compress(data, 1) if i % 3 == 1 else data)
    done = seen(*UNIQUE, "-q", "--merge", "-d", "\\t", "--time", "1", "-j", threads, *paths)
    assert done.code == 0, done.err
    assert done.out.rstrip(b"\n") == merged(texts).rstrip(b"\n")


def test_json_and_web_logs_merge_by_their_times(seen, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text('{"t":1600000000,"id":1}\n{"t":1600000002,"id":2}')
    b.write_text('{"t":1600000001,"id":3}\n{"t":1600000003,"id":4}')
    assert [line[-2] for line in seen("--ndjson", "--time", "t", "--merge", a, b).lines] == list("1324")
    log = '%s - - [10/Oct/2000:13:55:%d -0700] "GET / HTTP/1.0" 200 1\n'
    a.write_text(log % ("a", 36) + log % ("a", 38))
    b.write_text(log % ("b", 37) + log % ("b", 39))
    assert [line[0] for line in seen("--clf", "--time", "time", "--merge", a, b).lines] == list("abab")


def test_tables_have_one_header_and_quotes_stay_whole(seen, tmp_path):
    a, b, c = tmp_path / "a", tmp_path / "b", tmp_path / "c"
    a.write_text('t,v\n1600000000,"x\ny"\n1600000002,z')
    b.write_text('t,v\r\n1600000001,"p,""q"""\n')
    c.write_text("")
    done = seen("--csv", "--time", "t", "--merge", c, a, b)
    assert done.out == b't,v\n1600000000,"x\ny"\n1600000001,"p,""q"""\n1600000002,z\n'
    b.write_text("t,w\n1600000001,1\n")
    seen("--csv", "--time", "t", "--merge", a, b).refused(str(b), "header line differs")
    b.write_text('t,v\n1600000001,"1\n1600000002,2\n')
    seen("--csv", "--time", "t", "--merge", a, b).refused(str(b), "line 2", "never closed")
    seen("--csv", "--time", "t", "--merge", "--max-field", "10B", a, b).refused(str(b), "line 2", "--max-field")


@pytest.mark.parametrize("size", [2000, 300000, 1000000])
def test_a_record_that_is_too_long_follows_the_one_before_it(seen, tmp_path, size):
    long = b"5\t" + b"x" * size
    paths = write(tmp_path, [[b"1600000000\ta", long, b"1600000004\tb"], [b"1600000001\tc", long]])
    done = seen("--max-record=1KiB", "-d", "\\t", "--time", "1", "--merge", "--stats=json", *paths)
    assert done.out == b"1600000000\ta\n" + long + b"\n1600000001\tc\n" + long + b"\n1600000004\tb\n"
    assert done.stats["unparseable"] == 2


def test_a_pipe_is_waited_for_and_what_is_known_is_shown(tmp_path):
    fifos = [tmp_path / "one", tmp_path / "two"]
    for fifo in fifos:
        os.mkfifo(fifo)
    p = subprocess.Popen([SEEN, "-d", "\\t", "--time", "1", "--merge", *fifos], stdout=subprocess.PIPE)
    one, two = (open(fifo, "wb", buffering=0) for fifo in fifos)
    one.write(b"1600000000\ta\n1600000003\tb\n")
    two.write(b"1600000001\tc\n")
    assert [p.stdout.readline()[-2:-1] for _ in "ac"] == [b"a", b"c"]
    two.write(b"1600000004\td\n")
    assert p.stdout.readline() == b"1600000003\tb\n"
    one.close()
    assert p.stdout.readline() == b"1600000004\td\n"
    two.close()
    assert p.communicate()[0] == b"" and p.returncode == 0


def test_what_cannot_be_merged_is_said(seen, tmp_path):
    seen("--merge").refused("--merge needs", "--time")
    seen("--merge", "--time=1", tmp_path / "absent").refused("cannot open", "absent")
    seen("--merge", "--time=1", "--state", tmp_path / "state").refused("--merge", "--state")
    cut = tmp_path / "cut"
    cut.write_bytes(gzip.compress(b"1600000000\n" * 1000)[:-9])
    seen("--merge", "--time=1", "-", cut).refused("cannot read %s: its gzip data" % cut)


def test_times_are_read_as_time_format_says_and_without_their_escapes(seen, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text('{"t":"01\\/02\\/2020","id":1}\n{"t":"01/04/2020","id":2}\n')
    b.write_text('{"t":"01/03/2020","id":3}\n')
    done = seen("--ndjson", "--time", "t", "--time-format", "%m/%d/%Y", "--merge", b, a)
    assert [line[-2] for line in done.lines] == list("132")
