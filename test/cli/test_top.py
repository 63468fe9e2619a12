"""seen top: against exact counts in Python: bounds, order, windows, partners, persistence."""

import collections
import json
import re

import pytest


def rows(done):
    assert done.code == 0, done.err
    return [line.split("\t") for line in done.lines[1:]]


def zipf(rng, keys):
    return int(keys ** rng.random())


def test_with_room_for_all_it_is_exact(seen, rng):
    keys = [str(zipf(rng, 1000)) for _ in range(20000)]
    truth = collections.Counter(keys)
    found = rows(seen("top", "-n", "50", text="".join(k + "\n" for k in keys)))
    assert len(found) == 50
    assert all(int(row[2]) == truth[row[1]] and row[3:] == ["0", "1"] for row in found)
    assert [int(row[2]) for row in found] == [n for _, n in truth.most_common(50)]


def test_with_little_room_the_bounds_hold(seen, rng):
    keys = [str(zipf(rng, 20000)) for _ in range(20000)]
    truth = collections.Counter(keys)
    found = rows(seen("top", "-n", "100", "--keep", "100", text="".join(k + "\n" for k in keys)))
    for _, key, count, error, _ in found:
        assert int(error) <= len(keys) / 100
        assert int(count) - int(error) <= truth[key] <= int(count)
    assert {k for k, n in truth.items() if n > len(keys) / 100} <= {row[1] for row in found}
    sure = rows(seen("top", "-n", "100", "--keep", "100", "--at-least", "300",
                     text="".join(k + "\n" for k in keys)))
    assert [row[:4] for row in sure] == [r[:4] for r in found if int(r[2]) - int(r[3]) >= 300]


def test_windows_and_how_long_a_key_stays(seen, rng):
    keys = [str(zipf(rng, 300)) for _ in range(10000)]
    found = rows(seen("top", "-n", "5", "-w", "landmark:3000", text="".join(k + "\n" for k in keys)))
    windows = collections.Counter()
    at = 0
    for begin in range(0, 10000, 3000):
        truth = collections.Counter(keys[begin:begin + 3000])
        for row in found[at:at + 5]:
            windows[row[1]] += 1
            assert row[0] == str(begin + 1) and row[3:] == ["0", str(windows[row[1]])]
            assert int(row[2]) == truth[row[1]]
        assert [int(row[2]) for row in found[at:at + 5]] == [n for _, n in truth.most_common(5)]
        at += 5
    last = found[at:]
    assert all(row[0] == "all" and int(row[4]) == windows[row[1]] for row in last)
    assert [int(row[4]) for row in last] == [n for _, n in windows.most_common(5)]


@pytest.mark.parametrize("keep", [10000, 60])
def test_a_jumping_window_is_its_last_parts(seen, rng, keep):
    """With counters for all it is exact; with few the bounds hold, and no frequent key is missing."""
    keys = [str(zipf(rng, 500)) for _ in range(12000)]
    found = rows(seen("top", "-q", "-n", "600", "--keep", str(keep), "-w", "jumping:4000/4", text="".join(k + "\n" for k in keys)))
    found = [row for row in found if row[0] != "all"]
    for end in range(1000, 12001, 1000):
        begin = max(0, end - 4000)
        truth = collections.Counter(keys[begin:end])
        n = next((i for i in range(1, len(found)) if int(found[i][2]) > int(found[i - 1][2])), len(found))
        told, found = found[:n], found[n:]  # the greatest first in each window
        assert all(row[0] == str(begin + 1) for row in told)
        for _, key, count, error, _ in told:
            assert int(count) - int(error) <= truth[key] <= int(count) and int(error) <= (end - begin) / keep
        if keep == 10000:
            assert {row[1]: int(row[2]) for row in told} == truth
        else:
            assert {k for k, c in truth.items() if c > 2 * (end - begin) / keep} <= {row[1] for row in told}
    assert found == []


