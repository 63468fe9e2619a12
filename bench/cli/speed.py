#!/usr/bin/python3
"""The command line against what moving the bytes costs: how often the time of `cat FILE | cat >/dev/null`.

    bench/cli/speed.py [build/seen]      RUNS=7 SCALE=0.1 ONLY=csv RIVALS=1 change what it does

    lines   10,000,000 lines of 64 bytes, 25 % duplicates, the whole line is the key
    csv      4,000,000 rows of a click log in CSV, a key of three columns
    ids     15,000,000 ids of 17 bytes, no duplicates

Each round runs cat and seen with one thread, two and, where it has shards, with those, one after the
other; printed are medians, ratios of medians, and the peak memory.  Bars are for the first two; the
exit code is 1 if one is not met.  Where the machine is busy with other things, the seconds of the
processors say more than those on the wall.  With RIVALS=1 also awk and sort -u, once each.
AGAINST=other/seen runs that program after each run of ours, and prints ours / the other, in medians.
"""
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time

SEEN = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/seen")
RUNS = int(os.environ.get("RUNS", "5"))
SCALE = float(os.environ.get("SCALE", "1"))
AGAINST = os.environ.get("AGAINST")


class Case:
    def __init__(self, name, records, made, bars):
        self.name, self.records, self.made = name, int(records * SCALE), made
        self.bars = bars  # [(options, most times cat, most MiB)]; None: no bar


def spec(text, *options):
    return ["-w", text, *options]


CASES = [
    Case("lines", 1e7, ["--duplicates", "25%", "--id-length", "63"], [
        (spec("sliding:5e6 fp=1e-6"), 2.5, 45),
        (spec("sliding:5e6 fp=1e-6", "-j2"), 2.5, 45),
        (spec("sliding:5e6 fp=1e-6 shards=8", "-j2"), None, None),
        (spec("landmark fp=1e-6 mem=48MiB"), None, None),
        (spec("jumping:1e6/8 fp=1e-6"), None, None),
    ]),
    Case("csv", 4e6, ["--duplicates", "25%", "--format", "csv"], [
        (spec("sliding:2e6 fp=1e-6", "--csv", "-k", "ip,cookie,ad"), 4, None),
        (spec("sliding:2e6 fp=1e-6", "--csv", "-k", "ip,cookie,ad", "-j2"), 4, None),
    ]),
    Case("ids", 15e6, ["--duplicates", "0", "--id-length", "17"], [
        (spec("sliding:15e6 fp=5e-4"), None, 64),
        (spec("sliding:15e6 fp=5e-4", "-j2"), None, 64),
    ]),
]


def run(*command, shell=False):
    """Wall seconds, those of the processors, and the peak MiB of the largest process."""
    start = time.perf_counter()
    child = subprocess.Popen(*command if shell else [command], shell=shell, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit("failed: %s" % (command,))
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(case, path):
    yard, ours, other = [], [[] for _ in case.bars], [[] for _ in case.bars]
    for _ in range(RUNS):
        yard.append(run("cat %s | cat" % path, shell=True))
        for i, (options, _, _) in enumerate(case.bars):
            ours[i].append(run(SEEN, "-q", *options, path))
            if AGAINST:
                other[i].append(run(AGAINST, "-q", *options, path))
    return summary(yard), [summary(runs) for runs in ours], [summary(runs) for runs in other if runs]


def summary(runs):
    wall, cpu, peak = zip(*runs)
    return statistics.median(wall), statistics.median(cpu), max(peak)


def report(case, size, cat, results, others):
    yard = cat[0]
    print("%s: %s records, %.0f MB; cat | cat %.2f s (cpu %.2f s)"
          % (case.name, f"{case.records:,}", size / 1e6, yard, cat[1]))
    met = True
    for (options, times, memory), (wall, cpu, peak), other in itertools.zip_longest(case.bars, results, others):
        bar = ["wall %.3f, cpu %.3f of the other's" % (wall / other[0], cpu / other[1])] if other else []
        if times:
            bar.append("%s x%g" % ("within" if wall <= times * yard else "BEYOND", times))
        if memory:
            bar.append("%s %d MiB" % ("within" if peak <= memory else "BEYOND", memory))
        met = met and not any("BEYOND" in text for text in bar)
        print("  %-46s %5.2f s (cpu %4.2f s)  x%4.2f  %5.1f MiB  %5.1f M records/s  %s"
              % (" ".join(options[1:]), wall, cpu, wall / yard, peak, case.records / wall / 1e6, ", ".join(bar)),
              flush=True)
    return met


def rivals(path):
    for name, command in [("awk '!s[$0]++'", "awk '!s[$0]++' %s" % path),
                          ("sort -u", "env LC_ALL=C sort -u -S4G %s" % path)]:
        wall, _, peak = run(command, shell=True)
        print("  %-46s %5.2f s  %23.1f MiB" % (name, wall, peak))


def main():
    met = True
    for case in CASES:
        if os.environ.get("ONLY", case.name) != case.name:
            continue
        with tempfile.NamedTemporaryFile(prefix="seen-speed-") as file:
            subprocess.run([SEEN, "generate", "-n", str(case.records), *case.made], stdout=file, check=True)
            cat, results, others = measure(case, file.name)
            met = report(case, os.path.getsize(file.name), cat, results, others) and met
            if os.environ.get("RIVALS") and case.name == "lines":
                rivals(file.name)
    sys.exit(not met)


main()
