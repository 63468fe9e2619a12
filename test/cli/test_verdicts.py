"""What is told of each record: tags, --audit, JSON, counts for groups; against a dictionary."""

import base64
import csv
import io
import json

import pytest


def judged(rows, window, refresh_first=False, landmark=False, timed=True):
    """(verdict, age, first, last) of each (time, key): numbers of records from 1, ages in the clock's unit."""
    held, out = {}, []
    for i, (t, key) in enumerate(rows, 1):
        now = t if timed else i
        reach = window if timed else window + 1
        old = held.get(key)
        if old and landmark:
            inside = (now - (not timed)) // window == (old["clock"] - (not timed)) // window
        else:
            inside = old and now - old["clock"] < reach
        if inside:
            out.append(("dup", now - old["seen"], old["first"], old["last"]))
            old["last"], old["clock"] = i, old["clock"] if refresh_first else now
            old["seen"] = old["seen"] if refresh_first else now
        else:
            out.append(("new", None, None, None))
            held[key] = {"first": i, "last": i, "clock": now, "seen": now}
    return out


WINDOWS = [("sliding:40", 40, {}, False), ("sliding:40 refresh=first", 40, {"refresh_first": True}, False),
           ("landmark:300", 300, {"landmark": True}, False), ("sliding:90s", 90, {}, True),
           ("sliding:90s refresh=first", 90, {"refresh_first": True}, True),
           ("landmark:500s", 500, {"landmark": True}, True), ("landmark", 10**9, {}, False)]


@pytest.mark.parametrize("spec,window,how,timed", WINDOWS)
def test_first_last_and_age_against_a_dictionary(seen, rng, spec, window, how, timed):
    now, rows = 10**6, []
    for _ in range(9000):
        now += rng.choice([0, 1, 2, 60])
        rows.append((now, rng.randrange(60)))
    truth = judged(rows, window, timed=timed, **how)
    done = seen("-w", spec, *(["--time=1"] if timed else []), "-d,", "-k2", "--output=json",
                "--tag=number,verdict,age,first,last", text="".join("%d,%d\n" % row for row in rows))
    for i, (line, (verdict, age, first, last)) in enumerate(zip(done.lines, truth), 1):
        said = json.loads(line)
        assert said["record"] == "%d,%d" % rows[i - 1]
        assert (said["number"], said["verdict"], said["age"], said["first"], said["last"]) == \
            (i, verdict, age, first, last), line
    assert len(done.lines) == len(rows)


def test_the_memory_of_first_occurrences_is_that_of_the_window(seen):
    text = "".join("k%d\n" % i for i in range(300000))
    for spec in ["landmark:1000", "sliding:1000", "sliding:1e6 mem=1MiB"]:
        done = seen("-w", spec, "--tag=first", text=text,
                    preexec_fn=lambda: __import__("resource").setrlimit(3, (1 << 26, 1 << 26)))
        assert done.code == 0 and len(done.lines) == 300000


def test_an_audit_is_in_order_of_the_records_under_reorder(seen):
    rows = "30,b,x\n10,a,y\n20,b,z\n40,a,u\n50,c,v\n"
    done = seen("-w", "sliding:1m", "--reorder=1m", "--time=1", "-d,", "-k2", "--audit", text=rows)
    assert done.lines == ["1\t3\t1970-01-01T00:00:20Z\t30,b,x", "4\t2\t1970-01-01T00:00:10Z\t40,a,u"]


def test_tags_of_a_table_are_columns_that_a_csv_reader_reads(seen):
    text = 'user,note\r\nann,"x, ""y""\nz"\r\nann,q\r\n'
    out = seen("--csv", "-k", "user", "--tag=verdict,number,first", "-w", "landmark", text=text).out.decode()
    assert list(csv.DictReader(io.StringIO(out, newline=""))) == [
        {"user": "ann", "note": 'x, "y"\nz', "seen": "new", "seen_number": "1", "seen_first": "-"},
        {"user": "ann", "note": "q", "seen": "dup", "seen_number": "2", "seen_first": "1"}]


