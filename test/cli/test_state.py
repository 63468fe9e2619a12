"""--state: a run goes on where the last one stopped, in its answers and in its files, or says what it
found instead."""

import bisect
import ctypes
import os
import pathlib
import re
import resource
import signal
import subprocess
import time

import pytest

from conftest import ROOT, SEEN

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
    "landmark": ["-w", "landmark fp=1e-6 mem=1MiB"],
    "landmark by count": ["-w", "landmark:1000"],
    "jumping": ["-w", "jumping:1000/4 fp=1e-6"],
    "sliding": ["-w", "sliding:1000 fp=1e-6"],
    "sliding by time": ["-w", "sliding:1h rate=1", "--time", "3"],
    "exactly": ["-w", "sliding:1h filter=exact", "--time", "3"],
    "decaying": ["-w", "decaying mem=64KiB"],
    "days of a zone": ["-w", "landmark:1d fp=1e-6 mem=1MiB", "--zone", "Europe/Berlin", "--time", "3"],
    "landmarks": ["-w", "landmark fp=1e-6 mem=1MiB", "--landmark-on", "^7,"],
    "confirmed": ["-w", "sliding:1000 fp=1e-6 cache=100", "--confirmed"],
}


@pytest.mark.parametrize("how", RUNS)
@pytest.mark.parametrize("mode", [[], ["--tag=verdict,number"], ["--duplicates"], ["--output=json"]],
                         ids=["unique", "tag", "duplicates", "json"])
def test_parts_print_what_one_run_would(seen, state, rng, how, mode):
    if "--confirmed" in RUNS[how] and mode not in ([], ["--duplicates"]):
        pytest.skip("--confirmed and %s exclude each other" % mode[0])
    args = [*RUNS[how], *mode, "--csv", "-k", "name"]
    args = [a if a != "3" else "when" for a in args] + ["--seed", "1"]
    header, lines = b"x,name,when\n", click_stream(rng)
    whole = seen(*args, text=header + b"".join(lines)).out
    cuts = [0, *sorted(rng.randrange(len(lines)) for _ in range(2)), len(lines)]
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


def test_a_file_that_grows_by_any_bytes_prints_whole_records_once(seen, state, tmp_path, rng):
    log, text = tmp_path / "log.csv", b"x,name,when\n" + b"".join(click_stream(rng, 600))
    whole = seen("--csv", "-k", "name", text=text).out
    cuts = [0, *sorted(rng.randrange(len(text)) for _ in range(12)), len(text)]
    out = b""
    for a, b in zip(cuts, cuts[1:]):
        with open(log, "ab") as more:
            more.write(text[a:b])
        done = seen(*SMALL, "--state", state, "-q", "--csv", "-k", "name", log)
        assert done.code == 0
        out += done.out
    assert out == whole


def test_an_unfinished_last_line_is_left_for_the_next_run(seen, state, tmp_path):
    log = tmp_path / "log"
    log.write_text("a\nhal")
    done = seen(*SMALL, "--state", state, log)
    assert done.out == b"a\n"
    assert b"log ends inside a record, whose first 3 bytes are left for the next run" in done.err
    with open(log, "a") as more:
        more.write("f\n")
    assert seen(*SMALL, "--state", state, log).out == b"half\n"


def test_what_a_pipe_ends_with_is_a_record(seen, state):
    assert seen(*SMALL, "--state", state, text="a\nb").out == b"a\nb"
    assert seen("--state", state, text="b\nc").out == b"\nc"  # as one run over two files would


