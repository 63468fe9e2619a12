#!/usr/bin/python3
"""The module's commands against a no-op of the same shape, in one run of one server.

    bench/module/bench.py [--build build] [--server redis-server] [--rounds 7]

Every ratio is the median over rounds in which redis-benchmark measures the no-op and the command in
turn: of requests a second as redis-benchmark sees them, and of the processor time that the server's
main thread spends on a request, which a busy machine disturbs less.  1.00 is the no-op's own speed.

"limit" is the no-op's ratio once it also hashes its items and changes a random cache line for each,
of a block as large as the filter: what any filter of one line an item can reach on this machine.

With --latency: what holds the server how long, by its own account, on filters of 64 MiB and 512 MiB;
the longest step of SEEN.DUMP, LOAD and MERGE of every structure (steps.py); and the slowest SEEN.ADD
beside the slowest SETRANGE while a BGSAVE runs.
"""

import argparse
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import redis

from steps import steps

ROOT = pathlib.Path(__file__).resolve().parents[2]
ITEM = "x" * 52 + "__rand_int__"  # which becomes 12 digits: 64 bytes
WINDOWS = ["landmark fp=1e-6", "sliding:24h fp=1e-4"]


class Server:
    def __init__(self, program, build, noop=True):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.home = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
             "--dir", self.home.name, "--loadmodule", str(build / "module/seen.so"),
             *(["--loadmodule", str(build / "bench/module/noop.so")] if noop else [])], stdout=subprocess.DEVNULL)
        self.client = redis.Redis(port=self.port)
        for _ in range(100):
            try:
                self.client.ping()
                return
            except redis.exceptions.ConnectionError:
                time.sleep(0.1)
        sys.exit("bench.py: %s does not start" % program)

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def busy(self):
        """Seconds of processor that the main thread has used."""
        cpu = self.client.info("cpu")
        return cpu["used_cpu_user_main_thread"] + cpu["used_cpu_sys_main_thread"]

    def measure(self, requests, pipeline, keys, *command):
        """(requests a second, processor seconds a request) on items drawn from `keys` keys"""
        before = self.busy()
        out = subprocess.run(
            ["redis-benchmark", "-p", str(self.port), "-n", str(requests), "-P", str(pipeline),
             "-r", str(keys), "-c", "20", "--csv", *command],
            check=True, capture_output=True, text=True).stdout
        rate = float(out.splitlines()[-1].split(",")[1].strip('"'))
        return rate, (self.busy() - before) / requests


def compare(server, rounds, requests, pipeline, keys, *commands):
    """Runs the no-op, the no-op with a line, and the command in turn. Returns ratios to the first: (by requests,
    limit, by server time, limit), and the command's requests a second."""
    rows = []
    server.measure(requests, pipeline, keys, *commands[-1])  # whose pages are to be there
    for _ in range(rounds):
        base, line, mine = (server.measure(requests, pipeline, keys, *c) for c in commands)
        rows.append((mine[0] / base[0], line[0] / base[0], base[1] / mine[1], base[1] / line[1],
                     mine[0]))
    return [statistics.median(column) for column in zip(*rows)]


def throughput(server, rounds):
    print("%-32s %-10s %-4s %-14s %-7s %-15s %-7s %s" % (
        "filter", "command", "-P", "by requests/s", "limit", "by server time", "limit",
        "requests/s"))
    client = server.client
    client.set("plain", "x")
    row = "%-32s %-10s %-4d %-14.2f %-7.2f %-15.2f %-7.2f %.0f"
    for window in WINDOWS:
        for mib, keys in ((1, 150_000), (64, 10_000_000)):  # fewer than they hold
            spec = "%s mem=%dMiB" % (window, mib)
            client.delete("block")
            client.execute_command("NOOP.MEMORY", "block", mib << 20)

            def compared(command, pipeline, requests, items):
                client.delete("k")
                client.execute_command("SEEN.CREATE", "k", spec)
                many = "M" if items > 1 else ""
                nothing = "NOOP.%sADD" % many
                print(row % (spec, command, pipeline, *compare(
                    server, rounds, requests, pipeline, keys,
                    (nothing, "plain", *[ITEM] * items),
                    ("NOOP.%sLINE" % many, "block", *[ITEM] * items),
                    (command, "k", *[ITEM] * items))), flush=True)

            for pipeline, requests in ((1, 30000), (16, 100000), (64, 200000)):
                compared("SEEN.ADD", pipeline, requests, 1)
            compared("SEEN.MADD", 16, 4000, 100)


