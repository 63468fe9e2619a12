"""Records that cannot be judged: one sentence that counts them by cause and shows the first of each; --rejects;
exit 2 where nothing could be judged."""

import json
import subprocess

import pytest

from conftest import SEEN, SMALL

EURO = ["-k", "1", "-w", "sliding:1h", "--time", "1", "--time-format", "%d/%m/%Y"]


def said(done):
    return [line for line in done.err.decode().splitlines() if line.startswith("seen: ")]


# -- causes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, text, sentence", [
    (EURO, "20/11/2024\n20-11-2024\n", "time '20-11-2024' does not match '%d/%m/%Y', record 2"),
    (["-k", "1", "-w", "sliding:1h", "--time", "2"], "a\t1700000000\nb\tsoon\n",
     "time 'soon' cannot be read, record 2: --time-format says how times are written"),
    (["-k", "2", "-w", "sliding:1h", "--time", "1"], "1700000000\ta\n1700000000\n",
     "record 2 has 1 field, -k asks for 2"),
    (["-k", "1", "-w", "sliding:1h", "--time", "2"], "a\t1700000000\nb\n", "record 2 has 1 field, --time asks for 2"),
    (["-k", "5"], "1\t2\t3\t4\t5\na,b,c,d,e\n", "record 2 has 1 field, -k asks for 5: try -d ,"),
    (["-k", "2", "-d", ","], "a,b\na;b\n", "record 2 has 1 field, -k asks for 2: try -d ';'"),
    (["-k", "2", "-d", ","], "a,b\na\tb\n", "record 2 has 1 field, -k asks for 2: try -d tab"),
    (["-k", "2", "-d", ","], "a,b\na|b\n", "record 2 has 1 field, -k asks for 2: try -d '|'"),
    (["--csv", "-k", "b"], 'a,b\n1,2\n"x,y"\n', "record 2 has 1 field, -k asks for 2"),
    (["--max-record", "1KiB"], "a\n" + "b" * 2000 + "\n", "record 2 is longer than --max-record (1KiB)"),
    (["--ndjson", "-k", "user.id"], '{"user":{"id":1}}\n{"user":{"id":null}}\n',
     "record 2 has no value at user.id, which -k asks for"),
    (["--ndjson", "-k", "id"], '{"id":1}\n{"id":\n', "record 2 is not a JSON object or array: '{\"id\":'"),
    (["--clf", "-k", "agent"], 'h - - [t] "x" 1 1 "r" "a"\nh - - [t] "x" 1 1\n', "record 2 has no agent, which -k asks for"),
    (["--clf", "-k", "host"], 'h - - [t] "x" 1 1\nnonsense\n', "record 2 is not a line of a web log: 'nonsense'"),
    (["-w", "landmark:100 hash=int filter=bitvector bits=8"], "7\nseven\n",
     "key 'seven' is not a decimal integer that hash=int takes, record 2"),
    (["-w", "landmark:100 hash=raw filter=exact"], "short\n" + "x" * 17 + "\n",
     "key 'xxxxxxxxxxxxxxxxx' is longer than hash=raw takes, record 2"),
    (["-d", ",", "-k", "last-1"], "a,b\na\n", "record 2 has 1 field, -k asks for 2"),
    (["-d", ",", "-k", "3-"], "a,b,c\na;b;c\n", "record 2 has 1 field, -k asks for 3: try -d ';'"),
    (["--blanks", "-k", "3"], "a b  c\na  b \n", "record 2 has 2 fields, -k asks for 3"),
    (["-d", ",", "-k", "2", "--key-regex", "^[0-9]+$"], "a,1\nb,x\n",
     "key 'x' does not match --key-regex '^[0-9]+$', record 2"),
    (["-d", ",", "--query-key", "1", "--add-key", "2"], "a,b\n,\n",
     "record 2 has neither a --query-key nor an --add-key"),
])
@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_cause_is_told_with_the_first_value_and_its_record(seen, options, text, sentence, threads):
    done = seen(*options, "-j", threads, text=text)
    assert (done.code, said(done)) == (0, ["seen: 1 record was passed on unjudged: " + sentence])
    assert done.out.decode() == text


def test_several_causes_are_one_sentence_with_a_count_for_each(seen):
    text = "20/11/2024\tx\n20-11-2024\tx\n20/11/2024\n1\tx\n"
    done = seen("-k", "2", *EURO[2:], text=text)
    assert said(done) == ["seen: 3 records were passed on unjudged: 1 as record 3 has 1 field, -k asks for 2; "
                          "2 as time '20-11-2024' does not match '%d/%m/%Y', record 2"]