def test_each_of_several_files_has_its_place(seen, state, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("1\n2\n")
    b.write_text("3\n1\n")
    assert seen(*SMALL, "--state", state, a, b).out == b"1\n2\n3\n"
    for path, line in ((a, "4\n"), (b, "5\n")):
        with open(path, "a") as more:
            more.write(line)
    assert seen("--state", state, "--tag", a, b).out == b"new\t4\nnew\t5\n"
    assert seen("--state", state, "--tag", b, a).out == b""


def test_standard_input_that_is_a_file_has_its_place_too(state, tmp_path):
    log = tmp_path / "log"
    log.write_text("a\nb\n")
    args = [SEEN, "-q", *SMALL, "--state", str(state), "--tag"]
    assert subprocess.run(args, stdin=open(log), capture_output=True).stdout == b"new\ta\nnew\tb\n"
    with open(log, "a") as more:
        more.write("a\n")
    assert subprocess.run(args, stdin=open(log), capture_output=True).stdout == b"dup\ta\n"


@pytest.mark.parametrize("pack", ["gzip", "zstd"])
def test_a_compressed_file_has_its_place_in_what_it_holds(seen, state, tmp_path, pack):
    text = b"".join(b"%d %d\n" % (i * 7919 % 500009, i) for i in range(400000))
    log = tmp_path / "log.packed"
    log.write_bytes(subprocess.run([pack, "-1"], input=text, stdout=subprocess.PIPE).stdout)
    args = ["-w", "landmark fp=1e-6 mem=2MiB seed=1", "-d", " ", "-k", "1"]
    if seen(*args, "-q", log, stdout=subprocess.DEVNULL).code:
        pytest.skip("%s is not built in" % pack)
    whole = seen(*args, log).out
    p = subprocess.Popen([SEEN, "-q", *args, "--state", str(state), str(log)], stdout=subprocess.PIPE)
    out = os.read(p.stdout.fileno(), 1 << 16)
    p.send_signal(signal.SIGTERM)
    out += p.communicate()[0]
    assert p.returncode == -signal.SIGTERM and len(out) < len(whole)
    assert out + seen(*args, "-q", "--state", state, log).out == whole
    assert seen("-q", *args[2:], "--state", state, log).out == b""
    log.write_bytes(subprocess.run([pack, "-1"], input=b"new 1\n" * 200, stdout=subprocess.PIPE).stdout)
    done = seen(*args, "--state", state, log)
    assert done.out == b"new 1\n" and b"from" in done.err and b"start" in done.err


def test_records_that_end_with_nul(seen, state, tmp_path):
    log, out = tmp_path / "log", tmp_path / "out"
    log.write_bytes(b"a\0b\n\0c")
    out.write_bytes(b"torn")
    for more in (b"", b"c\0a\0"):
        with open(log, "ab") as f:
            f.write(more)
        with open(out, "ab") as f:
            assert seen(*SMALL, "-q", "-0", "--state", state, log, stdout=f).code == 0
    assert out.read_bytes() == b"torn\0a\0b\n\0cc\0"


def test_what_others_read_of_standard_input_counts_as_read(state, tmp_path):
    log = tmp_path / "log"
    log.write_text("header\na\n")
    args = [SEEN, "-q", *SMALL, "--state", str(state), "--tag"]
    with open(log) as f:
        os.lseek(f.fileno(), 7, os.SEEK_SET)
        assert subprocess.run(args, stdin=f, capture_output=True).stdout == b"new\ta\n"
    with open(log, "a") as more:
        more.write("b\n")
    assert subprocess.run(args, stdin=open(log), capture_output=True).stdout == b"new\tb\n"


def test_from_start_reads_again_what_was_seen(seen, state, tmp_path):
    log = tmp_path / "log"
    log.write_text("a\nb\n")
    seen(*SMALL, "--state", state, log)
    assert seen("--state", state, "--tag", "--from-start", log).out == b"dup\ta\ndup\tb\n"
    assert seen("--state", state, "--tag", log).out == b""
    seen("--from-start", log).refused("--from-start serves --state")


def test_a_header_is_printed_once_and_must_stay_the_same(seen, state, tmp_path):
    args = [*SMALL, "--csv", "-k", "id", "--state", state]
    assert seen(*args, text="id,v\n1,a\n").out == b"id,v\n1,a\n"
    assert seen(*args, text="id,v\n1,b\n2,c\n").out == b"2,c\n"
    done = seen(*args, text="v,id\n1,b\n")
    done_text = done.err.decode()
    assert done.code == 2 and "header line differs" in done_text


def test_statistics_go_on_and_the_exit_code_is_this_runs(seen, state):
    seen(*SMALL, "--state", state, text="a\na\nb\n")
    done = seen("--state", state, "--stats=json", "--exit-code", text="c\n")
    assert done.code == 0
    assert (done.stats["records"], done.stats["unique"], done.stats["duplicates"]) == (4, 3, 1)
    assert seen("--state", state, "--exit-code", text="c\n").code == 1


def test_records_that_nobody_could_judge_are_counted_on(seen, state):
    args = [*SMALL, "-k", "2", "--state", state, "--stats=json"]
    seen(*args, text="no key\na\tb\n")
    assert seen(*args, text="none\n").stats["unparseable"] == 2


def test_a_feeds_counts_go_on(seen, state):
    args = [*SMALL, "--csv", "--no-header", "--query-key", "1,2", "--add-key", "1,3", "--tag=verdict,number"]
    args += ["--state", state, "--stats=json"]
    rows = "ann,,story\nann,story,\n"
    assert seen(*args, text=rows).code == 0
    done = seen(*args, text="ann,story,\nbob,story,\n")
    assert done.out == b"ann,story,,dup,3\nbob,story,,new,4\n"
    assert (done.stats["unique"], done.stats["duplicates"]) == (1, 2)
    assert b"resuming after record 2" in done.err


def test_the_time_it_resumes_after(seen, state):
    args = ["-w", "sliding:1h items=1000", "-k", "1", "--time", "2", "--state", state]
    seen(*args, text="a\t2014-12-17T09:30:00Z\nb\t2014-12-17T10:00:00Z\n")
    done = seen(*args, text="a\t2014-12-17T10:00:01Z\n")
    assert done.out == b""
    assert b"resuming after record 2 (2014-12-17T10:00:00Z)\n" in done.err


@pytest.mark.parametrize("threads", [1, 3])
def test_a_signal_ends_it_with_everything_saved(state, tmp_path, threads):
    log = tmp_path / "log"
    log.write_bytes(b"".join(b"%d\n" % (i * 7919 % 1000003) for i in range(600000)))
    args = [SEEN, "-q", "-w", "landmark fp=1e-9 mem=8MiB seed=1", "-j", str(threads), "--state", str(state)]
    whole = subprocess.run(args[:6] + [str(log)], capture_output=True).stdout
    out, stopped = b"", 0
    for _ in range(100):
        p = subprocess.Popen([*args, str(log)], stdout=subprocess.PIPE)
        out += os.read(p.stdout.fileno(), 1 << 16)
        p.send_signal(signal.SIGTERM)
        out += p.communicate()[0]
        assert p.returncode in (0, -signal.SIGTERM)
        stopped += p.returncode != 0
        if p.returncode == 0:
            break
    assert out == whole and stopped > 1


# -- files that are not what they were -----------------------------------------------------------------


def test_a_truncated_file_is_read_from_its_start(seen, state, tmp_path):
    log = tmp_path / "log"
    log.write_text("a\nb\nc\n")
    seen(*SMALL, "--state", state, log)
    log.write_text("d\n")  # the same inode
    done = seen("--state", state, log)
    assert done.out == b"d\n" and b"was truncated, from 6 bytes to 2" in done.err


def test_a_file_written_anew_in_place_is_read_from_its_start(seen, state, tmp_path):
    log = tmp_path / "log"
    log.write_text("a\nb\nc\n")
    seen(*SMALL, "--state", state, log)
    log.write_text("d\ne\nf\ng\n")
    done = seen("--state", state, log)
    assert done.out == b"d\ne\nf\ng\n" and b"was written anew since 6 bytes of it were read" in done.err


def test_a_rotated_file_is_found_and_read_to_its_end_where_it_is_named(seen, state, tmp_path):
    log, old = tmp_path / "log", tmp_path / "log.1"
    log.write_text("a\nb\n")
    seen(*SMALL, "--state", state, log)
    with open(log, "a") as more:
        more.write("last\n")
    log.rename(old)
    log.write_text("first\n")
    done = seen("--state", state, "--tag", log)
    assert done.out == b"new\tfirst\n"
    assert b"is now %s, and 5 bytes of it are unread: name it first" % bytes(old) in done.err
    assert seen("--state", state, "--tag", old, log).out == b"new\tlast\n"


def test_a_rotated_file_read_to_its_end_and_one_that_is_gone(seen, state, tmp_path):
    log, old = tmp_path / "log", tmp_path / "log.1"
    log.write_text("a\n")
    seen(*SMALL, "--state", state, log)
    log.rename(old)
    log.write_text("b\n")
    assert b"the one read before, to its end, is now %s" % bytes(old) in seen("--state", state, log).err
    log.rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").rename(tmp_path.parent / ("gone-%d" % os.getpid()))
    log.write_text("c\n")
    done = seen("--state", state, log)
    assert done.out == b"c\n" and b"the one read before, 2 bytes far, is gone" in done.err


def test_a_file_that_is_followed_across_runs_and_rotations(seen, state, tmp_path, rng):
    """A writer that appends at its leisure and rotates; runs at any time, naming the old file first."""
    log, old = tmp_path / "log", tmp_path / "log.1"
    text = [b"%d\n" % rng.randrange(500) for _ in range(2000)]
    whole, out, at = seen(*SMALL, "--seed", 1, text=b"".join(text)).out, b"", 0
    log.touch()
    while at < len(text):
        n = rng.randrange(1, 120)
        with open(log, "ab") as more:
            more.write(b"".join(text[at:at + n]))
        at += n
        if rng.random() < 0.2 and not old.exists() or rng.random() < 0.1:
            out += seen(*SMALL, "--seed", 1, "-q", "--state", state, log).out
            log.rename(old)
            with open(log, "wb") as fresh:  # the writer has not looked for its new file yet
                fresh.write(b"".join(text[at:at + 5]))
            at += 5
        if rng.random() < 0.5:
            files = [old, log] if old.exists() else [log]
            out += seen(*SMALL, "--seed", 1, "-q", "--state", state, *files).out
    out += seen(*SMALL, "--seed", 1, "-q", "--state", state, old, log).out
    assert out == whole


# -- another state than this run's ---------------------------------------------------------------------


MADE_WITH = ["-w", "sliding:1000 fp=1e-6 seed=7", "--csv", "-k", "id", "--crlf"]


@pytest.mark.parametrize("args, words", [
    (["-w", "sliding:2000 fp=1e-6 seed=7"], "with sliding:1000, not sliding:2000;"),
    (["-w", "sliding:1000 fp=1e-6 seed=8"], "with seed=7, not seed=8;"),
    (["-w", "sliding:1000 fp=1e-6"], "with seed=7;"),
    (["-w", "sliding:1000 fp=1e-3 seed=7 cache=5"], "with fp=1e-06, not fp=0.001; without cache=5;"),
    (["-k", "v"], "with -k id, not -k v;"),
    (["-d", ";"], "without -d ;;"),
    (["--no-header", "-k", "1"], "with -k id, not -k 1; without --no-header;"),
])
def test_a_state_of_another_run_is_refused_saying_which_differs(seen, state, args, words):
    text = "id,v\n1,2\n"
    assert seen(*MADE_WITH, "--state", state, text=text).code == 0
    seen(*MADE_WITH[2 if "-w" in args else 0:], *args, "--state", state, text=text).refused(words, "was made")


def test_a_missing_option_is_named_and_an_equal_one_passes(seen, state):
    text = "id,v\n1,2\n"
    seen(*MADE_WITH, "--state", state, text=text)
    seen("--csv", "-k", "id", "--state", state, text=text).refused("was made with --crlf;")
    done = seen("--crlf", "-k", "id", "--csv", "--tag", "--stats", "-j", "2", "--state", state, text=text)
    assert done.code == 0 and done.out == b"1,2,dup\n"


def test_a_window_not_asked_for_is_the_states_zone_and_all(seen, state):
    args = ["-k", "1", "--time", "2", "--tag", "--state", state]
    zone = ["-w", "landmark:1d items=100", "--zone", "America/New_York"]
    seen(*zone, *args, text="a\t2020-01-02T01:00:00Z\n")
    done = seen(*args, text="a\t2020-01-02T04:59:59Z\na\t2020-01-02T05:00:00Z\n")
    assert done.out == b"dup\ta\t2020-01-02T04:59:59Z\nnew\ta\t2020-01-02T05:00:00Z\n"
    seen(*zone[:2], *args).refused("was made with --zone America/New_York")


# -- damage --------------------------------------------------------------------------------------------


def saved(seen, state, tmp_path):
    """A small state of a run that read a table from a file."""
    table = tmp_path / "table.csv"
    table.write_text("id,v\n" + "".join("%d,x\n" % i for i in range(300)))
    done = seen("-w", "sliding:100 fp=1e-3", "--csv", "-k", "id", "--state", state, table)
    assert done.code == 0
    return state.read_bytes(), ["--csv", "-k", "id", "--state", state, table]


def test_a_state_cut_anywhere_is_refused(seen, state, tmp_path, rng):
    whole, args = saved(seen, state, tmp_path)
    cuts = {0, 1, 15, 16, len(whole) - 1, *(rng.randrange(len(whole)) for _ in range(40))}
    for cut in sorted(cuts):
        state.write_bytes(whole[:cut])
        seen(*args).refused("the state", "remove it to start anew")
    state.write_bytes(whole + b"x")
    seen(*args).refused("more follows behind its end")
    state.write_bytes(whole)
    assert seen(*args).code == 0


def test_a_flipped_byte_is_refused(seen, state, tmp_path, rng):
    whole, args = saved(seen, state, tmp_path)
    for _ in range(1000 if os.environ.get("SEEN_LONG") else 60):
        at = rng.randrange(len(whole))
        flipped = bytearray(whole)
        flipped[at] ^= 1 << rng.randrange(8)
        state.write_bytes(flipped)
        seen(*args).refused("the state")
        assert state.read_bytes() == bytes(flipped), at  # and stays as it is


def test_a_state_of_another_version_is_refused(seen, state, tmp_path):
    whole, args = saved(seen, state, tmp_path)
    state.write_bytes(whole[:4] + b"\x02\0\0\0" + whole[8:])
    seen(*args).refused("format version 2, and this program reads 1")
    state.write_bytes(b"no state at all\n")
    seen(*args).refused("does not begin with SEEN")


def test_what_cannot_be_a_state_is_refused(seen, state, tmp_path):
    state.touch()
    seen("--state", state, text="a\n").refused("is empty; remove it to start anew")
    seen("--state", tmp_path, text="a\n").refused("is a directory")
    seen("--state", "", text="a\n").refused("needs the name of a file")
    seen("--state", tmp_path / "no" / "state", text="a\n").refused("No such file or directory")
    os.mkfifo(tmp_path / "fifo")
    seen("--state", tmp_path / "fifo", text="a\n").refused("no regular file")
    (tmp_path / "mine").write_text("precious\n")
    (tmp_path / "mine.new").write_text("precious\n")
    seen("--state", tmp_path / "mine", text="a\n").refused("mine.new", "File exists")
    assert (tmp_path / "mine.new").read_text() == "precious\n"


class Library:
    """libseen, for snapshots whose checksums are right whatever their blob says."""

    def __init__(self):
        path = pathlib.Path(SEEN).with_name("libseen.so")
        if b"__asan_init" in pathlib.Path(SEEN).read_bytes():
            path = ROOT / "build" / "libseen.so"  # no sanitizer starts within this process
        if not path.exists():
            pytest.skip("%s is not there" % path)
        self.lib = ctypes.CDLL(str(path))

    def load(self, data):
        """The detector and the blob of a snapshot."""
        at = 0

        def read(_, to, n):
            nonlocal at
            if at + n > len(data):
                return -1
            ctypes.memmove(to, data[at:at + n], n)
            at += n
            return 0

        detector, blob, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        bad = self.lib.seen_load(ctypes.byref(detector), ctypes.byref(blob), ctypes.byref(size),
                                 Stream(MOVE(read), None), ctypes.c_size_t(0), None, None)
        assert bad == 0
        return detector, ctypes.string_at(blob, size.value)

    def save(self, detector, blob):
        out = bytearray()

        def write(_, data, n):
            out.extend(ctypes.string_at(data, n))
            return 0

        assert self.lib.seen_save(detector, blob, ctypes.c_size_t(len(blob)), Stream(MOVE(write), None), None) == 0
        return bytes(out)


MOVE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Stream(ctypes.Structure):
    _fields_ = [("move", MOVE), ("ctx", ctypes.c_void_p)]


def test_a_blob_with_right_checksums_is_believed_nothing(seen, state, tmp_path, rng):
    whole, args = saved(seen, state, tmp_path)
    library = Library()
    detector, blob = library.load(whole)
    assert library.save(detector, blob) == whole
    state.write_bytes(library.save(detector, b""))
    seen(*args).refused("not a state of seen dedup")
    state.write_bytes(library.save(detector, blob.replace(b"seen dedup", b"seen-redis")))
    seen(*args).refused("not a state of seen dedup")
    version = blob.index(b"seen dedup") + 11
    state.write_bytes(library.save(detector, blob[:version] + b"\x09" + blob[version + 1:]))
    seen(*args).refused("in format 9, and this is seen")
    numbers = [0, 1, 255, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, len(blob)]
    for i in range(2000 if os.environ.get("SEEN_LONG") else 250):
        bad = bytearray(blob)
        at = rng.randrange(len(bad))
        if i % 4 == 0:
            bad = bad[:at]
        elif i % 4 == 1:
            bad[at] ^= 1 << rng.randrange(8)
        elif i % 4 == 2:
            bad[at:at + 8] = rng.choice(numbers).to_bytes(8, "little")
        else:
            bad[at:at] = rng.randbytes(rng.randrange(1, 20))
        state.write_bytes(library.save(detector, bytes(bad)))
        done = seen(*args)
        assert done.code in (0, 2), (i, done.code, done.err)
        assert all(line.startswith(b"seen: ") for line in done.err.splitlines()), done.err
        if i % 4 in (0, 3):
            assert done.code == 2, i


# -- places where it cannot be written -----------------------------------------------------------------


def test_a_folder_that_may_not_be_written_is_told_before_any_record(state, tmp_path):
    def nobody():
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    os.chmod(tmp_path, 0o755)
    for path in tmp_path.parents:
        if path.owner() != "root" or path.stat().st_mode & 0o005 == 0:
            try:
                path.chmod(path.stat().st_mode | 0o055)
            except OSError:
                break
    done = subprocess.run([SEEN, "--state", str(folder / "s")], input=b"a\n", capture_output=True,
                          preexec_fn=nobody)
    assert done.returncode == 2 and done.stdout == b""
    assert b"Permission denied" in done.stderr and done.stderr.count(b"\n") == 1


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 10, 32 << 10))


