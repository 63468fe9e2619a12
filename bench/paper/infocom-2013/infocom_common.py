"""What the figures of INFOCOM 2013 share: contenders, the paper's formulas, and the reading of results."""

import math
import re
from functools import lru_cache

RUNS = 20
UNIVERSE = 100000
KEYED = {"K=0": 0, "signed": 4}  # bits of a signature
COUNTERS = {"K=0": 4, "signed": 6}  # counters of the TBF for each position of one table
LABEL = {"TBF": "TBF, k=4", "K=0": "two tables, K=0", "signed": "two tables, K=4",
         "K=0 as written": "as written, K=0", "signed as written": "as written, K=4"}
LOOK = {"TBF": "third", "K=0": "ours", "signed": "second", "K=0 as written": "fifth", "signed as written": "fourth"}
THEORY = {"TBF": "theory3", "K=0": "theory", "signed": "theory2"}
DASHED = {"TBF": "with linespoints dt 2 pt 8 ps 1 lw 2 lc rgb '#d07a00'", "K=0": "with linespoints dt 2 pt 6 ps .9 lw 2 lc rgb '#0060ad'",
          "signed": "with linespoints dt 2 pt 4 ps .9 lw 2 lc rgb '#2a8a3a'", "K=0 as written": "with linespoints dt 2 pt 12 ps 1 lw 2 lc rgb '#008a8a'",
          "signed as written": "with linespoints dt 2 pt 10 ps 1 lw 2 lc rgb '#7a3fa0'"}
TABLES = ("K=0", "signed", "K=0 as written", "signed as written")
WRITTEN = ("K=0 as written", "signed as written")
BESIDE = "outside right font ',10'"  # where the key stands
SPACE_AXIS = "counters Λ"
FP = "false-positive rate"


# -- formulas ---------------------------------------------------------------------------------------


def tbf(m, keys, k=4):
    return (-math.expm1(k * keys * math.log1p(-1 / m))) ** k


def best_tbf(m, keys):
    return min(tbf(m, keys, k) for k in range(1, 33))


def cuckoo(lam, keys, s):
    return -math.expm1(keys * math.log1p(-2.0**-s / lam**2))


def signature(eps, lam):
    """Theorem 1, in whole bits."""
    return max(0, math.ceil(-math.log2(eps) - math.log2(lam) + 1))


@lru_cache
def distinct(n, z):
    """Different items that n draws from Zipf's law are expected to hold."""
    if z == 0:
        return UNIVERSE * -math.expm1(n * math.log1p(-1 / UNIVERSE))
    whole = sum(i**-z for i in range(1, UNIVERSE + 1))
    return sum(-math.expm1(n * math.log1p(-(i**-z) / whole)) for i in range(1, UNIVERSE + 1))


def stamp_bits(n):
    return math.ceil(math.log2(2 * n + 1))


def cell_bits(n, lam, s):
    return stamp_bits(n) + math.ceil(math.log2(lam)) + s


def in_bits_of(name, n, counters):
    """Cells of a TBF in as many bits as these two tables take."""
    lam = tables(name, counters)
    return 2 * lam * cell_bits(n, lam, KEYED[name]) / stamp_bits(n)


def geometry(name):
    """The geometry's name, of the measured structure and of the one as written alike."""
    return name.removesuffix(" as written")


def tables(name, counters):
    return round(counters / COUNTERS[geometry(name)])


def cells(row):
    """Cells of the TBF that was measured: whole lines, less a word."""
    lines, stamp = (int(re.search(rf"\b{w}=(\d+)", row.spec).group(1)) for w in ("blocks", "stamp"))
    return (lines * 512 - 64) // stamp


def near(row, expected, questions):
    """Within four standard errors, the larger of the runs' and of the hits' Poisson error, and half a percent."""
    error = max(row.error(), math.sqrt(expected / (row.runs * questions)))
    return abs(row.y - expected) < 4 * error + 0.005 * expected


def questions(lab):
    """Questions asked in a run, and of the structure as written (experiments.c)."""
    return 1e6 if lab.scale == 1 else 4e4


def asked_of(lab, name):
    return questions(lab) / (20 if name in WRITTEN else 1)


def windows(lab):
    return range(1000, 10001, 1000 if lab.scale == 1 else 4500)


# -- results ----------------------------------------------------------------------------------------


def keyed(lab, job, what, names, look, label=LABEL, suffix="", scale=1.0, zero=False):
    """Curves of a figure: one for each contender, without the points where ours was full, and those at zero."""
    curves = []
    for name in names:
        points = [(r.x, r.y * scale) for r in lab.series(job, f"{what} {name}") if (r.y or zero) and not full(lab, job, name, r.x, what)]
        if points:
            curves.append((label[name] + suffix, points, look[name]))
    return curves


def full(lab, job, name, x, what="fp"):
    return what != "list" and name in KEYED and lab.at(job, f"lost {name}", x).y > 0


def rate(lab, job, name, x):
    return "full" if full(lab, job, name, x) else lab.at(job, f"fp {name}", x).y


def times(lab, job, names, xs, what):
    return [[f"{x:.0f}", *("full" if full(lab, job, name, x) else lab.at(job, f"{what} {name}", x).y * 1e9 for name in names)] for x in xs]
