#!/usr/bin/python3
"""Checks the house: includes of src/, cli/ and module/ point downwards, and no files include each other in a circle.

    tools/house.py             the check, and the measures of each part
    tools/house.py --long      names the shortest files and the longest functions as well
    tools/house.py --picture   draws doc/house.svg

The floors stand in DESIGN.md: a table whose rows are | number | `room` | what it holds |.  A file may include
files of its own room and of lower floors.  FILE.c and FILE.h count as one when circles are looked for, and so
does FILE_kernel.h or another FILE_*.h without a .c of its own.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = ("src", "cli", "module")
SHORT, LONG = 40, 60  # lines: of a file that is counted as short, of a function that is counted as long
FUNCTION = re.compile(r"^(?!(?:struct|union|enum|typedef|extern)\b[^()]*\{)[A-Za-z_][^;=]*\)\s*(?:noexcept )?\{")


def files():
    listed = subprocess.run(["git", "ls-files", *PARTS], cwd=ROOT, capture_output=True, text=True, check=True)
    return [f for f in listed.stdout.split() if f.endswith((".c", ".h", ".cpp")) and (ROOT / f).exists()]


def floors():
    rows = re.findall(r"^\| (\d+) \| `([^`]+)` \|", (ROOT / "DESIGN.md").read_text(), re.M)
    return {room: int(number) for number, room in rows}


def room(path, rooms):
    """The innermost room of the table that a file lies in."""
    folder = os.path.dirname(path)
    while folder and folder not in rooms:
        folder = os.path.dirname(folder)
    return folder


def includes(paths):
    """Arrows between files of one part."""
    known, arrows = set(paths), []
    for path in paths:
        for name in re.findall(r'^#\s*include "([^"]+)"', (ROOT / path).read_text(), re.M):
            part = path.split("/")[0]
            for place in (os.path.join(os.path.dirname(path), name), f"{part}/{name}"):
                if place in known:
                    arrows.append((path, place))
                    break
    return arrows


def unit(path):
    """FILE of FILE.c, FILE.h and FILE_part.h."""
    name = path.rsplit(".", 1)[0]
    shorter = name.rsplit("_", 1)[0]
    if shorter != name and not (ROOT / f"{name}.c").exists() and (ROOT / f"{shorter}.h").exists():
        return shorter
    return name


def circles(arrows):
    """Groups of units that reach each other (Tarjan)."""
    graph = collections.defaultdict(set)
    for a, b in arrows:
        if unit(a) != unit(b):
            graph[unit(a)].add(unit(b))
    number, low, stack, found = {}, {}, [], []

    def visit(v):
        number[v] = low[v] = len(number)
        stack.append(v)
        for w in sorted(graph[v]) if v in graph else ():
            if w not in number:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == number[v]:
            group = stack[stack.index(v):]
            del stack[stack.index(v):]
            if len(group) > 1:
                found.append(sorted(group))

    for v in sorted(graph):
        if v not in number:
            visit(v)
    return found


def functions(path):
    """(name, lines) of each function: from the line its name stands in to its closing brace."""
    lines = (ROOT / path).read_text().split("\n")
    found, i = [], 0
    while i < len(lines):
        head = lines[i]
        if re.match(r"[A-Za-z_]", head) and "(" in head and not head.startswith(("#", "typedef", "extern")):
            end = i
            while end + 1 < len(lines) and not re.search(r"[{;]\s*(?:/[/*].*)?$|\}\s*$", lines[end]):
                end += 1
            whole = " ".join(lines[i:end + 1])
            if FUNCTION.match(whole):
                close = end
                if not re.search(r"\}\s*$", lines[end]):
                    close = next((j for j in range(end + 1, len(lines)) if lines[j].startswith("}")), end)
                name = re.findall(r"(\w+)\(", whole)
                found.append((name[0] if name else "?", close - i + 1))
                i = close
        i += 1
    return found


def measure(paths):
    lengths = [(ROOT / p).read_text().count("\n") for p in paths]
    made = [f for p in paths for f in functions(p)]
    mean = sum(n for _, n in made) / max(1, len(made))
    return (len(paths), sum(lengths), sum(lengths) / max(1, len(paths)), sum(n < SHORT for n in lengths), len(made), mean,
            max((n for _, n in made), default=0))


def report(paths, long):
    print(f"{'':14}{'files':>6}{'lines':>8}{'a file':>8}{'short':>7}{'functions':>11}{'lines each':>12}{'longest':>9}")
    groups = {part: [p for p in paths if p.startswith(part + "/")] for part in PARTS}
    groups["together"] = paths
    for name, group in groups.items():
        n, lines, each, short, made, mean, longest = measure(group)
        print(f"{name:14}{n:6}{lines:8}{each:8.0f}{short:7}{made:11}{mean:12.1f}{longest:9}")
    if not long:
        return
    for path in sorted(paths, key=lambda p: (ROOT / p).read_text().count("\n")):
        if (n := (ROOT / path).read_text().count("\n")) < SHORT:
            print(f"  {n:4} lines  {path}")
    for n, name, path in sorted(((n, f, p) for p in paths for f, n in functions(p) if n > LONG), reverse=True):
        print(f"  {n:4} lines  {name} in {path}")


def faults(paths, arrows):
    rooms = floors()
    for path in paths:
        if not room(path, rooms):
            yield f"{path}: its room is missing in DESIGN.md's table of floors"
    for a, b in arrows:
        here, there = room(a, rooms), room(b, rooms)
        if here and there and here != there and rooms[there] >= rooms[here]:
            yield f"{a} includes {b}: {there} (floor {rooms[there]}) is not below {here} (floor {rooms[here]})"
    for group in circles(arrows):
        yield "in a circle: " + ", ".join(group)


# -- the picture --------------------------------------------------------------------------------------

COLOURS = {"src": "#2b6cb0", "cli": "#2f855a", "module": "#b7791f"}
WIDTH, FLOOR, GAP, LEFT = 1180, 74, 26, 20


def places(rooms, lines):
    """room -> (x, y, width): floors of a part one above the other, rooms of a floor side by side."""
    at, left = {}, LEFT
    shares = {"src": 0.56, "cli": 0.31, "module": 0.13}
    for part, share in shares.items():
        wide = (WIDTH - 2 * LEFT) * share - GAP
        mine = [r for r in rooms if r.split("/")[0] == part]
        levels = sorted({rooms[r] for r in mine})
        for level, number in enumerate(levels):
            row = [r for r in mine if rooms[r] == number]
            each = (wide - GAP * (len(row) - 1)) / len(row)
            for i, r in enumerate(row):
                at[r] = (left + i * (each + GAP), 60 + (max_levels(rooms) - 1 - level) * (FLOOR + GAP), each)
        left += wide + GAP
    return at


def max_levels(rooms):
    return max(len({n for r, n in rooms.items() if r.split("/")[0] == part}) for part in PARTS)


def picture(paths, arrows):
    rooms = floors()
    count, lines = collections.Counter(), collections.Counter()
    for p in paths:
        count[room(p, rooms)] += 1
        lines[room(p, rooms)] += (ROOT / p).read_text().count("\n")
    at = places(rooms, lines)
    weight = collections.Counter((room(a, rooms), room(b, rooms)) for a, b in arrows)
    height = 60 + max_levels(rooms) * (FLOOR + GAP) + 50
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           '<text x="20" y="34" font-size="20" fill="#1a202c">The house: who includes whom, from the roof down</text>']
    for (a, b), n in sorted(weight.items()):
        if a != b and a in at and b in at:
            (x1, y1, w1), (x2, y2, w2) = at[a], at[b]
            out.append(f'<path d="M{x1 + w1 / 2:.0f} {y1 + FLOOR} C{x1 + w1 / 2:.0f} {y1 + FLOOR + 40} {x2 + w2 / 2:.0f} '
                       f'{y2 - 40} {x2 + w2 / 2:.0f} {y2}" fill="none" stroke="#a0aec0" stroke-width="{0.6 + n ** 0.5 / 2:.1f}" '
                       'stroke-opacity="0.6"/>')
    for r, (x, y, w) in at.items():
        colour = COLOURS[r.split("/")[0]]
        out.append(f'<rect x="{x:.0f}" y="{y}" width="{w:.0f}" height="{FLOOR}" rx="8" fill="#f7fafc" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{x + w / 2:.0f}" y="{y + 30}" font-size="15" text-anchor="middle" fill="{colour}">{r.split("/")[-1]}</text>')
        out.append(f'<text x="{x + w / 2:.0f}" y="{y + 52}" font-size="12" text-anchor="middle" fill="#4a5568">'
                   f'{count[r]} files, {lines[r]:,} lines</text>')
    for part in PARTS:
        mine = [v for r, v in at.items() if r.split("/")[0] == part]
        middle = (min(x for x, _, _ in mine) + max(x + w for x, _, w in mine)) / 2
        out.append(f'<text x="{middle:.0f}" y="{height - 20}" font-size="16" text-anchor="middle" fill="{COLOURS[part]}">{part}/</text>')
    return "\n".join([*out, "</svg>", ""])


def main():
    paths = files()
    arrows = includes(paths)
    if "--picture" in sys.argv:
        (ROOT / "doc" / "house.svg").write_text(picture(paths, arrows))
        return 0
    found = list(faults(paths, arrows))
    report(paths, "--long" in sys.argv)
    between = {(unit(a), unit(b)) for a, b in arrows if unit(a) != unit(b)}
    print(f"{len(between)} arrows between files, {len(found)} faults")
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
