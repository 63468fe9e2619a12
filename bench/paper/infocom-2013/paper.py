"""Near-optimal Approximate Membership Query over Time-decaying Windows, INFOCOM 2013: figures 4 to 14.

The figures' values are not printed in the text, so what is held against it is its claims and its
formulas, at every point.
"""

import math
import re

from infocom_common import (BESIDE, DASHED, FP, KEYED, LABEL, LOOK, RUNS, SPACE_AXIS, TABLES, THEORY, UNIVERSE, WRITTEN,
                            asked_of, best_tbf, cell_bits, cells, cuckoo, distinct, full, geometry, in_bits_of, keyed, near,
                            questions, rate, signature, stamp_bits, tables, tbf, times, windows)
from infocom_real import CACHING, REPLAY, WALL, figure_13, figure_14, share, sizes
from lab import Job, number, table

TITLE = "Near-optimal Approximate Membership Query over Time-decaying Windows, INFOCOM 2013"
EPSILONS = (1e-2, 1e-3, 1e-4, 1e-5)


def jobs(lab):
    asked = f"queries={questions(lab):.0f}"

    def run(*args):
        return lab.program("paper-infocom-2013", *args, f"runs={RUNS}")

    def synthetic(*args):
        return run(*args, asked, f"ops={10240 if lab.scale == 1 else 1024}")

    def streams(way, rows, *more):
        size = ["n=10000", f"step={sizes(lab, way).step}"]
        return [Job(f"{way}, {name}", run(way, *read, f"records={records * share(lab):.0f}", *size, *more), **lab.stream(file))
                for name, file, read, records, _ in rows]

    def bound(n, s):
        return Job(f"bound, n={n}, s={s}", run("bound", f"n={n}", f"lambda={2 * n}", f"signature={s}", f"queries={5e6 * lab.scale:.0f}"))

    return [
        *[Job(f"tables, z={z}", synthetic("tables", "n=1000", f"z={z}")) for z in (0, 1)],
        Job("tables, z=1, looking", run("tables", "n=1000", "z=1", "look=1", "queries=400", "ops=256")),  # for its lists
        Job("bits", run("bits", "n=1000", asked, "ops=256", *([] if lab.scale == 1 else ["step=6000"]))),
        Job("windows", synthetic("windows", "counters=20000", f"step={windows(lab).step}")),
        Job("signatures", synthetic("signatures", "n=1000", "counters=10000")),
        Job("within", synthetic("within", "n=10000", "counters=60000")),
        *[bound(1000, s) for s in sorted({signature(eps, 2000) for eps in EPSILONS})],
        bound(int(1e6 * lab.scale), 0),
        Job("memory", run("memory", f"n={1e5 * lab.scale:.0f}", asked)),
        *streams("caching", CACHING),
        *streams("replay", REPLAY, "share=0.2"),
        *streams("wall", WALL, "from=5000", "to=65000", "errors=20000"),
    ]

# -- the page ---------------------------------------------------------------------------------------


def page(lab):
    return (reading() + figures_4_to_7(lab) + figures_8_to_10(lab) + figures_11_and_12(lab) + figure_13(lab) + figure_14(lab)
            + any_window(lab) + theorems(lab) + memory(lab))


def reading():
    return f"""The figures' values are not printed in the text, so they are held against its claims and its formulas, at every
point, over {RUNS} seeds.  "Two tables" is `filter=timed-cuckoo`; "as written" is the paper's own text made a
program (`bench/paper/infocom-2013/literal.c`): no bound on the list L, an insertion that does not look for its item
there, log2 n moves from one table drawn by lot.  Its list is unbounded and ours holds 64 keys, beyond which ours
answers "duplicate" to what it does not find (`overload=saturate`): where that happened the tables say *full*, and
"as written" carries the curve on.  False positives are counted over items that never occurred.

Equal space is an equal number Λ of counters in the paper: a cell of the TBF is one, a position in a table two
(stamp and place), or three with a signature, so that λ = Λ/4 or Λ/6 in each of two tables.  The Greek letter of
"4000, …, 10000" is lost in the text; it must be Λ, for the axis is "the total space in the TBF or our data
structure", and with λ = 4000 for 1000 items L would always be empty, where figure 7 shows "many items".  The
paper's distance counts the current record; a question put after n records covers the last n, which is `sliding:n`.

"""

