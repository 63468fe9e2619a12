"""seen plan --sample: rates predicted from a part of a stream against what seen compare measures, on that
part and on the next; the same as text and as JSON; limits that are told, refusals."""

import json
import random
import re

import pytest

WINDOW = "decaying mem=32KiB fp=5%"
STRUCTURES = {"cache", "stable", "lru", "second-chance", "fp-lru"}
MODEL = .006  # what the models are off by on the very records of the sample, at most
FP = .006


def plan(seen, spec, text, *args):
    done = seen("plan", "-o", "json", spec, "--sample", "-", *args, text=text)
    assert done.code == 0 and done.err == b"", done.err
    return json.loads(done.out)


def measured(seen, plans, text, *args):
    specs = [word for p in plans for word in ("-w", p["type"] + " seed=3")]
    done = seen("compare", "-q", "-o", "json", *specs, *args, text=text)
    assert done.code == 0, done.err
    return json.loads(done.out)["specs"]


def halves(text, header=0):
    """The sample and what comes next, each with the header."""
    lines = text.splitlines(keepends=True)
    head, lines = lines[:header], lines[header:]
    return ["".join(head + part) for part in (lines[:len(lines) // 2], lines[len(lines) // 2:])]


def confirm(plans, found, fn, fp=FP):
    """Every structure's rates are as predicted, and the one that was chosen misses least."""
    assert {p["filter"] for p in plans} == STRUCTURES
    for p, m in zip(plans, found):
        print("%-60s fn %.4f predicted %.4f  fp %.4f predicted %.4f" % (
            p["type"], m["fn_rate"], p["fn_run"], m["fp_rate"], p["fp_run"]))
        assert m["fn_rate"] == pytest.approx(p["fn_run"], abs=fn), p["type"]
        assert m["fp_rate"] == pytest.approx(p["fp_run"], abs=fp), p["type"]
        assert p["fp_mean"] <= p["fp_full"] * 1.001
        assert re.sub(r" seed=\d+", "", m["spec"]) == p["spec"]  # what is typed is what was planned
    keep = [m["fn_rate"] for p, m in zip(plans, found) if p["filter"] != "fp-lru"]
    assert keep[0] == min(keep)


def drawn(seed, keys, records, spread):
    """Keys drawn alike (spread 0), or the more skewed the larger it is: the same from first to last."""
    rng = random.Random(seed)
    return "".join("%d\n" % int(keys * rng.random() ** (1 + spread)) for _ in range(records))


def returning(seed, most, records):
    """Each key comes again after a gap of any order of magnitude up to `most`, or never."""
    rng, due, text = random.Random(seed), {}, []
    for i in range(records):
        key = due.pop(i, i)
        text.append("%d\n" % key)
        if rng.random() < .7:
            at = i + int(most ** rng.random())
            while at in due or at == i:
                at += 1
            due[at] = key
    return "".join(text)


# -- predictions ------------------------------------------------------------------------------

STEADY = {
    "drawn alike": lambda seed: drawn(seed, 30000, 200000, 0),
    "drawn with frequent keys": lambda seed: drawn(seed, 40000, 200000, 3),
    "returning": lambda seed: returning(seed, 20000, 200000),
}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kind", STEADY)
def test_the_next_part_of_a_steady_stream_is_as_predicted(seen, kind, seed):
    sample, rest = halves(STEADY[kind](seed))
    plans = plan(seen, WINDOW, sample)["plans"]
    confirm(plans, measured(seen, plans, rest), .012)


GENERATED = ["--gaps loguniform --duplicates 60%", "--gaps burst --gap-max 3000", "--duplicates 50%"]


@pytest.mark.parametrize("mem", ["8KiB", "64KiB"])
@pytest.mark.parametrize("how", GENERATED)
def test_the_sample_itself_is_as_predicted(seen, how, mem):
    text = seen("generate", "-n", "100000", *how.split()).out.decode()
    plans = plan(seen, "decaying fp=1%% mem=%s" % mem, text)["plans"]
    confirm(plans, measured(seen, plans, text), MODEL)


# How far the next part may be off the sample's rates: streams change.
REAL = [
    ("email-Eu.tsv", 0, "16KiB", .01, ["-k", "2"]),
    ("contact-high-school.tsv", 0, "4KiB", .04, ["-k", "2"]),
    ("CollegeMsg.txt", 0, "8KiB", .04, ["-d", " ", "-k", "1,2"]),
    ("hn_polls_2020-11_2021-06.tsv", 1, "4KiB", .005, ["--tsv", "-k", "url"]),
    ("talkingdata_train_sample.csv", 1, "16KiB", .01, ["--csv", "-k", "ip"]),
    ("cran_2014w51_arrival.tsv", 1, "64KiB", .08, ["--tsv", "-k", "client,package,version"]),
]


@pytest.mark.parametrize("name,header,mem,drift,args", REAL, ids=[row[0] for row in REAL])
def test_real_streams_are_as_predicted(seen, stream, name, header, mem, drift, args):
    sample, rest = halves(stream(name).read_text(errors="replace"), header)
    plans = plan(seen, "decaying fp=5% mem=" + mem, sample, *args)["plans"]
    confirm(plans, measured(seen, plans, sample, *args), MODEL)
    confirm(plans, measured(seen, plans, rest, *args), drift)


def test_for_ever_is_what_a_long_run_comes_to(seen):
    """A run as long as the sample meets few of the long gaps, a run of ten samples nearly all."""
    text = drawn(5, 10000, 440000, 0)
    plans = plan(seen, "decaying mem=16KiB fp=5%", "".join(text.splitlines(True)[:40000]))["plans"]
    for p, m in zip(plans, measured(seen, plans, "".join(text.splitlines(True)[40000:]))):
        assert m["fn_rate"] == pytest.approx(p["fn"], abs=.015), p["type"]
        assert abs(m["fn_rate"] - p["fn"]) < abs(m["fn_rate"] - p["fn_run"]), p["type"]


def test_sampled_keys_predict_as_all_do(seen):
    text = drawn(7, 60000, 300000, 1)
    all_keys = plan(seen, WINDOW, text)
    some = plan(seen, WINDOW, text, "--sample-mem", "2500KiB")
    assert all_keys["sample"]["followed"] == 1 and some["sample"]["followed"] in (.5, .25)
    for a in all_keys["plans"]:
        b = next(p for p in some["plans"] if p["filter"] == a["filter"])
        assert b["fn"] == pytest.approx(a["fn"], abs=.015) and b["fp_mean"] == pytest.approx(a["fp_mean"], abs=.004)
    shown = seen("plan", WINDOW, "--sample", "-", "--sample-mem", "2500KiB", text=text).out.decode()
    assert "was followed" in shown and "about" in shown.splitlines()[0]


# -- what is chosen ---------------------------------------------------------------------------


def test_max_follows_from_the_gaps(seen):
    """Deng, Rafiei, figure 2: cells of more bits where gaps are short, of one where they are long."""
    chosen = []
    for keys in 1000, 4000, 16000:
        p = plan(seen, "decaying filter=stable mem=8KiB fp=10%", drawn(3, keys, 60000, 0))["plans"][0]
        chosen.append(int(re.search(r"cell-max=(\d+)", p["type"])[1]))
    assert chosen == sorted(chosen, reverse=True) and chosen[0] > 1 and chosen[-1] == 1


def test_what_the_spec_names_stays(seen):
    text = drawn(3, 4000, 30000, 0)
    p = plan(seen, "decaying filter=stable cell-max=7 mem=8KiB fp=10%", text)["plans"]
    assert len(p) == 1 and " cell-max=7" in p[0]["type"] and re.search(r" k=\d", p[0]["type"])
    p = plan(seen, "decaying set-size=2 filter=cache mem=8KiB fp=10%", text, "--seed", "4")["plans"]
    assert p[0]["type"].endswith("filter=cache seed=4 set-size=2")


# -- what is said -----------------------------------------------------------------------------


def test_text_and_json_say_the_same(seen):
    text = drawn(3, 4000, 30000, 1)
    found = plan(seen, WINDOW, text)
    done = seen("plan", WINDOW, "--sample", "-", text=text)
    assert done.code == 0 and done.err == b""
    lines = done.lines
    first = next(i for i, line in enumerate(lines) if line.startswith("* "))
    rows = [re.split(r"  +", line[2:].strip()) for line in lines[first:first + len(found["plans"])]]
    for row, p in zip(rows, found["plans"]):
        assert row[0] == p["filter"] and "  '%s'" % p["type"] in lines
        assert all(option in p["type"].split() for option in row[1].split() if option != "-")
        for cell, name in zip(row[3:], ("fp_full", "fp_mean", "fn", "fp_run", "fn_run", "lines")):
            assert float(cell) == pytest.approx(p[name], rel=.06)
    records = text.splitlines()
    s = found["sample"]
    assert (s["records"], s["keys"], s["repeats"]) == (30000, len(set(records)), 30000 - len(set(records)))
    assert sum(g["repeats"] for g in s["gaps"]) == s["repeats"]
    assert [p["chosen"] for p in found["plans"]] == [True] + [False] * 4


def test_gaps_are_counted_in_records(seen):
    s = plan(seen, "decaying mem=4KiB fp=1%", "a\na\nb\nc\nd\ne\nf\ng\nh\ni\na\nj\nk\na\n")["sample"]
    assert s["gaps"] == [{"from": 1, "repeats": 3}] or s["gaps"] == [{"from": 1, "repeats": 3.0}]


def test_a_sample_that_is_too_short_is_told(seen):
    """All of its keys fit into what was planned: nothing is known of what that will miss."""
    text = drawn(3, 500, 3000, 0)
    assert plan(seen, "decaying mem=1MiB fp=1%", text)["sample"]["short"]
    assert b"The sample is short: it has" in seen("plan", "decaying mem=1MiB fp=1%", "--sample", "-", text=text).out
    assert not plan(seen, "decaying mem=2KiB fp=10%", drawn(3, 5000, 30000, 0))["sample"]["short"]


def test_first_occurrences_need_not_be_new(seen):
    """Half a cycle is missing: the count of repeats is short of the truth, the estimate is not."""
    text = drawn(9, 20000, 40000, 0)
    s = plan(seen, "decaying mem=8KiB fp=10%", text)["sample"]
    truth = 1 - (1 - 1 / 20000) ** s["reach"]
    assert s["repeats"] / s["records"] < truth - .2 and s["within"] == pytest.approx(truth, abs=.02)


def test_keys_are_those_of_the_options(seen):
    text = "id,user\n" + "".join("%d,u%d\n" % (i, i % 100) for i in range(3000))
    s = plan(seen, "decaying mem=4KiB fp=10%", text, "--csv", "-k", "user")["sample"]
    assert s["records"] == 3000 and s["keys"] == 100
    s = plan(seen, "decaying mem=4KiB fp=10% hash=int filter=lru", "7\n007\n8\n")["sample"]
    assert s["keys"] == 2


def test_the_same_sample_gives_the_same_plan(seen, tmp_path):
    file = tmp_path / "sample.txt"
    file.write_text(drawn(7, 60000, 200000, 1))
    asked = ["plan", WINDOW, "--sample-mem", "2500KiB", "--sample"]
    assert seen(*asked, file).out == seen(*asked, "-", text=file.read_bytes()).out


REFUSED = {
    "sliding:100 --sample -": ["decaying"],
    "decaying refresh=first --sample -": ["refresh=first"],
    "decaying items=1000 --sample -": ["mem="],
    "decaying gap-max=1000 --sample -": ["gap-max="],
    "decaying --sample - --sample -": ["one file"],
    "decaying --sample - --sample-mem 1MiB": ["2MiB"],
    "decaying --sample-mem 4MiB": ["--sample-mem", "--sample FILE"],
    "decaying -k 2": ["--keys", "--sample FILE"],
    "decaying mem=1KiB fp=1e-6 --sample -": ["mem="],
    "decaying --sample /nowhere/x": ["/nowhere/x"],
}


@pytest.mark.parametrize("line", REFUSED)
def test_refusals(seen, line):
    seen("plan", *line.split(), text="a\nb\na\n" * 10).refused(*REFUSED[line])


def test_a_sample_without_repeats_or_records_is_refused(seen):
    seen("plan", "decaying", "--sample", "-", text="a\nb\n").refused("no key comes twice", "longer")
    seen("plan", "decaying", "--sample", "-").refused("no records")


def test_records_without_a_key_are_left_out(seen):
    done = seen("plan", "decaying", "--sample", "-", "-k", "2", text="a\tx\nb\na\tx\n")
    assert done.code == 0 and b"1 record was left out" in done.err and done.lines[0].startswith("sample: 2 records")
    assert seen("plan", "decaying", "--sample", "-", "-k", "2", "--strict", text="a\tx\nb\na\tx\n").code == 2