def test_values_are_cut_and_made_harmless(seen):
    bad = b"\x1b[31m\xff\xc3\xa9" + b"\xc3\xa9" * 50 + b"\tx\n"
    done = seen("-k", "2", *EURO[2:], text=b"20/11/2024\ty\n" + bad)
    assert b"\x1b" not in done.err and b"\xff" not in done.err and b"...'" in done.err
    stats = seen("-k", "2", *EURO[2:], "--stats=json", text=b"20/11/2024\ty\n" + bad).stats
    assert stats["unparseable_causes"][0]["first"].startswith("time '?[31m")


def test_statistics_have_the_counts_of_each_cause(seen):
    text = '{"a":1}\n{"a":\n{"b":1}\n{}\n'
    done = seen("--ndjson", "-k", "a", "--stats=json", text=text)
    assert done.stats["unparseable"] == 3 and done.stats["unparseable_causes"] == [
        {"cause": "not_json", "records": 1, "first": "record 2 is not a JSON object or array: '{\"a\":'"},
        {"cause": "no_field", "records": 2, "first": "record 3 has no value at a, which -k asks for"}]
    assert len(done.err.splitlines()) == 1
    told = seen("--ndjson", "-k", "a", "--stats", text=text).err.decode()
    assert "  2   record 3 has no value at a, which -k asks for" in told and not said(seen("-q", text=text))


def test_a_later_run_tells_its_own_causes_and_counts_the_earlier_ones(seen, state, tmp_path):
    log = tmp_path / "log"
    log.write_text("a\tb\nc\n")
    args = [*SMALL, "-k", "2", "--state", state, "--stats=json", log]
    assert seen(*args).stats["unparseable"] == 1
    log.write_text("a\tb\nc\nd\ne\tf\n")
    done = seen(*args)
    assert done.stats["unparseable"] == 2 and done.stats["unparseable_causes"] == [
        {"cause": "no_field", "records": 1, "first": "record 3 has 1 field, -k asks for 2"},
        {"cause": "earlier_runs", "records": 1, "first": None}]
    done = seen(*args, "--strict")
    assert done.code == 0  # nothing new


@pytest.mark.parametrize("command, fate", [
    (["count", "-d", ",", "-k", "1", "--group-by", "2"], "not counted: record 2 has 1 field, --group-by asks for 2"),
    (["count", "-d", ",", "-k", "2"], "not counted: record 2 has 1 field, -k asks for 2"),
    (["top", "-d", ",", "-k", "1", "--distinct", "2"], "not counted: record 2 has 1 field, --distinct asks for 2"),
    (["top", "-d", ",", "-k", "2"], "not counted: record 2 has 1 field, -k asks for 2"),
    (["filter", "--list", "list", "-d", ",", "-k", "2"], "not looked up: record 2 has 1 field, -k asks for 2"),
    (["compare", "-w", "landmark:9", "-d", ",", "-k", "2"], "left out: record 2 has 1 field, -k asks for 2"),
])
def test_every_subcommand_tells_the_cause(seen, tmp_path, monkeypatch, command, fate):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list").write_text("b\n")
    done = seen(*command, text="a,b\nc\nd,e\n")
    assert (done.code, said(done)) == (0, ["seen: 1 record was " + fate])
    assert seen(*command, "--strict", text="a,b\nc\nd,e\n").code == 2
    done = seen(*command, text="c\nd\n")
    done.refused("none of the records could be judged (2)", "record 1 has 1 field", "asks for 2")


# -- nothing could be judged ---------------------------------------------------------------------------


def test_nothing_could_be_judged_is_exit_2_and_the_output_is_complete(seen):
    text = "a,b\nc,d\n"
    done = seen("-k", "2", text=text)
    done.refused("none of the records could be judged (2): record 1 has 1 field, -k asks for 2: try -d ,")
    assert done.out.decode() == text
    quiet = seen("-k", "2", "-q", text=text)
    assert quiet.code == 2 and quiet.err == done.err
    assert seen("-k", "2", "--stats=json", text=text).code == 2


@pytest.mark.parametrize("text, options", [("", ["-k", "2"]), ("a,b\n", ["--csv", "-k", "b"])])
def test_no_records_are_no_failure(seen, text, options):
    done = seen(*options, text=text)
    assert (done.code, done.err) == (0, b"")


def test_the_state_is_complete_so_that_the_next_run_does_not_repeat_it(seen, state, tmp_path):
    log = tmp_path / "log"
    log.write_text("bad\n")
    args = [*SMALL, "-k", "2", "--state", state, log]
    done = seen(*args)
    assert done.code == 2 and done.out == b"bad\n"
    done = seen(*args)
    assert (done.code, done.out) == (0, b"")


# -- rejects -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [[], ["--tag"], ["--duplicates"], ["--tag=number"], ["-o", "json"], ["-j", "3"],
                                  ["--keep", "last"], ["--max-record", "1KiB"]])