def check_rates(lab, figure, job, x, n, counters, z):
    """All that were measured at one point, against the formulas and one another.  What is in the list
    cannot be taken for another item, so the formula's keys are those in the tables."""
    keys, measured = distinct(n, z), lab.at(job, "fp TBF", x)
    where = f"{figure} at {x:.0f}"
    lab.holds(f"{where}: TBF as its formula", near(measured, tbf(cells(measured), keys), asked_of(lab, "TBF")))
    for name in TABLES:
        if full(lab, job, name, x):
            continue
        ours, lam, s = lab.at(job, f"fp {name}", x), tables(name, counters), KEYED[geometry(name)]
        low, high = cuckoo(lam, max(0, keys - lab.at(job, f"list {name}", x).y), s), cuckoo(lam, keys, s)
        lab.holds(f"{where}: {LABEL[name]} as its formula", near(ours, min(max(ours.y, low), high), asked_of(lab, name)))
        lab.holds(f"{where}: {LABEL[name]} below TBF in equal counters", ours.y < measured.y)

# -- figures 4 to 7 -----------------------------------------------------------------------------------

SPACE = range(4000, 10001, 1000)


def figures_4_to_7(lab):
    return figure_4(lab) + figures_5_and_6(lab) + figure_7(lab)


def figure_4(lab):
    pictures, n = "", 1000
    for z in (0, 1):
        job, keys = f"tables, z={z}", distinct(n, z)
        for x in SPACE:
            check_rates(lab, f"figure 4, z={z}", job, x, n, x, z)
        curves = keyed(lab, job, "fp", LABEL, LOOK) + [
            ("formula, TBF", [(x, tbf(x, keys)) for x in SPACE], "theory3"),
            *((f"formula, K={s}", [(x, cuckoo(tables(name, x), keys, s)) for x in SPACE], THEORY[name]) for name, s in KEYED.items())]
        pictures += lab.plot(f"figure-4-z{z}", f"Figure 4: false positives, n = 1000, Zipf z = {z}", SPACE_AXIS, FP, curves,
                             log="y", keys=BESIDE)
    for x in SPACE:
        a, b = (lab.at(f"tables, z={z}", "fp TBF", x) for z in (0, 1))
        expected = tbf(cells(b), distinct(n, 1)) / tbf(cells(a), distinct(n, 0))
        error = expected * math.hypot(a.error() / a.y, b.error() / b.y)
        lab.holds(f"figure 4 at {x}: what z changes in the TBF is the number of different items", abs(b.y / a.y - expected) < 4 * error + 0.01 * expected)
    few, many = distinct(n, 1), distinct(n, 0)
    first, last = SPACE[0], SPACE[-1]
    worst = [tbf(x, few) / tbf(x, many) for x in (first, last)]
    return f"""### Figure 4: false positives against the space

{pictures}
{table(["Λ", "TBF", "K=0", "K=4", "K=0 as written", "K=4 as written", "TBF / K=0"], [
    [str(x), *(rate(lab, "tables, z=0", name, x) for name in LABEL), tbf(x, many) / cuckoo(tables("K=0", x), many, 0)] for x in SPACE])}
"The errors in our data structure are much smaller than those in the TBF": by two orders of magnitude, as the
formulas say. "There are not significant differences between the performances with uniform or skewed data sets"
holds of their order and not of their size: 1000 draws hold {many:.0f} different items at z = 0 and {few:.0f} at z =
1.  The tables' error is in proportion, {few / many:.2f} times that at z = 0; the TBF's goes by the fourth power,
{worst[0]:.2f} times at Λ = {first} and {worst[1]:.3f} at Λ = {last}.  Over skewed data the tables gain less on it.

""" + equal_bits(lab, many)


