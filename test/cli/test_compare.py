"""seen compare: its counts against a naive window in Python and the verdicts of seen --tag; its forms;
the real streams."""

import csv
import io
import json
import math
import re

import pytest

# The spec, and its window as (kind, length); the slack is the plan's.
COUNTED = [
    ("landmark filter=bloom items=300 fp=0.1", "landmark", None),
    ("landmark:500 filter=bloom fp=0.2", "landmark", 500),
    ("landmark:500 filter=blocked fp=0.2 refresh=first", "landmark", 500),
    ("jumping:400/4 filter=bloom fp=0.2", "sliding", 400),
    ("jumping:400/4 filter=bloom fp=0.2 refresh=first", "sliding", 400),
    ("sliding:300 filter=exact", "sliding", 300),
    ("sliding:300 filter=exact refresh=first", "sliding", 300),
]


def compare(seen, *args, **more):
    done = seen("compare", "--output=json", *args, **more)
    assert done.code == 0 and done.err == b"", done.err
    return json.loads(done.out)


def verdicts(seen, spec, text, *args):
    return [line.split("\t")[0] == "dup" for line in seen("-w", spec, "--tag", *args, text=text).lines]


def count(records, verdict, kind, length, band, first, at=None):
    """[new, either, duplicates, fp, fn, {decade: [duplicates, missed]}] by definition; at: times."""
    stored, last, gaps, n = {}, {}, {}, [0] * 5
    for i, key in enumerate(records):
        now = at[i] if at else i
        then = stored.get(key)
        if then is None:
            truth = 0
        elif kind == "landmark":
            truth = 2 if length is None or then // length == now // length else 0
        else:
            past = now - then - (0 if not at else -1)
            truth = 2 if past <= length else 1 if past <= band else 0
        n[truth] += 1
        n[3] += truth == 0 and verdict[i]
        if truth == 2:
            n[4] += not verdict[i]
            cell = gaps.setdefault(int(math.log10(i - last[key]) + 1e-9), [0, 0])
            cell[0] += 1
            cell[1] += not verdict[i]
        if not (first and verdict[i]):
            stored[key] = now
        last[key] = i
    return n + [gaps]


def band_of(found, length):
    return length and math.ceil(length * (1 + found["slack"]) - 1e-6)


def check(found, expected):
    gaps = {int(math.log10(g["from"])): [g["duplicates"], g["fn"]] for g in found["gaps"]}
    names = ("new", "either", "duplicates", "fp", "fn")
    assert [found[name] for name in names] + [gaps] == expected, found["asked"]
    assert found["fp_rate"] == pytest.approx(found["fp"] / max(found["new"], 1), rel=1e-6)
    low, high = found["fp_rate_95"]
    assert 0 <= low <= found["fp_rate"] <= high <= 1


@pytest.mark.parametrize("spec,kind,length", COUNTED)
def test_counts_are_those_of_the_definition(seen, rng, spec, kind, length):
    records = [rng.randrange(900) for _ in range(6000)]
    text = "".join("%d\n" % r for r in records)
    spec += " seed=7"
    found = compare(seen, "-w", spec, text=text)
    assert found["records"] == len(records)
    found = found["specs"][0]
    band = band_of(found, length)
    check(found, count(records, verdicts(seen, spec, text), kind, length, band, "first" in spec))


@pytest.mark.parametrize("spec,kind,length", [
    ("sliding:60s filter=exact", "sliding", 60),
    ("jumping:60s/4 filter=bloom fp=0.2 items=200", "sliding", 60),
    ("landmark:60s filter=bloom fp=0.2 items=200", "landmark", 60),
])
def test_windows_of_time(seen, rng, spec, kind, length):
    at, now = [], 1_600_000_000
    for _ in range(4000):
        now += rng.choice([0, 0, 1, 1, 40 if rng.random() < 0.01 else 0])
        at.append(now)
    records = [rng.randrange(400) for _ in at]
    text = "".join("%d\t%d\n" % pair for pair in zip(at, records))
    args = ["--time", "1", "-k", "2"]
    spec += " seed=7"
    found = compare(seen, "-w", spec, *args, text=text)["specs"][0]
    band, verdict = band_of(found, length), verdicts(seen, spec, text, *args)
    check(found, count(records, verdict, kind, length, band, False, at))


def test_several_at_once_are_what_they_are_alone(seen, rng):
    text = "".join("%d\n" % rng.randrange(900) for _ in range(5000))
    specs = [row[0] + " seed=%d" % (i % 2) for i, row in enumerate(COUNTED)]
    args = [word for spec in specs for word in ("-w", spec)]
    together = compare(seen, *args, text=text)["specs"]
    for spec, found in zip(specs, together):
        alone = compare(seen, "-w", spec, text=text)["specs"][0]
        found.pop("ns"), alone.pop("ns")
        # Expectations are integrated over pieces that end with a batch, and a pipe cuts batches anyhow.
        assert found.pop("fp_expected") == pytest.approx(alone.pop("fp_expected"), rel=.02)
        assert found == alone


