"""What the papers share: jobs and their kept results, comparisons with what is printed, plots, tables.

A job is a program and its arguments; the rows that it prints (lab.h) are kept in a CSV file, so that
a run that was stopped goes on where it was, and a job that was run is not run again.
"""

import csv
import math
import pathlib
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field

DATA = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"  # real streams, where there are any
# Options were renamed after some results were kept: rows are read with the names of today.
RENAMED = {"cache": "verify", "lines": "blocks", "by": "combine", "p": "decrements", "max": "cell-max", "vla": "packed",
           "ways": "set-size", "gaps": "gap-max"}
COLUMNS = ["job", "series", "x", "y", "sd", "runs", "seed", "spec", "version", "command"]


def renamed(spec):
    return re.sub(r"(?<= )[a-z]+(?==)", lambda m: RENAMED.get(m[0], m[0]), spec)


@dataclass
class Job:
    """One command; `feed`, if given, is a command whose output it reads, and `stream` the file of
    DATA that this is made from: where it is absent, the job is left out.  `other` is the command of
    the same job at another size: its rows stay in the results."""

    name: str
    command: list
    feed: list = None
    stream: str = None
    other: list = None

    def text(self):
        parts = [" ".join(map(str, c)) for c in (self.feed, self.command) if c]
        return " | ".join(parts)


@dataclass
class Row:
    job: str
    series: str
    x: float
    y: float
    sd: float  # of one run
    runs: int
    seed: int
    spec: str

    def error(self):
        """Standard error of the mean."""
        return self.sd / math.sqrt(self.runs)


@dataclass
class Check:
    what: str
    ours: float
    printed: float  # None: a claim, not a printed value
    within: float
    status: str  # agrees, explained, differs
    why: str = ""


@dataclass
class Lab:
    """One paper's bench: where its programs are, what they measured, what was found."""

    name: str
    folder: pathlib.Path  # the paper's own: printed values
    build: pathlib.Path
    results: pathlib.Path  # the CSV file
    pictures: pathlib.Path  # None: draw nothing
    version: str
    scale: float = 1.0
    rows: list = field(default_factory=list)
    checks: list = field(default_factory=list)

    # -- jobs ---------------------------------------------------------------------------------

    def program(self, name, *args):
        return [str(self.build / "bench" / "paper" / name), *map(str, args)]

    def stream(self, name):
        """What to feed a job with that reads this file of DATA."""
        return {"feed": ["xz", "-dc", str(DATA / name)], "stream": name}

    def seen(self, *args):
        return [str(self.build / "seen"), *map(str, args)]

    def kept(self):
        if not self.results.exists():
            return []
        with self.results.open(newline="") as f:
            return list(csv.DictReader(f))

    def run(self, jobs):
        """Runs what has not been run, keeps the rows of these jobs only, in their order."""
        kept = {}
        for row in self.kept():
            kept.setdefault((row["job"], row["command"]), []).append(row)
        table = []
        for i, job in enumerate(jobs, 1):
            key = (job.name, self.portable(job.text()))
            if key not in kept and job.stream and not (DATA / job.stream).exists():
                print(f"{self.name} {i}/{len(jobs)}  {job.name}: left out, ../shared/data has no {job.stream}", file=sys.stderr)
                continue
            if key not in kept:
                kept[key] = self.measure(job, key[1], f"{self.name} {i}/{len(jobs)}")
            table += kept[key]
            self.keep(kept)
        self.rows = [
            Row(r["job"], r["series"], float(r["x"]), float(r["y"]), float(r["sd"]), int(r["runs"]),
                int(r["seed"]), renamed(r["spec"]))
            for r in table
        ]
        others = [kept.get((job.name, self.portable(" ".join(map(str, job.other)))), []) for job in jobs if job.other]
        self.keep({None: table, **dict(enumerate(others))})

    def portable(self, command):
        return command.replace(str(self.build) + "/", "build/").replace(str(DATA), "../shared/data")

    def measure(self, job, command, where):
        begun = time.monotonic()
        print(f"{where}  {command}", file=sys.stderr, flush=True)
        feed = subprocess.Popen(job.feed, stdout=subprocess.PIPE) if job.feed else None
        done = subprocess.run(job.command, stdin=feed and feed.stdout, capture_output=True, text=True)
        if feed:
            feed.stdout.close()
            feed.wait()
        if done.returncode:
            sys.exit(f"{command} failed: {done.stderr.strip()}")
        rows = []
        for line in done.stdout.splitlines():
            values = line.split(",", 6)
            rows.append(dict(zip(COLUMNS, [job.name, *values, self.version, command])))
        print(f"{where}  {len(rows)} rows in {time.monotonic() - begun:.1f} s", file=sys.stderr, flush=True)
        return rows

    def keep(self, kept):
        self.results.parent.mkdir(parents=True, exist_ok=True)
        whole = self.results.with_suffix(".new")
        with whole.open("w", newline="") as f:
            out = csv.DictWriter(f, COLUMNS, lineterminator="\n")
            out.writeheader()
            for rows in kept.values():
                out.writerows(rows)
        whole.rename(self.results)

    # -- results ------------------------------------------------------------------------------

    def ran(self, job):
        return any(r.job == job for r in self.rows)

    def series(self, job, series):
        return [r for r in self.rows if r.job == job and r.series == series]

    def at(self, job, series, x):
        found = [r for r in self.series(job, series) if math.isclose(r.x, x, rel_tol=1e-9)]
        if len(found) != 1:
            sys.exit(f"{self.name}: {len(found)} rows of {job}, {series} at {x}")
        return found[0]

    def points(self, job, series):
        return [(r.x, r.y) for r in self.series(job, series)]

    def printed(self, name):
        """The rows of a CSV file of printed values, as dictionaries of numbers where they are."""
        lines = [l for l in (self.folder / name).read_text().splitlines() if not l.startswith("#")]

        def value(text):
            try:
                return float(text)
            except ValueError:
                return text

        return [{k: value(v) for k, v in row.items()} for row in csv.DictReader(lines)]

    # -- comparisons --------------------------------------------------------------------------

    def check(self, what, ours, printed, within, instead=None, why=""):
        """`within`: the difference that chance and rounding explain.  Where the printed value is
        further off, `instead` is what ours must agree with, and `why` says what the printed one is."""
        status = "agrees" if abs(ours - printed) <= within else "differs"
        if status == "differs" and instead is not None and abs(ours - instead) <= within:
            status = "explained"
        self.checks.append(Check(what, ours, printed, within, status, why if status != "agrees" else ""))
        return status

    def holds(self, what, true, why=""):
        """A claim that is true or not."""
        self.checks.append(Check(what, float(bool(true)), None, 0, "agrees" if true else "differs", why))

    # -- pictures and tables ------------------------------------------------------------------

    def plot(self, name, title, x, y, series, log="", keys="top right", more=()):
        """series: (label, points, how), how one of printed, ours, theory, other…; x, y: axes with
        units.  Returns Markdown that shows the picture."""
        if self.pictures:
            self.pictures.mkdir(parents=True, exist_ok=True)
            for form in ("png", "svg"):
                draw(self.pictures / f"{name}.{form}", form, title, x, y, series, log, keys, more)
        return f"![{title}](papers/{self.name}/{name}.svg)\n"


