"""--stats and -o json are what they are in every subcommand that has records to tell of."""

import json

import pytest

TEXT = "a\tb\nno\na\tb\n"


@pytest.mark.parametrize("command", [[], ["count"], ["top"], ["filter", "--list", "list"]], ids=str)
@pytest.mark.parametrize("threads", ["1", "2"])
def test_every_subcommand_tells_records_and_what_could_not_be_judged(seen, tmp_path, command, threads):
    (tmp_path / "list").write_text("b\n")
    done = seen(*command, "-k", "2", "-j", threads, "--stats=json", text=TEXT, cwd=tmp_path)
    assert done.code == 0 and done.stats["records"] == 3 and done.stats["unparseable"] == 1
    assert [(c["records"], c["first"]) for c in done.stats["unparseable_causes"]] == [
        (1, "record 2 has 1 field, -k asks for 2")]
    assert done.stats["seconds"] >= 0 and done.stats["records_per_second"] > 0 and done.stats["version"]
    text = seen(*command, "-k", "2", "--stats", text=TEXT, cwd=tmp_path)
    assert text.out == done.out and b"{" not in text.err and b"3" in text.err
    assert seen(*command, "-k", "2", "--stats=text", text=TEXT, cwd=tmp_path).out == done.out


def test_filter_tells_of_each_list(seen, tmp_path):
    (tmp_path / "one").write_text("b\nc\n")
    (tmp_path / "two").write_text("x\n")
    done = seen("filter", "--list", "one", "--list", "two", "-k", "2", "--stats=json", text=TEXT, cwd=tmp_path)
    assert done.stats["matched"] == 2
    assert [(x["list"], x["keys"], x["matches"]) for x in done.stats["lists"]] == [("one", 2, 2), ("two", 1, 0)]
    assert all(0 < x["fp"] <= 1e-9 and x["bytes"] > 0 for x in done.stats["lists"])


@pytest.mark.parametrize("command", [[], ["count"], ["top"], ["compare", "-w", "landmark"], ["plan"]], ids=str)
def test_o_json_is_json_everywhere(seen, command):
    done = seen(*command, "-o", "json", text="" if command == ["plan"] else "a\nb\na\n")
    assert done.code == 0
    values = [json.loads(done.out)] if command[:1] in (["plan"], ["compare"]) else list(map(json.loads, done.lines))
    assert values and all(isinstance(value, dict) for value in values)


def test_saturated_names_keys_without_a_place_or_counters(seen):
    """timed-cuckoo and line lose keys, counting counters."""
    many = "".join(f"{i}\n" for i in range(3000))
    again = "7\n" * 3000
    for spec, text, note in (("sliding:1000 filter=timed-cuckoo items=50 fp=.5", many, "keys found no place"),
                             ("landmark filter=counting width=2 items=100 refresh=last", again + many, "counters, at their top")):
        done = seen("-w", spec, "--stats", "--seed=1", text=text)
        row = [line for line in done.err.decode().splitlines() if line.lstrip().startswith("saturated")]
        assert len(row) == 1 and note in row[0], done.err.decode()
