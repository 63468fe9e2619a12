#!/usr/bin/python3
"""Records a terminal: runs the commands below with build/seen and draws what they print as an SVG.

    tools/recording.py [build/seen] > doc/recording.svg

The commands run in an empty folder, in bash, one after the other.  The drawing has its own background, so it
reads alike on light and dark pages, and holds only text, so its words can be selected and searched.  A test
(test/cli/test_readme.py) compares doc/recording.svg with what this program writes today.
"""
import os
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

CLICKS = """\
when,user,ad,publisher
2024-11-20T10:00:00Z,ann,7,north
2024-11-20T10:12:00Z,bob,7,south
2024-11-20T10:30:00Z,ann,7,south
2024-11-20T12:00:00Z,ann,7,north
"""

COMMANDS = [
    ("one click an hour for each user and ad, by the clicks' own time", "cat clicks.csv"),
    (None, "seen --csv -k user,ad --time when -w sliding:1h --group-by publisher clicks.csv"),
    ("a day of clicks, one id a line", "seen generate > ids.txt; wc -l < ids.txt"),
    (None, "seen ids.txt | wc -l"),
    ("what a window costs, before any data", "seen plan 'sliding:1d rate=1e9/d fp=1e-3' | head -n 2"),
]

# The geometry, in pixels: a character cell, and the margin around the text.
CELL, LINE, MARGIN, COLUMNS = 8, 19, 18, 90
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" width="%(width)d" height="%(height)d" viewBox="0 0 %(width)d %(height)d" \
role="img" aria-label="A terminal in which seen runs">
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; \
white-space: pre }
.remark { fill: #59636e }
.prompt { fill: #1a7f37; font-weight: bold }
.command { fill: #0550ae; font-weight: bold }
</style>
<rect x="0.5" y="0.5" width="%(right)d" height="%(bottom)d" rx="8" fill="#f6f8fa" stroke="#d1d9e0"/>
"""


def record(seen):
    """[(class, text)] of each line of the terminal."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "bin"))
        os.symlink(os.path.abspath(seen), os.path.join(folder, "bin", "seen"))
        env = dict(os.environ, LC_ALL="C", TZ="UTC", PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"])
        work = os.path.join(folder, "work")
        os.makedirs(work)
        with open(os.path.join(work, "clicks.csv"), "w", encoding="ascii") as file:
            file.write(CLICKS)
        for remark, command in COMMANDS:
            if remark:
                lines += [("", "")] if lines else []
                lines.append(("remark", "# " + remark))
            printed = subprocess.run(["bash", "-c", command], cwd=work, env=env, stdin=subprocess.DEVNULL, check=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
            lines.append(("command", command))
            lines += [("output", line) for line in printed.splitlines()]
    return lines


def fits(lines):
    long = [text for kind, text in lines if len(text) + 2 * (kind == "command") > COLUMNS]
    if long:
        sys.exit("recording.py: longer than %d columns: %s" % (COLUMNS, long[0]))
    return lines


def cells(text, kind, column, y):
    """The text at this column, each character as wide as a cell in any font."""
    return '<text x="%d" y="%d" textLength="%d" class="%s" xml:space="preserve">%s</text>\n' % (
        MARGIN + CELL * column, y, CELL * len(text), kind, escape(text))


def draw(lines):
    width, height = 2 * MARGIN + COLUMNS * CELL, 2 * MARGIN + len(lines) * LINE
    svg = HEAD % {"width": width, "height": height, "right": width - 1, "bottom": height - 1}
    for i, (kind, text) in enumerate(lines):
        y = MARGIN + 14 + i * LINE
        if kind == "command":
            svg += cells("$", "prompt", 0, y) + cells(text, kind, 2, y)
        elif text:
            svg += cells(text, kind, 0, y)
    return svg + "</svg>\n"


if __name__ == "__main__":
    sys.stdout.write(draw(fits(record(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build/seen")))))