# -- gnuplot --------------------------------------------------------------------------------------

STYLES = {
    "printed": "with points pt 6 ps 1.6 lw 2 lc rgb '#000000'",
    "ours": "with linespoints pt 7 ps .7 lw 2 lc rgb '#0060ad'",
    "theory": "with lines dt 2 lw 2 lc rgb '#c03030'",
    "second": "with linespoints pt 5 ps .7 lw 2 lc rgb '#2a8a3a'",
    "third": "with linespoints pt 9 ps .9 lw 2 lc rgb '#d07a00'",
    "fourth": "with linespoints pt 11 ps .9 lw 2 lc rgb '#7a3fa0'",
    "fifth": "with linespoints pt 13 ps .9 lw 2 lc rgb '#008a8a'",
    "theory2": "with lines dt 4 lw 2 lc rgb '#2a8a3a'",
    "theory3": "with lines dt 4 lw 2 lc rgb '#d07a00'",
}
TERMINALS = {
    "png": "pngcairo size 900,600 font 'DejaVu Sans,12'",
    "svg": "svg size 900,600 font 'DejaVu Sans,14' background '#ffffff'",
}


def draw(path, form, title, x, y, series, log, keys, more):
    script = [
        f"set terminal {TERMINALS[form]}",
        f"set output '{path}'",
        f"set title {quoted(title)}",
        f"set xlabel {quoted(x)}",
        f"set ylabel {quoted(y)}",
        f"set key {keys} box opaque samplen 2 spacing 1.1",
        "set grid lc rgb '#dddddd'",
        "set format y '%g'",
        *([f"set logscale {log}"] if log else []),
        *more,
    ]
    curves, data = [], []
    for label, points, how in [s for s in series if s[1]]:
        curves.append(f"'-' using 1:2 {STYLES.get(how, how)} title {quoted(label)}")
        data += [f"{a:.9g} {b:.9g}" for a, b in points] + ["e"]
    script.append("plot " + ", ".join(curves))
    done = subprocess.run(["gnuplot"], input="\n".join(script + data) + "\n", text=True, capture_output=True)
    if done.returncode or done.stderr.strip():
        sys.exit(f"gnuplot, {path}: {done.stderr}")


def quoted(text):
    """In single quotes: between double ones gnuplot would run what stands in backquotes."""
    return "'" + text.replace("'", "''") + "' noenhanced"


def table(head, rows):
    """Markdown; numbers to three digits."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(v if isinstance(v, str) else number(v) for v in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def number(v):
    if v is None:
        return ""
    return f"{v:.3g}" if isinstance(v, float) else str(v)


def mean(rate, pieces=2000):
    """The mean of rate(u) for u uniform in [0, 1], by the midpoint rule."""
    return sum(rate((i + 0.5) / pieces) for i in range(pieces)) / pieces