def test_what_was_forgotten_is_missed_and_told(seen, rng):
    keys = [rng.getrandbits(64) for _ in range(30000)]
    text = "".join("%d\n" % k for k in keys * 2)
    found = compare(seen, "-w", "sliding:1e5 filter=exact mem=256KiB", text=text)["specs"][0]
    assert found["fn"] == found["duplicates"] == 30000 and found["forgotten"] > 0
    assert found["gaps"] == [{"from": 1e4, "duplicates": 30000, "fn": 30000}]
    out = seen("compare", "-w", "sliding:1e5 filter=exact mem=256KiB", text=text).out.decode()
    assert "100.00%" in out and "forgot" in out


def test_landmarks_where_a_pattern_says_so(seen):
    text = "a\nb\n--\na\nb\nb\n"
    found = compare(seen, "-w", "landmark filter=exact", "--landmark-on", "^--$", text=text)
    assert (found["specs"][0]["new"], found["specs"][0]["duplicates"]) == (5, 1)


def test_days_of_a_zone(seen):
    text = "".join("2024-03-0%dT23:30:00Z\tk\n2024-03-0%dT22:30:00Z\tk\n" % (d, d) for d in (1, 2))
    args = ["-k", "2", "--time", "1", "--zone", "Europe/Vienna", "-q"]
    found = compare(seen, "-w", "landmark:1d filter=exact", *args, text=text)["specs"][0]
    done = seen("-w", "landmark:1d filter=exact", *args, "--stats=json", text=text)
    assert (found["new"], found["duplicates"]) == (done.stats["unique"], done.stats["duplicates"])
    assert found["fp"] == found["fn"] == 0


def test_the_three_forms_say_the_same(seen, rng):
    text = "".join("%d\n" % rng.randrange(3000) for _ in range(5000))
    args = ["compare", "-w", "landmark filter=bloom items=100 fp=0.1 seed=3", "-w", "sliding:100"]
    rows = json.loads(seen(*args, "-o", "json", text=text).out)["specs"]
    table = list(csv.DictReader(io.StringIO(seen(*args, "-o", "csv", text=text).out.decode())))
    shown = seen(*args, text=text).out.decode()
    for i, (row, line) in enumerate(zip(rows, table)):
        assert line["spec"] == row["asked"]
        for name in ("new", "duplicates", "either", "fp", "fn", "bytes", "forgotten"):
            assert int(line[name]) == row[name]
        figures = re.search(r"^ *%d +([\d.e-]+) .*$" % (i + 1), shown.split("memory")[1], re.M)
        assert float(figures[1]) == pytest.approx(row["fp_rate"], rel=0.06)
    assert "fewest errors  #2 (0 records wrongly dropped, 0 duplicates let through)" in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_options_hold_for_every_spec(seen):
    found = compare(seen, "-w", "landmark filter=bloom", "-w", "landmark filter=blocked", "--mem",
                    "64KiB", text="a\n")["specs"]
    assert all(row["bytes"] <= 65536 for row in found)


def test_refusals(seen):
    seen("compare", text="a\n").refused("-w SPEC")
    seen("compare", "-w", "lankmark", text="a\n").refused("lankmark")
    seen("compare", "-w", "landmark", "-o", "xml", text="a\n").refused("json")
    seen("compare", "-w", "sliding:10", "--landmark-on", "x", text="a\n").refused("landmark windows")
    done = seen("compare", "-w", "landmark", "no such file")
    assert done.code == 2 and b"cannot open" in done.err
    assert seen("compare", "-w", "landmark:1d", "--time", "1", "--strict", text="never\n").code == 2


def test_a_real_stream(seen, stream):
    """Exact where it must be, and rates inside the interval around what was expected."""
    specs = ["landmark filter=exact", "landmark filter=bloom items=76286 fp=1e-2 seed=1",
             "landmark filter=blocked items=76286 fp=1e-3 seed=1"]
    args = [word for spec in specs for word in ("-w", spec)]
    path = stream("talkingdata_train_sample.csv")
    exact, *others = compare(seen, *args, "--csv", "-k", "ip,app", path)["specs"]
    assert (exact["new"], exact["fp"], exact["fn"]) == (76286, 0, 0)
    for found in others:
        assert found["fn"] == 0
        sigma = math.sqrt(found["fp_expected"] / found["new"])
        assert abs(found["fp_rate"] - found["fp_expected"]) < 5 * sigma


@pytest.mark.parametrize("refresh", ["last", "first"])
def test_decaying_windows_are_judged_by_all_there_ever_was(seen, rng, refresh):
    records = [int(20000 ** rng.random()) for _ in range(20000)]
    text = "".join("%d\n" % r for r in records)
    spec = "decaying mem=2KiB fp=0.05 filter=stable seed=7 refresh=" + refresh
    found = compare(seen, "-w", spec, text=text)["specs"][0]
    verdict = verdicts(seen, spec, text)
    check(found, count(records, verdict, "landmark", None, None, refresh == "first"))
    assert found["fn"] > 0 and found["gaps"][0]["fn"] / found["gaps"][0]["duplicates"] < found["fn_rate"]
