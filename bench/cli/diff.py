#!/usr/bin/python3
"""seen diff beside sort, uniq -c and join, on two logs of 10,000,000 ids each.

    bench/cli/diff.py [build/seen]      SCALE=0.1 makes them smaller; MEM=64MiB is what both may use

The right log is the left one in another order, without every 1000th id and with every 997th twice.  Both
ways must print the same keys.  Printed are the seconds on the wall, those of the processors, and the peak
memory of the largest process.
"""
import os
import subprocess
import sys
import tempfile
import time

SEEN = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/seen")
SCALE = float(os.environ.get("SCALE", "1"))
MEM = os.environ.get("MEM", "64MiB")
COUNT = "sort -S %s %%s | uniq -c | awk '{ print $2 \"\\t\" $1 }' > %%s.counts" % MEM.replace("iB", "")
JOIN = "join -t '\t' -a 1 -a 2 -e 0 -o 0,1.2,2.2 left.counts right.counts | awk -F '\t' '$2 != $3'"

MADE = """
    %s generate -n %d --duplicates 0 --id-length 17 --seed 1 > left
    awk 'NR %% 1000 { print } NR %% 997 == 0 { print }' left | shuf --random-source=left > right
"""
WAYS = [
    ("seen diff", "%s diff --mem %s --tmp . left right | tail -n +2 > ours" % (SEEN, MEM)),
    ("seen diff -j 2", "%s diff -j 2 --mem %s --tmp . left right | tail -n +2 > ours" % (SEEN, MEM)),
    ("sort, uniq, join", "%s && %s && %s > theirs" % (COUNT % ("left", "left"), COUNT % ("right", "right"), JOIN)),
]
MEASURE = """
import resource, subprocess, sys
subprocess.run(["bash", "-c", sys.argv[1]], check=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
"""


def run(command):
    start = time.perf_counter()
    out = subprocess.run([sys.executable, "-c", MEASURE, command], check=True, stdout=subprocess.PIPE).stdout
    cpu, peak = map(float, out.split())
    return time.perf_counter() - start, cpu, peak


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ.update(LC_ALL="C", TMPDIR=folder)
        subprocess.run(["bash", "-c", MADE % (SEEN, int(1e7 * SCALE))], check=True)
        print("%-18s %8s %8s %10s" % ("", "seconds", "cpu", "peak MiB"))
        for name, command in WAYS:
            print("%-18s %8.1f %8.1f %10.1f" % (name, *run(command)), flush=True)
        subprocess.run(["cmp", "ours", "theirs"], check=True)


if __name__ == "__main__":
    main()