@pytest.mark.parametrize("spec", ["sliding:1000 fp=1e-6", "jumping:1000/8 fp=1e-6", "sliding:1000 filter=timing fp=1e-4"])
def test_ages_of_structures_with_generations_are_right_to_one(seen, rng, spec):
    keys = [rng.randrange(400) for _ in range(6000)]
    done = seen("-w", spec, "--tag=verdict,age", text="".join("%d\n" % key for key in keys))
    last, generation = {}, {"s": 1000 / 31, "j": 125}[spec[0]] + 1
    for i, (key, line) in enumerate(zip(keys, done.lines)):
        verdict, age, _ = line.split("\t")
        if key in last and i - last[key] <= 1000:
            assert verdict == "dup" and int(age) <= i - last[key] <= int(age) + generation
        last[key] = i


# -- JSON ---------------------------------------------------------------------------------------------


def test_any_bytes_come_out_of_json_as_they_went_in(seen, rng):
    records = [bytes(rng.randrange(256) for _ in range(rng.randrange(12))).replace(b"\n", b"") for _ in range(3000)]
    records += ["héllo \U0001f600 \u2028".encode(), b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x7f\x00"]
    done = seen("--output=json", "--tag", "-w", "landmark filter=exact", text=b"".join(r + b"\n" for r in records))
    back = []
    for line in done.out.splitlines():
        said = json.loads(line)
        if "record" in said:
            back.append(said["record"].encode())
        else:
            back.append(base64.b64decode(said["record_base64"], validate=True))
            with pytest.raises(UnicodeDecodeError):
                back[-1].decode()
    assert back == records


def test_json_objects_of_what_cannot_be_judged(seen, rng):
    long = rng.randbytes(5000).replace(b"\n", b"")
    done = seen("--output=json", "--tag", "-d,", "-k2", "--max-record=1KiB", "-q", text=b"a\nx,y\n" + long + b"\nx,y")
    said = [json.loads(line) for line in done.lines]
    assert [s["number"] for s in said] == [1, 2, 3, 4]
    assert [s["verdict"] for s in said] == [None, "new", None, "dup"]
    assert base64.b64decode(said[2]["record_base64"]) == long


def test_json_shows_what_the_records_alone_would_show(seen):
    text = "a\nb\na\n"
    assert [json.loads(line)["record"] for line in seen("--output=json", text=text).lines] == ["a", "b"]
    assert [json.loads(line)["record"] for line in seen("--output=json", "--duplicates", text=text).lines] == ["a"]
    assert seen("--output=json", "--stats", text=text).stats["duplicates"] == 1
    assert seen("--output=json", "--csv", text=text).lines == ['{"number":1,"verdict":"new","record":"b"}',
                                                               '{"number":2,"verdict":"new","record":"a"}']


def test_records_end_by_nul_and_objects_by_newline(seen):
    assert seen("--null", "--output=json", text="a\nb\0c\0").lines == [
        '{"number":1,"verdict":"new","record":"a\\nb"}', '{"number":2,"verdict":"new","record":"c"}']


# -- groups -------------------------------------------------------------------------------------------


def test_groups_of_a_click_log(seen, stream):
    path = stream("talkingdata_train_sample.csv")
    truth, held = {}, set()
    for row in csv.DictReader(path.open()):
        counts = truth.setdefault(row["channel"], [0, 0, 0])
        key = row["ip"], row["app"], row["channel"]
        counts[0] += 1
        counts[1 + (key in held)] += 1
        held.add(key)
    args = ["-w", "landmark filter=exact", "--csv", "-k", "ip,app,channel", "--group-by", "channel", "--stats=json", path]
    for more in [], ["-j3"]:
        groups = seen(*args, *more).stats["groups"]
        assert {g["group"]: [g["records"], g["unique"], g["duplicates"]] for g in groups} == truth
        assert [g["records"] for g in groups] == sorted((g["records"] for g in groups), reverse=True)


def test_groups_of_several_fields(seen, rng):
    rows = [(rng.randrange(9), rng.choice("ab"), rng.choice(['x', 'y,z', 'q"q'])) for _ in range(5000)]
    quoted = [(k, p, '"%s"' % a.replace('"', '""')) for k, p, a in rows]
    text = "key,pub,adv\n" + "".join("%d,%s,%s\n" % row for row in quoted)
    truth, held = {}, set()
    for k, p, a in rows:
        counts = truth.setdefault((p, a), [0, 0])
        counts[(k, a) in held] += 1
        held.add((k, a))
    args = ["--csv", "-k", "key,adv", "--group-by", "pub,adv", "-w", "landmark filter=exact"]
    for more in [], ["-j2"]:
        stats = seen(*args, *more, "--stats=json", text=text).stats
        assert stats["group_by"] == ["pub", "adv"]
        assert {tuple(g["group"]): [g["unique"], g["duplicates"]] for g in stats["groups"]} == truth
    table = [line.split("%  ")[1] for line in seen(*args, text=text).err.decode().splitlines()[1:]]
    assert sorted(table) == sorted('%s,%s' % (p, a if a == "x" else '"%s"' % a.replace('"', '""')) for p, a in truth)


def test_a_record_that_lacks_one_of_the_fields_is_in_no_group(seen):
    groups = seen("-d,", "-k1", "--group-by=2,3", "--stats=json", text="k,a,b\nk,a\nk,a,b\n").stats["groups"]
    assert [(g["group"], g["records"]) for g in groups] == [(["a", "b"], 2), (None, 1)]


def test_a_record_that_is_too_long_counts_among_those_without_a_field(seen):
    for size in 3000, 500000:
        text = "k,a\n" + "x" * size + ",a\nk,a\n"
        done = seen("-d,", "-k1", "--group-by=2", "--max-record=1KiB", "--stats=json", "-q", text=text)
        groups = done.stats["groups"]
        assert [(g["group"], g["records"], g["unparseable"]) for g in groups] == [("a", 2, 0), (None, 1, 1)]
        assert sum(g["records"] for g in groups) == done.stats["records"]


@pytest.mark.parametrize("more", [[], ["--stats=json"], ["--sum", "1"]])
def test_a_field_of_groups_that_no_record_has_is_told(seen, state, more):
    text = "1;a\n2;b\n1;a\n"
    done = seen("--group-by", "9", "--state", state, "-w", "landmark mem=64KiB", *more, text=text)
    assert done.code == 2 and done.lines == ["1;a", "2;b"] and state.exists()
    assert b"none of the 3 records has a group: record 1 has 1 field, --group-by asks for 9" in done.err
    assert b": try -d ';'" in seen("--group-by", "2", *more, text=text).err
    named = seen("--ndjson", "-k", "a", "--group-by", "b", text='{"a":1}\n')
    assert named.code == 2 and b"record 1 has no value at b, which --group-by asks for" in named.err
    assert seen("-d;", "--group-by", "2", text=text + "3\n").code == 0
    assert seen("--group-by", "9", text="").code == 0


def test_groups_of_a_table_without_records(seen):
    for text in "", "key,pub\n":
        done = seen("--csv", "-k", "key", "--group-by", "pub", "--output=json", text=text)
        assert done.code == 0 and done.stats == {"group_by": [] if not text else "pub", "groups": []}


def test_groups_beyond_the_most_are_summed(seen):
    text = "".join("k%d,g%d\n" % (i % 70, i % 10) for i in range(100)) + "alone\n"
    groups = seen("-d,", "-k1", "--group-by=2", "--max-groups=4", "--output=json", text=text).stats["groups"]
    assert [g["group"] for g in groups] == ["g0", "g1", "g2", "g3", None, None]
    assert [g["records"] for g in groups] == [10, 10, 10, 10, 1, 60]
    assert [g.get("others") for g in groups[4:]] == [False, True]
    assert sum(g["unique"] for g in groups) == 71


def test_groups_count_what_cannot_be_judged(seen):
    text = "1000,k,p\nx,k,p\n1001,k,p\ny,k,\n"
    groups = seen("-w", "sliding:1h filter=exact", "-d,", "-k2", "--time=1", "--group-by=3", "--stats=json",
                  text=text).stats["groups"]
    assert groups == [{"group": "p", "records": 3, "unique": 1, "duplicates": 1, "unparseable": 1, "rate": 0.5},
                      {"group": "", "records": 1, "unique": 0, "duplicates": 0, "unparseable": 1, "rate": 0}]


# -- refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("args,words", [
    (["--tag=verdict,when"], ["'when'", "first-time"]),
    (["--tag=age,age"], ["twice"]),
    (["--tag="], ["--tag="]),
    (["--audit", "--tag"], ["--audit and --tag"]),
    (["--audit", "--filter=bloom"], ["filter=exact"]),
    (["--tag=first", "-w", "decaying mem=1MiB"], ["decaying", "exact"]),
    (["--tag=first", "-w", "sliding:1h lateness=1h"], ["--lateness"]),
    (["--audit", "--state", "s"], ["--state"]),
    (["--group-by=nosuch", "--csv"], ["nosuch"]),
    (["--max-groups=5"], ["--group-by"]),
    (["--group-by=1", "--max-groups=0"], ["--max-groups 0"]),
    (["--output=xml"], ["text or json"]),
])
def test_what_makes_no_sense_is_refused(seen, tmp_path, args, words):
    if "-w" not in args:
        args = ["-w", "landmark:1000", *args]
    seen(*args, cwd=tmp_path, text="a,b\n").refused(*words)


