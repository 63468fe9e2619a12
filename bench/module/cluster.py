#!/usr/bin/env -S /usr/bin/python3 -B
"""bench/module/cluster.py [BUILD]: `seen --redis` against one server and a cluster of three primaries on
this machine, and what it costs to move a shard.

Throughput is a ratio to the same `seen` with its filter in the process: a million records of 64
bytes, a quarter of them duplicates, five alternated rounds, medians.  All servers and seen share the
machine's cores, so that this says what the way to a server costs, not how a cluster grows.

MIGRATE moves one shard from one server to another, while both servers wait: milliseconds for each
size, median of five.
"""

import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
os.environ.update(SEEN=str(BUILD / "seen"), SEEN_MODULE=str(BUILD / "module/seen.so"))
sys.path.insert(0, str(ROOT / "test/module"))

from cluster import SEEN, Cluster  # noqa: E402
from conftest import Server  # noqa: E402

RECORDS, ROUNDS = 1_000_000, 5
SPEC = "landmark:1d mem=64MiB"


def make_records(path):
    draw = random.Random(7)
    with open(path, "wb") as out:
        for i in range(RECORDS):
            key = i if draw.random() < 0.75 else draw.randrange(i + 1)
            out.write(b"%016x" % (key * 0x9E3779B97F4A7C15 % 2**64) + b"-" * 47 + b"\n")


def seconds(*args):
    start = time.monotonic()
    subprocess.run([SEEN, "-q", "-w", SPEC, *args], stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def throughput(records, server, cluster):
    at = "redis://127.0.0.1:%d/bench" % server.port
    ways = {
        "in the process": lambda: seconds(records),
        "one server, one filter": lambda: seconds("--redis", at, records),
        "one server, 48 shards": lambda: seconds("--redis", at, "--shards", "48", records),
        "three primaries, 48 shards": lambda: seconds("--redis", cluster.url("bench"), "--shards", "48", records),
        "... and --replicas 1": lambda: seconds("--redis", cluster.url("bench"), "--shards", "48", "--replicas", "1",
                                                records),
    }
    took = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, run in ways.items():
            for node in [server, *cluster.primaries()]:
                node.client.flushall()
            took[name].append(run())
    base = statistics.median(took["in the process"])
    for name, times in took.items():
        print("  %-28s %5.2f times as long" % (name, statistics.median(times) / base))


def migrate(source, target):
    for mib in (1, 4, 16, 64, 256):
        took = []
        for _ in range(ROUNDS):
            source.client.execute_command("SEEN.CREATE", "shard", "landmark", "mem=%dMiB" % mib)
            start = time.monotonic()
            source.client.execute_command("MIGRATE", "127.0.0.1", target.port, "shard", 0, 60000)
            took.append(1000 * (time.monotonic() - start))
            assert target.client.delete("shard") == 1
        print("  %4d MiB  %7.1f ms" % (mib, statistics.median(took)))


def main():
    program = "/usr/bin/redis-server"
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        server, other = Server(program, home / "one"), Server(program, home / "other")
        cluster = Cluster(program, home / "six")
        try:
            make_records(home / "records")
            print("a million records through ... take")
            throughput(str(home / "records"), server, cluster)
            print("milliseconds to move a shard in, by MiB")
            migrate(server, other)
        finally:
            other.stop("kill")
            server.stop("kill")
            cluster.stop()


main()