def equal_bits(lab, keys):
    n, job, rows, curves = 1000, "bits", [], []
    gains = {name: [] for name in KEYED}
    for x in SPACE if lab.scale == 1 else SPACE[::6]:
        row = [str(x)]
        for name, s in KEYED.items():
            lam, lines = tables(name, x), lab.at(job, f"lines {name}", x).y
            counted, taken = 2 * lam * cell_bits(n, lam, s), 512 * lines
            ours, four, best = (lab.at(job, f"fp {what}{name}", x) for what in ("", "TBF beside ", "best TBF beside "))
            where = f"equal bytes at {x}, K={s}"
            lab.holds(f"{where}: what is allocated is what is counted, and a line or two", counted <= taken < counted + 2 * 512)
            for rival in (four, best):
                k = int(re.search(r"\bk=(\d+)", rival.spec).group(1))
                lab.holds(f"{where}: TBF with k={k} as its formula", near(rival, tbf(cells(rival), keys, k), questions(lab)))
            row += [counted / n, taken / n]
            if full(lab, job, name, x):
                row += ["full", four.y, best.y, ""]
                continue
            lab.holds(f"{where}: the tables as their formula", near(ours, min(max(ours.y, cuckoo(lam, keys - 10, s)), cuckoo(lam, keys, s)), questions(lab)))
            lab.holds(f"{where}: the tables below the TBF at its best k", ours.y < best.y)
            gains[name].append(best.y / cuckoo(lam, keys, s))
            row += [ours.y, four.y, best.y, gains[name][-1]]
        rows.append(row)
    def points(name, what=""):
        return [(512 * lab.at(job, f"lines {name}", r.x).y / n, r.y) for r in lab.series(job, f"fp {what}{name}")
                if what or not full(lab, job, name, r.x)]

    curves += [(LABEL[name], points(name), LOOK[name]) for name in KEYED]
    for label, what, look in (("TBF, k=4", "TBF beside ", LOOK["TBF"]), ("TBF, best k", "best TBF beside ", LOOK["signed as written"])):
        curves.append((label, sorted(p for name in KEYED for p in points(name, what)), look))
    curves.append(("formula, TBF at its best k", [(b, best_tbf(b * n / stamp_bits(n), keys)) for b in range(30, 121, 2)], "theory3"))
    picture = lab.plot("figure-4-bits", "Figure 4 again, in equal bytes: n = 1000, z = 0, stamp=11", "bits allocated for each of the n records",
                       FP, curves, log="y", keys=BESIDE)
    each = ["{}, counted", "allocated", "{}", "TBF k=4", "TBF best k", "gain"]
    return f"""#### The same in equal bytes

Counters are not alike: a stamp takes log2(2n+1) = {stamp_bits(n)} bits here, a place log2 λ, and a signature of 4
bits was charged as a whole counter.  So the tables and the TBF are measured once more, with the paper's stamps 0 … 2n
(`stamp={stamp_bits(n)}`), each TBF in as many lines of 64 bytes as the tables left of it.  (The other figures were run with
the planner's stamps of 16 bits, which change the memory and no error.)

{picture}
{table(["Λ", *(h.format(f"K={s}") for s in KEYED.values() for h in each)], rows)}
Bits for each of the n records: "counted" is 2λ (stamp + place + signature), "allocated" the lines in use; a detector takes
some 4 KiB besides, for counters and the list L.  "gain" is the TBF measured at its best k over the tables' formula.  K = 0 takes
about the bits that it was charged, and K = 4 a fifth to a quarter fewer: counting counters is unfair to signatures.  What is
left in equal bytes, and against the best k, is a factor of {number(max(gains["K=0"]))} to {number(min(gains["K=0"]))} for K = 0 and of
{number(round(max(gains["signed"])))} to {number(round(min(gains["signed"])))} for K = 4.

**The stamps.**  A cell must be swept before its stamp comes round again.  Ages up to n count, and the sweep visits every cell behind them,
in 2^b - 1 - (n + 1) records.  One record would be enough, so the scheme allows any b with 2^b ≥ n + 3.  That is 10 bits at n =
1000, where each record sweeps 1/{2**10 - 1 - 1001} of the table.  The paper's 2n leaves n records, and each sweeps ⌈λ/n⌉ positions of a table.
`stamp=` takes all of these; left out, it is chosen so that a record sweeps at most a 2^15th of a small table.

"""