def spent(client, name):
    """Microseconds of the last command of that name, by the server's account."""
    stats = {k.lower(): v for k, v in client.info("commandstats").items()}
    client.config_resetstat()
    return stats["cmdstat_" + name]["usec"]


def held(client, rounds):
    print("\nhow long a command holds the server, microseconds, least and median of %d" % rounds)
    for window in WINDOWS:
        for size in ("64MiB", "512MiB"):
            client.delete("k")
            times = {}

            def run(name, *command):
                client.config_resetstat()
                reply = client.execute_command(*command)
                times.setdefault(command[0], []).append(spent(client, name))
                return reply

            for _ in range(rounds):
                run("seen.create", "SEEN.CREATE", "k", window + " mem=" + size)
                with client.pipeline(transaction=False) as p:
                    for i in range(0, 200000, 500):
                        p.execute_command("SEEN.MADD", "k", *range(i, i + 500))
                    p.execute()
                cursor = run("seen.dump", "SEEN.DUMP", "k", 0)[0]
                run("seen.dump", "SEEN.DUMP", "k", cursor)
                run("seen.info", "SEEN.INFO", "k")
                run("seen.clear", "SEEN.CLEAR", "k")
                run("del", "DEL", "k")
            print("%-32s %s" % (window + " mem=" + size, "  ".join(
                "%s %d/%d" % (name.split(".")[-1], min(t), statistics.median(t))
                for name, t in times.items())))


def slowest(client, seconds, *command):
    """The 99.9th percentile of one client's round trips while a BGSAVE runs, milliseconds."""
    client.bgsave()
    times, end = [], time.monotonic() + seconds
    i = 0
    while time.monotonic() < end and client.info("persistence")["rdb_bgsave_in_progress"]:
        for _ in range(200):
            i += 7919
            start = time.perf_counter()
            client.execute_command(*(a(i) if callable(a) else a for a in command))
            times.append(time.perf_counter() - start)
    while client.info("persistence")["rdb_bgsave_in_progress"]:
        time.sleep(0.1)
    return sorted(times)[int(len(times) * 0.999)] * 1000 if times else float("nan")


def under_bgsave(client, rounds):
    size = 64 << 20
    client.flushall()
    client.setrange("plain", size - 1, "x")
    client.execute_command("SEEN.CREATE", "k", "landmark fp=1e-6 mem=64MiB")
    with client.pipeline(transaction=False) as p:
        for i in range(0, 1000000, 500):
            p.execute_command("SEEN.MADD", "k", *range(-i - 500, -i))
        p.execute()
    add, string = [], []
    for _ in range(rounds):
        add.append(slowest(client, 5, "SEEN.ADD", "k", lambda i: i))
        string.append(slowest(client, 5, "SETRANGE", "plain",
                              lambda i: i * 2654435761 % size, "y"))
    print("\n99.9th percentile of a round trip under BGSAVE, ms, median of %d: SEEN.ADD on 64 MiB"
          " %.2f, SETRANGE on a string of 64 MiB %.2f, ratio %.2f" % (
              rounds, statistics.median(add), statistics.median(string),
              statistics.median(a / s for a, s in zip(add, string))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--server", default="redis-server")
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--latency", action="store_true", help="only what holds the server")
    args = parser.parse_args()
    build = (ROOT / args.build).resolve()
    server = Server(args.server, build)
    try:
        if not args.latency:
            throughput(server, args.rounds)
        held(server.client, args.rounds + 2)
        if args.latency:
            steps(server.client, server.port, build, args.rounds)
        under_bgsave(server.client, args.rounds)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
