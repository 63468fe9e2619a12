"""seen plan: the table, the same as JSON, a spec to paste that means the same, refusals."""

import json
import math
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEN = str((ROOT / os.environ.get("SEEN", "build/seen")).resolve())

SPECS = [
    "landmark",
    "landmark:1e6 fp=1e-6",
    "landmark:1d rate=500",
    "landmark mem=1MiB items=1e6",
    "landmark:1e6 filter=bloom",
    "jumping:1e6/8 fp=1e-4",
    "jumping:1h/12 rate=100 fp=1e-6",
    "jumping:1e5/7 mem=1MiB",
    "sliding:1e6",
    "sliding:1h rate=50",
]


def plan(*args):
    return subprocess.run([SEEN, "plan", *args], capture_output=True, text=True)


def plans(*args):
    done = plan("--json", *args)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return json.loads(done.stdout)["plans"]


def table(text):
    """Heads and rows: columns are two blanks apart or more."""
    lines = text.split("\n\n")[0].splitlines()
    return [re.split(r"  +", line[2:].strip()) for line in lines], [line[0] for line in lines]


@pytest.mark.parametrize("spec", SPECS)
def test_table_and_json_say_the_same(spec):
    done = plan(spec)
    assert done.returncode == 0 and done.stderr == ""
    (head, *rows), marks = table(done.stdout)
    assert head == "filter,window,memory,fp full,fp mean,fn,slack,capacity,lines".split(",")
    assert marks == [" ", "*"] + [" "] * (len(rows) - 1)
    found = plans(spec)
    assert [row[:2] for row in rows] == [[p["filter"], p["window"]] for p in found]
    for row, p in zip(rows, found):
        assert float(row[3]) == pytest.approx(p["fp_full"], rel=0.06)
        assert float(row[4]) == pytest.approx(p["fp_mean"], rel=0.06)
        assert row[2].endswith("+") == p["grows"]
        assert row[7] == str(p["capacity"] or "any")


def test_columns_are_aligned():
    lines = plan("landmark:1e6 fp=1e-6").stdout.split("\n\n")[0].splitlines()
    assert len(lines) > 3 and len({len(line) for line in lines}) == 1


@pytest.mark.parametrize("spec", SPECS)
def test_predictions_are_rates(spec):
    for p in plans(spec):
        assert 0 <= p["fp_mean"] <= p["fp_full"] < 1 and 0 <= p["fn"] < 1
        assert 0 <= p["slack"] <= 1 and p["bytes"] > 0 and p["lines"] >= 1


def test_one_is_chosen_and_says_why():
    found = plans("landmark:1e6 fp=1e-6")
    assert [p["chosen"] for p in found] == [True] + [False] * (len(found) - 1)
    reason, spec = found[0]["reason"], found[0]["spec"]
    shown = plan("landmark:1e6 fp=1e-6").stdout.splitlines()[-2:]
    assert shown == [f"* {found[0]['filter']}: {reason}", f"  seen -w '{spec}'"]


@pytest.mark.parametrize("spec", SPECS)
def test_specs_can_be_pasted(spec):
    """A spec with nothing left open plans the same structure again."""
    for p in plans(spec):
        again = plans(p["spec"])
        assert len(again) == 1
        for name in ("spec", "filter", "window", "bytes", "slack"):
            assert again[0][name] == p[name]
        assert again[0]["fp_full"] == pytest.approx(p["fp_full"], rel=1e-6)


def test_fp_holds_and_memory_grows_with_what_is_asked():
    loose, tight = plans("landmark:1e6 fp=1e-3")[0], plans("landmark:1e6 fp=1e-9")[0]
    assert loose["fp_full"] <= 1e-3 and tight["fp_full"] <= 1e-9
    assert loose["bytes"] < tight["bytes"] < 20e6
    assert loose["capacity"] >= 1000000 and tight["capacity"] >= 1000000


def test_arguments_are_one_spec():
    quoted = plan("landmark:1e6 fp=1e-6").stdout
    assert plan("landmark:1e6", "fp=1e-6").stdout == quoted
    assert plan("-w", "landmark:1e6 fp=1e-6").stdout == quoted


def test_without_a_spec_it_is_bare_seen():
    found = plans()[0]
    assert found["window"] == "landmark" and found["fp_full"] <= 1e-9 and found["bytes"] <= 64 << 20


# -- refusals ---------------------------------------------------------------------------------------

# The spec, a word of the sentence, and what stands above the caret.
REFUSED = [
    ("landmark fp=2", "between 0 and 1|below 1", "2"),
    ("landmark fp=0", "above 0|between 0", "0"),
    ("landmark:1e6 fpp=1e-6", "fp", "fpp"),
    ("lankmark:1e6", "landmark", "lankmark"),
    ("sliding:0", "records", "0"),
    ("landmark mem=1", "unit", None),
    ("landmark mem=1KiB items=1e6 fp=1e-9", "mem=", None),
    ("landmark items=9223372036854775808", "items", None),
    ("landmark filter=nonesuch", "nonesuch", None),
    ("landmark fp=1e-6 fp=1e-6", "fp", None),
]


