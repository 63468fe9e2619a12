"""verify=: what is confirmed is a duplicate, by a dictionary; --confirmed drops that and no more."""

import csv
import io
import json

import pytest

from test_windows import naive


def tags(seen, spec, keys, *args):
    return [line.split("\t")[0] for line in seen("-w", spec, "--tag", *args, text="\n".join(keys)).lines]


@pytest.mark.parametrize("window", ["landmark", "landmark:1000", "jumping:600/3", "sliding:999"])
def test_what_is_sure_was_seen(seen, rng, window):
    keys = [str(rng.randrange(3000)) for _ in range(20000)]
    spec = window + " fp=.2 items=300 verify=400 seed=%d" % rng.randrange(1000)
    if window.startswith("sliding"):
        spec += " overload=saturate"  # some new keys are to be called duplicates
    got, truth = tags(seen, spec, keys), naive(window, keys)
    if window.startswith("jumping"):  # certain is only the asked length, without the slack
        truth = naive("sliding:600", keys)
    assert set(got) == {"new", "dup", "sure"}
    assert not [i for i, (g, t) in enumerate(zip(got, truth)) if g == "sure" and t == "new"]
    assert [i for i, (g, t) in enumerate(zip(got, truth)) if g == "dup" and t == "new"]


def test_confirmed_drops_what_is_sure_and_shows_it_with_duplicates(seen, rng):
    keys = [str(rng.randrange(500)) for _ in range(5000)]
    spec = "landmark fp=.2 items=300 verify=100 seed=3"
    got = tags(seen, spec, keys)
    args = ["-w", spec, "--confirmed"]
    done = seen(*args, "--stats=json", text="\n".join(keys))
    assert done.lines == [k for k, g in zip(keys, got) if g != "sure"]
    assert done.stats["confirmed"] == got.count("sure")
    assert done.stats["duplicates"] == len(got) - got.count("new")
    shown = seen(*args, "--duplicates", text="\n".join(keys))
    assert shown.lines == [k for k, g in zip(keys, got) if g == "sure"]
    assert not done.err.decode().startswith("seen:")  # nothing was lost, so nothing to warn of


def test_exit_code_asks_for_confirmed_ones(seen):
    assert seen("--confirmed", "--cache", "9", "--exit-code", text="a\na\n").code == 0
    assert seen("--confirmed", "--cache", "9", "--exit-code", text="a\na\na\n").code == 1


def test_without_a_cache_nothing_speaks_of_it(seen):
    done = seen("--stats=json", text="a\na\n")
    assert "confirmed" not in done.stats
    assert b"confirmed" not in seen("--stats", text="a\na\n").err
    assert b"confirmed" not in seen("compare", "-w", "landmark", "-o", "json", text="a\na\n").out


def test_refusals(seen):
    seen("--confirmed", text="a\n").refused("cache")
    seen("--confirmed", "--tag", "--cache", "9", text="a\n").refused("--tag")
    seen("--cache", "9", "--filter", "exact", text="a\n").refused("filter=exact", "verify=")
    seen("--cache", "9", "--refresh", "first", text="a\n").refused("refresh=first")
    seen("--cache", "1e6", "--mem", "1MiB", text="a\n").refused("mem=1MiB")


def test_compare_counts_the_confirmed_and_how_many_of_them_are_false(seen, rng):
    text = "".join("%d\n" % rng.randrange(900) for _ in range(6000))
    specs = ["landmark fp=.2 items=300 seed=3", "landmark fp=.2 items=300 seed=3 verify=1e4",
             "landmark fp=.2 items=300 seed=3 verify=50"]
    args = ["compare"] + [word for spec in specs for word in ("-w", spec)]
    plain, large, small = json.loads(seen(*args, "-o", "json", text=text).out)["specs"]
    assert "confirmed" not in plain and plain["fp"] == large["fp"] == small["fp"] > 0
    assert large["confirmed_fp"] == small["confirmed_fp"] == 0
    assert large["confirmed"] > small["confirmed"] > 0
    got = tags(seen, specs[1], text.split())
    assert large["confirmed"] == got.count("sure")
    reported = {k for k, g in zip(text.split(), got) if g != "new"}  # each pays with one repeat
    assert large["confirmed"] == len(got) - got.count("new") - len(reported)
    rows = list(csv.DictReader(io.StringIO(seen(*args, "-o", "csv", text=text).out.decode())))
    assert [int(row["confirmed"]) for row in rows] == [0, large["confirmed"], small["confirmed"]]
    shown = seen(*args, text=text).out.decode()
    assert "#2: confirmed %s of " % format(large["confirmed"], ",") in shown and "0 of them wrongly" in shown
    assert max(map(len, shown.splitlines())) <= 100
