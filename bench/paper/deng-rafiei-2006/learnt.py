"""Deng, Rafiei 2006, §4.1: Max from a gap distribution that is known, and figure 2 with it."""

from deng_table2 import percent, streams
from lab import Job, table

FIRST = {"100K": 2, "10M": 32}  # lines of the least of twelve sizes
MAX = ("max=1", "max=3", "max=7")
RIVALS = ("chosen", "lru", "clock", "cache")
BAND = 0.015  # predicted and measured are held to 1.5 points


def halves(lab):
    return {s.name: s for s in streams(lab).values() if s.name in FIRST}


def learnt_jobs(lab, program):
    return [Job(f"sample, {s.name}", lab.program(
        program, "learn", f"elements={s.elements * s.share:.0f}", f"new={s.new}", f"knots={s.knots}",
        f"first={max(2, FIRST[s.name] * s.share):.0f}", "fp=0.1", f"runs={s.runs}")) for s in halves(lab).values()]


def learnt(lab):
    rows, curves, worst = [], [], 0
    for i, name in enumerate(halves(lab)):
        job, colour = f"sample, {name}", ("#0060ad", "#c03030")[i]
        fn = {r: lab.points(job, f"{r} fn") for r in MAX + RIVALS}
        said = {r: lab.points(job, f"{r} fn predicted") for r in MAX + RIVALS}
        for j, (bits, _) in enumerate(fn["chosen"]):
            off = max(abs(fn[r][j][1] - said[r][j][1]) for r in MAX + RIVALS)
            worst = max(worst, off)
            lab.holds(f"sample, {name}, {bits:.0f} bits: every prediction within {100 * BAND} points", off < BAND)
            best = min(MAX, key=lambda r: fn[r][j][1])
            lab.holds(f"sample, {name}, {bits:.0f} bits: the Max that is chosen is the best measured, within half a point",
                      fn["chosen"][j][1] < fn[best][j][1] + 0.005)
            if j % 3 == 0:
                rows.append([name, f"{bits:,.0f}", *(f"{percent(said[r][j][1])} / {percent(fn[r][j][1])}" for r in MAX + RIVALS[1:])])
        for what, points, how in (("predicted", said, "lines lw 2"), ("measured", fn, "points pt 7 ps 1")):
            difference = [(a[0], b[1] - a[1]) for a, b in zip(points["max=1"], points["max=3"])]
            curves.append((f"{name} stream, {what}", difference, f"with {how} lc rgb '{colour}'"))
    picture = lab.plot("figure-2-sample", "Figure 2 for a stream: Max=3 less Max=1 over all its repeats, by the memory", "memory (bits)",
                       "difference of false-negative rates", curves, log="x", keys="top right", more=["set xzeroaxis lt 1 lc rgb '#000000'"])
    return f"""### §4.1: Max from the gaps of a stream

{picture}
{table(["stream", "bits", *(f"`{r}`" for r in MAX), *(f"`{r}`" for r in RIVALS[1:])], rows)}
False negatives in percent at 10 % false positives, predicted / measured.  The first half of each of table 2's streams is the sample,
from which `seen plan --sample` (here `seen_gaps_plan`) takes K for each Max, and Max; the second half is measured, by a
structure that begins empty.  Eqs. 9 to 15 are integrated over the sample's gaps, with the different keys among so many records in
place of φ; the buffers' misses follow from stack distances, and `cache` from its formula at each.  No prediction is further off than
{percent(worst)} points, and the Max that is chosen is the best one measured, or within half a point of it, at every size.

"""
