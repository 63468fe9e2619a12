#!/usr/bin/python3
"""SEEN.CLAIM against SEEN.ADD of the same items, in one run of one server.

    bench/module/claims.py [--build build] [--server redis-server] [--rounds 7] [--before BUILD]

The items are new to both, in the window of both, or for SEEN.CLAIM already claimed.  "full": all places of the table are
taken by claims that ended, so that each new claim has to remove one.  Each ratio is the median over rounds in
which redis-benchmark measures the two commands in turn: how much longer SEEN.CLAIM takes, by requests a second and
by the processor time of the server's main thread.  A busy machine disturbs the second less.

With --before SEEN.ADD of this build is compared with that of another build folder, on two servers side by side.
"""

import argparse
import pathlib
import statistics

from bench import ITEM, ROOT, Server

SPECS = ["sliding:24h fp=1e-4 mem=128MiB claims=1e6", "landmark fp=1e-6 mem=128MiB claims=1e6",
         "sliding:24h filter=exact mem=128MiB claims=1e6"]
FULL = "sliding:24h fp=1e-4 mem=64MiB claims=1e4"
PIPELINES = ((1, 30000), (16, 100000), (64, 200000))
MANY, FEW = 10_000_000, 10_000  # different items


def ratios(rounds, base, mine):
    """By requests and by server time: how many times what `base` takes `mine` takes."""
    rows = []
    for _ in range(rounds):
        a, b = base(), mine()
        rows.append((a[0] / b[0], b[1] / a[1]))
    return tuple(statistics.median(column) for column in zip(*rows))


def fill(client, claim):
    """All of the few items are seen, or claimed for long."""
    with client.pipeline(transaction=False) as p:
        for i in range(FEW):
            item = "x" * 52 + "%012d" % i
            p.execute_command(*(("SEEN.CLAIM", "k", item, 10 ** 9) if claim else ("SEEN.ADD", "k", item)))
        p.execute()


def claims(server, rounds):
    print("%-46s %-8s %-4s %-14s %s" % ("filter", "items", "-P", "by requests/s", "by server time"))
    client = server.client
    cases = [(spec, *case) for spec in SPECS
             for case in (("new", MANY, 1), ("seen", FEW, 1), ("pending", FEW, 10 ** 9))]
    added = None
    for spec, items, keys, lease in [*cases, (FULL, "full", MANY, 1)]:
        if spec != added:
            client.delete("added")
            client.execute_command("SEEN.CREATE", "added", spec)
            added = spec
        for pipeline, requests in PIPELINES:
            client.delete("k")
            client.execute_command("SEEN.CREATE", "k", spec)
            if items in ("seen", "pending"):
                fill(client, items == "pending")
            add = "k" if items == "seen" else "added"
            by_rate, by_time = ratios(
                rounds, lambda: server.measure(requests, pipeline, keys, "SEEN.ADD", add, ITEM),
                lambda: server.measure(requests, pipeline, keys, "SEEN.CLAIM", "k", ITEM, str(lease)))
            print("%-46s %-8s %-4d %-14.2f %.2f" % (spec, items, pipeline, by_rate, by_time), flush=True)


def before(server, old, rounds):
    print("\nSEEN.ADD of this build, times that of the other\n%-46s %-4s %-14s %s" % (
        "filter", "-P", "by requests/s", "by server time"))
    for spec in ("sliding:24h fp=1e-4 mem=64MiB", "landmark fp=1e-6 mem=64MiB"):
        for pipeline, requests in PIPELINES:
            for s in (server, old):
                s.client.delete("k")
                s.client.execute_command("SEEN.CREATE", "k", spec)
                s.measure(requests, pipeline, MANY, "SEEN.ADD", "k", ITEM)
            by_rate, by_time = ratios(rounds, lambda: old.measure(requests, pipeline, MANY, "SEEN.ADD", "k", ITEM),
                                      lambda: server.measure(requests, pipeline, MANY, "SEEN.ADD", "k", ITEM))
            print("%-46s %-4d %-14.2f %.2f" % (spec, pipeline, by_rate, by_time), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--server", default="redis-server")
    parser.add_argument("--rounds", default=7, type=int)
    args = parser.parse_args()
    server = Server(args.server, (ROOT / args.build).resolve(), noop=False)
    try:
        claims(server, args.rounds)
        if args.before:
            old = Server(args.server, args.before.resolve(), noop=False)
            try:
                before(server, old, args.rounds)
            finally:
                old.stop()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