def figures_5_and_6(lab):
    text = ""
    for figure, what, doing in ((5, "update", "update"), (6, "query", "query")):
        names = list(LABEL)
        curves = [c for z, look in ((0, LOOK), (1, DASHED)) for c in keyed(lab, f"tables, z={z}", what, names, look, suffix=f", z={z}", scale=1e9)]
        picture = lab.plot(f"figure-{figure}", f"Figure {figure}: {doing} time, n = 1000", SPACE_AXIS, f"ns for each {doing}", curves,
                           keys=BESIDE, more=["set yrange [0:*]"])
        text += f"""### Figure {figure}: {doing} time

{picture}
{table(["Λ", *(LABEL[n] for n in names)], times(lab, "tables, z=0", names, SPACE, what))}
"""
    if lab.scale == 1:
        tight, roomy = (lab.at("tables, z=0", "query signed as written", x).y for x in (SPACE[0], SPACE[-1]))
        lab.holds("figure 6: as written, a query takes longer where the list is long", tight > 1.5 * roomy)
    return text + """Nanoseconds of one operation on one core, z = 0 (the picture has z = 1 too), the quickest of five passes, the mean
of the seeds; digests are made beforehand.  An update of the library's structures is also a verdict and its account of
errors; that of the literal one is the update alone.  Where the tables are small the literal query walks through a long
list, which is the paper's "the running time will become large"; ours has at most 64 keys to look through, and its
updates then try more moves.  All of this is in the processor's cache, where four probes of the TBF cost less than two
of the tables, whose cells are wider and read in two parts.

"""


def figure_7(lab):
    curves = [c for z, look in ((0, LOOK), (1, DASHED)) for c in keyed(lab, f"tables, z={z}", "list", TABLES, look, suffix=f", z={z}", zero=True)]
    picture = lab.plot("figure-7", "Figure 7: longest list, n = 1000", SPACE_AXIS, "most items in the list L", curves, keys=BESIDE)
    rows = []
    for x in SPACE:
        looking = lab.at("tables, z=1, looking", "list signed as written", x).y
        rows.append([str(x), *(listed(lab, f"tables, z={z}", name, x) for z in (0, 1) for name in TABLES), looking])
    for z in (0, 1):
        for name in TABLES:
            tight, roomy = (lab.at(f"tables, z={z}", f"list {name}", x).y for x in (SPACE[0], SPACE[-1]))
            lab.holds(f"figure 7, z={z}: {LABEL[name]}: the list is longer in tight tables", tight > roomy or tight == roomy == 0)
    for x in SPACE:
        for name in KEYED:
            ours, theirs = (lab.at("tables, z=0", f"list {n}", x) for n in (name, f"{name} as written"))
            lab.holds(f"figure 7 at {x}: {LABEL[name]}: ours is no longer than as written", ours.y <= theirs.y + 4 * math.hypot(ours.error(), theirs.error()))
    return f"""### Figure 7: the longest list

{picture}
{table(["Λ", *(f"{LABEL[n].replace('two tables', 'ours')}, z={z}" for z in (0, 1) for n in TABLES), "the last, looking in L"], rows)}
For λ < n some items find no place, however others are moved.  Λ/4 reaches 1000 at Λ = 4000 and Λ/6 at 6000, from
where on the lists are short.  Ours, with 64 moves from either of the item's two places, lists fewer than log2 n
moves from one do.  At z = 1 a window holds {distinct(1000, 1):.0f} different items for {distinct(1000, 0):.0f}, and
hardly any are listed: there z does make a difference.  As written, an insertion does not look for its item in L;
one that does (last column) makes the list no shorter, for an item that comes again may also find a place in a table
by then.

"""


