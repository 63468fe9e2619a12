#!/usr/bin/python3
"""JSON a line against what moving the bytes costs: the shared click and URL streams, written as NDJSON.

    bench/cli/ndjson.py [build/seen]        RUNS=7 MB=200 change what it does

Alternates `cat FILE | cat >/dev/null` and `seen --ndjson -k ... FILE >/dev/null`, and prints the median of
each, their ratio and MB/s (10^6 bytes); on a machine that is busy with other things the seconds of the
processors say more than those on the wall.  The streams are ../shared/data's, one behind the other, repeated up to
MB megabytes; repeated records are duplicates, as in a log that is replayed.
"""
import csv
import io
import json
import lzma
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SEEN = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/seen")
RUNS = int(os.environ.get("RUNS", "7"))
BYTES = int(float(os.environ.get("MB", "200")) * 1e6)
DATA = pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"


def rows(name):
    path = DATA / (name + ".xz")
    if not path.exists():
        sys.exit(f"{path} is not there: ../shared/data holds the real streams")
    return io.TextIOWrapper(lzma.open(path), encoding="utf-8", newline="")


def value(text):
    return int(text) if text.isdigit() else text or None


def clicks():
    for row in csv.DictReader(rows("talkingdata_train_sample.csv")):
        yield {name: value(text) for name, text in row.items()}


def urls():
    for line in rows("hn_polls_2020-11_2021-06.tsv"):
        if not line.startswith("#"):
            when, item, url = line.rstrip("\n").split("\t")
            yield {"time": int(when), "item": value(item), "url": url}


def nested():
    for click in clicks():
        when = click.pop("click_time")
        yield {"event": {"kind": "click", "at": when}, "user": {"ip": click.pop("ip"), "os": click.pop("os")}, **click}


def write(path, records):
    text = "".join(json.dumps(r, separators=(",", ":"), ensure_ascii=False) + "\n" for r in records).encode()
    with open(path, "wb") as out:
        for _ in range(max(1, BYTES // len(text))):
            out.write(text)
    return os.path.getsize(path)


def run(command):
    """Seconds on the wall and of the processors."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(["sh", "-c", command], check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, cpu


def compare(name, keys, path, size, *more):
    cat = f"cat {path} | cat > /dev/null"
    ours = f"exec {SEEN} -q -w 'landmark:1e6 fp=1e-6' --ndjson -k {keys} {' '.join(more)} {path} > /dev/null"
    seen, yard = [], []
    for _ in range(RUNS):
        yard.append(run(cat))
        seen.append(run(ours))
    a, b = statistics.median(t[0] for t in seen), statistics.median(t[0] for t in yard)
    cpu = statistics.median(t[1] for t in seen)
    print(f"{name:8} -k {keys:20} {' '.join(more):5} {size / a / 1e6:6.0f} MB/s   {a:5.2f} s, {cpu:5.2f} of the "
          f"processors ({size / cpu / 1e6:.0f} MB/s)   cat|cat {b:5.2f} s   ratio {a / b:5.2f}", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ndjson")
        for name, records, keys in [("clicks", clicks, ["ip,app,channel", "ip"]), ("urls", urls, ["url"]),
                                    ("nested", nested, ["user.ip,app,channel"])]:
            size = write(path, records())
            for key in keys:
                compare(name, key, path, size)
                compare(name, key, path, size, "-j 2")


main()
