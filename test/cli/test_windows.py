"""Windows, keys and CSV against naive Python: sets, queues and the csv module judge every record."""

import csv
import io
import json
import re

import pytest


def naive(window, keys):
    """The verdicts of an exact window; position i is a duplicate iff an equal key stands in it."""
    kind, _, size = window.partition(":")
    last, verdicts = {}, []
    for i, key in enumerate(keys):
        before = last.get(key)
        if kind == "landmark":
            start = i - i % int(size) if size else 0
        elif kind == "jumping":
            n, q = map(int, size.split("/"))
            start = (i // (n // q) - q) * (n // q)
        else:
            start = i - int(size)
        verdicts.append("dup" if before is not None and before >= start else "new")
        last[key] = i
    return verdicts


WINDOWS = ["landmark", "landmark:7", "landmark:1000", "jumping:8/4", "jumping:600/3", "jumping:1000/1",
           "sliding:1", "sliding:10", "sliding:999"]


@pytest.mark.parametrize("window", WINDOWS)
def test_exact_windows_are_exact(seen, rng, window):
    keys = [str(rng.randrange(rng.choice([3, 50, 2000]))) for _ in range(5000)]
    done = seen("-w", window + " filter=exact", "--tag", text="\n".join(keys))
    got = [line.split("\t") for line in done.lines]
    assert [key for _, key in got] == keys
    assert [verdict for verdict, _ in got] == naive(window, keys)


@pytest.mark.parametrize("window", ["landmark:1000", "jumping:600/3"])
@pytest.mark.parametrize("structure", ["bloom", "partitioned", "blocked"])
def test_approximate_windows_miss_no_duplicate(seen, rng, window, structure):
    keys = [str(rng.randrange(3000)) for _ in range(20000)]
    spec = "%s filter=%s fp=1e-4" % (window, structure)
    got = [line.split("\t")[0] for line in seen("-w", spec, "--tag", text="\n".join(keys)).lines]
    truth = naive(window, keys)
    assert not [i for i, (g, t) in enumerate(zip(got, truth)) if t == "dup" and g != "dup"]
    assert sum(g != t for g, t in zip(got, truth)) < 40  # slack and errors; 2 expected


@pytest.mark.parametrize("refresh", ["last", "first"])
def test_sliding_time_against_a_dictionary(seen, rng, refresh):
    now, last, truth, rows = 1_600_000_000_000, {}, [], []
    for _ in range(5000):
        now += rng.randrange(3000)
        key = str(rng.randrange(60))
        fresh = key not in last or now - last[key] >= 60_000
        truth.append("new" if fresh else "dup")
        if fresh or refresh == "last":
            last[key] = now
        rows.append("%d\t%s" % (now, key))
    spec = "sliding:1m filter=exact refresh=" + refresh
    done = seen("-w", spec, "--time", "1", "-k", "2", "--tag", text="\n".join(rows))
    assert [line.split("\t")[0] for line in done.lines] == truth


def test_landmark_days_against_the_date(seen, rng):
    now, have, truth, rows = 1_600_000_000, set(), [], []
    for _ in range(5000):
        now += rng.randrange(300)
        key = (now // 86400, rng.randrange(40))
        truth.append("dup" if key in have else "new")
        have.add(key)
        rows.append("%d,%d" % (now, key[1]))
    done = seen("-w", "landmark:1d filter=exact", "-d,", "--time=1", "-k2", "--tag", text="\n".join(rows))
    assert [line.split("\t")[0] for line in done.lines] == truth


# -- unique, duplicates and tag are three views of one truth -----------------------------------------


def test_unique_and_duplicates_make_up_the_whole(seen, rng):
    keys = ["%d" % rng.randrange(400) for _ in range(3000)]
    text = "\n".join(keys) + "\n"
    views = [seen("-w", "sliding:100 filter=exact", *v, text=text).lines
             for v in ([], ["--duplicates"], ["--tag"])]
    assert views[0] == [line[4:] for line in views[2] if line.startswith("new")]
    assert views[1] == [line[4:] for line in views[2] if line.startswith("dup")]
    assert len(views[0]) + len(views[1]) == len(keys)


# -- CSV ---------------------------------------------------------------------------------------------


def random_field(rng):
    letters = rng.choice(["ab", "a,\"\n", "xyz\r\n,", "\"", "é\x00 "])
    value = "".join(rng.choice(letters) for _ in range(rng.choice([0, 1, 2, 3, 70])))
    must = any(c in value for c in ",\"\r\n")
    return value, '"%s"' % value.replace('"', '""') if must or rng.random() < 0.3 else value


def random_csv(rng, columns, rows):
    values, lines = [], []
    for _ in range(rows):
        fields = [random_field(rng) for _ in range(columns)]
        values.append([value for value, _ in fields])
        lines.append(",".join(text for _, text in fields))
    return values, lines


@pytest.mark.parametrize("round", range(6))
def test_random_csv_against_pythons_reader(seen, rng, round):
    ends = rng.choice(["\n", "\r\n"])
    values, lines = random_csv(rng, 5, 3000)
    text = ends.join(["c1,c2,c3,c4,c5"] + lines) + rng.choice(["", ends])
    if "\x00" not in text or round:  # what Python reads is what we meant to write
        assert [row for row in csv.reader(io.StringIO(text, newline=""))][1:] == values
    wanted = rng.sample(range(5), rng.randrange(1, 4))
    keys = [tuple(row[i] for i in wanted) for row in values]
    names = ",".join("c%d" % (i + 1) for i in wanted)
    done = seen("--csv", "-k", names, "--tag", "--filter", "exact", text=text.encode())
    got = list(csv.reader(io.StringIO(done.out.decode(), newline="")))
    assert got[0][-1] == "seen" and [row[:-1] for row in got[1:]] == values
    assert [row[-1] for row in got[1:]] == naive("landmark", keys)


def test_output_of_csv_is_its_input_byte_for_byte(seen, rng):
    _, lines = random_csv(rng, 4, 2000)
    text = ("\r\n".join(["a,b,c,d"] + ["%d,%s" % (i, line) for i, line in enumerate(lines)])).encode()
    assert seen("--csv", "-k", "1", text=text).out == text


@pytest.mark.parametrize("field", ['5" disk', 'x"y"z', '"ab"cd', '"a""b"c"d', '""', '"" ', ' "a"', 'a""'])
def test_odd_quoting_is_read_as_python_reads_it(seen, field):
    value = next(csv.reader([field]))[0]
    again = '"%s"' % value.replace('"', '""')
    done = seen("--csv", "--no-header", "-k", "1", "--tag", text="%s,x\n%s,y\n" % (field, again))
    assert [line[-3:] for line in done.lines] == ["new", "dup"]


def test_delimited_fields_against_split(seen, rng):
    rows = ["|".join(str(rng.randrange(9)) for _ in range(rng.randrange(1, 9))) for _ in range(4000)]
    truth, have = [], set()
    for row in rows:
        fields = row.split("|")
        key = tuple(fields[1:4])
        truth.append("-" if len(fields) < 4 else "dup" if key in have else "new")
        if len(fields) >= 4:
            have.add(key)
    done = seen("-d", "|", "-k", "2-4", "--tag", "--filter=exact", text="\n".join(rows))
    assert [line.split("\t")[0] for line in done.lines] == truth
    stats = seen("-d", "|", "-k", "2-4", "--stats=json", text="\n".join(rows)).stats
    assert stats["unparseable"] == truth.count("-") and stats["records"] == len(rows)


def test_a_bit_vector_takes_ids_as_they_are_and_passes_what_is_no_id(seen):
    lines = ["7", "1048575", "7", "1048576", "ann", "1048575", "1048576", "007"]
    spec = "landmark filter=bitvector bits=20"
    done = seen("--hash", "int", "-w", spec, "--stats=json", text="\n".join(lines) + "\n")
    assert done.lines == ["7", "1048575", "1048576", "ann", "1048576"]
    assert done.code == 0
    assert done.stats["unparseable"] == 3 and done.stats["duplicates"] == 3, done.stats
    assert seen("--strict", "-w", spec, text="1048576\n").code == 2
    seen("--hash", "xxh3", "-w", spec, text="1\n").refused("filter=bitvector", "hash=")


@pytest.mark.parametrize("spec, times", [("sliding:1h fp=1e-3 filter=line", True), ("sliding:20000 filter=exact", False)])
def test_a_window_cut_short_says_how_short_and_what_would_hold_it(seen, spec, times):
    """20,000 keys, all in the window and in memory for fewer; then each again, oldest first."""
    keys = [str(i) for i in range(20000)] * 2
    text = "\n".join("%d\t%s" % (1600000000 + i // 20 if times else 0, key) for i, key in enumerate(keys))
    args = ["-k", "2"] + (["--time", "1"] if times else [])

    def run(mem):
        done = seen("-w", "%s mem=%s" % (spec, mem), "--tag", *args, text=text)
        said = re.search(r"kept for (\S+) of (\S+).*about mem=(\S+) would keep it all", done.err.decode())
        return [line.split("\t")[0] for line in done.lines[20000:]], said

    verdicts, said = run("16KiB" if times else "512KiB")
    assert said and "new" in verdicts
    verdicts, nothing = run(said.group(3))
    assert not nothing and "new" not in verdicts


def spec_with(spec, fixes):
    """The spec with name=value of each fix in the place of what it says of that name, and of rate=."""
    gone = {fix.split("=")[0] for fix in fixes} | ({"rate"} if any("items" in fix for fix in fixes) else set())
    return " ".join([word for word in spec.split() if word.split("=")[0] not in gone] + fixes)


@pytest.mark.parametrize("spec", [
    "sliding:1h mem=512KiB filter=exact", "sliding:1h mem=32KiB fp=1e-4", "sliding:1h items=1000 fp=1e-4",
    "sliding:1h items=1000 fp=1e-4 shards=4", "sliding:1h items=1000 mem=64KiB fp=1e-2", "sliding:1h rate=1 fp=1e-6",
    "jumping:1h/12 mem=512KiB filter=exact", "landmark mem=512KiB filter=exact", "sliding:40000 mem=512KiB filter=exact",
    "sliding:1h rate=1 mem=64KiB fp=1e-2", "sliding:70000 items=3000 fp=1e-4", "jumping:70000/8 items=9000 fp=1e-4"])
def test_what_a_cut_window_asks_for_is_enough_and_not_absurd(seen, spec):
    """30,000 keys in ten seconds, then a key a minute; at the end of the hour the first ones again."""
    keys = list(range(30000)) + list(range(100000, 100050)) + list(range(30000))
    times = [i // 3000 for i in range(30000)] + [60 * i for i in range(1, 51)] + [3200 + i // 300 for i in range(30000)]
    text = "\n".join("%d\t%d" % (1700000000 + time, key) for time, key in zip(times, keys))
    args = ["-k", "2"] + (["--time", "1"] if "1h" in spec else [])

    def run(asked):
        done = seen("-w", asked + " seed=1", "--tag", *args, text=text)
        said = re.search(r"memory was short: .*; about (.*?)(?: instead of rate=)? would keep it all", done.err.decode())
        return [line.split("\t")[0] for line in done.lines[30050:]], said

    verdicts, said = run(spec)
    assert said and "new" in verdicts
    fixes = said.group(1).split(" and ")
    verdicts, short = run(spec_with(spec, fixes))
    assert not short and "new" not in verdicts, fixes
    for fix in fixes:
        name, value, unit = re.fullmatch(r"(\w+)=([0-9.]+)(\w*)", fix).groups()
        if name == "items":
            assert 30050 <= int(value) <= 2.5 * 30050  # who was forgotten comes as if new
    if len(fixes) == 1 and name == "mem" and "exact" in spec:
        assert run(spec_with(spec, ["mem=%dB" % (float(value) * (1 << (10 if unit == "KiB" else 20)) / 3)]))[1]


CROWD = "".join("%d\t%d\n" % (1700000000 + i // 20, i - 29999 * (i % 3 == 0 and i > 30000)) for i in range(90000))


def crowded(seen, *more, text=CROWD, window="sliding:1h"):
    """1,200 ids a minute, later a third of them again after 25 minutes; memory for a quarter of an hour."""
    args = ["-k", "2"] + (["--time", "1"] if window.endswith("h") else [])
    return seen("-w", window + " items=20000 fp=1e-3 seed=1", *args, *more, text=text)


@pytest.mark.parametrize("window", ["sliding:1h", "sliding:72000"])
def test_a_window_cut_short_is_told_while_it_runs_and_at_its_end(seen, window):
    done = crowded(seen, "--stats=json", window=window)
    said = done.err.decode().splitlines()
    stats = json.loads(said[-1])
    fix = r"about (items=\d+) would keep it all"
    now = [line for line in said
           if re.search(r"memory is short: at its busiest the window was kept for .*; give more items=, as many", line)]
    end = [re.search(r"memory was short: at its busiest the window was kept for .*; about (\d+) duplicates were let through "
                     r"\(95 %: (\d+) to (\d+)\); " + fix, line) for line in said]
    (closing,) = [match for match in end if match]
    assert len(now) == 1 and not [line for line in said if "taken for duplicates" in line]
    assert int(closing.group(2)) <= 20000 <= int(closing.group(3))  # all that came again
    assert 10000 < int(closing.group(1)) < 30000
    assert stats["window_asked"] / 10 < stats["window_kept"] < stats["window_asked"] / 3 and stats["forgotten"] > 10000
    assert stats["duplicates"] < 200 and stats["fp_worst"] < 1.5e-3


def test_the_shortest_window_since_the_start_is_kept_in_a_state(seen, tmp_path):
    state = ["--state", str(tmp_path / "s"), "--stats=json"]
    first = crowded(seen, *state).err.decode().splitlines()
    later = crowded(seen, *state, text="1700009000\tx\n").err.decode().splitlines()
    was, now = json.loads(first[-1]), json.loads(later[-1])
    assert was["window_kept"] == now["window_kept"] and was["fp_worst"] == now["fp_worst"]
    assert not [line for line in later if "memory is short" in line] and [x for x in later if "memory was short" in x]


def test_a_window_cut_short_is_no_window_that_errs_more(seen):
    text = "\n".join("%d\t%d" % (1600000000, i) for i in range(5000))
    done = seen("-w", "sliding:1h fp=1e-3 mem=8KiB", "-k", "2", "--time", "1", text=text)
    assert "taken for duplicates" not in done.err.decode()


def test_a_window_beyond_its_plan_is_told_again_as_its_rate_passes_each_power(seen):
    """From a pipe, so that it looks often; each warning is a line with the rate and what to do."""
    text = "\n".join(map(str, range(400000))) + "\n"
    done = seen("-w", "landmark mem=64KiB fp=1e-6 seed=1", text=text)
    said = re.findall(r"([0-9.e+-]+) of the new records are now taken for duplicates, and ([0-9.e+-]+) were planned "
                      r"\((\d+) keys in the window, and (\d+) planned\); give more mem=", done.err.decode())
    rates = [float(rate) for rate, *_ in said]
    assert rates == sorted(rates) and len(rates) >= 3
    for least in (1e-3, 1e-2, .1, .5):
        assert sum(least <= rate < least * 5 for rate in rates) >= 1 or min(rates) > least, rates
    assert all(float(planned) <= 1e-6 for _, planned, *_ in said)


def test_a_window_that_forgets_its_oldest_keys_tells_a_rate_beyond_its_plan(seen):
    """Its queue holds four records for each planned key, and its counters are planned for one."""
    text = "".join("%d\t%d\n" % (1700000000 + i // 100, i) for i in range(100000))
    spec = "sliding:1h items=2000 fp=1e-4 filter=counting seed=1"
    said = seen("-w", spec, "-k", "2", "--time", "1", text=text).err.decode()
    rates = [float(rate) for rate in re.findall(r"([0-9.e+-]+) of the new records are now taken for duplicates", said)]
    assert rates and .01 < rates[-1] < .1 and rates == sorted(rates)
    worst = re.search(r"probably new records \(95 %.*; ([0-9.]+) of the new records at worst\)", said)
    assert float(worst.group(1)) >= rates[-1]


def test_a_window_beyond_its_plan_is_told_nothing_twice(seen):
    done = seen("-w", "landmark mem=64KiB fp=1e-6 seed=1", text="\n".join(map(str, range(400000))) * 2)
    said = [line for line in done.err.decode().splitlines() if "taken for duplicates" in line]
    assert 1 <= len(said) <= 5 and len(set(said)) == len(said)
