"""INFOCOM 2013, figures 13 and 14: three applications over the streams that come nearest."""

from infocom_common import BESIDE, COUNTERS, DASHED, FP, KEYED, LABEL, LOOK, RUNS, SPACE_AXIS, THEORY, WRITTEN, full, keyed, near, rate
from lab import table

# Streams of figures 13 and 14: name, file, how it is read, what it is.
CACHING = [
    ("CRAN", "cran_2014w51_arrival.tsv.xz", ["fields=3,4", "split=tab", "skip=1"], 500000,
     "files asked from a mirror of R packages (package and version: the URL)"),
    ("front page", "hn_polls_2020-11_2021-06.tsv.xz", ["fields=3", "split=tab", "skip=1"], 298890, "URLs of a front page, polled"),
]
REPLAY = [
    ("CRAN requests", "cran_2014w51_arrival.tsv.xz", ["fields=2,3,4", "split=tab", "skip=1"], 400000, "requests: client and URL"),
    ("clicks", "talkingdata_train_sample.csv.xz", ["fields=1,2,3,4,5", "split=comma", "skip=1"], 100000, "clicks on a phone's advertisements"),
]
WALL = [
    ("CollegeMsg", "CollegeMsg.txt.xz", ["fields=2", "ask=1", "split=all"], 59835, "messages between students"),
    ("email-Eu", "email-Eu.tsv.xz", ["fields=3", "ask=2", "split=all"], 234760, "e-mail of a research institute"),
]


def sizes(lab, way):
    """Counters: fewer for streams with some hundred keys in a window, or there would be no error to see."""
    if way == "wall":
        return range(5000, 65001, 15000)
    return range(20000, 100001, 20000 if lab.scale == 1 else 40000)



def share(lab):
    """The share of each stream's records that is read."""
    return 1 if lab.scale == 1 else 0.05


def figure_13(lab):
    parts = (("caching", "left", CACHING, "Caching: asked, and inserted where it was not found (`refresh=first`)."),
             ("replay", "middle", REPLAY, "Denial of service: a fifth of the requests are one of the last n again, by lot; "
              "asked, then inserted."),
             ("wall", "right", WALL, "Wall posts: who gets a message is inserted, and its sender asked about: one id in, "
              "another out."))
    return f"""### Figure 13: real data

The paper's traces (WIDE, an HTTP log, wall posts) are not to be had; these are the nearest of those that are.  n =
10,000, {RUNS} hash seeds.  The axis of the figure is not described; Λ here goes from the 20,000 of figure 14 to the
10n of figure 4, and for the wall posts, whose windows hold some hundred keys only, lower.

A wrong answer tends to be given again: the key's cells are mostly the same when it is next asked about.  In a cache
that is costly: a page wrongly taken for cached is not fetched, and so errs at each request.  The formula is for a
first question, one about an absent key that was not asked about in the last n records, and is compared with
those; the curves count every question, as the paper does. "The errors in our data structures are much smaller"
where the filter is full; per key the tables' error falls with 1/Λ² and the TBF's, at k = 4, with 1/Λ⁴, so that it
overtakes K = 0 at Λ = 4 d^(3/2) for d keys.

""" + "".join(applications(lab, *part) for part in parts)


def applications(lab, way, side, streams, what):
    text = f"#### {side.capitalize()}\n\n{what}\n\n"
    for name, file, _, records, about in streams:
        job = f"{way}, {name}"
        if lab.ran(job):
            text += application(lab, job, side, name, about, round(records * share(lab)))
        else:
            text += f"{name}: not measured, {file} is not there.\n\n"
    return text


def overtaken(name, keys):
    """Counters from which on a TBF with k=4 errs less: (4 d/Λ)^4 = d 2^-s (c/Λ)^2."""
    return 16 * 2 ** (KEYED[name] / 2) * keys**1.5 / COUNTERS[name]


