"""--add-key and --query-key: one key is remembered, another is asked about; --forget."""

import json
import re

import pytest

from conftest import ROOT


def verdicts(rows, window=None, timed=False):
    """new, dup, or None where nothing is asked, for each row of (time, user, shown, candidate)."""
    last, out, position = {}, [], 0
    for t, user, shown, candidate in rows:
        verdict = None
        now = t if timed else position
        if user and candidate:
            then = last.get((user, candidate))
            inside = then is not None and (not window or now - then < window + (not timed))
            verdict = "dup" if inside else "new"
        if user and shown:
            last[user, shown] = now
            position += 1
        out.append(verdict)
    return out


@pytest.mark.parametrize("spec,window,timed", [("landmark filter=exact", None, False), ("sliding:300 filter=exact", 300, False),
                                               ("sliding:5m filter=exact", 300, True), ("sliding:300 fp=1e-9", 300, False)])
@pytest.mark.parametrize("more", [[], ["-j3"], ["--reorder=1h"]])
def test_what_was_added_is_found_when_asked_for(seen, rng, spec, window, timed, more):
    if more == ["--reorder=1h"] and not timed:
        pytest.skip("sorting needs times")
    now, rows = 1000, []
    for _ in range(8000):
        now += rng.choice([0, 0, 1, 5])
        pick = lambda: rng.choice(["", "%d" % rng.randrange(40)])
        rows.append((now, rng.choice(["", "a", "b", "c"]), pick(), pick()))
    truth = verdicts(rows, window, timed)
    done = seen("-w", spec, "-d,", *(["--time=1"] if timed else []), "--add-key=2,3", "--query-key=2,4", *more,
                "--output=json", "--tag", "--stats", text="".join("%d,%s,%s,%s\n" % row for row in rows))
    said = sorted((json.loads(line) for line in done.lines), key=lambda s: s["number"])
    assert [s["record"] for s in said] == ["%d,%s,%s,%s" % row for row in rows]
    if "fp" in spec:  # a little more may still count
        assert all(s["verdict"] == "dup" for s, t in zip(said, truth) if t == "dup")
        assert all((s["verdict"] is None) == (t is None) for s, t in zip(said, truth))
        return
    assert [s["verdict"] for s in said] == truth
    stats = done.stats
    assert stats["unique"] == truth.count("new") and stats["duplicates"] == truth.count("dup")
    only = sum(1 for _, user, shown, candidate in rows if user and shown and not candidate)
    assert stats["only_added"] == only and stats["unparseable"] == truth.count(None) - only
    assert stats["records"] == len(rows) and stats["expected_false_duplicates"] is None


def test_a_record_does_not_find_itself_but_the_next_does(seen):
    done = seen("--add-key=1", "--query-key=1", "-d,", "--exit-code", text="a\na\nb\n")
    assert done.lines == ["a", "b"] and done.code == 1
    assert seen("--add-key=1", "--query-key=2", "-d,", "--exit-code", text="a,b\nb,c\n").code == 0


def test_keys_of_csv_and_json_by_name(seen):
    rows = 'u,shown,ask\nx,"a ""b""",\nx,"",a \nx,,"a ""b"""\n'
    done = seen("--csv", "--add-key=u,shown", "--query-key=u,ask", "--tag", text=rows)
    assert [line.rsplit(",", 1)[1] for line in done.lines] == ["seen", "-", "new", "dup"]
    rows = '{"u":1,"shown":"s"}\n{"u":1,"ask":"s"}\n{"u":2,"ask":"s"}\n'
    done = seen("--ndjson", "--add-key=u,shown", "--query-key=u,ask", "--tag", text=rows)
    assert [line.split("\t")[0] for line in done.lines] == ["-", "dup", "new"]


def test_a_feed_goes_on_from_its_state(seen, tmp_path):
    args = ["-d,", "--add-key=1", "--query-key=2", "--stats=json", "--exit-code"]
    rows = ["a,b\n", "b,a\n", "c,\n", ",\n", "d,c\n"]
    whole = seen(*args, text="".join(rows))
    for row in rows:
        done = seen(*args, "--state", tmp_path / "state", text=row)
        assert done.code == {"b,a\n": 1, "d,c\n": 1, ",\n": 2}.get(row, 0)  # of this run alone
    for name in ["records", "unique", "duplicates", "only_added", "unparseable"]:
        assert done.stats[name] == whole.stats[name], name
    again = ["-d,", "--add-key=2", "--query-key=2", "--state", tmp_path / "state"]
    seen(*again, text="").refused("--add-key")


# -- forgetting ---------------------------------------------------------------------------------------


