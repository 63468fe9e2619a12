"""One format for all: what `seen --state` wrote goes on in a server, what SEEN.DUMP gave in a program
that embeds the library; each answers as the one before it would have."""

import subprocess

import pytest

from cluster import SEEN
from library import Library
from test_commands import do, info
from test_persistence import dump

COUNTED = ["landmark fp=1e-6 mem=1MiB", "landmark:1500 filter=exact", "jumping:1000/8 fp=1e-4",
           "sliding:700 fp=1e-4", "sliding:700 filter=counting cache=100", "decaying mem=32KiB",
           "decaying filter=lru mem=64KiB", "landmark filter=counting items=3000 shards=4"]
TIMED = ["sliding:1h fp=1e-4 mem=256KiB", "jumping:1h/12 items=3000", "landmark:1d items=5000",
         "sliding:1h filter=exact lateness=1m"]
START = 1_600_000_000  # seconds


def stream(rng, n):
    """Records with many repeated keys, each about a second after the one before."""
    now, records = START, []
    for _ in range(n):
        now += rng.randrange(4)
        records.append((b"key %d" % rng.randrange(n // 2), now))
    return records


def seen(*args, records=(), timed=False):
    text = b"".join(b"%s,%d\n" % record for record in records)
    options = ["-d", ",", "-k", "1"] + (["--time", "2"] if timed else [])
    return subprocess.run([SEEN, "-q", *options, *args], input=text, capture_output=True)


def unique(done):
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def add(r, key, records, timed):
    """The records that the server calls new, as seen prints them."""
    return [b"%s,%d" % (item, now) for item, now in records
            if do(r, "SEEN.ADD " + key, item, *(["AT", now * 1000] if timed else []))]


@pytest.mark.parametrize("spec", COUNTED + TIMED)
def test_a_state_of_seen_goes_on_in_the_server(r, rng, tmp_path, spec):
    state, timed, records = tmp_path / "run.state", spec in TIMED, stream(rng, 3000)
    first, rest = records[:2000], records[2000:]
    accepted = unique(seen("--state", state, "-w", spec, records=first, timed=timed))
    r.execute_command("SEEN.LOAD", "k", 0, state.read_bytes())
    assert info(r, "k")["records"] == len(first)
    assert info(r, "k")["duplicates"] == len(first) - len(accepted)
    last = [item for item, _ in first[-100:]]
    at = ["AT", first[-1][1] * 1000] if timed else []
    assert r.execute_command("SEEN.MCHECK", "k", *last, *at) == [1] * len(last)
    expected = unique(seen("--state", state, records=rest, timed=timed))
    assert 0 < len(expected) < len(rest)
    assert add(r, "k", rest, timed) == expected


@pytest.mark.parametrize("spec", COUNTED + TIMED)
def test_a_dump_goes_on_in_a_program_that_embeds_the_library(r, rng, tmp_path, spec):
    library, timed, file = Library(), spec in TIMED, tmp_path / "k.dump"
    records = stream(rng, 1200)
    do(r, "SEEN.CREATE k", spec)
    add(r, "k", records[:800], timed)
    file.write_bytes(b"".join(chunk for _, chunk in dump(r, "k")))
    detector = library.load(file.read_bytes())
    for item, now in records[800:]:
        ours = library.observe(detector, item, now=now * 1_000_000 if timed else 0)
        assert ours == [do(r, "SEEN.ADD k", item, *(["AT", now * 1000] if timed else []))]
    r.execute_command("SEEN.LOAD", "back", 0, library.save(detector))
    library.so.seen_free(detector)
    probe = [b"key %d" % i for i in range(700)] + (["AT", records[-1][1] * 1000] if timed else [])
    answers = do(r, "SEEN.MCHECK k", *probe)
    assert 0 < sum(answers) < 700
    assert do(r, "SEEN.MCHECK back", *probe) == answers


def test_seen_says_what_a_dump_is_and_leaves_it_alone(r, tmp_path):
    file = tmp_path / "k.dump"
    do(r, "SEEN.CREATE k landmark items=100")
    file.write_bytes(b"".join(chunk for _, chunk in dump(r, "k")))
    before = file.read_bytes()
    r.bf().create("bf", 0.01, 100)
    (tmp_path / "bf.dump").write_bytes(b"".join(c for _, c in dump(r, "bf", "BF.SCANDUMP")))
    assert b"as BF.SCANDUMP writes it" in seen("--state", tmp_path / "bf.dump").stderr
    for more in ([], ["-w", "landmark items=100"]):
        done = seen("--state", file, *more, records=[(b"a", START)])
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"snapshot of a filter, as SEEN.DUMP and libseen write it" in done.stderr
        assert b"SEEN.LOAD" in done.stderr and b"another --state" in done.stderr
        assert done.stderr.count(b"\n") == 1
    assert file.read_bytes() == before
