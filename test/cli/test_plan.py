"""seen plan: the table, the same as JSON, a spec to paste that means the same, refusals."""

import json
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
    "landmark mem=1MiB cache=1e6",
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
    ("landmark overload=saturate", "overload"), ("landmark:1e6 lines=100", "lines"),
    ("sliding:1e6 lines=100", "lines"), ("sliding:1e6 k=3 signature=17", "signature"),
    ("landmark:1e6 fp=1e-6 lines=100", "lines"), ("jumping:1e6/8 fp=1e-6 lines=100", "lines"),
    ("landmark:1e6 fp=1e-6 lines=100 filter=bloom", "lines"),
    ("landmark:1e6 fp=1e-6 lines=100 filter=partitioned", "lines"),
    ("sliding:1e6 fp=1e-6 lines=5000 filter=timing", "lines"),
    ("sliding:1e6 fp=1e-6 lines=40000 filter=age-partitioned", "lines")])
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