def application(lab, job, side, name, about, records):
    keys, asked = (lab.series(job, what)[0].y for what in ("keys", "first questions"))
    rows = []
    for x in sizes(lab, job.split(",")[0]):
        for who in LABEL:
            first, expected = lab.at(job, f"first {who}", x), lab.at(job, f"expected {who}", x)
            lab.holds(f"figure 13, {name} at {x}: {LABEL[who]}: no false negative", lab.at(job, f"missed {who}", x).y == 0)
            if not full(lab, job, who, x):
                # what is in a list as written is not in the tables, and the formula is then a bound
                fewer = who in WRITTEN and x < 60000 and 0 < first.y < expected.y
                lab.holds(f"figure 13, {name} at {x}: {LABEL[who]}: first questions as the formula",
                          fewer or near(first, expected.y, asked))
            if who in KEYED and x < 0.9 * overtaken(who, keys):
                lab.holds(f"figure 13, {name} at {x}: {LABEL[who]} below TBF by formula", expected.y < lab.at(job, "expected TBF", x).y)
        rows.append([f"{x:,}", *(rate(lab, job, who, x) for who in LABEL),
                     *(lab.at(job, f"expected {who}", x).y for who in ("TBF", "K=0", "signed"))])
    slug = name.lower().replace(" ", "-")
    picture = lab.plot(f"figure-13-{slug}", f"Figure 13 ({side}): {name}, n = 10,000", SPACE_AXIS, FP,
                       keyed(lab, job, "fp", LABEL, LOOK) + [
                           (f"first, formula, {'K=4' if who == 'signed' else who}", lab.points(job, f"expected {who}"), THEORY[who])
                           for who in THEORY],
                       log="y", keys=BESIDE)
    return f"""**{name}**: {about}, {records:,} records; a window holds {keys:.0f} keys on average; {asked:.0f} first questions.

{picture}
{table(["Λ", *LABEL.values(), "formula, TBF", "formula, K=0", "formula, K=4"], rows)}
{" ".join(remarks(lab, job, keys))}

"""


def remarks(lab, job, keys):
    every, first = (lab.at(job, f"{what} TBF", 20000).y for what in ("fp", "first"))
    if first > 2e-4 and every > 1.3 * first:
        yield f"All questions err {every / first:.1f} times as often as first ones (TBF, Λ = 20,000)."
    if overtaken("K=0", keys) < 1e5:
        yield f"With {keys:.0f} keys the TBF's fourth power passes K = 0 at about Λ = {round(overtaken('K=0', keys), -3):,.0f}: the tables are for tight spaces."


def figure_14(lab):
    text, pictures, rows, counters = "", "", [], (20000, 5000)
    measured = [name for name, *_ in WALL if lab.ran(f"wall, {name}")]
    for name in (name for name, *_ in WALL if name not in measured):
        text += f"{name}: not measured, its stream is not there.\n\n"
    for x in counters:
        curves = []
        for name in measured:
            job, errors, wrong = f"wall, {name}", {}, {}
            for who in ("TBF", "K=0"):
                lab.holds(f"figure 14, {name} at {x}: {LABEL[who]}: never above the truth", lab.at(job, f"above {who}", x).y == 0)
                more = lab.series(job, f"more {who} {x}")
                errors[who], wrong[who] = lab.at(job, f"error {who}", x).y, more[0].y
                look = (LOOK if name == WALL[0][0] else DASHED)[who]
                curves.append((f"{who}, {name}", [(r.x + 1, r.y) for r in more if r.y], look))
            lab.holds(f"figure 14, {name} at {x}: the tables' estimate is nearer",
                      errors["K=0"] < errors["TBF"] or errors["K=0"] == errors["TBF"] == 0)
            rows.append([name, f"{x:,}", *errors.values(), *wrong.values()])
        if any(points for _, points, _ in curves):
            pictures += lab.plot(f"figure-14-{x}", f"Figure 14: error of the time last seen, Λ = {x:,}, n = 10,000",
                                 "error greater than (records)", "share of the questions", curves, log="xy", keys=BESIDE)
    return f"""### Figure 14: the error of the time last seen

Asked for each sender: how many records ago did it last get a message (`seen_last_seen`), "not in the window" standing for n+1.

{pictures}
{table(["stream", "Λ", "TBF: mean error", "K=0: mean error", "TBF: wrong", "K=0: wrong"], rows)}
{text}Λ = 20,000 is the paper's; these windows hold some 600 keys, with which errors are rare, so a quarter of it is shown
too.  The TBF's age is that of the oldest of k cells, which later items may have renewed one by one; the tables keep the
stamp itself, which is wrong only where another item has the same two places.  Neither is ever above the true age.

"""