def listed(lab, job, name, x):
    return "full" if full(lab, job, name, x) else round(lab.at(job, f"list {name}", x).y, 1)


# -- figures 8 to 10 ----------------------------------------------------------------------------------

def figures_8_to_10(lab):
    job, counters, ns = "windows", 20000, windows(lab)
    for n in ns:
        check_rates(lab, "figure 9", job, n, n, counters, 0)
    axis = "window n (items)"
    pictures = {what: lab.plot(f"figure-8-{what}", f"Figure 8: {what} time, Λ = 20,000", axis, f"ns for each {what}",
                               keyed(lab, job, what, LABEL, LOOK, scale=1e9), log="y", keys=BESIDE)
                for what in ("update", "query")}
    formula = [("formula, TBF", [(n, tbf(counters, distinct(n, 0))) for n in ns], "theory3"),
               *((f"formula, TBF, bits of K={s}", [(n, tbf(in_bits_of(name, n, counters), distinct(n, 0))) for n in ns], THEORY[name])
                 for name, s in KEYED.items())]
    errors = lab.plot("figure-9", "Figure 9: false positives, Λ = 20,000", axis, FP, keyed(lab, job, "fp", LABEL, LOOK) + formula,
                      log="y", keys=BESIDE)
    lists = lab.plot("figure-10", "Figure 10: longest list, Λ = 20,000", axis, "most items in the list L",
                     keyed(lab, job, "list", TABLES, LOOK, zero=True), keys=BESIDE)
    rows = [[str(n), *(rate(lab, job, name, n) for name in LABEL), *(tbf(in_bits_of(name, n, counters), distinct(n, 0)) for name in KEYED),
             *(listed(lab, job, name, n) for name in TABLES)] for n in ns]
    first, last = ns[0], ns[-1]
    for name in WRITTEN:
        series = [r.y for r in lab.series(job, f"list {name}")]
        lab.holds(f"figure 10: {LABEL[name]}: the list grows with the window", series == sorted(series) and series[-1] > series[0])
    if lab.scale == 1:
        for name in WRITTEN:
            a, b = (lab.at(job, f"query {name}", n).y for n in (first, last))
            lab.holds(f"figure 8: {LABEL[name]}: a query takes longer as the list grows", b > 5 * a)
        a, b = (lab.at(job, "query TBF", n).y for n in (first, last))
        lab.holds("figure 8: the TBF's query does not grow with the window", 0.6 < b / a < 1.5)
    ends = {name: [lab.at(job, f"query {name}", n).y * 1e9 for n in (first, last)] for name in ("TBF", *WRITTEN)}
    return f"""### Figures 8 to 10: against the window

λ = 5000 (K = 0) and 3333 (K = 4) against a TBF of 20,000 cells.

{pictures["update"]}
{pictures["query"]}
From n = 1000 to 10,000 a query of the TBF takes {ends["TBF"][0]:.3g} and {ends["TBF"][1]:.3g} ns, of K = 0 as
written {ends["K=0 as written"][0]:.3g} and {ends["K=0 as written"][1]:.3g} ns, of K = 4
{ends["signed as written"][0]:.3g} and {ends["signed as written"][1]:.3g} ns: the list's length.  The update as
written does not look there.

{errors}
{lists}
{table(["n", *(LABEL[n] for n in LABEL), "TBF, bits of K=0", "TBF, bits of K=4", *(f"list, {LABEL[n]}" for n in TABLES)], rows)}
Ours is full from n = {filled(lab, "K=0")} on (K = 0) and {filled(lab, "signed")} (K = 4): λ is then less than n. A
list that holds a third of the window is an exact set with a linear search; that the error stays small there says
little.  In memory it is not small either: an item in L is kept whole, where a position takes
{cell_bits(last, 5000, 0)} bits.

"""


def filled(lab, name):
    return next((f"{n:,}" for n in windows(lab) if full(lab, "windows", name, n)), "no window shown")


