"""seen count --state and seen top --state: several runs print what one run over all would, also after kill -9,
and refuse a state that is damaged or was made otherwise."""

import datetime
import json
import os
import signal
import subprocess

import pytest

from conftest import SEEN
from test_state_damage import Library

BASE = 1_732_060_800  # 2024-11-20

WAYS = {
    "in all": ["count"],
    "in all, exactly": ["count", "--exact"],
    "Flajolet and Martin": ["count", "--fm", "--error", "0.1"],
    "days": ["count", "-w", "landmark:1d", "--time", "when"],
    "days of a zone": ["count", "-w", "landmark:1d", "--time", "when", "--zone", "America/New_York"],
    "groups of weeks": ["count", "-w", "landmark:1w", "--time", "when", "--group-by", "partner,key", "--error", "0.2"],
    "the last days": ["count", "-w", "jumping:4d/4", "--time", "when", "-o", "json"],
    "records": ["count", "-w", "landmark:700"],
    "the last records": ["count", "-w", "jumping:800/4"],
    "groups of the last days": ["count", "-w", "jumping:4d/4", "--time", "when", "-g", "partner"],
    "a sliding window": ["count", "-w", "sliding:2000"],
    "a sliding window every few days": ["count", "-w", "sliding:10d", "--every", "3d", "--time", "when", "--error", "0.25"],
    "a sliding window, exactly": ["count", "-w", "sliding:700", "--every", "300", "--exact"],
    "landmarks": ["count", "--landmark-on", "p8$"],
    "top": ["top"],
    "top of days": ["top", "-w", "landmark:1d", "--time", "when", "--keep", "20"],
    "top of the last records": ["top", "-n", "1", "-w", "jumping:900/3", "--keep", "40"],
    "top of the last days by partners": ["top", "-n", "1", "--distinct", "partner", "-w", "jumping:6d/3 mem=16KiB", "--time", "when"],
    "top of records": ["top", "-w", "landmark:900", "-o", "json"],
    "top by partners": ["top", "--distinct", "partner", "-w", "landmark:1w mem=16KiB", "--time", "when"],
    "top of too few pairs": ["top", "--distinct", "when", "-w", "landmark:2000 mem=4KiB filter=bloom", "--keep", "30"],
}
RUNS = [pytest.param(way, id=name) for name, way in WAYS.items()]
HEADER = b"when,key,partner\n"


def rows(rng, n=6000, days=30, keys=300):
    return [b"%d,k%d,p%d\n" % (BASE + rng.randrange(days * 86400), min(rng.randrange(keys), rng.randrange(keys)),
                               rng.randrange(9)) for _ in range(n)]


def asked(way):
    return [way[0], "-q", "--csv", "-k", "key", "--seed", "1", *way[1:]]


def told(seen, state):
    return json.loads(seen("state", "-o", "json", state).out)


# -- the same as one run -------------------------------------------------------------------------------


def heading_once(text):
    """Each run has a heading of its own, as it is a table of its own."""
    lines = text.splitlines()
    return [line for i, line in enumerate(lines) if i == 0 or line != lines[0]]


@pytest.mark.parametrize("way", RUNS)
def test_a_file_that_grows_is_counted_as_if_it_had_been_there_at_once(seen, state, tmp_path, rng, way):
    lines, log = rows(rng), tmp_path / "log.csv"
    cuts = [0, *sorted(rng.randrange(len(lines)) for _ in range(3)), len(lines)]
    log.write_bytes(HEADER)
    printed = []  # rows of windows that ended before this run
    for a, b in zip(cuts, cuts[1:]):
        with open(log, "ab") as more:
            more.write(b"".join(lines[a:b]))
        whole = seen(*asked(way), log).out.splitlines()
        done = seen(*asked(way), "--state", state, log)
        assert done.code == 0 and done.err == b""
        mine = done.out.splitlines()
        if "json" not in way:
            assert mine[0] == whole[0]
            mine, whole = mine[1:], whole[1:]
        assert printed + mine == whole
        said = told(seen, state)
        printed = whole[:printed_rows(way, said, whole)]
        assert said["command"] == way[0] and said["records"] == said["counted"] == b


def printed_rows(way, said, whole):
    """The rows of windows that ended: jumping windows may begin alike, and have one row each here."""
    if way[0] == "count":
        return said["printed_rows"]
    if "-n" in way:
        return said["ended_windows"]
    ended = froms(whole)[:said["ended_windows"]]
    return sum(r.split(b"\t")[0] in ended or json_from(r) in ended for r in whole)


def json_from(row):
    return json.loads(row)["from"].encode() if row.startswith(b"{") else None


def froms(whole):
    """Beginnings of the windows that have rows, in order."""
    names = dict.fromkeys(json_from(row) or row.split(b"\t")[0] for row in whole)
    return [name for name in names if name != b"all"]