def test_a_full_disk_is_an_error_and_keeps_the_old_state(seen, state):
    seen(*SMALL, "--state", state, text="a\n")
    before = state.read_bytes()
    done = seen("--state", state, text="b\n", preexec_fn=small_files)
    assert done.code == 2 and done.out == b"b\n"
    assert b"cannot write the state" in done.err and b"the one before stays" in done.err
    assert state.read_bytes() == before
    assert sorted(os.listdir(state.parent)) == [state.name]
    assert seen("--state", state, "--tag", text="a\nb\n").out == b"dup\ta\nnew\tb\n"


def test_a_state_that_cannot_be_written_in_passing_is_told_once_and_the_run_goes_on(state):
    p = subprocess.Popen([SEEN, *SMALL, "--state", str(state), "--state-every", "20ms"], bufsize=0,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         preexec_fn=small_files)
    for i in range(10):
        p.stdin.write(b"%d\n" % i)
        assert p.stdout.readline() == b"%d\n" % i
        time.sleep(0.03)
    err = p.communicate()[1]
    assert p.returncode == 2
    assert err.count(b"cannot write the state") == 2  # once in passing, once at the end
    assert b"there is none yet" in err and not state.exists()


def test_output_that_failed_is_not_counted_as_seen(seen, state):
    seen(*SMALL, "--state", state, text="a\n")
    with open("/dev/full", "wb") as full:
        assert seen("--state", state, text="b\n", stdout=full).code == 2
    assert seen("--state", state, text="b\n").out == b"b\n"