@pytest.mark.parametrize("spec,word,above", REFUSED, ids=lambda a: str(a))
def test_refusals(spec, word, above):
    done = plan(spec)
    said = done.stderr.splitlines()
    assert done.returncode == 2 and done.stdout == ""
    assert said[0].startswith("seen: ") and re.search(word, said[0])
    assert len(said) in (1, 3)
    if len(said) == 3:
        assert said[1] == "  " + spec and re.fullmatch(r"  +\^", said[2])
    if above:
        column = said[2].index("^")
        assert said[1][column:].startswith(above)


# -- memory that is too small -------------------------------------------------------------------------

# Neither of the two can hold: the planner refuses, and each fix that it names works.
SHORT = [
    "sliding:1e6 mem=1MiB",
    "sliding:1e6 mem=2MiB fp=0.01",
    "sliding:1h rate=1e6 mem=1MiB",
    "sliding:1h items=1e6 mem=1MiB fp=1e-4",
    "sliding:1e6 mem=64KiB shards=8",
    "landmark:1e6 mem=256KiB",
    "landmark:1e6 mem=2MiB fp=1e-9",
    "landmark items=1e9 mem=64KiB",
    "landmark:1d rate=1e4 mem=1MiB fp=1e-6 shards=16",
    "landmark:1e6 mem=16KiB",
    "landmark mem=1KiB",
    "landmark mem=1MiB verify=1e6",
    "jumping:1e6/8 mem=256KiB",
    "jumping:1h/12 rate=1e6 mem=1MiB",
    "jumping:1e6/200 mem=1MiB",
    "jumping:1h/12 items=1e6 mem=1MiB fp=1e-6",
    "decaying mem=1KiB",
    "decaying items=1e6 mem=64KiB",
    "decaying items=1e6 mem=64KiB fp=1e-6",
]


def changed(spec, name, value):
    """The spec with name=value in the place of what it says of name."""
    words = [word for word in spec.split() if not word.startswith(name + "=")]
    return " ".join(words + [f"{name}={value}"])


def half(size):
    number, unit = re.fullmatch(r"([0-9.]+)([KMG]iB)", size).groups()
    return f"{int(float(number) * {'KiB': 1, 'MiB': 1 << 10, 'GiB': 1 << 20}[unit] * 512)}B"


@pytest.mark.parametrize("spec", SHORT)
def test_memory_that_is_too_small_is_refused_with_fixes_that_work(spec):
    done = plan(spec)
    assert done.returncode == 2
    facts, advice = done.stderr.split(";")
    given = {word.split("=")[0] for word in spec.split()[1:]}
    assert "filter" not in done.stderr
    assert set(re.findall(r"(\w+)=", facts)) <= given
    need = re.search(r"mem=([0-9.]+[KMG]iB) at least", done.stderr).group(1)
    fixes = dict(re.findall(r"(fp|items)=([0-9.e+-]+)", advice), mem=need)
    for name, value in fixes.items():
        fixed = plan(changed(spec, name, value))
        assert fixed.returncode == 0, (name, value, fixed.stderr)
    if "cache" not in spec and "landmark mem" not in spec and "decaying mem" not in spec:
        assert plan(changed(spec, "mem", half(need))).returncode == 2
    if "fp" in fixes and "fp" not in given:
        assert plan(changed(spec, "fp", f"{float(fixes['fp']) / 2}")).returncode == 2
    if "items" in fixes:
        assert plan(changed(spec, "items", f"{2 * int(fixes['items'])}")).returncode == 2


def test_a_structure_named_takes_what_the_planner_would_not():
    for spec in ("sliding:1e6 mem=1MiB", "landmark:1e6 mem=256KiB"):
        assert plan(spec).returncode == 2
    assert plans("sliding:1e6 mem=1MiB filter=exact")[0]["capacity"] < 1e6
    assert plans("landmark:1e6 mem=256KiB filter=bloom")[0]["fp_full"] > 0.1
    assert plans("landmark:1e6 mem=256KiB fp=0.5")[0]["fp_full"] <= 0.5


def test_the_best_rate_wins_where_none_keeps_what_was_asked():
    found = plans("sliding:1e6 mem=2MiB")
    assert found[0]["fp_full"] < 0.04
    holding = [p["fp_full"] for p in found if p["capacity"] >= 1e6]
    assert found[0]["fp_full"] == min(holding)


@pytest.mark.parametrize("spec, option", [
    ("landmark overload=saturate", "overload"), ("landmark:1e6 blocks=100", "blocks"),
    ("sliding:1e6 blocks=100", "blocks"), ("sliding:1e6 k=3 signature=17", "signature"),
    ("landmark:1e6 fp=1e-6 blocks=100", "blocks"), ("jumping:1e6/8 fp=1e-6 blocks=100", "blocks"),
    ("landmark:1e6 fp=1e-6 blocks=100 filter=bloom", "blocks"),
    ("landmark:1e6 fp=1e-6 blocks=100 filter=partitioned", "blocks"),
    ("sliding:1e6 fp=1e-6 blocks=5000 filter=timing", "blocks"),
    ("sliding:1e6 fp=1e-6 blocks=40000 filter=age-partitioned", "blocks")])
