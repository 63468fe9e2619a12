"""--sum: exact sums of amounts by verdict, in all and for each group, against Python's decimal."""

import decimal
import json

import pytest

decimal.getcontext().prec = 60
D = decimal.Decimal


def amount(rng):
    """A number as people and programs write it, and its value."""
    places = rng.choice([0, 0, 1, 2, 2, 2, 6, 18])
    text = "%s%d" % (rng.choice(["", "", "-", "+"]), rng.randrange(10 ** rng.randrange(1, 15)))
    if places:
        text += "." + "%0*d" % (places, rng.randrange(10 ** places))
    elif rng.random() < 0.2:
        text += rng.choice(["e2", "E0", "e-3", ".", ".50e1"])
    return text


UNREADABLE = ["1,234.50", "", "$3", "1.2.3", "NaN", "inf", "0x10", "1_000", "e5", "-", "1e-19", "1e21", "12 3", "1e"]


def clicks(rng, n=4000):
    """Rows of key, publisher, advertiser, cost, fee."""
    return [("k%d" % rng.randrange(n // 4), "p%d" % rng.randrange(5), rng.choice("xyz"), amount(rng),
             rng.choice(UNREADABLE) if rng.random() < 0.05 else amount(rng)) for _ in range(n)]


def text_of(rows):
    return "key,pub,adv,cost,fee\n" + "".join('%s,%s,%s,%s,"%s"\n' % row for row in rows)


def readable(text):
    return text not in UNREADABLE


def truth_of(rows, verdicts, column, drops=("dup", "sure")):
    """gross, duplicate, unjudged, net and the number of unreadable amounts."""
    out = dict(gross=D(0), duplicate=D(0), unjudged=D(0), net=D(0), unreadable=0)
    for row, verdict in zip(rows, verdicts):
        if not readable(row[column]):
            out["unreadable"] += 1
            continue
        value = D(row[column])
        out["gross"] += value
        out["duplicate"] += value if verdict in ("dup", "sure") else 0
        out["unjudged"] += value if verdict == "-" else 0
        out["net"] += value if verdict != "-" and verdict not in drops else 0
    return out


def told(sums):
    return {name: value if name == "unreadable" else D(value) for name, value in sums.items() if name != "confirmed"}


def judged(keys):
    """new or dup, by an endless window."""
    held = set()
    return ["dup" if key in held else held.add(key) or "new" for key in keys]


EXACT = ["--csv", "-k", "key", "-w", "landmark filter=exact"]


@pytest.mark.parametrize("more", [[], ["-j2"], ["--tag"], ["--duplicates"], ["--output=json"]])
def test_in_all(seen, rng, more):
    rows = clicks(rng)
    done = seen(*EXACT, *more, "--sum", "cost", "--sum", "fee", "--stats=json", "-q", text=text_of(rows))
    verdicts = judged(row[0] for row in rows)
    assert done.code == 3 and list(done.stats["sums"]) == ["cost", "fee"]
    assert "group_by" not in done.stats
    for name, column in ("cost", 3), ("fee", 4):
        assert told(done.stats["sums"][name]) == truth_of(rows, verdicts, column)


@pytest.mark.parametrize("more", [[], ["-j2"]])
def test_in_each_group(seen, rng, more):
    rows = clicks(rng)
    verdicts = judged(row[0] for row in rows)
    done = seen(*EXACT, *more, "--sum=cost,fee", "--group-by=pub,adv", "--stats=json", "-q", text=text_of(rows))
    assert len(done.stats["groups"]) == 15
    for group in done.stats["groups"]:
        part = [(row, v) for row, v in zip(rows, verdicts) if [row[1], row[2]] == group["group"]]
        assert group["records"] == len(part)
        for name, column in ("cost", 3), ("fee", 4):
            assert told(group["sums"][name]) == truth_of(*zip(*part), column)
    for name, column in ("cost", 3), ("fee", 4):
        assert told(done.stats["sums"][name]) == truth_of(rows, verdicts, column)


def test_amounts_of_ndjson_are_numbers_or_strings(seen):
    text = '{"k":1,"c":0.1}\n{"k":1,"c":"0.2"}\n{"k":2,"c":1e-3}\n{"k":2,"c":"\\u0031"}\n{"k":3}\n{"k":3,"c":null}\n{"k":3,"c":[1]}\n'
    sums = seen("--ndjson", "-k", "k", "--sum", "c", "--stats=json", "-q", text=text).stats["sums"]["c"]
    assert sums == {"gross": "1.301", "duplicate": "1.200", "unjudged": "0.000", "net": "0.101", "unreadable": 3}


def test_what_cannot_be_judged_has_sums_of_its_own(seen, rng):
    rows = [row if rng.random() < 0.9 else ("", *row[1:]) for row in clicks(rng, 1000)]
    text = "".join("%s,%s\n" % (row[3], row[0]) if row[0] else "%s\n" % row[3] for row in rows)
    done = seen("-d,", "-k2", "--sum=1", "-w", "landmark filter=exact", "--stats=json", "-q", text=text)
    keys = iter(judged(row[0] for row in rows if row[0]))
    verdicts = [next(keys) if row[0] else "-" for row in rows]
    assert done.code == 0 and told(done.stats["sums"]["1"]) == truth_of(rows, verdicts, 3)
    assert D(done.stats["sums"]["1"]["unjudged"]) != 0


def test_confirmed_drops_only_what_is_confirmed(seen, rng):
    rows = clicks(rng)
    args = ["--csv", "-k", "key", "-w", "landmark mem=64KiB cache=100 seed=5"]
    verdicts = [line.rsplit(",", 1)[1] for line in seen(*args, "--tag", text=text_of(rows)).lines[1:]]
    assert {"new", "dup", "sure"} <= set(verdicts)
    out = seen(*args, "--confirmed", "--sum=cost", "--stats=json", text=text_of(rows))
    sums = out.stats["sums"]["cost"]
    assert told(sums) == truth_of(rows, verdicts, 3, drops=("sure",))
    assert D(sums["confirmed"]) == D(sums["gross"]) - D(sums["net"])
    assert D(sums["net"]) == sum(D(line.split(",")[3]) for line in out.lines[1:])
    sums = seen(*args, "--sum=cost", "--stats=json", text=text_of(rows)).stats["sums"]["cost"]
    assert told(sums) == truth_of(rows, verdicts, 3)


@pytest.mark.parametrize("window", ["landmark:700", "sliding:90", "sliding:90 refresh=first"])
def test_keep_last_counts_what_goes_through(seen, rng, window):
    rows = clicks(rng)
    args = ["--csv", "-k", "key", "-w", window, "--keep", "last", "--group-by", "pub", "--sum", "cost", "--stats=json"]
    done = seen(*args, text=text_of(rows))
    went = [line.split(",") for line in done.lines[1:]]
    assert D(done.stats["sums"]["cost"]["net"]) == sum(D(row[3]) for row in went)
    assert D(done.stats["sums"]["cost"]["gross"]) == sum(D(row[3]) for row in rows)
    for group in done.stats["groups"]:
        mine = [row for row in went if row[1] == group["group"]]
        assert group["unique"] == len(mine)
        assert D(group["sums"]["cost"]["net"]) == sum(D(row[3]) for row in mine)
    assert sum(group["records"] for group in done.stats["groups"]) == len(rows)


def test_records_held_back_and_sorted(seen, rng):
    rows = [("%d" % (10**6 + i + rng.randrange(60)), *row) for i, row in enumerate(clicks(rng, 3000))]
    text = "".join("%s,%s,%s,%s,%s\n" % row[:5] for row in rows)
    done = seen("-d,", "-k2", "--time=1", "-w", "sliding:10m", "--reorder=2m", "--sum=5", "--group-by=3", "--tag",
                "--stats=json", text=text)
    net = sum(D(line.split(",")[4]) for line in done.lines if line.startswith("new"))
    assert D(done.stats["sums"]["5"]["net"]) == net
    assert D(done.stats["sums"]["5"]["gross"]) == sum(D(row[4]) for row in rows)
    assert sum(D(g["sums"]["5"]["net"]) for g in done.stats["groups"]) == net


def test_a_table_for_people(seen):
    text = "k,pub,cost\n1,a,2.5\n1,a,1.25\n2,b,-3\n"
    lines = seen("--csv", "-k", "k", "--group-by=pub", "--sum=cost", text=text).err.decode().splitlines()
    assert [line.split() for line in lines] == [
        "records unique duplicates rate cost gross cost duplicate cost net pub".split(),
        "2 1 1 50.00 % 3.75 1.25 2.50 a".split(), "1 1 0 0.00 % -3.00 0.00 -3.00 b".split(),
        "3 2 1 33.33 % 0.75 1.25 -0.50 (total)".split()]
    lines = seen("--csv", "-k", "k", "--sum=cost", text=text).err.decode().splitlines()
    assert [line.split() for line in lines][1] == "3 2 1 33.33 % 0.75 1.25 -0.50".split()


def test_the_first_amount_that_cannot_be_read_is_told(seen):
    text = 'k,cost\n1,2.5\n2,"1,234.50"\n3,x\n'
    done = seen("--csv", "-k", "k", "--sum=cost", text=text)
    assert done.code == 3
    assert done.err.decode().splitlines()[0] == (
        "seen: 2 amounts of 'cost' cannot be read and count as nothing: the first is '1,234.50' in record 2; "
        "write an amount as 1234.50")
    done = seen("-d,", "-k1", "--sum=2", text="a,1\nb\n")
    assert done.code == 3 and b"1 amount of '2' cannot be read and counts as nothing: record 2, the first, has no such field" in done.err
    assert seen("-d,", "-k1", "--sum=2", "-q", text="a,1\nb\n").code == 3
    assert seen("-d,", "-k1", "--sum=2", "--strict", text="a,1\nb\n").code == 2
    for size in 2000, 500000:
        text = "a,1\n" + "b" * size + ",1\n"
        done = seen("-d,", "-k1", "--sum=2", "--max-record=1KiB", "-q", "--stats=json", text=text)
        assert done.code == 3 and done.stats["sums"]["2"]["unreadable"] == 1


def test_a_sum_that_does_not_fit_is_not_told(seen):
    rows = [("g%d" % (i % 2), "99999999999999999999", "1") for i in range(4)]
    text = "".join("%d,%s,%s,%s\n" % (i, *row) for i, row in enumerate(rows))
    done = seen("-d,", "-k1", "--sum=3,4", "--group-by=2", "--stats=json", text=text)
    assert done.code == 3 and b"a sum of '3' is not told" in done.err
    assert done.stats["sums"]["3"]["gross"] is None and done.stats["sums"]["4"]["gross"] == "4"
    done = seen("-d,", "-k1", "--sum=3", text=text)
    assert done.code == 3 and b"too large" in done.err


def test_no_digit_is_lost(seen, rng):
    values = ["%d.%018d" % (rng.randrange(10 ** 18), rng.randrange(10 ** 18)) for _ in range(50)]
    done = seen("-d,", "-k1", "--sum=2", "--stats=json", text="".join("%d,%s\n" % kv for kv in enumerate(values)))
    assert done.stats["sums"]["2"]["net"] == str(sum(map(D, values)))


@pytest.mark.parametrize("args,words", [
    (["--sum=nosuch", "--csv"], ["nosuch"]),
    (["--sum=1,1"], ["--sum names 1 twice"]),
    (["--sum=1", "--sum=1"], ["--sum names 1 twice"]),
    (["--sum="], ["--sum", "empty name"]),
])
def test_what_makes_no_sense_is_refused(seen, args, words):
    seen(*args, text="a,b\n").refused(*words)


def test_a_table_without_records(seen):
    for text in "", "k,cost\n":
        done = seen("--csv", "-k", "k", "--sum", "cost", "--output=json", text=text)
        assert done.code == 0 and list(json.loads(done.err)) == ["sums"]
