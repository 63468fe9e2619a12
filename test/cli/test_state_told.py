"""seen state FILE: what a state holds, for people and for programs; a damaged file gets a sentence."""

import json
import os
import subprocess

import pytest

from conftest import SEEN, SMALL
from test_state_damage import Library


def told(seen, state):
    done = seen("state", "-o", "json", state)
    assert done.code == 0 and done.err == b""
    return json.loads(done.out)


def test_what_a_run_leaves_is_told(seen, state, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("k,when,cost\na,2024-05-01T10:00:00Z,1.5\na,2024-05-01T10:00:01Z,2\nb,2024-05-01T10:00:02Z,x\n")
    args = ["-w", "sliding:1h items=100 seed=4", "--csv", "-k", "k", "--time", "when", "--group-by=k", "--sum=cost"]
    stats = seen(*args, "-q", "--stats=json", "--state", state, log).stats
    os.utime(state, (1700000000, 1700000000))
    with open(log, "a") as more:
        more.write("c,x,1\n")
    said = told(seen, state)
    assert said["file"] == str(state) and said["kind"] == "state" and said["written"] == "2023-11-14T22:13:20Z"
    for name in "spec", "filter", "records", "unique", "duplicates", "stored", "capacity", "memory_bytes", "groups", "sums":
        assert said[name] == stats[name], name
    assert said["asked"] == "sliding:1h items=100 seed=4" and said["last_time"] == "2024-05-01T10:00:02Z"
    assert said["options"] == {"--csv": "", "-k": "k", "--time": "when", "--group-by": "k", "--sum": "cost"}
    assert said["files"] == [{"name": str(log), "offset": len(log.read_bytes()) - 6, "compressed": False,
                              "now": "there", "unread": 6}]
    assert said["ended"] and not said["in_use"] and said["file_bytes"] == state.stat().st_size
    text = seen("state", state).out.decode()
    for part in "a state of seen", "by seen ", "sliding:1h", "--time when", "6 unread", "3.5", "2023-11-14T22:13:20Z":
        assert part in text, part


def test_files_that_are_not_what_they_were(seen, state, tmp_path):
    names = [tmp_path / name for name in ("gone", "rotated", "shorter", "whole")]
    for name in names:
        name.write_text("a\nb\n")
    seen(*SMALL, "--state", state, *names)
    names[0].unlink()
    names[1].rename(tmp_path / "rotated.1")
    names[1].write_text("c\n")
    os.truncate(names[2], 2)
    assert [(os.path.basename(f["name"]), f["now"], f["unread"]) for f in told(seen, state)["files"]] == [
        ("gone", "not there", None), ("rotated", "another file", None), ("shorter", "shorter", None), ("whole", "there", 0)]
    text = seen("state", state).out.decode()
    assert "it is not there now" in text and "another file has this name now" in text and "to its end" in text


def test_a_state_in_use_is_told_and_not_disturbed(seen, state):
    p = subprocess.Popen([SEEN, "-q", *SMALL, "--state", str(state), "--state-every", "5ms"], bufsize=0,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for i in range(60):
        p.stdin.write(b"%d\n" % i)
        assert p.stdout.readline() == b"%d\n" % i
        if not state.exists():
            continue
        said = told(seen, state)
        assert said["in_use"] and said["in_use_by"] == p.pid and said["records"] <= i + 1 and not said["ended"]
    p.communicate()
    assert p.returncode == 0 and told(seen, state)["records"] == 60 and not told(seen, state)["in_use"]


def test_a_snapshot_of_the_library_is_told(seen, state):
    seen(*SMALL, "--state", state, text="a\nb\na\n")
    library = Library()
    detector, _ = library.load(state.read_bytes())
    for blob in b"", b"of another program":
        state.write_bytes(library.save(detector, blob))
        said = told(seen, state)
        assert (said["kind"], said["records"], said["duplicates"]) == ("snapshot", 3, 1) and "options" not in said
        assert b"a snapshot" in seen("state", state).out


def test_what_is_damaged_gets_a_sentence(seen, state, tmp_path, rng):
    seen(*SMALL, "--group-by=1", "--state", state, text="a\nb\n")
    whole = state.read_bytes()
    for _ in range(30):
        bad = bytearray(whole)
        bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        state.write_bytes(rng.choice([bad, whole[:rng.randrange(1, len(whole))], whole + b"x"]))
        seen("state", state).refused("the state")
    library = Library()
    detector, blob = library.load(whole)
    for _ in range(100):
        at = rng.randrange(20, len(blob))
        state.write_bytes(library.save(detector, blob[:at] + rng.randbytes(8) + blob[at + 8:]))
        done = seen("state", "-o", "json", state)
        assert done.code in (0, 2)
        json.loads(done.out) if done.code == 0 else done.refused("the state")


@pytest.mark.parametrize("args,words", [
    ([], ["which state?"]), (["a", "b"], ["one state at a time", "'b'"]), (["nosuch"], ["No such file"]),
    (["."], ["is a directory"]), (["-o", "xml", "x"], ["text or json"]),
])
def test_refusals(seen, tmp_path, args, words):
    seen("state", *args, cwd=tmp_path).refused(*words)


def test_an_empty_or_foreign_file(seen, state):
    state.touch()
    seen("state", state).refused("is empty")
    state.write_bytes(b"something else\n")
    seen("state", state).refused("does not begin with SEEN")
