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


@pytest.mark.parametrize("command", [
    [], ["count"], ["top"], ["filter", "--list", "list"], ["compare", "-w", "landmark"], ["diff", "list", "-"],
    ["generate", "-n", "50"], ["plan", "landmark"], ["state", "saved"]], ids=lambda command: " ".join(command[:1]))
def test_every_subcommand_has_o_and_stats(seen, tmp_path, command):
    """-o json is an object, or an object a line; --stats=json is one object on standard error."""
    (tmp_path / "list").write_text("b\n")
    assert seen("--state", "saved", "-w", "landmark mem=64KiB", text="a\n", cwd=tmp_path).code == 0
    plain = seen(*command, "-o", "text", text=TEXT, cwd=tmp_path)
    done = seen(*command, "-o", "json", "--stats=json", text=TEXT, cwd=tmp_path)
    assert plain.code == done.code == 0 and plain.err == b""
    values = [json.loads(done.out)] if command[:1] in (["plan"], ["compare"], ["state"]) else list(map(json.loads, done.lines))
    assert all(isinstance(value, dict) for value in values) and (values or command[0] == "filter")
    assert isinstance(done.stats, dict) and done.stats["version"]
    told = seen(*command, "--stats", text=TEXT, cwd=tmp_path)
    assert told.code == 0 and told.err and b"{" not in told.err
    for more in ("--stats=text", "--stats"):
        assert seen(*command, more, text=TEXT, cwd=tmp_path).code == 0
    seen(*command, "--stats=xml", text=TEXT, cwd=tmp_path).refused("--stats takes text or json")


def test_compare_generate_plan_and_state_tell_of_their_work(seen, tmp_path):
    done = seen("compare", "-w", "landmark", "-k", "2", "--stats=json", text=TEXT)
    assert done.stats["records"] == 3 and done.stats["unparseable"] == 1
    made = seen("generate", "-n", "5000", "--duplicates", "20%", "-o", "json", "--mark", "--stats=json")
    objects = [json.loads(line) for line in made.lines]
    assert made.stats["records"] == len(objects) == 5000 and made.stats["duplicates"] == 1000
    assert [o["truth"] for o in objects].count("dup") == 1000
    table = seen("generate", "-n", "5000", "--duplicates", "20%", "--format", "csv", "--mark").lines
    assert table[0] == ",".join(objects[0])
    rows = [[str(v) if k != "cost" else "%.2f" % v for k, v in o.items()] for o in objects]
    assert [",".join('"%s"' % v if "," in v else v for v in row) for row in rows] == table[1:]
    assert b"5,000 records, 1,000 of them duplicates" in seen("generate", "-n", "5000", "--duplicates", "20%", "--stats").err
    seen("generate", "-o", "json", "--format", "csv").refused("-o json is --format ndjson")
    assert seen("generate", "-n", "5", "-o", "json", "--format", "ndjson", "--time", "us").code == 0
    assert seen("plan", "landmark", "--stats=json").stats["plans"] > 3
    seen("--state", tmp_path / "s", "-w", "landmark mem=64KiB", text="a\n")
    assert seen("state", tmp_path / "s", "--stats=json").stats["bytes"] == (tmp_path / "s").stat().st_size