def test_rejects_go_to_their_file_instead(seen, tmp_path, mode):
    good = "".join("%d\tx%d\n" % (i, i % 50) for i in range(5000))
    bad = "no\n" + "long" * 500 + "\n"
    rows = good.splitlines(True)
    text = "".join(rows[:2500]) + bad + "".join(rows[2500:]) + "last"
    mode = [word.replace("-o", "--output") for word in mode]
    want = seen("-w", "landmark:1e5", "-k", "2", *mode, text=good)
    path = tmp_path / "rejects"
    done = seen("-w", "landmark:1e5", "-k", "2", *mode, "--rejects", path, text=text)
    assert path.read_text() == bad + "last" and done.code == 0
    if mode != ["--tag=number"] and "json" not in mode:
        assert done.out == want.out
    else:
        assert len(done.lines) == len(want.lines)
    assert said(done)[0].startswith("seen: 3 records were written to %s: " % path)


def test_rejects_of_a_table_are_a_table_with_its_header(seen, tmp_path):
    path = tmp_path / "rejects.csv"
    path.write_text("old\n")
    done = seen("--csv", "-k", "b", "--rejects", path, text='a,b\n1,2\n"3\n4"\n5,2\n')
    assert done.out == b"a,b\n1,2\n" and path.read_bytes() == b'a,b\n"3\n4"\n'
    seen("--csv", "-k", "b", "--rejects", path, text="a,b\n1,2\n")
    assert path.read_bytes() == b""  # no rejects: test -s says so


def test_a_run_that_goes_on_goes_on_in_its_rejects(seen, state, tmp_path):
    log, path = tmp_path / "log", tmp_path / "rejects"
    args = [*SMALL, "--csv", "-k", "b", "--state", state, "--rejects", path, log]
    log.write_text("a,b\n1,2\nbad\n")
    assert seen(*args).out == b"a,b\n1,2\n"
    log.write_text("a,b\n1,2\nbad\nworse\n3,4\n")
    assert seen(*args).out == b"3,4\n"
    assert path.read_text() == "a,b\nbad\nworse\n"


@pytest.mark.parametrize("command", [["count"], ["top"], ["filter", "--list", "list"], ["compare", "-w", "landmark:9"]])
def test_rejects_of_every_subcommand(seen, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list").write_text("b\n")
    done = seen(*command, "-d", ",", "-k", "2", "--rejects", "rejects", text="a,b\nc\nd,e\n")
    assert done.code == 0 and (tmp_path / "rejects").read_text() == "c\n"
    assert said(done) == ["seen: 1 record was written to rejects: record 2 has 1 field, -k asks for 2"]


def test_rejects_of_count_stand_in_order_whatever_the_threads(seen, tmp_path):
    text = "".join(("%d,g,x\n" % i, "%d\n" % i, "%d,h\n" % i)[i % 3] for i in range(20000))
    for threads in "1", "2":
        seen("count", "-d", ",", "-k", "2", "-g", "3", "-j", threads, "--rejects", tmp_path / threads, text=text)
    want = "".join(line for line in text.splitlines(True) if "x" not in line)
    assert (tmp_path / "1").read_text() == (tmp_path / "2").read_text() == want


def test_a_file_cannot_be_input_and_rejects(seen, tmp_path):
    path = tmp_path / "log"
    path.write_text("a\tb\n")
    seen("-k", "2", "--rejects", path, path).refused("is input and --rejects")
    with open(path, "rb") as stdin:
        done = subprocess.run([SEEN, "-k", "2", "--rejects", path], stdin=stdin, capture_output=True)
    assert done.returncode == 2 and b"is input and --rejects" in done.stderr
    with open(tmp_path / "out", "wb") as out:
        seen("-k", "2", "--rejects", tmp_path / "out", text="x\n", stdout=out).refused("standard output and --rejects")
    assert path.read_text() == "a\tb\n"
    seen("--rejects", "-").refused("--rejects takes the name of a file")
    seen("--rejects", tmp_path / "no" / "file").refused("cannot open --rejects")


def test_rejects_that_cannot_be_written_end_the_run_and_are_not_counted_as_done(seen, state, tmp_path):
    log = tmp_path / "log"
    log.write_text("a\tb\nbad\n")
    args = [*SMALL, "-k", "2", "--state", state, log]
    seen(*args, "--rejects", "/dev/full").refused("cannot write --rejects /dev/full: No space left on device")
    assert seen(*args).out == b"a\tb\nbad\n"


def test_rejects_come_while_the_input_is_still_open(tmp_path):
    path = tmp_path / "rejects"
    p = subprocess.Popen([SEEN, *SMALL, "-k", "2", "--rejects", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         bufsize=0, stderr=subprocess.DEVNULL)
    p.stdin.write(b"bad\na\tb\n")
    assert p.stdout.readline() == b"a\tb\n"
    p.stdin.write(b"c\td\n")
    assert p.stdout.readline() == b"c\td\n"  # by now it has waited for input
    assert path.read_bytes() == b"bad\n"
    p.communicate()