def test_an_option_that_cannot_hold_is_named(spec, option):
    done = plan(spec)
    assert done.returncode == 2 and f"leave {option}= out" in done.stderr
    assert ("filter" in done.stderr) <= ("filter" in spec)
    without = " ".join(word for word in spec.split() if not word.startswith(option + "="))
    assert plan(without).returncode == 0


def test_unknown_option():
    done = plan("--jason", "landmark")
    assert done.returncode == 2 and "did you mean --json" in done.stderr


def test_spec_that_never_ends():
    done = plan("landmark " + "x" * 10000)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_full_disk():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([SEEN, "plan", "landmark"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1


def test_help():
    done = plan("--help")
    assert done.returncode == 0 and "--output" in done.stdout and done.stderr == ""


# -- lower bounds -------------------------------------------------------------------------------------


def bounds(*args):
    return {(p["filter"], p["window"]): {**p["bounds"], **p} for p in plans("--bounds", *args)}


def test_bounds_are_the_formulas_of_the_papers():
    n, slack = 1e6, 1 / 31
    for b in bounds("sliding:1e6 fp=1e-4").values():
        assert b["keys"] == n and b["bits"] == pytest.approx(8 * b["bytes"] / n)
        if b["filter"] == "exact":
            assert b["set"] == pytest.approx(128 - math.log2(n) + math.log2(math.e)) and b["dynamic"] is b["sliding"] is None
            assert b["ordered"] == pytest.approx(math.log2(n))
            continue
        told = -math.log2(b["fp_full"])
        assert b["set"] == pytest.approx(told) and b["dynamic"] == pytest.approx(told + math.log2(math.e))
        assert b["sliding"] == pytest.approx(told + max(math.log2(n / max(1, b["slack"] * n)), math.log2(told)))
        assert b["ordered"] is None and b["times"] == pytest.approx(b["bits"] / b["sliding"])
    line = bounds("sliding:1e6 fp=1e-4")["line", "sliding"]
    assert line["slack"] == pytest.approx(slack, rel=0.01) and 1 < line["times"] < 3


def test_theorem_3_speaks_where_errors_are_fewer_than_keys_over_the_universe():
    for universe, fp in (("1e5", 1e-3), ("2^17", 1e-4)):
        size = 2.0**17 if universe == "2^17" else 1e5
        found = bounds("--universe", universe, f"sliding:1e4 fp={fp}")
        for b in found.values():
            told = 1e4 - b["fp_full"] * size
            assert b["universe"] == size and b["ordered"] == pytest.approx(told * math.log2(told) / 1e4)
    silent = [b["ordered"] is None for b in bounds("--universe", "1e9", "sliding:1e4 fp=1e-3").values() if b["fp_full"] > 1e-5]
    assert silent and all(silent)


def test_no_plan_is_below_the_bounds_that_hold_for_it():
    for spec in SPECS + ["landmark filter=bitvector bits=16", "landmark:1e6 filter=substrings fp=.01"]:
        for b in bounds(spec).values():
            assert b["times"] is None or b["times"] > 1, (spec, b)


def test_windows_that_miss_keys_have_no_bounds():
    for b in bounds("decaying mem=1MiB fp=.01").values():
        assert b["bits"] > 0 and b["set"] is b["dynamic"] is b["sliding"] is b["ordered"] is b["times"] is None


def test_bounds_in_the_table_are_those_of_the_json():
    spec = "sliding:1e6 fp=1e-4"
    shown = plan("--bounds", spec).stdout.split("\n\n")[2]
    (head, *rows), marks = table(shown)
    assert head == "filter,window,keys,bits/key,set,dynamic,sliding,ordered,times".split(",") and marks[1] == "*"
    for row, b in zip(rows, bounds(spec).values(), strict=True):
        for cell, name in zip(row[3:], ["bits", "set", "dynamic", "sliding", "ordered", "times"]):
            assert cell == "-" if b[name] is None else float(cell) == pytest.approx(b[name], rel=0.006)


@pytest.mark.parametrize("args,words", [
    (["--universe", "9"], ["--bounds"]),
    (["--bounds", "--sample", "/dev/null"], ["--bounds and --sample"]),
    (["--bounds", "--universe", "0"], ["--universe 0"]),
    (["--bounds", "--universe", "2^1000"], ["2^512"]),
    (["--bounds", "--universe", "many"], ["--universe many"]),
])
def test_what_universes_make_no_sense(args, words):
    done = plan(*args, "sliding:1e6")
    assert done.returncode == 2 and done.stdout == "" and all(w in done.stderr for w in words), done.stderr