# -- figures 11 and 12 --------------------------------------------------------------------------------


def figures_11_and_12(lab):
    job, n, counters = "signatures", 1000, 10000
    keys, lam, ks = distinct(n, 0), tables("signed", counters), range(1, 11)
    asked = asked_of(lab, "TBF")
    theirs, ours = ({int(r.x): r for r in lab.series(job, f"fp {name}")} for name in ("TBF", "signed"))
    rows = []
    for k in ks:
        m = 2 * lam * cell_bits(n, lam, k) / stamp_bits(n)
        lab.holds(f"figure 12, K={k}: TBF as its formula", near(theirs[k], tbf(cells(theirs[k]), keys, k), asked))
        lab.holds(f"figure 12, K={k}: two tables as their formula", near(ours[k], cuckoo(lam, keys, k), asked))
        lab.holds(f"figure 12, K={k}: two tables below TBF in equal counters", ours[k].y < theirs[k].y)
        rows.append([str(k), theirs[k].y, tbf(counters, keys, k), ours[k].y, cuckoo(lam, keys, k), m / counters, best_tbf(m, keys),
                     best_tbf(m, keys) / cuckoo(lam, keys, k)])
    best = min(theirs, key=lambda k: theirs[k].y)
    turn = min(ks, key=lambda k: tbf(cells(theirs[k]), keys, k))
    lab.holds("figure 12: the TBF's error rises again beyond the best k", theirs[10].y > 1.1 * theirs[turn].y)
    lab.holds("figure 12: the best k is the formula's", best == turn if lab.scale == 1 else abs(best - turn) <= 1)
    for k in range(1, 10):
        a, b = ours[k], ours[k + 1]
        error = math.hypot(max(a.error(), math.sqrt(a.y / RUNS / asked)), 2 * max(b.error(), math.sqrt(max(b.y, 1 / RUNS / asked) / RUNS / asked)))
        lab.holds(f"figure 12: a bit more than {k} halves the error", abs(a.y - 2 * b.y) < 4 * error)
    axis = "K: hash functions of the TBF, bits of a signature"
    curves = [c for what, look in (("update", LOOK), ("query", DASHED))
              for c in keyed(lab, job, what, ("TBF", "signed"), look, {"TBF": "TBF", "signed": "two tables"}, f", {what}", 1e9)]
    clock = lab.plot("figure-11", "Figure 11: running time, n = 1000, Λ = 10,000", axis, "ns for each operation", curves, keys="top left", more=["set yrange [0:*]"])
    errors = lab.plot("figure-12", "Figure 12: false positives, n = 1000, Λ = 10,000", axis, FP,
                      [("TBF", [(k, r.y) for k, r in theirs.items()], "third"), ("two tables", [(k, r.y) for k, r in ours.items() if r.y], "second"),
                       ("formula, TBF", [(k, tbf(counters, keys, k)) for k in ks], "theory3"),
                       ("formula, two tables", [(k, cuckoo(lam, keys, k)) for k in ks], "theory2"),
                       ("formula, TBF, same bits, best k", [(k, best_tbf(2 * lam * cell_bits(n, lam, k) / stamp_bits(n), keys)) for k in ks], "theory")],
                      log="y", keys=BESIDE)
    grows = {name: [lab.at(job, f"query {name}", k).y * 1e9 for k in (1, 10)] for name in ("TBF", "signed")}
    if lab.scale == 1:
        lab.holds("figure 11: the TBF's query takes longer with more hash functions", grows["TBF"][1] > 1.5 * grows["TBF"][0])
        lab.holds("figure 11: a longer signature does not slow the tables' query", grows["signed"][1] < 1.25 * grows["signed"][0])
    return f"""### Figures 11 and 12: against the size of signatures

λ = 1667 against a TBF of 10,000 cells, n = 1000.

{clock}
From K = 1 to 10 a query of the TBF goes from {grows["TBF"][0]:.3g} to {grows["TBF"][1]:.3g} ns, of the tables from
{grows["signed"][0]:.3g} to {grows["signed"][1]:.3g}: as many memory accesses as hash functions, and two.

{errors}
{table(["K", "TBF", "formula", "two tables", "formula", "their bits / TBF's", "TBF in their bits, best k", "gain"], rows)}
The TBF's error is least at k = {best}, as m/n ln 2 = {counters / keys * math.log(2):.1f} says, and rises again from
k = {best + 1} on; a bit more of signature halves the tables' error each time.  Up to K = 10 they take fewer bits
than the TBF.

"""