def test_a_state_behind_a_link_and_its_mode_stay(seen, state, tmp_path):
    real = tmp_path / "real"
    seen(*SMALL, "--state", real, text="a\n")
    real.chmod(0o600)
    state.symlink_to(real)
    assert seen("--state", state, "--tag", text="a\n").out == b"dup\ta\n"
    assert state.is_symlink() and real.stat().st_mode & 0o777 == 0o600


# -- one run at a time ---------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [False, True], ids=["first run", "later run"])
def test_a_second_run_is_told_who_has_the_state(seen, state, again):
    if again:
        seen(*SMALL, "--state", state, text="x\n")
    p = subprocess.Popen([SEEN, "-q", *SMALL, "--state", str(state)], bufsize=0, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    p.stdin.write(b"a\n")
    assert p.stdout.readline() == b"a\n"
    seen(*SMALL, "--state", state, text="b\n").refused("is in use by process %d;" % p.pid)
    p.stdin.write(b"c\n")
    p.communicate()
    assert seen("--state", state, "--tag", text="a\nb\nc\n").out == b"dup\ta\nnew\tb\ndup\tc\n"


# -- in passing ----------------------------------------------------------------------------------------


def follow(state, *args):
    return subprocess.Popen([SEEN, "-q", *SMALL, *args, "--state", str(state)], bufsize=0,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def appears(path, seconds=5):
    until = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.005)
    return path.exists()


def test_it_is_saved_while_nothing_comes(seen, state):
    p = follow(state, "--state-every", "100ms")
    p.stdin.write(b"a\n")
    assert p.stdout.readline() == b"a\n"
    assert appears(state)
    p.kill()
    p.communicate()
    assert seen("--state", state, "--tag", text="a\nb\n").out == b"dup\ta\nnew\tb\n"


def test_sigusr2_saves_it_now(seen, state):
    p = follow(state)
    p.stdin.write(b"a\n")
    assert p.stdout.readline() == b"a\n" and not state.exists()
    p.send_signal(signal.SIGUSR2)
    assert appears(state)
    p.stdin.write(b"b\n")
    assert p.stdout.readline() == b"b\n"
    p.kill()
    p.communicate()
    done = seen("--state", state, "--tag", text="a\nb\n")
    assert done.out == b"dup\ta\nnew\tb\n"
    assert b"resuming after record 1; what was printed after that comes again" in done.err


def test_a_span_that_is_none(seen, state):
    seen("--state", state, "--state-every", "60", text="a\n").refused("--state-every 60", "unit")


def test_a_torn_last_line_of_the_output_is_ended_first(seen, state, tmp_path):
    out = tmp_path / "out"
    seen(*SMALL, "--state", state, text="a\n")
    out.write_bytes(b"a\ntor")
    with open(out, "ab") as more:
        seen("--state", state, text="b\n", stdout=more)
    assert out.read_bytes() == b"a\ntor\nb\n"


# -- killed at any instant -----------------------------------------------------------------------------


class Killed:
    """A run over one file, killed and taken up again, whose every step is held against the run that nobody
    killed: that prints the records `number`ed so, `line` by line."""

    def __init__(self, folder, rng, threads):
        self.rng, self.out, self.state, self.log = rng, folder / "out", folder / "state", folder / "log"
        records = [b"%d user-%06d" % (i // 3, rng.randrange(120000)) for i in range(250000)]
        self.log.write_bytes(b"".join(r + b"\n" for r in records))
        self.args = [SEEN, "-w", "landmark fp=1e-6 mem=1MiB seed=3", "-d", " ", "-k", "2"]
        tagged = subprocess.run([*self.args, "--tag", self.log], capture_output=True).stdout.splitlines()
        self.number = [i for i, line in enumerate(tagged, 1) if line.startswith(b"new")]
        self.line = [records[i - 1] for i in self.number]
        self.args += ["-j", str(threads), "--state", str(self.state), "--state-every", "4ms"]

    def start_over(self):
        for path in (self.out, self.state, self.state.with_name("state.new")):
            path.unlink(missing_ok=True)
        self.out.touch()
        self.printed = self.resumed = 0  # lines so far, whichever runs printed them; the last record behind us

    def step(self, longest):
        """One run, killed unless it ends before.  Whether it ended."""
        before = self.out.stat().st_size
        with open(self.out, "ab") as out:
            p = subprocess.Popen([*self.args, str(self.log)], stdout=out, stderr=subprocess.PIPE)
            try:
                p.wait(self.rng.random() * longest)
            except subprocess.TimeoutExpired:
                p.kill()
            err = p.communicate()[1].decode()
        assert p.returncode in (0, -signal.SIGKILL), err
        with open(self.out, "rb") as out:
            out.seek(before)
            self.check(out.read(), err)
        return p.returncode == 0

    def check(self, text, err):
        """What this run printed comes behind the record from which it says it resumed, and all before that
        record had been printed when it began."""
        resumed = re.search(r"resuming after record ([0-9,]+)", err)
        if not resumed and not text:
            return  # killed before it said anything
        resumed = int(resumed.group(1).replace(",", "")) if resumed else 0
        assert resumed >= self.resumed
        self.resumed = resumed
        first = bisect.bisect(self.number, resumed)
        assert first <= self.printed, "records are lost"
        if self.printed and text.startswith(b"\n"):
            text = text[1:]  # the line torn before is ended
        *lines, torn = text.split(b"\n")
        last = first + len(lines)
        assert lines == self.line[first:last]
        assert not torn or self.line[last].startswith(torn)
        self.printed = max(self.printed, last)


@pytest.mark.parametrize("kills, threads", [
    (20, 1), (20, 2),
    pytest.param(700, 1, marks=pytest.mark.long), pytest.param(300, 2, marks=pytest.mark.long),
])
def test_killed_at_any_instant_nothing_is_lost(tmp_path, rng, kills, threads):
    run = Killed(tmp_path, rng, threads)
    run.start_over()
    killed, ends, resumes, longest = 0, 0, 0, 0.2
    while killed < kills or not ends or resumes <= kills // 5:
        was = run.resumed
        ended = run.step(longest)
        longest *= 0.7 if ended else 1.3 if run.resumed == was else 1  # most are killed, and get on
        resumes += run.resumed > 0
        killed += not ended
        assert killed < 50 * kills, "hardly a run lives to save its state"
        if not ended:
            continue
        ends += 1
        assert run.printed == len(run.line)
        assert set(run.line) <= set(run.out.read_bytes().splitlines())
        run.start_over()
    print("%d kills, %d runs to the end, %d resumed" % (killed, ends, resumes))
