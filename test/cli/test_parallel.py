"""-j N: output, verdicts, statistics, messages and exit codes are those of one thread."""

import gzip
import json
import os
import re
import signal
import subprocess
import threading
import time

import pytest

from conftest import SEEN
from test_live import closed_pipe, line_from, start

CHUNK = 256 << 10  # what a thread splits at once
TSAN = "tsan" in SEEN  # a build that finds races, and is slow
THREADS = (2, 8) if TSAN else (2, 3, 8)


def told(result):
    """What a run said and did, but for how long it took."""
    err = re.sub(rb'"seconds":[^,]*,"records_per_second":[^,]*,', b"", result.err)
    return result.code, err, result.out


@pytest.fixture
def alike(seen, tmp_path):
    """alike(arguments, data=bytes or files=[bytes...]): runs on 1 and on several threads; returns the run on one."""

    def run(*args, command=None, data=b"", files=None, stdin=False, code=0):
        names = files or []
        if not stdin and not names:
            names = []
            for i, part in enumerate(data if isinstance(data, list) else [data]):
                path = tmp_path / ("input%d" % i)
                path.write_bytes(part)
                names.append(path)
        more = {"text": data} if stdin else {}
        more["timeout"] = 600 if TSAN else 60
        command = [command] if command else ["dedup", "--stats=json", "--seed", 1]
        one = seen(*command, *args, *names, **more)
        for threads in THREADS:
            assert told(seen(*command, "-j", threads, *args, *names, **more)) == told(one), threads
        assert one.code == code, one.err
        return one

    return run


def lines(rng, size, keys=5000, longest=40, end=b"\n"):
    """About `size` bytes of lines, half of them repeated."""
    pool = [rng.randbytes(rng.randrange(longest)).replace(end, b"x") for _ in range(keys)]
    out, n = [], 0
    while n < size:
        out.append(rng.choice(pool))
        n += len(out[-1]) + 1
    return end.join(out) + end


# -- formats ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [[], ["--duplicates"], ["--tag"]])
def test_lines(alike, rng, mode):
    done = alike(*mode, data=lines(rng, 5 * CHUNK))
    assert done.stats["duplicates"] > 1000


def test_lines_from_standard_input(alike, rng):
    alike(data=lines(rng, 5 * CHUNK), stdin=True)


def test_a_last_line_without_newline(alike, rng):
    alike(data=lines(rng, 3 * CHUNK) + b"the end")
    alike(data=[lines(rng, 2 * CHUNK) + b"a", lines(rng, 2 * CHUNK) + b"b", b"c"])


def test_records_of_one_byte_fill_more_batches_than_a_chunk_has(alike):
    done = alike("--tag", data=b"\n" * (3 * CHUNK) + b"a\n" * CHUNK)
    assert done.stats["records"] == 4 * CHUNK