# -- any window up to n --------------------------------------------------------------------------------


def any_window(lab):
    counters, rows = 60000, []
    for r in lab.series("within", "fp TBF"):
        keys = distinct(int(r.x), 0)
        row = [f"{r.x:.0f}", r.y, tbf(cells(r), keys)]
        lab.holds(f"within {r.x:.0f}: TBF as its formula", near(r, row[-1], questions(lab)))
        for name, s in KEYED.items():
            ours, expected = lab.at("within", f"fp {name}", r.x), cuckoo(tables(name, counters), keys, s)
            lab.holds(f"within {r.x:.0f}: {LABEL[name]} as its formula", near(ours, expected, questions(lab)))
            row += [ours.y, expected]
        rows.append(row)
    return f"""### Any window up to n

Definition 1 asks for "any w ≤ n" of one structure (`within` of `seen_query`).  n = 10,000, Λ = {counters:,}; the
formulas are those of w items:

{table(["w", "TBF", "formula", "K=0", "formula", "K=4", "formula"], rows)}
The TBF's error falls with the fourth power of w, the tables' with w: below some 600 items of these 10,000 the TBF
errs less.

"""


# -- theorems -----------------------------------------------------------------------------------------


def theorems(lab):
    n, lam, rows = 1000, 2000, []
    for eps in EPSILONS:
        s = signature(eps, lam)
        r, asked = lab.at(f"bound, n={n}, s={s}", "fp", s), 5e6 * lab.scale
        lab.holds(f"theorem 1: at most {eps:g}", r.y <= eps)
        lab.holds(f"theorem 1, {eps:g}: as the formula", near(r, cuckoo(lam, n, s), asked))
        rows.append([f"{eps:g}", str(s), cuckoo(lam, n, s), r.y, eps / cuckoo(lam, n, s)])
    big = int(1e6 * lab.scale)
    r = lab.at(f"bound, n={big}, s=0", "fp", 0)
    lab.holds("theorem 2: what lambda = 2n delivers without a signature", near(r, cuckoo(2 * big, big, 0), 5e6 * lab.scale))
    lab.holds("theorem 2: one percent of a million is served forty thousand times over",
              signature(1e-2, 2e6) == 0 and 3.9e4 < 1e-2 / cuckoo(2e6, 1e6, 0) < 4.1e4)
    at_least = [[f"{universe:.3g}", f"{size:.3g}", f"{size / universe:.2g}", *(bound_of(size, universe, eps) for eps in EPSILONS)]
                for universe, size in ((UNIVERSE, 1000), (UNIVERSE, 10000), (2.0**32, 1e6), (2.0**64, 1e6))]
    lab.holds("theorem 3: no bound at one percent of figure 4's universe", bound_of(1000, UNIVERSE, 1e-2) == "none")
    return f"""### The theorems

**Theorem 1**: with a signature of log2(1/ε) - log2 λ + 1 bits, at most ε false positives.  n = 1000, λ = 2000:

{table(["ε", "bits", "formula n 2^-s/λ²", "measured", "ε / formula"], rows)}
It holds with room to spare: the proof counts a key at each place, although only n of the 2λ places are taken, and bits are
whole.

**Theorem 2** counts 2n positions for λ = 2n, but λ is the size of *each* table: they are 4n, and the space twice as
much.  For ε = 1 % and n = 10^6 no signature is needed, and what is delivered is n/λ² =
{cuckoo(2e6, 1e6, 0):.2g} (measured with n = {big:,}: {r.y:.2g}, formula {cuckoo(2 * big, big, 0):.2g}) in 4n positions of {cell_bits(10**6, 2 * 10**6, 0)} bits,
{4 * cell_bits(10**6, 2 * 10**6, 0)} bits an item: forty thousand times better than was asked for, and no way to
have it smaller, for the place is there to move the item.

**Theorem 3**, the lower bound (n - ε|U|) log2(n - ε|U|), in bits for each of the n items:

{table(["universe", "n", "n / universe", *(f"ε = {e:g}" for e in EPSILONS)], at_least)}
It says nothing once ε ≥ n/|U|, which in the paper's own experiments is at 1 % for n = 1000 and at 10 % for n =
10,000; for 32-bit items and n = 10^6 it is at {1e6 / 2**32:.1g}.

"""