def test_forgotten_keys_are_new_again(seen, tmp_path):
    (tmp_path / "gone").write_text("b\nnever seen\n")
    args = ["-w", "sliding:100 filter=exact", "--state", tmp_path / "state", "-q"]
    assert seen(*args, text="a\nb\nc\n").lines == ["a", "b", "c"]
    assert seen(*args, "--forget", tmp_path / "gone", text="a\nb\nc\n").lines == ["b"]
    assert seen(*args, text="a\nb\nc\n").lines == []


def test_forgotten_keys_of_several_fields(seen, tmp_path):
    (tmp_path / "gone").write_text('ann,"hats, red"\n')
    (tmp_path / "clicks").write_text('id,user,ad\n1,ann,"hats, red"\n2,ann,shoes\n')
    args = ["--csv", "-k", "user,ad", "-w", "landmark filter=counting items=100", "--state", tmp_path / "state", "-q",
            "--from-start"]
    assert len(seen(*args, tmp_path / "clicks").lines) == 3
    assert seen(*args, "--forget", tmp_path / "gone", tmp_path / "clicks").lines == ['1,ann,"hats, red"']


WINDOWS = {"landmark": "landmark", "jumping": "jumping:100/4", "sliding": "sliding:100", "decaying": "decaying"}


def forgetful():
    """Window and structures of the table in doc/verdicts.md."""
    rows = re.findall(r"^\| ([a-z, ]+) \| ((?:`[a-z-]+`(?:, )?)+) \|$", (ROOT / "doc/verdicts.md").read_text(), re.M)
    return {(w, f) for windows, filters in rows for w in windows.split(", ") for f in re.findall("`(.*?)`", filters)}


@pytest.mark.parametrize("window", WINDOWS)
def test_the_structures_that_can_forget_are_those_of_the_table(seen, tmp_path, window):
    (tmp_path / "gone").write_text("7\n")
    found = set()
    for name in ("exact", "counting", "bitvector", "substrings", "bloom", "line", "timing", "stable", "cache", "lru", "second-chance", "fp-lru"):
        args = ["-w", f"{WINDOWS[window]} filter={name} mem=1MiB", "--state", tmp_path / name, "-q"]
        if name == "bitvector":
            args[1] += " bits=12"
        if seen(*args, text="6\n7\n").code == 2:
            continue  # does not serve this window
        done = seen(*args, "--forget", tmp_path / "gone", text="7\n8\n")
        if done.code:
            done.refused(f"filter={name} cannot take single keys out of {window} windows")
        else:
            assert done.lines == ["7", "8"]
            found.add((window, name))
    assert found == {(w, f) for w, f in forgetful() if w == window}


def test_of_a_feed_what_was_added_is_forgotten(seen, tmp_path):
    (tmp_path / "gone").write_text("ann,s1\n")
    args = ["-w", "landmark filter=exact", "-d,", "--add-key=1,2", "--query-key=3", "--state", tmp_path / "state", "-q"]
    seen(*args, text="ann,s1,\n")
    (tmp_path / "other").write_text("ann\n")
    asks = ["-w", "landmark filter=exact", "-d,", "--add-key=1,2", "--query-key=1,2", "--state", tmp_path / "two", "-q", "--tag"]
    assert seen(*asks, text="ann,s1\nann,s2\n").lines == ["new\tann,s1", "new\tann,s2"]
    assert seen(*asks, "--forget", tmp_path / "gone", text="ann,s1\nann,s2\n").lines == ["new\tann,s1", "dup\tann,s2"]
    done = seen(*args, "--forget", tmp_path / "other", text="")
    done.refused("other: record 1 has 1 field, -k asks for 2")


@pytest.mark.parametrize("args,words", [
    (["--add-key=1"], ["--query-key"]),
    (["--query-key=1"], ["--add-key"]),
    (["--query-key=1", "--add-key=2", "-k3"], ["-k"]),
    (["--query-key=1", "--add-key=2", "--audit"], ["--audit"]),
    (["--query-key=1", "--add-key=2", "--keep=last"], ["--keep last"]),
    (["--query-key=1", "--add-key=2", "--tag=age", "-w", "sliding:9 filter=exact"], ["--tag=age"]),
    (["--query-key=1", "--add-key=2", "--cache=10"], ["--verify"]),
    (["--query-key=1", "--add-key=2", "--redis=redis://127.0.0.1/x"], ["--redis and --query-key"]),
    (["--query-key=1", "--add-key=2,2"], ["twice"]),
    (["--query-key=u", "--add-key=2", "--csv"], ["there is no column 'u'"]),
    (["--forget=gone"], ["--state"]),
    (["--forget=gone", "--state=s", "-w", "sliding:100 filter=line"], ["filter=line", "filter=exact"]),
    (["--forget=nosuch", "--state=s", "-w", "sliding:100 filter=exact"], ["nosuch"]),
])
def test_what_makes_no_sense_is_refused(seen, tmp_path, args, words):
    seen(*args, cwd=tmp_path, text="a,b\n").refused(*words)