@pytest.mark.parametrize("how", [["--csv", "-k1"], ["--tsv", "-k1"], ["-d,", "-k2"], ["--null"], []])
def test_the_verdict_among_tags_is_the_verdict_alone(seen, rng, how):
    """Byte for byte, for records with any bytes; and JSON has an object for each."""
    fields = [b"a,b", b'"a",c', b'x,"y\nz"', b"long" * 300, b"", b"\0,\xff", b'"q""q",1', b"h\xc3\xa9"]
    for _ in range(10):
        text = b"".join(rng.choice(fields) + rng.choice([b"\n", b"\r\n"]) for _ in range(rng.randrange(40)))
        args = [*how, "-q", "--max-record=1KiB", "-w", "landmark filter=exact"]
        plain, listed = seen(*args, "--tag", text=text[:-1]), seen(*args, "--tag=verdict", text=text[:-1])
        assert (plain.out, plain.code) == (listed.out, listed.code)
        numbers = [json.loads(line)["number"] for line in seen(*args, "--tag", "--output=json", text=text[:-1]).out.splitlines()]
        assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("args, column", [
    (["--csv", "--tag"], b"seen"), (["--tsv", "--tag=verdict,number"], b"seen"), (["--csv", "--tag=number"], b"seen_number"),
    (["--csv", "--audit"], b"seen_number"),
])
def test_a_second_pass_adds_no_second_column_of_the_same_name(seen, args, column):
    text = b"id\tx\n1\t2\n1\t2\n" if "--tsv" in args else b"id,x\n1,2\n1,2\n"
    once = seen(*args, "-k", "id", text=text).out
    again = seen(*args, "-k", "x", text=once)
    again.refused("column '%s' already" % column.decode(), "--tag-column %s2" % column.decode())
    assert again.out == b""
    twice = seen(*args, "-k", "x", "--tag-column", "again", text=once)
    assert twice.code == 0 and twice.out.split(b"\n")[0].replace(b"\t", b",") == \
        once.split(b"\n")[0].replace(b"\t", b",") + b"," + {
            "--tag": b"again", "--tag=verdict,number": b"again,again_number", "--tag=number": b"again_number",
            "--audit": b"again_number,again_first,again_first_time"}[args[1]]
    assert seen(*args, "-k", "1", "--no-header", text=once).code == 0


def test_a_tag_column_is_for_tables_with_tags(seen):
    seen("--csv", "--tag-column", "x", text="a\n").refused("--tag-column", "--tag and --audit")
    seen("--tag", "--tag-column", "x", text="a\n").refused("--csv and --tsv")
    seen("--csv", "--tag", "--tag-column", "", text="a\n").refused("1 to 32 bytes")
    seen("--csv", "--tag", "--tag-column", 33 * "x", text="a\n").refused("1 to 32 bytes")
    seen("--csv", "--tag", "--tag-column", 'a"b', text="a\n").refused("without commas, quotes")
