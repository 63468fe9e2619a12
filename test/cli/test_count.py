"""seen count: distinct keys in all, in windows, in groups, against sets in Python and the facts known of
the real streams; the windows themselves are exact."""

import datetime
import json
import math
import re

import pytest

SIGMA = 1.04 / math.sqrt(16384)  # of --error 0.01, the default
GROUP = 1.04 / math.sqrt(512)


def rows(done):
    assert done.code == 0, done.err
    return [line.split("\t") for line in done.lines[1:]]


def near(estimate, truth, sigma=SIGMA):
    assert abs(int(estimate) - truth) <= 5 * sigma * truth + 0.5, (estimate, truth)


@pytest.mark.parametrize("n", [0, 1, 2, 10, 100, 5000, 60000])
def test_in_all(seen, rng, n):
    keys = [rng.randrange(n) for _ in range(2 * n)]
    (row,) = rows(seen("count", text="".join("%d\n" % k for k in keys)))
    assert int(row[1]) == len(keys)
    near(row[2], len(set(keys)))
    assert int(row[3]) <= int(row[2]) <= int(row[4])


@pytest.mark.parametrize("n", [0, 1, 2, 50, 1000, 3072])
def test_few_keys_are_counted_exactly(seen, rng, n):
    keys = list(range(n)) * 2
    rng.shuffle(keys)
    done = seen("count", "-o", "json", text="".join("%d\n" % k for k in keys))
    row = json.loads(done.out)
    assert (row["records"], row["distinct"], row["distinct_95"], row["error"]) == (2 * n, n, [n, n], 0)
    more = json.loads(seen("count", "-o", "json", text="".join("%d\n" % k for k in range(20000))).out)
    assert more["error"] == pytest.approx(SIGMA, rel=0.01)


@pytest.mark.parametrize("args", [[], ["-w", "landmark:30000"], ["-w", "jumping:40000/4"], ["-g", "1"]])
def test_with_exact_every_count_is_exact(seen, rng, args):
    records = [(rng.randrange(3), rng.randrange(30000)) for _ in range(90000)]
    text = "".join("%d\t%d\n" % r for r in records)
    found = rows(seen("count", "--exact", "-k", "2", *args, text=text))
    if args[:1] == ["-g"]:
        groups = [sum(1 for _ in {k for g, k in records if g == i}) for i in range(3)]
        assert [int(row[3]) for row in found] == sorted(groups, reverse=True) + [len({k for _, k in records})]
        return
    length = int(args[1].split(":")[1].split("/")[0]) if args else 90000
    for row in found[:-1] if args else found:
        begin = int(row[0]) - 1
        truth = str(len({k for _, k in records[begin:begin + int(row[1])]}))
        assert row[2:] == [truth] * 3 and int(row[1]) <= length
    assert found[-1][2:] == [str(len({k for _, k in records}))] * 3


def test_keys_that_do_not_fit_end_an_exact_count_with_a_sentence(seen):
    text = "".join("%d\n" % i for i in range(100000))
    seen("count", "--exact", "--mem", "1MiB", text=text).refused("--exact", "--mem=1MiB", "leave out --exact")
    assert seen("count", "--exact", "--mem", "8MiB", "-o", "value", text=text).out == b"100000\n"


def test_a_number_alone_for_scripts(seen):
    assert seen("count", "-o", "value", text="a\nb\na\n").out == b"2\n"
    assert seen("count", "-o", "value", text="").out == b"0\n"
    seen("count", "-o", "value", "-g", "1", text="a\n").refused("-o value", "--group-by")
    seen("count", "-o", "value", "-w", "landmark:2", text="a\n").refused("-o value", "windows")


def test_landmark_windows_of_records(seen, rng):
    keys = [rng.randrange(3000) for _ in range(10500)]
    found = rows(seen("count", "-w", "landmark:2000", text="".join("%d\n" % k for k in keys)))
    assert [row[:2] for row in found] == [[str(i + 1), str(min(2000, 10500 - i))]
                                          for i in range(0, 10500, 2000)] + [["all", "10500"]]
    for i, row in zip(range(0, 10500, 2000), found):
        near(row[2], len(set(keys[i:i + 2000])))
    near(found[-1][2], len(set(keys)))