@pytest.mark.parametrize("way", [WAYS["days"], WAYS["top of days"]], ids=["count", "top"])
def test_a_pipe_prints_each_window_once_when_it_is_over(seen, state, rng, way):
    lines = sorted(rows(rng))
    whole = seen(*asked(way), text=HEADER + b"".join(lines)).out.splitlines()
    half = len(lines) // 2
    first = seen(*asked(way), "--state", state, text=HEADER + b"".join(lines[:half])).out.splitlines()
    open_windows = told(seen, state)["open_windows"]
    assert open_windows == 1
    then = seen(*asked(way), "--state", state, text=HEADER + b"".join(lines[half:])).out.splitlines()
    last = int(lines[half - 1].split(b",")[0])  # its day is open when the first run ends, and its rows come again
    day = datetime.datetime.fromtimestamp(last, datetime.timezone.utc).strftime("%Y-%m-%d").encode()
    assert [r for r in first if not r.startswith((day, b"all"))] + then[1:] == whole


def test_what_came_before_is_told_unless_quiet(seen, state, tmp_path):
    log = tmp_path / "log"
    log.write_text("a\nb\na\n")
    assert seen("count", "-o", "value", "--state", state, log).out == b"2\n"
    with open(log, "a") as more:
        more.write("c\nhal")
    done = seen("count", "-o", "value", "--state", state, log)
    assert done.out == b"3\n"
    assert b"resuming after record 3" in done.err and b"ends inside a record" in done.err
    assert seen("count", "-q", "-o", "value", "--state", state, log).out == b"3\n"  # nothing new
    done = seen("count", "-q", "-o", "json", "--state", state, "--from-start", log)
    assert json.loads(done.out)["records"] == 8


def test_each_of_several_files_has_its_place(seen, state, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("1\n2\n")
    b.write_text("1\n1\n")
    assert seen("top", "-q", "--state", state, a, b).lines[1:] == ["1\t1\t3\t0\t1", "1\t2\t1\t0\t1"]
    for path, line in ((a, "2\n2\n"), (b, "2\n")):
        with open(path, "a") as more:
            more.write(line)
    assert seen("top", "-q", "--state", state, b, a).lines[1:] == ["1\t2\t4\t0\t1", "1\t1\t3\t0\t1"]


def test_windows_by_arrival_may_outlive_the_run(seen, state, tmp_path):
    log = tmp_path / "log"
    log.write_text("a\n")
    seen("count", "-w", "landmark:1d", log).refused("--time")
    assert seen("count", "-w", "landmark:1d", "--state", state, log).code == 0


def test_a_seed_that_was_drawn_is_the_states(seen, state, tmp_path, rng):
    way = ["top", "-q", "--csv", "-k", "key", "--distinct", "partner", "-w", "landmark:1w mem=64KiB", "--time", "when"]
    lines, log = rows(rng), tmp_path / "log.csv"
    log.write_bytes(HEADER + b"".join(lines[:3000]))
    assert seen(*way, "--state", state, log).code == 0
    with open(log, "ab") as more:
        more.write(b"".join(lines[3000:]))
    counts = [[row.split("\t")[2:3] for row in done.lines] for done in (seen(*way, "--state", state, log), seen(*way, log))]
    assert counts[0] == counts[1]  # for every seed: this memory holds all pairs


# -- kill -9 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [["count", "-w", "jumping:40000/8"],
                                 ["count", "-w", "landmark:1d", "--time", "when", "-j", "2"],
                                 ["top", "-w", "landmark:20000", "--keep", "500"],
                                 ["top", "-w", "landmark:1w mem=64KiB", "--time", "when", "--distinct", "partner"]],
                         ids=["count in order", "count by day", "top in order", "top by partners"])
@pytest.mark.parametrize("kills", [8, pytest.param(150, marks=pytest.mark.long)])
def test_killed_at_any_instant_it_counts_as_one_run(seen, tmp_path, rng, way, kills):
    log, out, state = tmp_path / "log.csv", tmp_path / "out", tmp_path / "state"
    log.write_bytes(HEADER + b"".join(rows(rng, 150000, keys=20000)))
    whole = heading_once(seen(*asked(way), log).out)
    args = [SEEN, *asked(way), "--state", str(state), "--state-every", "4ms", str(log)]
    killed, resumed, longest, code = 0, 0, 0.1, None
    while code != 0 or killed < kills or not resumed:
        before = 0
        if code == 0:
            state.unlink()
        if state.exists():  # what was printed after it comes again
            before = told(seen, state)["records"]
            os.truncate(out, told(seen, state)["output_bytes"])
        else:
            out.write_bytes(b"")
        with open(out, "ab") as to:
            p = subprocess.Popen(args, stdout=to, stderr=subprocess.PIPE)
            try:
                p.wait(rng.random() * longest if killed < kills or not resumed else None)
            except subprocess.TimeoutExpired:
                p.kill()
            err, code = p.communicate()[1], p.returncode
        assert code in (0, -signal.SIGKILL) and err == b"", err
        resumed += before > 0
        killed += code != 0
        got_on = code == 0 or state.exists() and told(seen, state)["records"] > before
        longest *= 0.7 if code == 0 else 1 if got_on else 1.3
        if code == 0:
            assert heading_once(out.read_bytes()) == whole


