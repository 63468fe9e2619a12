#!/usr/bin/python3
"""Checks the house: includes of src/, cli/, module/ and python/ point downwards, no files include each other in a circle, each
file begins with a line that says what it is for, and no function is too long.

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
PARTS = ("src", "cli", "module", "python")
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
    for path in paths:
        name = re.sub("[_-]", "[_-]", os.path.basename(path).rsplit(".", 1)[0])
        if not re.match(rf"/\* {name}(\.\w+)? - ", (ROOT / path).read_text()):
            yield f"{path}: its first line does not say what the file is for: /* {os.path.basename(path)} - ..."
        for function, lines in functions(path):
            if lines > LONG:
                yield f"{path}: {function} has {lines} lines; {LONG} are the most"


# -- the picture --------------------------------------------------------------------------------------

COLOURS = {"src": "#2b6cb0", "cli": "#2f855a", "module": "#b7791f"}
SHARES = {"src": 0.58, "cli": 0.29, "module": 0.13}  # of the width
WIDTH, FLOOR, GAP, TOP = 1240, 78, 14, 70


def storeys(rooms, part):
    """The rooms of a part, floor by floor, from the ground up."""
    mine = [r for r in rooms if r.split("/")[0] == part]
    return [[r for r in mine if rooms[r] == n] for n in sorted({rooms[r] for r in mine})]


def cell(x, y, wide, colour, lines):
    out = [f'<rect x="{x:.0f}" y="{y}" width="{wide:.0f}" height="{FLOOR}" rx="8" fill="#f7fafc" stroke="{colour}" stroke-width="2"/>']
    for i, (text, size, fill) in enumerate(zip(lines, (16, 12, 11), (colour, "#4a5568", "#4a5568"))):
        out.append(f'<text x="{x + wide / 2:.0f}" y="{y + 24 + 20 * i}" font-size="{size}" text-anchor="middle" fill="{fill}">{text}</text>')
    return out


def picture(paths, arrows):
    rooms = floors()
    files_in, lines_in, below = collections.Counter(), collections.Counter(), collections.defaultdict(set)
    for p in paths:
        files_in[room(p, rooms)] += 1
        lines_in[room(p, rooms)] += (ROOT / p).read_text().count("\n")
    for a, b in arrows:
        if room(a, rooms) != room(b, rooms):
            below[room(a, rooms)].add(room(b, rooms).split("/")[-1])
    tallest = max(len(storeys(rooms, part)) for part in PARTS)
    ground = TOP + tallest * (FLOOR + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {ground + 70}" font-family="sans-serif">',
           f'<rect width="{WIDTH}" height="{ground + 70}" fill="#ffffff"/>',
           '<text x="20" y="38" font-size="20" fill="#1a202c">The rooms of the house. A room includes files of lower floors only; '
           'its third line names them.</text>']
    left = 20
    for part, share in SHARES.items():
        wide = (WIDTH - 40) * share - 2 * GAP
        for level, row in enumerate(storeys(rooms, part)):
            each = (wide - GAP * (len(row) - 1)) / len(row)
            for i, r in enumerate(row):
                uses = ", ".join(sorted(below[r]))
                most = int(each / 5.4)
                out += cell(left + i * (each + GAP), ground - (level + 1) * (FLOOR + GAP) + GAP, each, COLOURS[part],
                            (r.split("/")[-1], f"{files_in[r]} files, {lines_in[r]:,} lines", uses if len(uses) <= most else f"{len(below[r])} rooms"))
        out.append(f'<text x="{left + wide / 2:.0f}" y="{ground + 28}" font-size="17" text-anchor="middle" fill="{COLOURS[part]}">{part}/</text>')
        left += wide + 2 * GAP
    out.append(f'<rect x="20" y="{ground + 40}" width="{WIDTH - 60}" height="24" rx="6" fill="#edf2f7"/>')
    out.append(f'<text x="{WIDTH / 2 - 10:.0f}" y="{ground + 57}" font-size="13" text-anchor="middle" fill="#1a202c">include/seen*.h: all that cli/ and module/ see of src/</text>')
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
