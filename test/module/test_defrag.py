"""Active defragmentation: small filters move, and all answers stay.  It takes a server that was built
with a jemalloc of its own, as the servers' sources build it; Debian's are not.  Put one first in
PATH.  What such a server would do to a value is tested everywhere by test/unit/test_defrag.c."""

import time

import pytest

import redis

from conftest import contents, settle
from test_persistence import load

SPECS = ["landmark fp=1e-3 items=500", "landmark:1d fp=1e-2 filter=partitioned items=300",
         "landmark filter=counting items=200", "jumping:100/4 fp=1e-2 mem=8KiB",
         "jumping:1h/6 filter=blocked items=300 fp=1e-2", "sliding:1h fp=1e-2 items=300",
         "sliding:200 fp=1e-3", "sliding:200 filter=timing", "sliding:100 filter=timed-cuckoo",
         "sliding:100 filter=counting", "sliding:100 cache=20 fp=1e-3", "decaying mem=4KiB",
         "decaying filter=stable mem=5KiB", "decaying filter=lru mem=6KiB"]
KEYS = 4000
ROUND = 200  # commands in a pipeline


def send(r, commands):
    replies = []
    for i in range(0, len(commands), ROUND):
        pipe = r.pipeline(transaction=False)
        for command in commands[i:i + ROUND]:
            pipe.execute_command(*command)
        replies += pipe.execute()
    return replies


def is_chain(i):
    return i % (len(SPECS) + 2) >= len(SPECS)


def make(i):
    key = "k%d" % i
    if is_chain(i):
        return "BF.RESERVE", key, "0.01", "50", "EXPANSION", "1"
    return ("SEEN.CREATE", key, *SPECS[i % (len(SPECS) + 2)].split())


def add(i, items):
    return ("BF.MADD" if is_chain(i) else "SEEN.MADD", "k%d" % i, *items)


def ask(i, items):
    return ("BF.MEXISTS" if is_chain(i) else "SEEN.MCHECK", "k%d" % i, *items)


def fill(r, rng):
    """Makes many small filters, deletes two thirds of them, and makes large ones, which do not move."""
    send(r, [make(i) for i in range(KEYS)])
    for _ in range(2):
        send(r, [add(i, [rng.randrange(400) for _ in range(60)]) for i in range(KEYS)])
    gone = rng.sample(range(KEYS), KEYS * 2 // 3)
    send(r, [("DEL", "k%d" % i) for i in gone])
    send(r, [("SEEN.CREATE", "large%d" % i, *spec.split())
             for i, spec in enumerate(["landmark mem=1MiB", "sliding:1000 filter=exact"])])
    send(r, [("SEEN.MADD", "large%d" % i, *range(500)) for i in range(2)])
    return sorted(set(range(KEYS)) - set(gone))


def wasted(r):
    """Bytes of pages in use that hold nothing: what the server goes by."""
    return r.info("memory")["allocator_frag_bytes"]


def settled(r):
    """The server looks at its allocator now and then."""
    time.sleep(0.5)
    return wasted(r)


def enable(r):
    try:
        r.config_set("activedefrag", "yes")
    except redis.exceptions.ResponseError as e:
        pytest.skip("this server cannot defragment: %s" % e)
    for name, value in {"ignore-bytes": 1, "threshold-lower": 1, "threshold-upper": 2,
                        "cycle-min": 25, "cycle-max": 50}.items():
        r.config_set("active-defrag-" + name, value)


@pytest.fixture
def two(start):
    """A server that can defragment, and a replica that gets the same commands and does not."""
    moves = start()
    enable(moves.client)
    moves.client.config_set("activedefrag", "no")
    stays = start("--replicaof", "127.0.0.1 %d" % moves.port)
    stays.wait(lambda: stays.client.info("replication")["master_link_status"] == "up")
    return moves, stays


def usage(r, left):
    return send(r, [("MEMORY", "USAGE", "k%d" % i, "SAMPLES", "0") for i in left])


def test_small_filters_move_together_and_answer_as_if_they_had_not(two, rng):
    moves, stays = two
    r = moves.client
    left = fill(r, rng)
    settle(moves, stays)
    before, used = settled(r), r.info("memory")["used_memory"]
    assert before > used / 3, "there is nothing to be gained"
    digests, bytes_before = contents(r), usage(r, left)

    r.config_set("activedefrag", "yes")
    end = time.monotonic() + 60
    while settled(r) > 0.4 * before and time.monotonic() < end:
        pass
    after, stats = wasted(r), r.info("stats")
    print("%s: beside %.1f MB in use %.1f MB were wasted, then %.1f MB; %.1f MB without; %d blocks moved"
          % (moves.program, used / 1e6, before / 1e6, after / 1e6, settled(stays.client) / 1e6,
             stats["active_defrag_hits"]))
    assert after < before / 2 and after < wasted(stays.client) / 2
    assert stats["active_defrag_hits"] > len(left)
    assert contents(r) == digests == contents(stays.client)
    assert usage(r, left) == bytes_before


def test_it_goes_on_beside_additions_dumps_and_deletions(two, rng):
    moves, stays = two
    r = moves.client
    left = fill(r, rng)
    begun = r.execute_command("SEEN.DUMP", "large0", 0)
    assert begun[0], "the dump is to be under way"
    r.config_set("activedefrag", "yes")
    hits = lambda: r.info("stats")["active_defrag_hits"]
    end = time.monotonic() + 60
    rounds = 0
    while (hits() < len(left) or rounds < 10) and time.monotonic() < end:
        some = rng.sample(left, 300)
        send(r, [add(i, [rng.randrange(1000) for _ in range(20)]) for i in some])
        for i in rng.sample(left, 20):
            left.remove(i)
            send(r, [("DEL", "k%d" % i)])
        rounds += 1
        time.sleep(0.1)
    print("%d rounds, %d blocks moved" % (rounds, hits()))
    assert hits() >= len(left)
    dump = [begun]
    while dump[-1][0]:
        dump.append(r.execute_command("SEEN.DUMP", "large0", dump[-1][0]))
    load(r, "copy", dump)
    settle(moves, stays)
    questions = [ask(i, range(0, 1000, 7)) for i in left]
    assert send(r, questions) == send(stays.client, questions)
    digests = contents(r)
    assert digests == contents(stays.client) and digests[b"copy"] == digests[b"large0"]
    send(r, [("DEL", "k%d" % i) for i in left])