def test_the_heading_is_not_repeated_behind_what_a_killed_run_printed(seen, state, tmp_path, rng):
    out = tmp_path / "out"
    args = [SEEN, *asked(WAYS["records"]), "--state", str(state), "--state-every", "5ms"]
    with open(out, "ab") as to:
        p = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=to)
        p.stdin.write(HEADER + b"".join(rows(rng, 1500)))
        p.stdin.flush()
        while not state.exists() or told(seen, state)["records"] < 1500:
            assert p.poll() is None
        p.kill()
        p.wait()
    with open(out, "ab") as to:
        subprocess.run(args, input=HEADER + b"".join(rows(rng, 700)), stdout=to, check=True)
    lines = out.read_text().splitlines()
    assert lines[0].startswith("from\t") and not any(line.startswith("from") for line in lines[1:])
    assert [line.split("\t")[0] for line in lines] == ["from", "1", "701", "1401", "2101", "all"]


def test_a_torn_row_is_ended(seen, state, tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"1\t70")
    with open(out, "ab") as to:
        assert seen("count", "-o", "value", "--state", state, text="a\n", stdout=to).code == 0
    assert out.read_bytes() == b"1\t70\n1\n"


def test_rows_that_did_not_arrive_are_not_behind_us(seen, state, rng):
    text = HEADER + b"".join(rows(rng, 1500))
    with open("/dev/full", "wb") as full:
        assert seen(*asked(WAYS["records"]), "--state", state, text=text, stdout=full).code == 2
    assert not state.exists()


# -- refusals ------------------------------------------------------------------------------------------


def made(seen, state, tmp_path, rng, way):
    log = tmp_path / "log.csv"
    log.write_bytes(HEADER + b"".join(rows(rng, 400, days=3, keys=40)))
    assert seen(*asked(way), "--state", state, log).code == 0
    return [*asked(way), "--state", state, log]


@pytest.mark.parametrize("way, now, words", [
    (["count"], ["count", "--error", "0.02"], "without --error 0.02"),
    (["count", "--error", "0.02"], ["count"], "with --error 0.02"),
    (["count"], ["count", "--fm"], "without --fm"),
    (["count", "--exact"], ["count"], "with --exact"),
    (["count"], ["count", "--group-by", "partner"], "without -g partner"),
    (["count"], ["count", "--seed", "2"], "with seed=1, not seed=2"),
    (["count", "-w", "landmark:9"], ["count", "-w", "landmark:10"], "with landmark:9, not landmark:10"),
    (["count", "-w", "landmark:1d", "--time", "when"],
     ["count", "-w", "landmark:1d", "--time", "when", "--open-windows", "2"], "without --open-windows 2"),
    (["top"], ["top", "--keep", "10"], "without --keep 10"),
    (["top", "--distinct", "partner"], ["top"], "with --distinct partner"),
    (["top", "-n", "3"], ["top", "-n", "4"], "with -n 3, not -n 4"),
    (["top", "--distinct", "partner"], ["top", "--distinct", "partner", "--mem", "1MiB"], "without mem=1MiB"),
    (["top"], ["count"], "was made by seen top, and this is seen count"),
    (["count"], ["top"], "was made by seen count, and this is seen top"),
])
def test_other_options_than_the_state_was_made_with_are_refused(seen, state, tmp_path, rng, way, now, words):
    made(seen, state, tmp_path, rng, way)
    whole = state.read_bytes()
    done = seen(*asked(now), "--state", state, tmp_path / "log.csv")
    done.refused(str(state), words, "another --state")
    assert done.out == b"" and state.read_bytes() == whole


def test_states_of_other_commands_are_told_apart(seen, state, tmp_path, rng):
    made(seen, state, tmp_path, rng, ["count"])
    seen("--state", state, text="a\n").refused("was made by seen count, and this is seen dedup")
    state.unlink()
    seen("--state", state, text="a\n")
    seen("count", "--state", state, text="a\n").refused("was made by seen dedup, and this is seen count")


def test_without_a_window_it_is_the_states(seen, state, tmp_path, rng):
    way = ["count", "-w", "landmark:100"]
    made(seen, state, tmp_path, rng, way)
    done = seen("count", "-q", "--csv", "-k", "key", "--state", state, text=HEADER + b"".join(rows(rng, 100)))
    assert [line.split("\t")[0] for line in done.lines] == ["from", "301", "401", "all"]