@pytest.mark.parametrize("length", [CHUNK - 2, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_records_as_long_as_a_chunk(alike, rng, length):
    long = [rng.choice(b"abc").to_bytes(1, "little") * length + b"\n" for _ in range(4)]
    alike(data=b"".join(record + lines(rng, 60000) for record in long))


def test_records_that_are_too_long_pass_in_their_place(alike, rng):
    parts = [lines(rng, rng.randrange(2 * CHUNK)) + b"y" * rng.randrange(900, 2 * CHUNK) + b"\n" for _ in range(6)]
    done = alike("--tag", "--max-record", "1KiB", data=b"".join(parts))
    assert done.stats["unparseable"] >= 5


def test_records_ended_by_nul(alike, rng):
    alike("--null", data=lines(rng, 4 * CHUNK, end=b"\0"))


def test_fields(alike, rng):
    alike("-d", ",", "-k", "2,1", data=lines(rng, 4 * CHUNK).replace(b"x", b",").replace(b"a", b","))


def csv_field(rng):
    kind = rng.randrange(8)
    if kind < 5:
        return b"%d" % rng.randrange(40)
    if kind == 5:
        return b'"%s"' % (b'a,\n""' * rng.randrange(6))
    if kind == 6:
        return b'b"a"re' * rng.randrange(2)
    return b'"closed"open' if rng.randrange(2) else b'""'


def csv(rng, size):
    out, n = [b"user,ad,text\r\n"], 0
    while n < size:
        out.append(b",".join(csv_field(rng) for _ in range(3)) + rng.choice([b"\n", b"\r\n"]))
        n += len(out[-1])
    return b"".join(out)


@pytest.mark.parametrize("mode", [[], ["--tag"]])
def test_csv_whose_quotes_span_the_ends_of_chunks(alike, rng, mode):
    done = alike("--csv", "-k", "user,ad", *mode, data=[csv(rng, 5 * CHUNK), csv(rng, CHUNK)])
    assert done.stats["unique"] > 100


def test_csv_with_newlines_in_nearly_every_byte(alike, rng):
    rows = [b'"%s",%d\n' % (b"\n" * rng.randrange(3000), rng.randrange(9)) for _ in range(800)]
    alike("--csv", "--no-header", "-k", "1", data=b"".join(rows))


def test_a_quoted_field_longer_than_chunks(alike, rng):
    rows = [b'"%s",1\n' % (b"a\n" * rng.randrange(2 * CHUNK)) for _ in range(4)]
    alike("--csv", "--no-header", "-k", "2", data=csv(rng, CHUNK // 2).join(rows))


def test_an_open_quote_is_found_in_the_same_line(alike, rng):
    done = alike("--csv", "-k", "user", data=csv(rng, 3 * CHUNK) + b'1,"2,3\n' + b"4,5,6\n" * CHUNK, code=2)
    assert b"is not closed within 1MiB, so nothing behind it can be judged" in done.err


def test_an_open_quote_in_a_record_that_is_too_long(alike, rng):
    data = csv(rng, 2 * CHUNK) + b'1,"2,3\n' + b"4,5,6\n" * CHUNK
    alike("--csv", "-k", "user", "--max-record", "1KiB", data=data, code=2)


def test_json(alike, rng):
    rows = [json.dumps({"user": {"id": rng.randrange(900)}, "text": "\n\u00e9" * rng.randrange(40)})
            if rng.randrange(50) else "no json" for _ in range(20000)]
    done = alike("--ndjson", "-k", "user.id", data="\n".join(rows).encode())
    if b"built without" in done.err:
        pytest.skip("built without JSON")
    assert 0 < done.stats["unparseable"] < 1000 and done.stats["unique"] == 900


def test_compressed(alike, rng, tmp_path):
    path = tmp_path / "lines.gz"
    data = lines(rng, 8 * CHUNK)
    path.write_bytes(gzip.compress(data))
    plain = alike(data=data)
    assert alike(files=[path]).out == plain.out
    path.write_bytes(gzip.compress(data)[:-20000])
    assert b"lines.gz" in alike(files=[path], code=2).err


# -- windows -----------------------------------------------------------------------------------------------


def clicks(rng, n):
    """Times that run back, fall silent and cannot be read, a key, and markers."""
    t, out = 1_600_000_000, []
    for _ in range(n):
        t += rng.choice([0, 0, 1, 1, 5, 600]) - (rng.randrange(3000) if rng.randrange(20) == 0 else 0)
        stamp = b"%d" % t if rng.randrange(100) else b"never"
        out.append(b"%s\tkey%d\n" % (stamp, rng.randrange(300)))
        if rng.randrange(500) == 0:
            out.append(b"-- restart --\n")
    return b"".join(out)


@pytest.mark.parametrize("args", [
    ["-w", "sliding:1h rate=1"],
    ["-w", "sliding:1h rate=1 filter=exact"],
    ["-w", "sliding:1h rate=1 filter=exact lateness=30m"],
    ["-w", "jumping:1h/12 rate=1"],
    ["-w", "landmark:1d rate=1"],
    ["-w", "landmark:1d items=1e4", "--zone", "Europe/Berlin"],
    ["-w", "landmark:1w items=1e4", "--zone", "America/New_York"],
    ["-w", "landmark items=1e4", "--landmark-on", "restart", "--no-time"],
    ["-w", "landmark:1d items=1e4", "--landmark-on", "^[^\t]*$|key7[0-9]*$"],
    ["-w", "sliding:500 fp=.1 verify=100", "--confirmed", "--no-time"],
    ["-w", "decaying mem=16KiB", "--no-time"],
    ["-w", "sliding:2e4 fp=1e-3 shards=8", "--no-time"],
    ["-w", "sliding:1h rate=1 shards=5"],
    ["-w", "landmark:1d items=1e4 shards=3", "--landmark-on", "restart"],
    ["-w", "sliding:500 fp=.1 verify=100 shards=4", "--confirmed", "--no-time"],
], ids=lambda args: " ".join(args))
def test_windows(alike, rng, args):
    timed = [] if "--no-time" in args else ["--time", "1"]
    args = [a for a in args if a != "--no-time"]
    done = alike("-k", "2", *timed, *args, data=clicks(rng, 30000))
    assert done.stats["unique"] > 100 and done.stats["unparseable"] > 0


@pytest.mark.parametrize("args", [
    ["--reorder", "1h"],
    ["--reorder", "1h", "--tag"],
    ["--keep", "last"],
    ["--tag=verdict,number,time,age,first,last"],
    ["--tag=verdict,number,age", "--output", "json"],
    ["--group-by", "2"],
], ids=lambda args: " ".join(args))
def test_what_is_made_of_verdicts(alike, rng, args):
    done = alike("-k", "2", "--time", "1", "-w", "sliding:2h filter=exact", *args, data=clicks(rng, 30000))
    assert len(done.out) > 10000


def test_one_key_remembered_and_another_asked_about(alike, rng):
    pairs = b"".join(b"user%d\tuser%d\n" % (rng.randrange(900), rng.randrange(900)) for _ in range(30000))
    done = alike("--query-key", "1", "--add-key", "2", "-w", "sliding:500", data=pairs)
    assert done.stats["duplicates"] > 1000


def test_an_audit(alike, rng):
    done = alike("--audit", "-k", "2", "--time", "1", "-w", "sliding:1h", data=clicks(rng, 30000))
    assert len(done.out) > 10000


def test_files_merged_by_time(alike, rng):
    files = [b"".join(b"%d\t%d\n" % (t, rng.randrange(99)) for t in sorted(rng.choices(range(10**6), k=20000)))
             for _ in range(3)]
    done = alike("--merge", "--time", "1", "-k", "2", "-w", "sliding:1h rate=1", data=files)
    assert done.stats["late"] == 0


def test_a_landmark_that_waits_over_batches_without_a_key(alike):
    data = b"a\tb\na\tb\nlandmark\n" + b"no key, but many bytes instead\n" * 10000 + b"a\tb\na\tb\n"
    done = alike("-k", "2", "--landmark-on", "^landmark", "--tag", data=data)
    assert done.out.endswith(b"new\ta\tb\ndup\ta\tb\n") and done.out.startswith(b"new\ta\tb\ndup\ta\tb\n")


def test_a_full_window_and_false_duplicates_are_told_alike(alike, rng):
    done = alike("-w", "landmark:1e6 items=1000 fp=.01", data=lines(rng, 4 * CHUNK, keys=50000), files=None)
    assert b" of the new records are now taken for duplicates, and 0.0087 were planned" in done.err
    slowly = b"".join(b"%d\n" % (i // 100) for i in range(400000))
    done = alike("-w", "landmark:1e6 items=1000 fp=.01", data=slowly)
    assert done.err.count(b" of the new records are now taken for duplicates") == 3


# -- other commands ----------------------------------------------------------------------------------------


def test_count(alike, rng):
    done = alike("-k", "2", "--time", "1", "-w", "landmark:1d seed=1", command="count", data=clicks(rng, 30000))
    assert len(done.lines) > 5


def test_count_of_groups(alike, rng):
    done = alike("-k", "1", "--group-by", "2", "-w", "landmark seed=1", command="count", data=clicks(rng, 30000))
    assert len(done.lines) > 300


def test_top(alike, rng):
    done = alike("-k", "2", "--time", "1", "-w", "landmark:1d", command="top", data=clicks(rng, 30000))
    assert len(done.lines) > 5


@pytest.mark.parametrize("mode", [[], ["--invert"], ["--tag"]])
def test_filter(alike, rng, tmp_path, mode):
    for name, keys in ("even", range(0, 300, 2)), ("third", range(0, 300, 3)):
        (tmp_path / name).write_text("".join("key%d\n" % key for key in keys))
    lists = ["--keys", tmp_path / "even", "--keys", tmp_path / "third"]
    done = alike("-k", "2", "--stats", "--exact", *lists, *mode, command="filter", data=clicks(rng, 30000))
    assert b"even" in done.err and len(done.out) > 10000


# -- files that fail ---------------------------------------------------------------------------------------


def test_a_file_that_is_missing_ends_it_behind_those_before(alike, rng, tmp_path):
    (tmp_path / "good").write_bytes(lines(rng, 3 * CHUNK))
    files = [tmp_path / "good", tmp_path / "absent", tmp_path / "good"]
    assert b"absent" in alike(files=files, code=2).err


def test_a_directory(alike, tmp_path, rng):
    (tmp_path / "good").write_bytes(lines(rng, 3 * CHUNK))
    alike(files=[tmp_path / "good", tmp_path], code=2)


def test_headers_must_agree(alike, rng):
    first, second = csv(rng, 2 * CHUNK), b"other" + csv(rng, 1000)
    assert b"header" in alike("--csv", "-k", "user", data=[first, second], code=2).err


# -- options -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", ["0", "1", "64"])
def test_so_many_threads(seen, threads):
    assert seen("-j", threads, text="a\nb\na\n").out == b"a\nb\n"


@pytest.mark.parametrize("threads", ["65", "-1", "x", ""])
def test_threads_that_are_no_number(seen, threads):
    seen("-j", threads).refused("-j")


# -- among other processes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 8])
def test_a_slow_writer_in_pieces_that_end_anywhere(rng, threads):
    data = csv(rng, CHUNK)
    one = subprocess.run([SEEN, "--csv", "-k", "user,ad"], input=data, capture_output=True, check=True)
    p = start("--csv", "-k", "user,ad", "-j", str(threads))

    def write():
        at = 0
        while at < len(data):
            n = rng.choice([1, 7, 100, 3000, 40000])
            p.stdin.write(data[at:at + n])
            at += n
            if rng.randrange(4) == 0:
                time.sleep(0.002)
        p.stdin.close()

    writer = threading.Thread(target=write)
    writer.start()
    out = p.stdout.read()
    writer.join()
    assert p.wait(10) == 0 and out == one.stdout and p.stderr.read() == one.stderr


@pytest.mark.parametrize("shards", ["1", "4"])
def test_what_was_read_is_printed_before_the_next_wait(shards):
    p = start("-j", "3", "--shards", shards)
    for word in (b"a\n", b"b\n", b"c\n" * 50000 + b"d\n"):
        p.stdin.write(word)
        assert line_from(p.stdout) == word[:2]
    assert line_from(p.stdout) == b"d\n"
    p.communicate()
    assert p.returncode == 0


def test_sigterm_ends_it_with_whole_records_and_their_statistics(tmp_path):
    out = tmp_path / "out"
    numbers = subprocess.Popen(["seq", "1", "1000000000"], stdout=subprocess.PIPE)
    with open(out, "wb") as sink:
        p = start("-q", "--stats=json", "-j", "3", "-w", "landmark shards=4", stdin=numbers.stdout, stdout=sink)
    until = time.monotonic() + 30
    while not out.stat().st_size and time.monotonic() < until:
        time.sleep(0.05)
    p.send_signal(signal.SIGTERM)
    _, err = p.communicate(timeout=300)
    numbers.kill()
    numbers.communicate()
    text = out.read_bytes()
    assert p.returncode == -signal.SIGTERM and text.endswith(b"\n")
    assert b'"unique":%d,' % text.count(b"\n") in err


def test_sigterm_while_it_waits():
    p = start("-j", "2", "--stats=json")
    p.stdin.write(b"a\nb\na\nhalf")
    assert line_from(p.stdout) == b"a\n"
    p.send_signal(signal.SIGTERM)
    assert p.wait(5) == -signal.SIGTERM
    assert b'"records":3,"unique":2,"duplicates":1,' in p.stderr.read()


def test_sigint_while_it_reads_a_file(rng, tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(lines(rng, 20 * CHUNK))
    p = start("-j", "2", "-q", *[str(path)] * 200, stdout=subprocess.DEVNULL)
    time.sleep(0.2)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=20)
    assert p.returncode in (-signal.SIGINT, 0)


def test_kill_leaves_nothing_behind(rng, tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(lines(rng, 20 * CHUNK))
    p = start("-j", "8", *[str(path)] * 500, stdout=subprocess.DEVNULL)
    time.sleep(0.2)
    p.kill()
    assert p.wait(5) == -signal.SIGKILL


def test_a_broken_pipe_ends_it_quietly(tmp_path, rng):
    path = tmp_path / "lines"
    path.write_bytes(lines(rng, 8 * CHUNK, keys=100000))
    done = subprocess.run([SEEN, "-j", "4", str(path)], stdout=closed_pipe(), stderr=subprocess.PIPE,
                          timeout=20)
    assert done.returncode == -signal.SIGPIPE and done.stderr == b""


def test_endless_input_ends_with_its_reader():
    shell = "yes '' | \"%s\" -j 3 --tag | head -n 2" % SEEN
    done = subprocess.run(shell, shell=True, capture_output=True, timeout=20)
    assert done.stdout == b"new\t\ndup\t\n" and done.stderr == b""


def test_a_full_disk_is_an_error(seen, rng, tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(lines(rng, 8 * CHUNK, keys=100000))
    with open("/dev/full", "wb") as full:
        seen("-j", "4", "-q", path, stdout=full).refused("cannot write")


def test_memory_does_not_grow_with_the_stream(rng, tmp_path):
    """Long records among short ones: no chunk keeps what one of them took."""
    if TSAN or "asan" in SEEN:
        pytest.skip("a sanitizer's memory is its own")
    path = tmp_path / "lines"
    path.write_bytes(b"".join(lines(rng, CHUNK) + b"z" * (8 << 20) + b"\n" for _ in range(6)))
    peak = []
    for threads in ("1", "8"):
        p = start("-q", "-j", threads, "-w", "landmark mem=1MiB", str(path), stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(p.pid, 0)
        assert status == 0
        peak.append(usage.ru_maxrss)
    assert peak[1] < peak[0] + 24 * 1024, peak


def test_a_state_is_that_of_one_thread(seen, rng, tmp_path):
    data = lines(rng, 6 * CHUNK)
    whole = seen("--seed", 1, text=data)
    log, state = tmp_path / "log", tmp_path / "state"
    cut = data.index(b"\n", 3 * CHUNK) + 1
    out = b""
    for part, threads in ((data[:cut], 3), (data, 2)):
        log.write_bytes(part)
        done = seen("--seed", 1, "-j", threads, "--state", state, log)
        assert done.code == 0, done.err
        out += done.out
    assert out == whole.out


def test_a_real_stream_out_of_order(alike, stream):
    if TSAN:
        pytest.skip("too slow under the sanitizer")
    done = alike("--tsv", "-k", "client,package,version", "--time", "#epoch", "-w",
                 "sliding:1d filter=exact lateness=1h", files=[stream("cran_2014w51_arrival.tsv")])
    assert done.stats["records"] == 1345192 and done.stats["late"] > 1e6
