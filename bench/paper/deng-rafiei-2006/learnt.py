"""Deng, Rafiei 2006, §4.1: Max from a gap distribution that is known, and figure 2 with it."""

from deng_table2 import percent, streams
from lab import Job, table

STREAMS = {"100K": (2, 1), "10M": (4, 10)}  # lines of the least of twelve sizes; what the stream is divided by
MAX = ("max=1", "max=3", "max=7")
RIVALS = ("chosen", "lru", "clock", "cache")
MODEL = 0.003  # on the sample itself predictions are held to 0.3 points


def halves(lab):
    return {s.name: s for s in streams(lab).values() if s.name in STREAMS}


def smaller(knots, by):
    pairs = (knot.split(":") for knot in knots.split(","))
    return ",".join(f"{max(1, float(depth) / by):.10g}:{share}" for depth, share in pairs)


def learnt_jobs(lab, program):
    made = []
    for name, s in halves(lab).items():
        first, by = STREAMS[name]
        made.append(Job(f"sample, {name}", lab.program(
            program, "learn", f"elements={s.elements * s.share / by:.0f}", f"new={s.new}", f"knots={smaller(s.knots, by)}",
            f"first={max(2, first * s.share):.0f}", "fp=0.1", f"runs={s.runs}")))
    return made


def learnt(lab):
    rows, curves, worst, drift = [], [], 0, 0
    model = MODEL if lab.scale == 1 else 3 * MODEL  # one short stream varies more
    for i, name in enumerate(halves(lab)):
        job, colour = f"sample, {name}", ("#0060ad", "#c03030")[i]
        fn, itself, said = ({r: lab.points(job, f"{r} {what}") for r in MAX + RIVALS} for what in ("fn", "fn of the sample", "fn predicted"))
        for j, (bits, _) in enumerate(fn["chosen"]):
            where = f"sample, {name}, {bits:.0f} bits"
            off = max(abs(itself[r][j][1] - said[r][j][1]) for r in MAX + RIVALS)
            later = {r: fn[r][j][1] - itself[r][j][1] for r in MAX + RIVALS}
            worst, drift = max(worst, off), max(drift, *map(abs, later.values()))
            lab.holds(f"{where}: every prediction within {100 * model:.1g} points of what the sample itself gives", off < model)
            for part, points in (("sample", itself), ("second half", fn)):
                best = min(MAX, key=lambda r: points[r][j][1])
                lab.holds(f"{where}: the Max that is chosen is the best one in the {part}, within {100 * model:.1g} points",
                          points["chosen"][j][1] < points[best][j][1] + model)
            if j % 3 == 0:
                rows.append([name, f"{bits:,.0f}", *("{} / {} / {}".format(*(percent(p[r][j][1]) for p in (said, itself, fn))) for r in MAX + RIVALS[1:])])
        for what, points, how in (("predicted", said, "lines lw 2"), ("measured, the sample", itself, "points pt 7 ps 1"), ("measured, what comes next", fn, "points pt 6 ps 1.3")):
            difference = [(a[0], b[1] - a[1]) for a, b in zip(points["max=1"], points["max=3"])]
            curves.append((f"{name}: {what}", difference, f"with {how} lc rgb '{colour}'"))
    picture = lab.plot("figure-2-sample", "Figure 2 for whole streams: Max=3 less Max=1 over all repeats, by the memory", "memory (bits)",
                       "difference of false-negative rates", curves, log="x", keys="bottom left", more=["set xzeroaxis lt 1 lc rgb '#000000'"])
    return f"""### §4.1: Max from the gaps of a stream

{picture}
{table(["stream", "bits", *(f"`{r}`" for r in MAX), *(f"`{r}`" for r in RIVALS[1:])], rows)}
False negatives in percent at 10 % false positives: predicted / measured on the sample / measured on the rest.  The sample is the
first half of each of table 2's streams (10M at a tenth).  From it `seen plan 'decaying mem=… fp=10%' --sample FILE` (here
`seen_gaps_plan`) chooses K for each Max, and then Max.  Both halves are run by structures that begin empty.

- `stable`: Eqs. 9 to 15 are integrated over the gaps of the sample.  Instead of φ they take the number of different keys that the
  sample has in as many records.
- `cache`: its formula, over the same gaps.
- `lru`: from stack distances.
- `clock`: from pairs of gaps that follow each other.

On the sample itself every prediction is within {percent(worst)} points.  On the rest predictions differ by up to {percent(drift)} points, because in the
stack model repeats come from deeper as the stream goes on.  A sample of its beginning cannot show that.  The chosen Max is the
best one in both halves at every size, or within 0.3 points of it.

"""
