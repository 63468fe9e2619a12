#!/usr/bin/python3
"""seen beside `awk '!s[$0]++'`: the same lines, the same answer, in one run.

    bench/cli/first.py [build/seen]      N=1e6 makes fewer lines, RUNS=3 repeats

The lines are those of `seen generate`: 5,583,301 ids of one day, 26.7 % of them duplicates.  Both read a file and write
to one; the two outputs must be equal.  Printed are the medians of the seconds on the wall and of those of the
processors, the peak memory, and how many times as much awk takes.  On a busy machine the seconds of the processors
say more.  AWK=gawk measures that one; by default it is mawk, the awk of Debian.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SEEN = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/seen")
RUNS = int(os.environ.get("RUNS", "3"))
PROGRAM = "!s[$0]++"


def run(command, to):
    """Wall seconds, those of the processors, and peak MiB."""
    start = time.perf_counter()
    with open(to, "wb") as out:
        child = subprocess.Popen(command, stdout=out, env=dict(os.environ, LC_ALL="C"))
        _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit("failed: %s" % command)
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    awk = os.environ.get("AWK", "mawk")
    if not shutil.which(awk):
        sys.exit("first.py: %s is not installed: apt-get install %s, or name another with AWK=" % (awk, awk))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("lines", "wb") as out:
            number = ["-n", os.environ["N"]] if "N" in os.environ else []
            subprocess.run([SEEN, "generate", *number], stdout=out, check=True)
        ways = {"seen": [SEEN, "lines"], "%s '%s'" % (awk, PROGRAM): [awk, PROGRAM, "lines"]}
        runs = {name: [] for name in ways}
        for _ in range(RUNS):
            for i, (name, command) in enumerate(ways.items()):
                runs[name].append(run(command, "out%d" % i))
        subprocess.run(["cmp", "out0", "out1"], check=True)
        lines = sum(1 for _ in open("lines", "rb"))
    print("%s lines, median of %d runs" % (f"{lines:,}", RUNS))
    table = []
    for name, of_one in runs.items():
        wall, cpu, peak = zip(*of_one)
        table.append((statistics.median(wall), statistics.median(cpu), max(peak)))
        print("  %-20s %6.2f s  (cpu %5.2f s)  %7.1f MiB" % (name, *table[-1]))
    times = [theirs / ours for ours, theirs in zip(*table)]
    print("awk takes %.0f times the time (cpu: %.0f) and %.0f times the memory; the outputs are equal" % tuple(times))


if __name__ == "__main__":
    main()
