#!/usr/bin/python3
"""How long output stands still while a state is written in passing (--state-every), against the same run
that writes none.

    bench/stall.py [--build build] [--mem 64MiB --mem 1GiB] [--every 2s] [--seconds 12] [--runs 3] [-j N]

Prints for each detector the longest gap between two outputs in a run, the median run of each kind, how many
states were written, the records a second, and the memory that copies of changed pages took at most (the
child's private pages).  The runs of the two kinds alternate.
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


def run(seen, numbers, mem, every, seconds, threads, folder):
    state = os.path.join(folder, "state")
    args = [seen, "-q", "-w", "landmark mem=%s fp=1e-9" % mem, "--tag", "-j", str(threads)]
    args += ["--state", state, "--state-every", every]
    feed = subprocess.Popen(["sh", "-c", "while :; do cat %s; done" % numbers], stdout=subprocess.PIPE)
    p = subprocess.Popen(args, stdin=feed.stdout, stdout=subprocess.PIPE)
    feed.stdout.close()
    fd = p.stdout.fileno()
    os.read(fd, 1 << 16)
    watch = Watch(p.pid)
    watch.start()
    start = last = time.monotonic()
    longest, total = 0, 0
    while last - start < seconds:
        got = os.read(fd, 1 << 16)
        now = time.monotonic()
        longest = max(longest, now - last)
        total += got.count(b"\n")
        last = now
    watch.ended = True
    p.kill()
    feed.kill()
    p.wait()
    feed.wait()
    p.stdout.close()
    if os.path.exists(state):
        os.unlink(state)
    return longest, len(watch.seen), total / seconds, watch.most


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    a.add_argument("--build", default="build")
    a.add_argument("--mem", action="append")
    a.add_argument("--every", default="2s")
    a.add_argument("--seconds", type=float, default=12)
    a.add_argument("--runs", type=int, default=3)
    a.add_argument("-j", type=int, default=1)
    a = a.parse_args()
    seen = str(pathlib.Path(a.build) / "seen")
    with tempfile.TemporaryDirectory(prefix="seen-stall.") as folder:
        numbers = os.path.join(folder, "numbers")
        subprocess.run("%s 2>/dev/null | head -n 20000000 > %s" % (NUMBERS, numbers), shell=True, check=True)
        print("memory  states  longest gap  without  records/s  without  copied at most")
        for mem in a.mem or ["64MiB", "1GiB"]:
            kinds = {every: [] for every in (a.every, "0s")}
            for _ in range(a.runs):
                for every, results in kinds.items():
                    results.append(run(seen, numbers, mem, every, a.seconds, a.j, folder))
            median = lambda every, i: statistics.median(r[i] for r in kinds[every])
            print("%-7s %6d  %8.1f ms  %4.1f ms  %7.2f M  %5.2f M  %10.1f MiB" % (
                mem, median(a.every, 1), 1e3 * median(a.every, 0), 1e3 * median("0s", 0),
                median(a.every, 2) / 1e6, median("0s", 2) / 1e6, median(a.every, 3) / 2**20))


if __name__ == "__main__":
    main()
