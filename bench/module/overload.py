#!/usr/bin/python3
"""What the module's preset does when more ids come than its memory is for.

    bench/module/overload.py [--build build] [--server redis-server] [--hours 2]

SEEN.ADD makes a missing key with the preset (seen.default).  For each pace new ids are added for some hours
of their own time, none twice: so each "duplicate" is a new id dropped.  The table tells how many were
dropped, the planned and the worst false-positive rate, and the shortest window kept.
"""

import argparse
import pathlib
import socket
import subprocess
import tempfile
import time

import redis

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN = 1_800_000_000


def run(r, pace, seconds):
    key, ids, dropped = "pace:%d" % pace, 0, 0
    for second in range(0, seconds, 20):
        with r.pipeline(transaction=False) as p:
            for at in range(second, min(second + 20, seconds)):
                p.execute_command("SEEN.MADD", key, *range(ids, ids + pace), "AT", (BEGIN + at) * 1000)
                ids += pace
            dropped += sum(reply.count(0) for reply in p.execute())
    words = r.execute_command("SEEN.INFO", key)
    told = dict(zip(words[::2], words[1::2]))
    print("%10d %12d %8d %10.2g %10.2g %14.2f h" % (
        pace, ids, dropped, float(told[b"fp planned"]), float(told[b"fp worst"]),
        told[b"window kept"] / 3.6e6), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--server", default="redis-server")
    parser.add_argument("--hours", default=2, type=float)
    args = parser.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with tempfile.TemporaryDirectory() as home:
        server = subprocess.Popen(
            [args.server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", home,
             "--loadmodule", str((ROOT / args.build).resolve() / "module/seen.so")], stdout=subprocess.DEVNULL)
        try:
            r = redis.Redis(port=port)
            time.sleep(1)
            print("seen.default: %s, %g hours" % (r.config_get("seen.default")["seen.default"], args.hours))
            print("%10s %12s %8s %10s %10s %16s" % (
                "ids/s", "new ids", "dropped", "fp planned", "fp worst", "window kept"))
            for pace in (100, 300, 600, 1000):
                run(r, pace, int(args.hours * 3600))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
