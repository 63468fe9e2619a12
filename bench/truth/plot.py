#!/usr/bin/python3
"""The picture of doc/truth.md: how often the 95 % interval held the truth, by load, before and after.

    bench/truth/plot.py summary build/truth.tsv > bench/truth/after.tsv    the runs of one `make bench-truth`
    bench/truth/plot.py draw doc/truth.svg                                 from before.tsv and after.tsv

before.tsv was made by the same program (test/law/law_coverage.c, -DBEFORE) linked with the version before the
control sample, commit aa37121.
"""

import collections
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RUN = re.compile(r".*\tload (\S+)\t.*\tfalse (\d+) in \[(\d+), (\d+)\] .*\tmissed (\d+) in \[(\d+), (\d+)\]")


def summary(path):
    runs, held = collections.Counter(), collections.Counter()
    for line in open(path):
        match = RUN.match(line)
        if not match:
            continue
        load, (wrong, low, high) = match[1], map(int, match.group(2, 3, 4))
        runs[load] += 1
        held[load] += low <= wrong <= high
    print("#load\truns\theld")
    for load in sorted(runs, key=float):
        print(f"{load}\t{runs[load]}\t{held[load]}")


def draw(path):
    program = f"""
set terminal svg size 720,360 font "sans,14" background "white"
set output "{path}"
set title "Runs whose 95 % interval of false duplicates held the truth"
set style data histograms
set style histogram clustered gap 1.5
set style fill solid noborder
set yrange [0:108]
set ytics 0,20,100 format "%g %%"
set xlabel "keys in the window / keys planned for"
set grid ytics lc rgb "#dddddd"
set key outside right top
set arrow from graph 0, first 95 to graph 1, first 95 nohead lc rgb "#555555" dt 2 front
plot "{HERE}/before.tsv" using (100*$3/$2):xtic(1) title "formulas only" lc rgb "#d98c3f", \\
     "{HERE}/after.tsv" using (100*$3/$2) title "control sample" lc rgb "#2f6fa8"
"""
    subprocess.run(["gnuplot"], input=program, text=True, check=True)


if __name__ == "__main__" and sys.argv[1:2] == ["summary"]:
    summary(sys.argv[2])
elif __name__ == "__main__" and sys.argv[1:2] == ["draw"]:
    draw(sys.argv[2])
else:
    sys.exit(__doc__)
