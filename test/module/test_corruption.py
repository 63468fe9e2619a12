"""RESTORE and LOAD on bytes that are not what we wrote.  The payload of DUMP ends in a CRC of the
server's own.  It is computed again after each mutation, so that the bytes reach our loader.

2,000 mutations of each family by default, 100,000 with SEEN_LONG=1.  The server must live, and what
it accepts must be what was saved: a filter that answers otherwise would be a wrong answer."""

import itertools
import struct

import pytest

import redis

from conftest import LONG
from test_commands import do
from test_persistence import dump, fill

MUTATIONS = 100_000 if LONG else 2_000
SPECS = ["landmark fp=1e-2 items=300", "jumping:100/4 fp=1e-2 mem=8KiB", "sliding:1h fp=1e-2 mem=4KiB",
         "sliding:50 filter=exact", "sliding:200 filter=timing", "sliding:100 filter=timed-cuckoo",
         "sliding:100 filter=counting", "decaying mem=4KiB", "landmark filter=counting items=200",
         "sliding:100 cache=20 mem=64KiB", "sliding:100 filter=exact claims=40"]


def crc_table():
    """CRC-64 as Redis has it: Jones' polynomial, bits reflected, from 0."""
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = crc_table()


def crc64(data):
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def sealed(body):
    return body + struct.pack("<Q", crc64(body))


def mutate(rng, body):
    """One to three changes of a byte, a bit, a word, or of the length."""
    body = bytearray(body)
    for _ in range(rng.choice((1, 1, 2, 3))):
        # The head is short, and has most of what can go wrong.
        at = rng.randrange(min(len(body), 400) if rng.random() < 0.5 else len(body))
        kind = rng.randrange(6)
        if kind == 0:
            body[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            body[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
        elif kind == 2:
            word = rng.choice((0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 63, 2 ** 64 - 1, 2 ** 40))
            body[at:at + 8] = struct.pack("<Q", word)
        elif kind == 3:
            del body[at:at + rng.randrange(1, 20)]
        elif kind == 4:
            body[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 20)))
        else:
            body[at:at + 8] = body[at:at + 8][::-1]
    return bytes(body)


def make(r):
    for i, spec in enumerate(SPECS):
        do(r, "SEEN.CREATE", "k%d" % i, *spec.split())
        fill(r, "k%d" % i, 300)
    for i in range(30):
        do(r, "SEEN.CLAIM k%d" % (len(SPECS) - 1), "job%d" % i, 60000 - i)
    r.bf().create("chain", 0.01, 50)
    r.bf().madd("chain", *range(300))
    return ["k%d" % i for i in range(len(SPECS))] + ["chain"]


def digest(r, key):
    return r.execute_command("DEBUG", "DIGEST-VALUE", key)[0]


def use(r, key):
    """Every key that was accepted must work."""
    command = "BF.MADD" if key == "chain" else "SEEN.MADD"
    r.execute_command(command, "got", *range(250, 350))
    r.execute_command("BF.INFO" if key == "chain" else "SEEN.INFO", "got")


def test_our_crc_is_the_servers(r):
    do(r, "SEEN.CREATE k landmark fp=1e-2 items=300")
    payload = r.dump("k")
    assert sealed(payload[:-8]) == payload
    r.restore("again", 0, payload)


@pytest.mark.unlike
def test_restore_survives_mutations_and_accepts_no_wrong_answer(start, rng):
    server = start()
    r = server.client
    keys = make(r)
    bodies = {key: r.dump(key)[:-8] for key in keys}
    digests = {key: digest(r, key) for key in keys}
    accepted = 0
    for i, key in zip(range(MUTATIONS), itertools.cycle(keys)):
        body = mutate(rng, bodies[key])
        if body == bodies[key]:
            continue
        try:
            r.restore("got", 0, sealed(body), replace=True)
        except redis.exceptions.ResponseError as e:
            assert "Bad data format" in str(e) or "DUMP payload" in str(e), e
            continue
        # Only data beside the filter may differ: how many repeats were counted,
        # and how the server packs strings and numbers.
        accepted += 1
        if r.type("got") == b"seenfiltr":
            assert digest(r, "got") == digests[key], (i, key)
            use(r, key)
    assert r.ping()
    assert accepted < MUTATIONS // 10


@pytest.mark.unlike
def test_load_survives_mutations_and_accepts_no_wrong_answer(start, rng):
    """The same without the server's packing around, so that every byte is one of ours."""
    r = start().client
    keys = make(r)
    snapshots = {key: b"".join(c for _, c in dump(r, key)) for key in keys if key != "chain"}
    for i, key in zip(range(MUTATIONS), itertools.cycle(snapshots)):
        snapshot = mutate(rng, snapshots[key])
        if snapshot == snapshots[key]:
            continue
        with pytest.raises(redis.exceptions.ResponseError, match="snapshot"):
            r.execute_command("SEEN.LOAD", "got", 0, snapshot)
    assert r.ping() and not r.exists("got")
