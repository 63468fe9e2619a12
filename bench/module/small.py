#!/usr/bin/python3
"""Memory of many small Bloom filters: keys made by BF.ADD and BF.MADD with the preset.

    bench/module/small.py [--build build] [--server redis-server] [--filters 100000] [--other redisbloom.so]

Prints the server's used_memory for each filter (key included) after 1, 10 and 100 items each, and beside
it MEMORY USAGE of one key.  --other measures RedisBloom too.
"""

import argparse
import pathlib
import socket
import subprocess
import tempfile
import time

import redis

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(program, module, filters, items):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with tempfile.TemporaryDirectory() as home:
        server = subprocess.Popen([program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", home,
                                   "--loadmodule", str(module)], stdout=subprocess.DEVNULL)
        try:
            r = redis.Redis(port=port)
            time.sleep(1)
            before = r.info("memory")["used_memory"]
            for i in range(0, filters, 500):
                with r.pipeline(transaction=False) as p:
                    for j in range(i, i + 500):
                        p.execute_command("BF.MADD", "filter:%d" % j, *range(items))
                    p.execute()
            time.sleep(1)
            used = r.info("memory")["used_memory"] - before
            print("%-18s %7d filters of %3d items: %6.1f MB, %6.1f bytes each; MEMORY USAGE %d" % (
                module.name, filters, items, used / 1e6, used / filters, r.memory_usage("filter:7")), flush=True)
        finally:
            server.terminate()
            server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--server", default="redis-server")
    parser.add_argument("--filters", default=100_000, type=int)
    parser.add_argument("--other", type=pathlib.Path, help="redisbloom.so")
    args = parser.parse_args()
    modules = [(ROOT / args.build).resolve() / "module/seen.so"] + ([args.other.resolve()] if args.other else [])
    for module in modules:
        for items in (1, 10, 100):
            run(args.server, module, args.filters, items)


if __name__ == "__main__":
    main()
