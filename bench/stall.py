#!/usr/bin/python3
"""How long output stands still while a state is written in passing (--state-every), against the same run
that writes none.

    bench/stall.py [--build build] [--mem 64MiB --mem 1GiB] [--every 3s] [--seconds 12] [--runs 3] [-j N]

Prints for each detector, as medians over runs of the two kinds that alternate: the longest gap between two
outputs; the same less the time that the process waited for a CPU that others had (on a busy machine only that
says something of seen); the records a second; how many states were written; and the memory that copies of
changed pages took at most.  The first seconds, in which the table's memory is touched first, do not count.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import threading
import time

WARM = 10000000  # records that touch a table of 1 GiB nearly everywhere
NUMBERS = "awk 'BEGIN { srand(1); for (;;) printf \"%.0f\\n\", rand() * 1e15 }'"


def private_bytes(pid):
    """What a process does not share, in bytes; 0 if it is gone."""
    try:
        text = open("/proc/%d/smaps_rollup" % pid).read()
    except OSError:
        return 0
    return 1024 * sum(int(n) for n in re.findall(r"^Private_\w+: +(\d+) kB", text, re.M))


def children(pid):
    try:
        return [int(p) for p in open("/proc/%d/task/%d/children" % (pid, pid)).read().split()]
    except OSError:
        return []


class Watch(threading.Thread):
    """Counts the children that write, and how much memory they keep to themselves."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.seen, self.most, self.ended = pid, set(), 0, False

    def run(self):
        while not self.ended:
            for child in children(self.pid):
                self.seen.add(child)
                self.most = max(self.most, private_bytes(child))
            time.sleep(0.02)


def waited(pid):
    """Seconds that its first thread was ready to run and did not."""
    return int(open("/proc/%d/schedstat" % pid).read().split()[1]) * 1e-9


def run(seen, numbers, mem, every, seconds, threads, folder):
    state = os.path.join(folder, "state")
    args = [seen, "-q", "-w", "landmark mem=%s fp=1e-9" % mem, "--tag", "-j", str(threads)]
    args += ["--state", state, "--state-every", every]
    feed = subprocess.Popen(["sh", "-c", "while :; do cat %s; done" % numbers], stdout=subprocess.PIPE)
    p = subprocess.Popen(args, stdin=feed.stdout, stdout=subprocess.PIPE)
    feed.stdout.close()
    fd = p.stdout.fileno()
    warm = 0
    while warm < WARM:
        warm += os.read(fd, 1 << 16).count(b"\n")
    watch = Watch(p.pid)
    watch.start()
    start, total = time.monotonic(), 0
    last, wait, longest, own = start, waited(p.pid), 0, 0
    while last - start < seconds:
        got = os.read(fd, 1 << 16)
        now, w = time.monotonic(), waited(p.pid)
        longest = max(longest, now - last)
        own = max(own, now - last - (w - wait))
        total += got.count(b"\n")
        last, wait = now, w
    watch.ended = True
    p.kill()
    feed.kill()
    p.wait()
    feed.wait()
    p.stdout.close()
    if os.path.exists(state):
        os.unlink(state)
    return longest, own, total / seconds, len(watch.seen), watch.most


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    a.add_argument("--build", default="build")
    a.add_argument("--mem", action="append")
    a.add_argument("--every", default="3s")
    a.add_argument("--seconds", type=float, default=12)
    a.add_argument("--runs", type=int, default=3)
    a.add_argument("-j", type=int, default=1)
    a = a.parse_args()
    seen = str(pathlib.Path(a.build) / "seen")
    with tempfile.TemporaryDirectory(prefix="seen-stall.") as folder:
        numbers = os.path.join(folder, "numbers")
        subprocess.run("%s 2>/dev/null | head -n %d > %s" % (NUMBERS, WARM, numbers), shell=True, check=True)
        print("memory  states    gap  ms, own  records/s  states written  copied at most")
        for mem in a.mem or ["64MiB", "1GiB"]:
            kinds = {every: [] for every in (a.every, "0s")}
            for _ in range(a.runs):
                for every, results in kinds.items():
                    results.append(run(seen, numbers, mem, every, a.seconds, a.j, folder))
            for every, results in kinds.items():
                gap, own, rate, states, copied = (statistics.median(r[i] for r in results) for i in range(5))
                print("%-7s %-6s %6.1f %8.1f %8.2f M %15d %11.1f MiB" % (
                    mem, every, 1e3 * gap, 1e3 * own, rate / 1e6, states, copied / 2**20), flush=True)


if __name__ == "__main__":
    main()
