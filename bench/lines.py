#!/usr/bin/python3
"""The command line against what moving the bytes costs: 10,000,000 lines of 64 bytes, 25 % duplicates.

    bench/lines.py [build/seen]        RUNS=7 LINES=1e6 RIVALS=1 change what it does

Alternates `cat FILE | cat >/dev/null` and seen on the same file, and prints the median of each, their
ratio and peak memory.  With RIVALS=1 also awk and sort -u, once each.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

SEEN = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/seen")
RUNS = int(os.environ.get("RUNS", "7"))
LINES = int(float(os.environ.get("LINES", "1e7")))

OURS = [
    "landmark fp=1e-6 mem=48MiB",
    "landmark:1e6 fp=1e-6",
    "jumping:1e6/8 fp=1e-6",
]


def run(command):
    """Wall seconds and peak MiB (of the largest process) of a shell command."""
    start = time.perf_counter()
    child = subprocess.Popen(["sh", "-c", "exec " + command])
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"failed: {command}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def compare(name, command, cat):
    ours, yard, peak = [], [], 0
    for _ in range(RUNS):
        yard.append(run(cat)[0])
        wall, memory = run(command)
        ours.append(wall)
        peak = max(peak, memory)
    a, b = statistics.median(ours), statistics.median(yard)
    print(f"{name:34} {a:6.2f} s   cat|cat {b:5.2f} s   ratio {a / b:5.2f}   {peak:7.1f} MiB   "
          f"{LINES / a / 1e6:5.1f} M lines/s", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lines")
        subprocess.run([SEEN, "generate", "--records", str(LINES), "--duplicates", "25%",
                        "--id-length", "63"], stdout=open(path, "wb"), check=True)
        cat = f"sh -c 'cat {path} | cat > /dev/null'"
        for spec in OURS:
            compare(f"seen '{spec}'", f"{SEEN} -q -w '{spec}' {path} > /dev/null", cat)
        if os.environ.get("RIVALS"):
            for name, command in [("awk '!s[$0]++'", f"awk '!s[$0]++' {path} > /dev/null"),
                                  ("LC_ALL=C sort -u -S4G", f"env LC_ALL=C sort -u -S4G {path} > /dev/null")]:
                wall, memory = run(command)
                print(f"{name:34} {wall:6.2f} s {'':36} {memory:7.1f} MiB")


main()
