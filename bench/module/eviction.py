#!/usr/bin/python3
"""Keys that a server with little memory evicts when filters are created.

    bench/module/eviction.py [--build build] [--other redisbloom.so]

A server with `maxmemory` and allkeys-lru holds 20 small keys and six filters, which just fit; then
five more are created.  A creation needs the memory of one filter, so it should evict one.  The table
tells, for each server, size and value of lazyfree-lazy-eviction: keys evicted by a creation, mean and
most; small keys left of the 20; and how long evicting held the server (its latency monitor, the
longest of all, 0: less than 1 ms).  --other adds the same for BF.RESERVE of RedisBloom."""

import argparse
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

import redis

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = 20
FIT, MORE = 6, 5


class Server:
    def __init__(self, program, module, limit, lazy):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.home = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", self.home.name,
             "--loadmodule", str(module), "--maxmemory", str(limit), "--maxmemory-policy", "allkeys-lru",
             "--maxmemory-samples", "64", "--lazyfree-lazy-eviction", "yes" if lazy else "no",
             "--latency-monitor-threshold", "1"], stdout=subprocess.DEVNULL)
        self.client = redis.Redis(port=port)
        while True:
            try:
                self.client.ping()
                return
            except redis.exceptions.RedisError:
                time.sleep(0.05)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def fill(client, command, key):
    """Touches every page of a filter, so that freeing it has pages to give back."""
    with client.pipeline(transaction=False) as p:
        for i in range(0, 200_000, 1000):
            p.execute_command(command, key, *range(i, i + 1000))
        p.execute()


def evictions(client, create, add):
    """How many keys each of MORE creations evicts, beyond the FIT filters that fit.

    The server's LRU clock has seconds: small keys are used a second after the filters that fit."""
    for i in range(SMALL):
        client.set("small:%d" % i, "x")
    for i in range(FIT):
        create("filter:%d" % i)
        fill(client, add, "filter:%d" % i)
    before = last = client.info("stats")["evicted_keys"]
    assert not before, "the first filters do not fit"
    time.sleep(1.5)
    counts = []
    for i in range(FIT, FIT + MORE):
        client.mget(["small:%d" % j for j in range(SMALL)])
        create("filter:%d" % i)
        client.ping()
        time.sleep(0.05)  # what eviction leaves for later is done now
        now = client.info("stats")["evicted_keys"]
        counts.append(now - last)
        last = now
    return counts


def held(client):
    """The longest that evicting held the server, in ms, by its own account; 0: less than 1."""
    rows = {name.decode(): most for name, _, _, most in client.execute_command("LATENCY LATEST")}
    return max([most for name, most in rows.items() if name.startswith("eviction")], default=0)


def measure(program, module, commands, mib, lazy):
    create_words, add = commands

    def create(client, key):
        client.execute_command(*(word.format(key=key, mib=mib) for word in create_words))

    probe = Server(program, module, 0, lazy)
    before = probe.client.info("memory")["used_memory"]
    create(probe.client, "filter")
    size = probe.client.info("memory")["used_memory"] - before
    probe.stop()
    server = Server(program, module, before + FIT * size + size // 2 + (2 << 20), lazy)
    try:
        counts = evictions(server.client, lambda key: create(server.client, key), add)
        small = sum(server.client.exists("small:%d" % i) for i in range(SMALL))
        print("%-14s %-12s %4d MiB %-5s %8.2f %6d %8d %8d" % (
            pathlib.Path(program).name, create_words[0], mib, "lazy" if lazy else "",
            sum(counts) / MORE, max(counts), small, held(server.client)), flush=True)
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--other", type=pathlib.Path, help="redisbloom.so")
    args = parser.parse_args()
    print("%-14s %-12s %8s %-5s %8s %6s %8s %8s" % (
        "server", "command", "size", "", "evicted", "most", "small", "held ms"))
    ours = ((ROOT / args.build).resolve() / "module/seen.so",
            (("SEEN.CREATE", "{key}", "landmark mem={mib}MiB"), "SEEN.MADD"))
    others = [(args.other.resolve(), (("BF.RESERVE", "{key}", "0.01", "{mib}00000"), "BF.MADD"))] if args.other else []
    for program in filter(None, map(shutil.which, ("redis-server", "valkey-server"))):
        for module, commands in [ours, *others]:
            for mib in (4, 64, 256):
                for lazy in (False, True):
                    measure(program, module, commands, mib, lazy)


if __name__ == "__main__":
    main()