def test_jumping_windows_whatever_the_order_of_records_and_the_threads(seen, rng, tmp_path):
    records = [(1_732_060_800 + rng.randrange(20000), "k%d" % zipf(rng, 40)) for _ in range(9000)]
    (tmp_path / "log").write_text("".join("%d\t%s\n" % r for r in records))
    args = ["top", "--time", "1", "-k", "2", "-n", "100", "-w", "jumping:1h/6", tmp_path / "log"]
    done = seen(*args)
    assert done.out == seen(*args, "-j", "3").out
    found = [row for row in rows(done) if row[0] != "all"]
    for part in sorted({at // 600 for at, _ in records}):
        truth = collections.Counter(key for at, key in records if part - 6 < at // 600 <= part)
        told, found = found[:len(truth)], found[len(truth):]
        assert {row[1]: int(row[2]) for row in told} == truth
    assert found == []


def test_partners_in_a_jumping_window_are_counted_once(seen, rng):
    """Partners come again in other parts; the rows are those of sets of the last parts."""
    pairs = [("k%d" % rng.randrange(8), rng.randrange(60)) for _ in range(6000)]
    text = "".join("%s\t%d\n" % p for p in pairs)
    args = ["top", "-k", "1", "--distinct", "2", "-n", "8", "-w"]
    found = rows(seen(*args, "jumping:400/4", text=text))
    timed = "".join("%d\t%s\t%d\n" % (1_732_060_800 + 36 * i, *p) for i, p in enumerate(pairs))
    by_time = rows(seen("top", "--time", "1", "-k", "2", "--distinct", "3", "-n", "8", "-w", "jumping:4h/4", text=timed))
    assert [row[1:] for row in by_time] == [row[1:] for row in found]
    for i, end in enumerate(range(100, 6001, 100)):
        partners = {}
        for key, partner in pairs[max(0, end - 400):end]:
            partners.setdefault(key, set()).add(partner)
        told = found[8 * i:8 * i + 8]
        assert {row[1]: int(row[2]) for row in told} == {k: len(p) for k, p in partners.items()}
        assert all(row[3] == "0" and row[0] == str(max(0, end - 400) + 1) for row in told)


def test_partners_are_counted_once_a_window(seen, rng):
    """An address with many cookies is listed in every window; a busy address with one cookie is not."""
    day, text = [], ["at,ip,cookie\n"]
    for d in range(4):
        clicks = [("busy", "same")] * 2000 + [("farm", "c%d" % rng.randrange(500)) for _ in range(1500)]
        clicks += [("u%d" % rng.randrange(300), "k%d" % rng.randrange(4)) for _ in range(2000)]
        rng.shuffle(clicks)
        day.append(clicks)
        text += ["2024-03-0%dT10:00:00Z,%s,%s\n" % (d + 1, ip, cookie) for ip, cookie in clicks]
    done = seen("top", "--csv", "-k", "ip", "--distinct", "cookie", "-w", "landmark:1d fp=1e-6 items=20000",
                "--time", "at", "--at-least", "10", "-o", "json", text="".join(text))
    found = [json.loads(line) for line in done.lines]
    daily = [row for row in found if row["from"] != "all"]
    assert [row["key"] for row in daily] == ["farm"] * 4
    assert [row["windows"] for row in daily] == [1, 2, 3, 4]
    for row, clicks in zip(daily, day):
        assert row["partners"] == len({c for ip, c in clicks if ip == "farm"}) and row["error"] == 0
    assert found[4:] == [{"from": "all", "key": "farm", "windows": 4}]


@pytest.mark.parametrize("mem,n", [("64KiB", 60000), ("64KiB", 150000), ("2KiB", 20000)])
def test_partners_missing_from_a_full_table_are_told_and_in_the_error(seen, mem, n):
    """A few farms and many small addresses; the table of pairs holds a fraction of them."""
    truth = {"farm%d" % f: n // (f + 2) for f in range(6)} | {"u%d" % u: 1 + u % 3 for u in range(1000)}
    text = "".join("%s\tc%d\n" % (key, c) for key, m in truth.items() for c in range(m))
    args = ["top", "-k", "1", "--distinct", "2", "-n", "500"]
    for seed in range(2):
        done = seen(*args, "-w", "landmark mem=%s seed=%d" % (mem, seed), text=text)
        told = re.search(r"(about|up to) (\d+) pairs are missing from the counts.* planned for (\d+) in a window.*"
                         r"; items=(\S+) and no mem= would hold all, in ", done.err.decode())
        found = {row[1]: (int(row[2]), int(row[3])) for row in rows(done)}
        assert all(abs(truth[key] - count) <= error for key, (count, error) in found.items())
        missing = sum(truth.values()) - sum(int(row[2]) for row in rows(seen(
            *args[:-1], "2000", "-w", "landmark mem=%s seed=%d" % (mem, seed), text=text)))
        assert int(told[2]) >= 0.9 * missing and int(told[3]) < n
        assert told[1] == "up to" or int(told[2]) <= 1.1 * missing
        assert found["farm0"][1] <= 2 * (truth["farm0"] - found["farm0"][0]) + 300  # and no idle bound
        advised = seen(*args, "-w", "landmark items=%s seed=%d" % (told[4], seed), text=text)
        assert advised.err == b"" and all(int(row[2]) == truth[row[1]] and row[3] == "0" for row in rows(advised))


def test_pairs_that_were_forgotten_are_told_and_in_the_error(seen):
    text = "".join("farm\tc%d\n" % (i % 50000) for i in range(100000))
    done = seen("top", "-k", "1", "--distinct", "2", "-w", "landmark mem=512KiB filter=exact", text=text)
    assert b"pairs were counted twice, because memory for pairs was short" in done.err
    for row in rows(done):
        assert int(row[2]) - int(row[3]) <= 50000 <= int(row[2]) + int(row[3])


def test_rows_whose_error_is_as_large_as_their_count_are_left_out_and_told(seen):
    """a comes often; each other key comes once, and its row says nothing."""
    text = "".join("a\nk%d\n" % i for i in range(5000))
    done = seen("top", "-n", "50", "--keep", "50", text=text)
    assert rows(done) == [["1", "a", "5000", "0", "1"]]
    assert b"49 rows are left out, whose error is as large as the count; more counters (--keep, now 50)" in done.err
    assert seen("top", "-n", "50", "--keep", "50", "-q", text=text).err == b""
    once = seen("top", "-n", "20", text="".join("k%d\n" % i for i in range(20)))
    assert len(rows(once)) == 20 and once.err == b""  # nothing is wrong with a count of 1


def test_keys_of_several_fields_and_quotes(seen):
    text = 'a,b,c\n"x,y",1,p\n"x,y",1,q\nz,1,p\n'
    assert rows(seen("top", "--csv", "-k", "b,a", text=text)) == [
        ["1", "1,x,y", "2", "0", "1"], ["1", "1,z", "1", "0", "1"]]


def test_json_keeps_the_values_of_a_key_apart(seen):
    text = 'a,b\n"x,y",1\nx,"y,1"\nx,"y,1"\n"q""\x01",\xfc\n'.encode("latin-1")
    done = seen("top", "--csv", "-k", "a,b", "-o", "json", text=text)
    assert [(row["key"], row["records"]) for row in map(json.loads, done.lines)] == [
        (["x", "y,1"], 2), (["x,y", "1"], 1), (['q"\x01', "\xfc"], 1)]
    one = seen("top", "--csv", "-k", "a", "-n", "1", "-o", "json", text=text)
    assert json.loads(one.lines[0])["key"] == "x"
    pairs = "a,b\nx,y\nx,y\nx,y\nx,y\n"
    windows = seen("top", "--csv", "-k", "a,b", "-w", "landmark:2", "-o", "json", text=pairs)
    assert [json.loads(line)["key"] for line in windows.lines] == [["x", "y"]] * 3
    long = seen("top", "-k", "1,2,3", "-o", "json", text="%s\t%s\tc\n" % ("a" * 1000, "b" * 1000))
    assert [len(part) for part in json.loads(long.lines[0])["key"]] == [1000, 20]


def test_records_without_key_or_partner_are_told(seen):
    done = seen("top", "-k", "1", "--distinct", "2", text="a\tx\na\n")
    assert rows(done) == [["1", "a", "1", "0", "1"]] and b"record 2 has 1 field, --distinct asks for 2" in done.err
    assert seen("top", "-k", "1", "--distinct", "2", "--strict", text="a\n").code == 2


def test_nothing_in_nothing_out(seen):
    assert rows(seen("top", text="")) == []


def test_refusals(seen):
    seen("top", "-w", "sliding:10", text="a\n").refused("landmark")
    seen("top", "-w", "jumping:10/3", text="a\n").refused("multiple of 3")
    seen("top", "--keep", "0", text="a\n").refused("--keep")
    seen("top", "-n", "x", text="a\n").refused("--number x")
    seen("top", "-o", "xml", text="a\n").refused("json")


def test_a_real_stream(seen, stream):
    """The addresses with the most applications, exactly."""
    path = stream("talkingdata_train_sample.csv")
    pairs = {tuple(line.split(",")[:2]) for line in path.read_text().splitlines()[1:]}
    truth = collections.Counter(ip for ip, _ in pairs)
    found = rows(seen("top", "--csv", "-k", "ip", "--distinct", "app", "--keep", "50000", path))
    assert [int(row[2]) for row in found] == [n for _, n in truth.most_common(10)]
    assert all(truth[row[1]] == int(row[2]) for row in found)