def test_jumping_windows_are_their_last_parts(seen, rng):
    for _ in range(20):
        keys = [rng.randrange(5000) for _ in range(10000)]
        found = rows(seen("count", "-w", "jumping:4000/5", text="".join("%d\n" % k for k in keys)))
        ends = list(range(800, 10001, 800)) + [10000]
        assert len(found) == len(ends) + 1
        for end, row in zip(ends, found):
            begin = max(0, math.ceil(end / 800) * 800 - 4000)
            assert row[:2] == [str(begin + 1), str(end - begin)]
            near(row[2], len(set(keys[begin:end])))


def test_windows_of_time_and_silence(seen, rng):
    now, records = 1_600_000_000, []
    for _ in range(5000):
        now += rng.choice([0, 1, 1, 900 if rng.random() < 0.01 else 1])
        records.append((now, rng.randrange(500)))
    text = "".join("%d\t%d\n" % r for r in records)
    args = ["--time", "1", "-k", "2"]
    windows = {}
    for at, key in records:
        windows.setdefault(at // 600, []).append((at, key))
    found = rows(seen("count", "-w", "landmark:10m", *args, text=text))[:-1]
    assert len(found) == len(windows)
    for row, inside in zip(found, windows.values()):
        first = datetime.datetime.fromtimestamp(inside[0][0], datetime.timezone.utc)
        assert row[:2] == [first.strftime("%Y-%m-%dT%H:%M:%SZ"), str(len(inside))]
        near(row[2], len({key for _, key in inside}))
    found = rows(seen("count", "-w", "jumping:40m/4", *args, text=text))[:-1]
    assert len(found) == len(windows)
    for row, part in zip(found, windows):
        inside = [key for p in range(part - 3, part + 1) for _, key in windows.get(p, [])]
        assert int(row[1]) == len(inside)
        near(row[2], len(set(inside)))


def test_groups_in_a_jumping_window_are_those_of_its_parts_together(seen, rng):
    records = [(rng.choice("abcdef"), rng.randrange(40)) for _ in range(5000)]
    text = "".join("%s\t%d\n" % r for r in records)
    args = ["count", "-k", "2", "-g", "1", "-w", "jumping:1200/4"]
    found = rows(seen(*args, text=text))[:-1]
    for end in [*range(300, 5000, 300), 5000]:
        begin = max(0, math.ceil(end / 300) * 300 - 1200)
        inside = {}
        for name, key in records[begin:end]:
            inside.setdefault(name, []).append(key)
        told, found = found[:len(inside)], found[len(inside):]
        assert {row[1]: (row[0], int(row[2]), int(row[3])) for row in told} == {
            name: (str(begin + 1), len(keys), len(set(keys))) for name, keys in inside.items()}
        assert [int(row[3]) for row in told] == sorted((int(row[3]) for row in told), reverse=True)
    assert found == []
    exact = seen(*args, "--exact", text=text)
    assert exact.lines[:-1] == seen(*args, text=text).lines[:-1]  # few keys are exact anyway


def test_groups_of_the_last_hour_whatever_the_order_of_records(seen, rng, tmp_path):
    records = [(1_732_060_800 + rng.randrange(20000), rng.choice("abc"), rng.randrange(2000)) for _ in range(9000)]
    (tmp_path / "log").write_text("".join("%d\t%s\t%d\n" % r for r in records))
    done = seen("count", "--time", "1", "-g", "2", "-k", "3", "-w", "jumping:1h/6", "-o", "json", tmp_path / "log")
    found = [json.loads(line) for line in done.lines]
    parts = sorted({at // 600 for at, _, _ in records})
    assert len(found) == 3 * len(parts) + 1
    for i, part in enumerate(parts):
        for row in found[3 * i:3 * i + 3]:
            inside = [key for at, name, key in records if part - 6 < at // 600 <= part and name == row["group"]]
            assert row["records"] == len(inside)
            near(row["distinct"], len(set(inside)), GROUP)


# -- sliding windows -----------------------------------------------------------------------------------


def sliding_truth(records, window, end):
    """The records and the keys of the window that ends with the latest of `records[:end]`, pairs of (time, key)."""
    now = max(at for at, _ in records[:end])
    inside = [key for at, key in records[:end] if now - window < at <= now]
    return len(inside), len(set(inside))


def test_the_last_records_are_counted_as_if_there_were_no_others(seen, rng):
    """The same estimate as of these records alone, to the last digit."""
    keys = [rng.randrange(60000) for _ in range(120000)]
    text = ["%d\n" % key for key in keys]
    for n in (20000, 70001):
        (row,) = rows(seen("count", "-w", "sliding:%d" % n, "--seed", "5", text="".join(text)))
        (alone,) = rows(seen("count", "--seed", "5", text="".join(text[-n:])))
        assert row == [str(120000 - n + 1)] + alone[1:]
        near(row[2], len(set(keys[-n:])))
    few = seen("count", "-w", "sliding:1000", "-o", "value", text="".join(text))
    assert int(few.out) == len(set(keys[-1000:]))
    assert seen("count", "-w", "sliding:1000", "-o", "value", text="").out == b"0\n"


def test_every_so_many_records_a_row_tells_of_the_window_then(seen, rng):
    keys = [rng.randrange(3000) for _ in range(20500)]
    args = ["count", "-w", "sliding:6000", "--every", "2000", "--exact"]
    found = rows(seen(*args, text="".join("%d\n" % key for key in keys)))
    ends = [*range(2000, 20500, 2000), 20500]
    assert [(int(row[0]), int(row[1]), int(row[2])) for row in found[:-1]] == [
        (max(0, end - 6000) + 1, min(end, 6000), len(set(keys[max(0, end - 6000):end]))) for end in ends]
    assert found[-1][:3] == ["all", "20500", str(len(set(keys)))]


@pytest.mark.parametrize("exact", [["--exact"], []])
def test_records_of_a_sliding_window_of_time_count_at_their_own_time(seen, rng, exact):
    now, records = 1_732_060_800, []
    for _ in range(20000):
        now += rng.choice([0, 0, 1])
        records.append((now - rng.randrange(900), rng.randrange(9000)))
    text = "".join("%d\t%d\n" % r for r in records)
    (row,) = rows(seen("count", "--time", "1", "-k", "2", "-w", "sliding:1h", *exact, text=text))
    count, truth = sliding_truth(records, 3600, len(records))
    near(row[2], truth, 0 if exact else SIGMA)
    assert count <= int(row[1]) <= count + len(records) / 1000  # to a 1024th of the window


def test_what_comes_too_late_for_a_sliding_window_is_told(seen):
    text = "1732068000\ta\n1732060800\tb\n1732064000\tc\n1732067900\td\n"
    args = ["count", "--time", "1", "-k", "2", "-w", "sliding:1h"]
    done = seen(*args, text=text)
    assert rows(done)[0][1:3] == ["2", "2"]
    assert b"2 records were older than the window when they came, and in no row" in done.err
    done = seen(*args, "--every", "10m", text="1732068000\ta\n1732068700\tb\n1732068100\tc\n")
    assert [row[2] for row in rows(done)] == ["1", "3", "3"]
    assert b"1 record came when a row that holds its time was printed" not in done.err  # it was not yet
    done = seen(*args, "--every", "10m", text="1732068000\ta\n1732068700\tb\n1732067990\tc\n")
    assert b"1 record came when a row that holds its time was printed, and is in later rows only" in done.err
    assert seen(*args, "-q", text=text).err == b""


def test_threads_do_not_change_what_is_counted(seen, rng):
    text = "".join("%d\t%d\t%d\n" % (1_732_060_800 + i // 3 - rng.randrange(100), rng.randrange(5), rng.getrandbits(14))
                   for i in range(60000))
    for how in (["-w", "sliding:30m", "--every", "5m"], ["-g", "2", "-w", "jumping:30m/3"], ["-w", "sliding:30m", "--exact"]):
        args = ["count", "--seed", "1", "--time", "1", "-k", "3", *how]
        assert seen(*args, text=text).out == seen(*args, "-j", "3", text=text).out


def test_over_many_seeds_a_sliding_count_errs_as_it_says(seen, rng):
    """Windows of 100,000 different keys in a stream of 160,000; the error is stated in each row."""
    text = "".join("%d\n" % rng.getrandbits(60) for _ in range(160000))
    off, runs = [], 24
    for seed in range(runs):
        row = json.loads(seen("count", "-w", "sliding:1e5", "--error", "0.05", "--seed", seed, "-o", "json", text=text).out)
        assert row["records"] == 100000 and row["error"] == pytest.approx(GROUP, rel=0.01)
        off.append(row["distinct"] / 100000 - 1)
    assert abs(sum(off) / runs) <= 5 * GROUP / math.sqrt(runs)
    assert math.sqrt(sum(x * x for x in off) / runs) <= GROUP * (1 + 5 / math.sqrt(2 * runs))


def test_days_of_a_zone(seen):
    text = "".join("2024-03-0%dT23:30:00Z\t%d\n2024-03-0%dT22:30:00Z\tk\n" % (d, d, d + 1)
                   for d in (1, 2))
    args = ["-k", "2", "--time", "1", "--zone", "Europe/Vienna"]
    assert [row[1:3] for row in rows(seen("count", "-w", "landmark:1d", *args, text=text))] == \
        [["2", "2"], ["2", "2"], ["4", "3"]]


def test_groups(seen, rng):
    records = [("g%d" % rng.randrange(20), rng.randrange(50 * (1 + rng.randrange(40))))
               for _ in range(30000)]
    text = "".join("%s\t%d\n" % r for r in records)
    found = rows(seen("count", "-k", "2", "--group-by", "1", text=text))
    groups = {}
    for name, key in records:
        groups.setdefault(name, []).append(key)
    assert sorted(row[1] for row in found[:-1]) == sorted(groups)
    estimates = [int(row[3]) for row in found[:-1]]
    assert estimates == sorted(estimates, reverse=True)
    for row in found[:-1]:
        assert int(row[2]) == len(groups[row[1]])
        near(row[3], len(set(groups[row[1]])), GROUP)


def test_groups_in_each_window(seen):
    text = 'user,page\n"a,b",1\nc,1\n"a,b",2\n"a,b",2\nc,3\n'
    done = seen("count", "--csv", "-k", "page", "-g", "user", "-w", "landmark:3 seed=1", "-o", "json",
                text=text)
    found = [json.loads(line) for line in done.lines]
    assert [(f["from"], f["group"], f["records"], f["distinct"]) for f in found] == [
        ("1", "a,b", 2, 2), ("1", "c", 1, 1), ("4", "a,b", 1, 1), ("4", "c", 1, 1),
        ("all", "all", 5, 3)]


def test_groups_of_several_fields(seen, rng):
    records = [(rng.choice(["p,1", 'p"2', "p"]), rng.choice(["1", "a", "\u00e9"]), rng.randrange(300)) for _ in range(9000)]
    text = "pub,adv,key\n" + "".join('"%s",%s,%d\n' % (p.replace('"', '""'), a, k) for p, a, k in records)
    truth = {}
    for p, a, k in records:
        truth.setdefault((p, a), []).append(k)
    done = seen("count", "--csv", "-k", "key", "--group-by", "pub,adv", text=text)
    assert done.lines[0] == "from\tpub\tadv\trecords\tdistinct\tlow\thigh"
    assert done.lines[-1].startswith("all\tall\tall\t9000\t")
    found = {tuple(row[1:3]): row for row in rows(done)[:-1]}
    assert {name: int(row[3]) for name, row in found.items()} == {name: len(keys) for name, keys in truth.items()}
    for name, keys in truth.items():
        near(found[name][4], len(set(keys)), GROUP)
    objects = [json.loads(line) for line in
               seen("count", "--csv", "-k", "key", "-g", "1-2", "-o", "json", text=text).lines]
    assert {tuple(o["group"]): o["records"] for o in objects[:-1]} == {n: len(k) for n, k in truth.items()}


def test_values_of_groups_are_told_apart_where_they_end(seen):
    text = "ab\tc\tk\na\tbc\tk\n\tabc\tk\n"
    objects = [json.loads(line) for line in seen("count", "-k", "3", "-g", "1,2", "-o", "json", text=text).lines]
    assert sorted(o["group"] for o in objects[:-1]) == [["", "abc"], ["a", "bc"], ["ab", "c"]]


def test_a_table_without_records_has_no_groups(seen):
    for text in "", "u,k\n":
        done = seen("count", "--csv", "-k", "k", "-g", "u", text=text)
        assert done.code == 0 and done.lines == ["from\tgroup\trecords\tdistinct\tlow\thigh", "all\tall\t0\t0\t0\t0"]


def test_bytes_of_a_group_that_are_no_text_are_valid_json(seen):
    done = seen("count", "-k", "2", "-g", "1", "-o", "json", text=b"a\xff\x01\tk\n")
    assert json.loads(done.lines[0])["group"] == "a\u00ff\u0001"


def test_flajolet_martin(seen, rng):
    text = "".join("%d\n" % rng.getrandbits(50) for _ in range(20000))
    near(rows(seen("count", "--fm", "--error", "0.05", text=text))[0][2], 20000, 0.05)


def test_the_same_seed_gives_the_same_count(seen, rng):
    text = "".join("%d\n" % rng.getrandbits(50) for _ in range(20000))
    one, two, other = (seen("count", "-w", "landmark seed=%d" % s, text=text).out for s in (0, 0, 1))
    assert one == two != other
    assert seen("count", "--seed", "1", text=text).out == other
    seen("count", "--seed", "x", text="a\n").refused("seed")


def test_refusals(seen):
    seen("count", "-w", "decaying", text="a\n").refused("landmark, sliding and jumping")
    seen("count", "-w", "jumping:10/4", text="a\n").refused("multiple of 4")
    seen("count", "-w", "sliding:12", "-g", "1", text="a\n").refused("--group-by serves landmark and jumping", "jumping:1h/60")
    seen("count", "-w", "sliding:12", "--fm", text="a\n").refused("--fm serves landmark and jumping")
    seen("count", "-w", "jumping:12/4", "--every", "2", text="a\n").refused("--every serves sliding windows")
    seen("count", "-w", "sliding:12", "--every", "0", text="a\n").refused("--every 0")
    seen("count", "-w", "sliding:12", "--every", "5m", text="a\n").refused("--every 5m", "unit")
    seen("count", "-w", "sliding:1h", "--time", "1", "--every", "5x", text="a\n").refused("--every 5x", "unit")
    seen("count", "-w", "sliding:12", "--every", "2", "-o", "value", text="a\n").refused("-o value", "--every")
    seen("count", "-g", "1,1", text="a\n").refused("--group-by names 1 twice")
    seen("count", "-g", "1,,2", text="a\n").refused("--group-by 1,,2 holds an empty name")
    seen("count", "--error", "1e-6", text="a\n").refused("0.001")
    seen("count", "--error", "x", text="a\n").refused("not a number")
    seen("count", "-o", "xml", text="a\n").refused("json")
    seen("count", "--exact", "--fm", text="a\n").refused("--exact and --fm")
    seen("count", "--exact", "--error", "0.1", text="a\n").refused("--exact and --error")
    seen("count", "--mem", "1MiB", text="a\n").refused("--mem bounds --exact")
    assert seen("count", "-k", "2", "--strict", text="a\n").code == 2


@pytest.mark.parametrize("name,args,records,distinct", [
    ("talkingdata_train_sample.csv", ["--csv", "-k", "ip,app,channel"], 100_000, 90_156),
    ("cran_2014w51_arrival.tsv", ["--tsv", "-k", "client,package,version"], 1_345_192, 1_069_748),
    ("hn_polls_2020-11_2021-06.tsv", ["--tsv", "-k", "url"], 298_890, 21_339),
    ("contact-high-school.tsv", ["-k", "2"], 172_035, 7_818),
])
def test_real_streams(seen, stream, name, args, records, distinct):
    (row,) = rows(seen("count", *args, stream(name)))
    assert int(row[1]) == records
    near(row[2], distinct)


@pytest.mark.parametrize("sketch", [[], ["--fm"]])
def test_the_least_error_that_a_message_names_is_taken(seen, sketch):
    done = seen("count", "--error", "0.0001", *sketch, text="a\n")
    done.refused("relative standard error of 0.0001")
    least = re.search(r"ask for ([\d.]+) to", done.err.decode()).group(1)
    assert seen("count", "--error", least, *sketch, text="a\n").code == 0
