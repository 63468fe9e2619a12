"""`seen --redis` against a real server gives what `seen` gives by itself, option by option."""

import random
import subprocess

import pytest
from cluster import SEEN, skip_without_client

skip_without_client()


def clicks(rng, n=20000):
    """Rows (seconds, publisher, id, cost): some ids come again, some records come late."""
    rows = []
    for i in range(n):
        key = rng.randrange(n // 4)
        seconds = 1_700_000_000 + i // 20 - rng.choice([0, 0, 0, 7])
        rows.append("%d\tp%d\tid%d\t0.%02d" % (seconds, key % 5, key, key % 100))
    return "\n".join(rows) + "\n"


def run(*args, text):
    done = subprocess.run([SEEN, *map(str, args)], input=text.encode(), capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


RECORDS = ["--time", "1", "-k", "3"]
WINDOWS = ["landmark:5m filter=exact", "sliding:2m filter=exact", "sliding:2m filter=exact refresh=first"]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("args", [
    [], ["--duplicates"], ["--group-by", "2", "--sum", "4"], ["--tag=verdict,number,time"], ["--output=json"],
    ["--reorder", "10s", "--tag=verdict,number", "--group-by", "2"], ["--keep", "last"],
    ["--keep", "last", "--reorder", "10s", "--tag=verdict,number,time", "--group-by", "2", "--sum", "4"]])
def test_an_option_does_the_same_with_a_server(r, window, args):
    text = clicks(random.Random(20050510))
    url = "redis://127.0.0.1:%d/clicks" % r.connection_pool.connection_kwargs["port"]
    words = ["-w", window, *RECORDS, *args]
    assert run("--redis", url, *words, text=text) == run(*words, text=text)


def test_two_clients_let_one_record_of_each_key_through(r):
    """Each keeps the last record of the keys that it was the first to bring."""
    text = clicks(random.Random(1)).splitlines()
    url = "redis://127.0.0.1:%d/shared" % r.connection_pool.connection_kwargs["port"]
    words = ["--redis", url, "-w", "landmark:1d filter=exact", *RECORDS, "--keep", "last"]
    printed = [run(*words, text="\n".join(part) + "\n")[0].decode().splitlines() for part in (text[::2], text[1::2])]
    ids = [line.split("\t")[2] for lines in printed for line in lines]
    assert len(ids) == len(set(ids)) and set(ids) == {line.split("\t")[2] for line in text}
