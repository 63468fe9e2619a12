"""--state: a run goes on where the last one stopped, in its answers and in its files, or says what it
found instead."""

import os
import signal
import subprocess

import pytest

from conftest import SEEN, SMALL


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
    "confirmed": ["-w", "sliding:1000 fp=1e-6 verify=100", "--confirmed"],
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


def test_a_torn_last_line_of_the_output_is_ended_first(seen, state, tmp_path):
    out = tmp_path / "out"
    seen(*SMALL, "--state", state, text="a\n")
    out.write_bytes(b"a\ntor")
    with open(out, "ab") as more:
        seen("--state", state, text="b\n", stdout=more)
    assert out.read_bytes() == b"a\ntor\nb\n"


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


# -- groups and sums -----------------------------------------------------------------------------------


GROUPS = ["--csv", "-k", "name", "--group-by", "x,adv", "--sum", "cost,fee", "--stats=json", "-q"]


def amounts(rng, n=4000):
    return [b'%d,"k%d",%s,%d.%02d,%s\n' % (rng.randrange(4), rng.randrange(n // 3), rng.choice([b"a", b'"b,c"']),
                                          rng.randrange(-50, 50), rng.randrange(100),
                                          b"?" if rng.random() < 0.01 else b"%d" % rng.randrange(10**15)) for _ in range(n)]


def account(done):
    return {name: done.stats[name] for name in ("records", "unique", "duplicates", "group_by", "groups", "sums")}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("more", [[], ["--max-groups", "3"]])
def test_groups_and_sums_go_on(seen, state, rng, threads, more):
    args = [*GROUPS, *more, "-j", threads, "-w", "landmark fp=1e-6 mem=1MiB seed=1"]
    header, lines = b"x,name,adv,cost,fee\n", amounts(rng)
    whole = seen(*args, text=header + b"".join(lines))
    cuts = [0, 0, *sorted(rng.randrange(len(lines)) for _ in range(3)), len(lines), len(lines)]
    for a, b in zip(cuts, cuts[1:]):
        done = seen(*args, "--state", state, text=header + b"".join(lines[a:b]))
        assert done.code == (3 if any(b"?" in line for line in lines[a:b]) else 0), done.err
    assert account(done) == account(whole)
    assert done.stats["sums"]["fee"]["unreadable"] == sum(b"?" in line for line in lines) > 0


def test_groups_of_records_that_are_too_long_go_on(seen, state):
    args = ["-w", "landmark mem=64KiB", "-d,", "-k1", "--group-by=2", "--sum=3", "--max-record=1KiB", "-q", "--stats=json"]
    text = "a,g,1\n" + "b" * 500000 + "\na,g,2.5\n"
    whole = seen(*args, text=text)
    for part in text.splitlines(keepends=True):
        done = seen(*args, "--state", state, text=part)
    assert account(done) == account(whole)


def test_sums_may_be_asked_in_one_list_or_in_several(seen, state):
    args = [*SMALL, "-d,", "-k1", "--state", state, "--stats=json", "-q"]
    seen(*args, "--sum=2", "--sum=3", text="a,1,2\n")
    assert seen(*args, "--sum=2,3", text="b,1,2\n").stats["sums"]["3"]["net"] == "4"


@pytest.mark.parametrize("before,now,words", [
    (["--group-by=1"], ["--group-by=2"], "with --group-by 1, not --group-by 2;"),
    (["--group-by=1"], ["--group-by=1,2"], "with --group-by 1, not --group-by 1,2;"),
    (["--group-by=1"], [], "with --group-by 1;"),
    ([], ["--sum=2"], "without --sum 2;"),
    (["--sum=2"], ["--sum=2", "--sum=3"], "with --sum 2, not --sum 2,3;"),
    (["--group-by=1"], ["--group-by=1", "--max-groups=5"], "without --max-groups 5;"),
])
def test_other_groups_or_sums_are_refused(seen, state, before, now, words):
    args = [*SMALL, "-d,", "-k1", "--state", state]
    assert seen(*args, *before, text="1,2,3\n").code == 0
    seen(*args, *now, text="1,2,3\n").refused("was made", words)


def test_groups_that_a_state_has_no_room_for_are_counted_together(seen, state, rng):
    keys = ["%s%d" % ("g" * 990, i) for i in range(9000)]
    text = "".join("%s\n" % key for key in keys)
    args = ["-w", "landmark mem=1MiB seed=1", "-k1", "--group-by=1", "--stats=json"]
    whole = seen(*args, "--state", state, text=text)
    told = whole.stats["groups"]
    assert whole.code == 0 and b"a state keeps 8 MiB of groups" in whole.err
    assert 7000 < len(told) < 9000 and told[-1]["others"] and sum(g["records"] for g in told) == 9000
    other = state.with_name("parts")
    for part in (text[:len(text) // 2 + 7], text[len(text) // 2 + 7:]):
        done = seen(*args, "-q", "--state", other, text=part)
    assert len(done.stats["groups"]) in (len(told), len(told) + 1)  # one more: the line that was cut


def test_a_state_of_the_format_before_goes_on(seen, state):
    """Without groups the two differ in the number of the format and in one section at the end."""
    from test_state_damage import Library
    seen(*SMALL, "--state", state, text="a\n")
    library = Library()
    detector, blob = library.load(state.read_bytes())
    at = blob.index(b"seen dedup\0") + 11
    assert blob[at] == 2
    nothing = blob.rindex((32).to_bytes(8, "little"))
    state.write_bytes(library.save(detector, blob[:at] + b"\1" + blob[at + 1:nothing]))
    assert seen("--state", state, "--tag", text="a\nb\n").out == b"dup\ta\nnew\tb\n"


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
    assert done.out == b"d\ne\nf\ng\n" and b"was rewritten since 6 bytes of it were read" in done.err


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


def test_the_next_run_goes_on_behind_a_quote_that_was_not_closed(seen, state, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text('id,v\n1,a\n2,"b\n' + "3,c\n" * 1000)
    args = [*SMALL, "--csv", "-k", "id", "--state", state]
    done = seen(*args, "--max-field", "1KiB", log)
    done.refused("line 3 is not closed within 1KiB")
    assert done.out == log.read_bytes()
    with open(log, "a") as more:
        more.write('1,d\n4,e\n5,"f\n')
    done = seen(*args, log)
    assert done.out == b'4,e\n' and b"ends inside a record" in done.err
    seen(*args, "--no-quotes", log).refused("was made without --no-quotes")


MADE_WITH = ["-w", "sliding:1000 fp=1e-6 seed=7", "--csv", "-k", "id", "--crlf"]


@pytest.mark.parametrize("args, words", [
    (["-w", "sliding:2000 fp=1e-6 seed=7"], "with sliding:1000, not sliding:2000;"),
    (["-w", "sliding:1000 fp=1e-6 seed=8"], "with seed=7, not seed=8;"),
    (["-w", "sliding:1000 fp=1e-6"], "with seed=7;"),
    (["-w", "sliding:1000 fp=1e-3 seed=7 verify=5"], "with fp=1e-06, not fp=0.001; without verify=5;"),
    (["-k", "v"], "with -k id, not -k v;"),
    (["-d", ";"], "without -d ;;"),
    (["--no-header", "-k", "1"], "with -k id, not -k 1; without --no-header;"),
])
def test_a_state_of_another_run_is_refused_saying_which_differs(seen, state, args, words):
    text = "id,v\n1,2\n"
    assert seen(*MADE_WITH, "--state", state, text=text).code == 0
    seen(*MADE_WITH[2 if "-w" in args else 0:], *args, "--state", state, text=text).refused(words, "was made")


def test_a_dash_is_no_name_for_a_state_but_a_path_to_it_is(seen, tmp_path):
    seen(*SMALL, "--state", "-", text="a\n", cwd=tmp_path).refused("--state -", "./-")
    assert not list(tmp_path.iterdir())
    assert seen(*SMALL, "--state", "./-", text="a\n", cwd=tmp_path).out == b"a\n"
    assert (tmp_path / "-").exists()


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