@pytest.mark.parametrize("command", ["count", "top"])
def test_a_dash_and_merged_files_have_no_state(seen, tmp_path, command):
    seen(command, "--state", "-", text="a\n").refused("--state -", "./-")
    a = tmp_path / "a"
    a.write_text("1 x\n")
    seen(command, "--state", tmp_path / "s", "--merge", "--time", "1", "-d", " ", a, a).refused("--state", "--merge")
    seen(command, "--from-start", a).refused("--from-start serves --state")


DAMAGED = [WAYS["groups of weeks"], WAYS["the last days"], WAYS["top by partners"]]


@pytest.mark.parametrize("way", DAMAGED, ids=["groups", "jumping", "pairs"])
def test_a_state_cut_or_changed_anywhere_is_refused(seen, state, tmp_path, rng, way):
    args = made(seen, state, tmp_path, rng, way)
    whole = state.read_bytes()
    for i in range(400 if os.environ.get("SEEN_LONG") else 40):
        at = rng.randrange(len(whole))
        bad = bytearray(whole[:at] if i % 2 else whole)
        if not i % 2:
            bad[at] ^= 1 << rng.randrange(8)
        state.write_bytes(bad)
        done = seen(*args)
        done.refused("the state")
        assert done.out == b"" and state.read_bytes() == bytes(bad), (i, at)
        seen("state", state).refused("the state")
    state.write_bytes(whole + b"x")
    seen(*args).refused("more follows behind its end")
    seen("state", state).refused("more follows behind its end")
    state.write_bytes(whole)
    assert seen(*args).code == 0


def blocks_of(tail):
    """The bytes in the blocks of doc/state.md."""
    out, at = b"", 0
    while (n := int.from_bytes(tail[at:at + 8], "little")):
        out += tail[at + 8:at + 8 + n]
        at += 16 + n
    assert at + 8 == len(tail)
    return out


def to_blocks(library, text):
    out = b""
    for number, at in enumerate(range(0, len(text), 1 << 16)):
        part = text[at:at + (1 << 16)]
        out += len(part).to_bytes(8, "little") + part + library.hash(part, number)
    return out + bytes(8)


@pytest.mark.parametrize("way", DAMAGED, ids=["groups", "jumping", "pairs"])
def test_blocks_with_right_checksums_are_believed_nothing(seen, state, tmp_path, rng, way):
    args = made(seen, state, tmp_path, rng, way)
    library, whole = Library(), state.read_bytes()
    detector, blob = library.load(whole)
    snapshot = library.save(detector, blob)
    text = blocks_of(whole[len(snapshot):])
    assert snapshot + to_blocks(library, text) == whole
    numbers = [0, 1, 255, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, len(text)]
    starts = [at for at in range(0, min(len(text), 1 << 14))] + [rng.randrange(len(text)) for _ in range(1 << 12)]
    for i in range(2000 if os.environ.get("SEEN_LONG") else 150):
        bad, at = bytearray(text), rng.choice(starts)
        if i % 4 == 0:
            bad = bad[:at]
        elif i % 4 == 1:
            bad[at] ^= 1 << rng.randrange(8)
        elif i % 4 == 2:
            bad[at // 8 * 8:at // 8 * 8 + 8] = rng.choice(numbers).to_bytes(8, "little")
        else:
            bad[at:at] = rng.randbytes(rng.randrange(1, 20))
        state.write_bytes(snapshot + to_blocks(library, bytes(bad)))
        done = seen(*args)
        assert done.code in (0, 2), (i, at, done.code, done.err)
        assert all(line.startswith(b"seen: ") for line in done.err.splitlines()), done.err
        if i % 4 in (0, 3):
            assert done.code == 2, (i, at)


# -- what is in it -------------------------------------------------------------------------------------


def test_seen_state_tells_what_was_counted(seen, state, tmp_path, rng):
    made(seen, state, tmp_path, rng, ["top", "--distinct", "partner", "-w", "landmark:150"])
    said = told(seen, state)
    assert said["kind"] == "state" and said["command"] == "top" and said["records"] == said["counted"] == 400
    assert said["open_windows"] == 1 and said["ended_windows"] == 2 and said["asked"] == "landmark:150 seed=1"
    assert said["options"] == {"--csv": "", "-k": "key", "--distinct": "partner"}
    text = seen("state", state).out.decode()
    for part in "a state of seen top", "--distinct partner", "1 window", "2 windows", "log.csv":
        assert part in text, part
    state.unlink()
    made(seen, state, tmp_path, rng, ["count", "-w", "landmark:1d", "--time", "when"])
    said = told(seen, state)
    assert said["command"] == "count" and said["open_windows"] == 3 and said["printed_rows"] == 0
    assert said["last_time"].startswith("2024-11-22T")
