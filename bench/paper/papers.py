#!/usr/bin/python3
"""Reproduces the figures and tables of the source papers.

    bench/paper/papers.py [--quick] [--build DIR] [PAPER...]

Runs what has not been run yet (bench/paper/results/ keeps what was measured: delete a file there to
measure again), holds it against the printed values beside each paper.py, draws doc/papers/, and
writes doc/papers.md.  --quick runs everything at a tenth of the size, writes and keeps nothing, and
fails where a comparison does.  FULL=1 runs the largest stream at its full size:
six jobs of about an hour, each kept when it ends, so a run may be stopped and goes on from there.
"""

import argparse
import csv
import importlib.util
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from lab import Lab, table  # noqa: E402

PAPERS = ["metwally-2005", "deng-rafiei-2006", "infocom-2013", "kang-lecture"]


def load(name):
    if str(HERE / name) not in sys.path:
        sys.path.insert(0, str(HERE / name))  # a paper may have more files than one
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), HERE / name / "paper.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def version():
    return re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text()).group(1)


def reproduce(name, build, quick, scratch):
    module = load(name)
    lab = Lab(
        name=name,
        folder=HERE / name,
        build=build,
        results=(scratch if quick else HERE / "results") / f"{name}.csv",
        pictures=None if quick else ROOT / "doc" / "papers" / name,
        version=version(),
        scale=0.1 if quick else 1.0,
    )
    lab.run(module.jobs(lab))
    return lab, module.page(lab)


def summary(labs):
    rows = []
    for name, (lab, _) in labs.items():
        printed = [c.status for c in lab.checks if c.printed is not None]
        claims = [c.status for c in lab.checks if c.printed is None]
        rows.append([f"[{load(name).TITLE}](#{name})", len(printed), *map(printed.count, ("agrees", "explained", "differs")),
                     f"{claims.count('agrees')} of {len(claims)}"])
    rows.append(["together", *(sum(row[i] for row in rows) for i in range(1, 5)), ""])
    return table(["paper", "printed values", "agree", "explained", "differ", "claims that hold"], rows)


def sources():
    """Every structure, formula, figure, table and application of the sources, and how to reach it."""
    with (HERE / "sources.tsv").open(newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))
    return rows


def sources_page():
    cells = [[row["source"], row["place"], row["what"], f"`{row['command']}`"] for row in sources()]
    text = (HERE / "sources.md").read_text().strip()
    return f'\n<a id="sources"></a>\n\n{text}\n\n' + table(["source", "place", "what", "command"], cells)


def write_page(labs):
    text = ["# The papers, reproduced\n", (HERE / "preface.md").read_text(), summary(labs)]
    for name, (lab, page) in labs.items():
        text += [f'\n<a id="{name}"></a>\n\n## {load(name).TITLE}\n', page.strip() + "\n"]
    text.append(sources_page())
    path = ROOT / "doc" / "papers.md"
    path.write_text("\n".join(text))
    return path


def show(labs):
    differ = 0
    for lab, _ in labs.values():
        for c in lab.checks:
            differ += c.status == "differs"
            if c.status == "differs":
                print(f"{lab.name}: {c.what}: " + ("does not hold" if c.printed is None else
                      f"{c.ours:.4g}, printed {c.printed:.4g} +- {c.within:.2g}"))
    checks = sum(len(lab.checks) for lab, _ in labs.values())
    print(f"{checks - differ} passed, {differ} failed")
    return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("papers", nargs="*", default=PAPERS)
    asked = parser.parse_args()
    scratch = pathlib.Path(tempfile.mkdtemp())
    build = pathlib.Path(asked.build).resolve()
    try:
        labs = {n: reproduce(n, build, asked.quick, scratch) for n in asked.papers or PAPERS}
    finally:
        shutil.rmtree(scratch)
    if not asked.quick and list(labs) == PAPERS:
        print(f"wrote {write_page(labs).relative_to(ROOT)}")
    return 1 if show(labs) else 0


if __name__ == "__main__":
    sys.exit(main())