def bound_of(n, universe, eps):
    told = n - eps * universe
    return number(told * math.log2(told) / n) if told > 1 else "none"


# -- equal memory ---------------------------------------------------------------------------------------


def memory(lab):
    names = ["timing", "timed-cuckoo", "timed-cuckoo vla", "age-partitioned", "line", "blocked jumping/8", "exact"]
    colours = ("#d07a00", "#0060ad", "#00a0c0", "#7a3fa0", "#c03030", "#2a8a3a", "#606060")
    looks = {name: f"with linespoints pt 7 ps .6 lw 2 lc rgb '{c}'" for name, c in zip(names, colours)}
    points, planned = ({name: {int(r.x): r for r in lab.series("memory", what + name)} for name in names} for what in ("", "planned "))
    asked, n, rows = questions(lab), 1e5 * lab.scale, []
    for name in names:
        for bits, r in points[name].items():
            # windows in parts hold up to one part more than the planned one, or less; a line's marks grow by the epoch
            least, most = {"blocked jumping/8": (0.85, 1.3), "line": (0.82, 1.02), "age-partitioned": (0.9, 1)}.get(name, (1, 1))
            rate = planned[name][bits].y
            lab.holds(f"equal memory, {name}, {bits} bits: as planned", near(r, min(max(r.y, least * rate), most * rate), asked))
    best = {}
    for bits in sorted({b for p in planned.values() for b in p}):
        rates = {name: planned[name][bits].y for name in names if bits in planned[name]}
        first, *others = sorted(rates, key=rates.get)
        best.setdefault(first, []).append(str(bits))
        rows.append([str(bits), *(cell(points, planned, name, bits) for name in names), first, rates[others[0]] / rates[first] if others else ""])
    picture = lab.plot("memory", f"Equal memory: n = {n:,.0f} different items", "bits for each of the n records", FP,
                       [(f"{name}, planned", [(b, r.y) for b, r in planned[name].items() if r.y > 1e-18], looks[name]) for name in names]
                       + [("measured", [(b, r.y) for name in names for b, r in points[name].items()], "printed")],
                       log="y", keys=BESIDE + " height .6", more=["set format y '10^{%L}'"])
    return f"""### In equal memory: the library's structures

The same question of n = {n:,.0f} different items, everything counted, each structure at the least error that the
planner finds for this number of bits a record.

{picture}
{table(["bits a record", *names, "least error", "next / least"], rows)}
The plan's error and, where it is large enough to be seen in {RUNS} runs of {asked:,.0f} questions, the measured
one.  A blank: this many keys do not fit that way.  The least error has
{"; ".join(f"`{name}` at {', '.join(bits)} bits" for name, bits in best.items())}.
The tables, the TBF and `exact` are exact in time; `line` reaches up to a thirty-first of the window too far, `blocked` in a
jumping window up to an eighth, `age-partitioned` up to a fifth.  What the tables gain in an array of variable bit length
is two thirds of their memory.  (A place and a signature together have at most 56 bits, which ends the tables' curves.)
"""


def cell(points, planned, name, bits):
    if bits not in planned[name]:
        return ""
    return number(planned[name][bits].y) + (f" ({number(points[name][bits].y)})" if bits in points[name] else "")
