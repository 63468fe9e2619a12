"""seen generate: exact totals, the same bytes for ever, gaps as promised, refusals in one sentence."""

import collections
import hashlib
import json
import math
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEN = str((ROOT / os.environ.get("SEEN", "build/seen")).resolve())


def generate(*args, **more):
    return subprocess.run([SEEN, "generate", *map(str, args)], capture_output=True, **more)


def stream(*args):
    done = generate(*args)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    return done.stdout


def lines(*args):
    return stream(*args).splitlines()


def with_truth(tmp_path, *args):
    path = tmp_path / "truth.json"
    out = lines(*args, "--truth", path)
    return out, json.loads(path.read_text())


def gaps_of_pairs(keys):
    """(first position, gap) of each key that occurs exactly twice."""
    places = collections.defaultdict(list)
    for i, key in enumerate(keys):
        places[key].append(i)
    return [(p[0], p[1] - p[0]) for p in places.values() if len(p) == 2]


def distance_from_uniform(values):
    """Kolmogorov's distance between the values, in 0 .. 1, and the uniform distribution."""
    values = sorted(values)
    n = len(values)
    return max(max(v - i / n, (i + 1) / n - v) for i, v in enumerate(values))


# -- the default: Metwally's stream in its published statistics -----------------------------------


def test_default_statistics(tmp_path):
    truth = tmp_path / "truth.json"
    counts = collections.Counter()
    with subprocess.Popen([SEEN, "generate", "--truth", truth], stdout=subprocess.PIPE) as p:
        for line in p.stdout:
            counts[hash(line)] += 1  # 64 bits: among 4 million ids a collision has odds of 5e-7
            assert len(line) == 65
    assert p.returncode == 0
    assert sum(counts.values()) == 5583301
    assert len(counts) == 4093573
    assert [n for _, n in counts.most_common(3)] == [10781, 4487, 1620]
    truth = json.loads(truth.read_text())
    assert truth["duplicates"] == 1489728
    assert sorted(collections.Counter(counts.values()).items()) == merge(truth["repeats"])
    assert 3 < truth["exponent"] < 3.1


def merge(pairs):
    """[[occurrences, ids] ...] with each number of occurrences once, ascending."""
    table = collections.Counter()
    for occurrences, ids in pairs:
        table[occurrences] += ids
    return sorted(table.items())


# -- totals ----------------------------------------------------------------------------------------

TOTALS = [
    ["-n", 1],
    ["-n", 2, "--duplicates", 1],
    ["-n", 1000, "--distinct", 1],
    ["-n", 1000, "--distinct", 1000],
    ["-n", 1000, "--distinct", 999],
    ["-n", 20000],
    ["-n", 20000, "--duplicates", "25%"],
    ["-n", 20000, "--duplicates", "99.9%"],
    ["-n", 20000, "--distinct", 3, "--top", "none"],
    ["-n", 20000, "--distinct", 6667, "--top", 3],
    ["-n", 20000, "--duplicates", "50%", "--top", "100,5000,100"],
    ["-n", 20000, "--gaps", "loguniform"],
    ["-n", 20000, "--gaps", "burst", "--duplicates", "90%"],
    ["-n", 20000, "--gaps", "burst", "--gap-max", 1, "--duplicates", "60%"],
    ["-n", 20000, "--id-length", 14, "--seed", 2**64 - 1],
]


@pytest.mark.parametrize("args", TOTALS, ids=lambda a: " ".join(map(str, a)))
def test_totals_are_exact(tmp_path, args):
    out, truth = with_truth(tmp_path, *args)
    counts = collections.Counter(out)
    assert len(out) == truth["records"] == args[1]
    assert len(counts) == truth["distinct"]
    assert truth["duplicates"] == truth["records"] - truth["distinct"]
    assert sorted(collections.Counter(counts.values()).items()) == merge(truth["repeats"])
    assert lines(*truth["arguments"].split()) == out


def test_duplicates_are_what_was_asked(tmp_path):
    assert with_truth(tmp_path, "-n", 20000, "--duplicates", "25%")[1]["distinct"] == 15000
    assert with_truth(tmp_path, "-n", 20000, "--duplicates", 77)[1]["distinct"] == 19923


def test_top_counts(tmp_path):
    out = lines("-n", 20000, "--duplicates", "50%", "--top", "100,5000,100")
    assert [n for _, n in collections.Counter(out).most_common(4)][:3] == [5000, 100, 100]
    assert collections.Counter(out).most_common(4)[3][1] < 100


def test_default_top_is_to_scale():
    counts = collections.Counter(lines("-n", 558330)).most_common(2)
    assert [n for _, n in counts] == [1078, 449]


# -- the same bytes for ever ------------------------------------------------------------------------

PINNED = {
    "-n 10000": "3d8f6032fb0823cff438dc0248184a47c7ef05377e38fb45f14cd1f5b4d771e8",
    "-n 10000 --gaps loguniform": "3d5f4b0736406338be0c377201c0ef4328b882c6de9f646a6c8a216bd1e50422",
    "-n 10000 --gaps burst": "424d4c8943ea06217bc078aafc455502503c06336b276813efc6a8af368e696d",
    "-n 10000 --format csv --mark": "781fed2f62579968c7c874ba1f94e7175ecf6750ec04cb5fc4c239f04dc94dd0",
    "-n 10000 --format tsv --time us --rate 100 --id-length 20 --seed 7": "a3b23bbb1bb31cb1361b88e6a4191bd3299367c770b9422b13d65d1ba591f56c",
}


@pytest.mark.parametrize("args", PINNED)
def test_bytes_never_change(args):
    assert hashlib.sha256(stream(*args.split())).hexdigest() == PINNED[args]


def test_seed_makes_another_stream():
    assert lines("-n", 1000, "--seed", 1) == lines("-n", 1000, "--seed", 1)
    assert not set(lines("-n", 1000, "--seed", 1)) & set(lines("-n", 1000, "--seed", 2))


# -- order: statistics with fixed seeds; 1.95/sqrt(n) is Kolmogorov's limit at one in a thousand ----


@pytest.mark.parametrize("seed", range(3))
def test_uniform_gaps(seed):
    n = 100000
    pairs = gaps_of_pairs(lines("-n", n, "--duplicates", "40%", "--top", "none", "--seed", seed))
    cumulated = [2 * g / n - (g / n) ** 2 for _, g in pairs]  # of the density 2(n-g)/n^2
    assert distance_from_uniform(cumulated) < 1.95 / math.sqrt(len(pairs))


@pytest.mark.parametrize("seed", range(3))
def test_uniform_gaps_place_repeats_anywhere(seed):
    n = 100000
    pairs = gaps_of_pairs(lines("-n", n, "--duplicates", "40%", "--top", "none", "--seed", seed))
    cumulated = [1 - (1 - first / n) ** 2 for first, _ in pairs]  # the smaller of two places
    assert distance_from_uniform(cumulated) < 1.95 / math.sqrt(len(pairs))


@pytest.mark.parametrize("seed", range(3))
def test_loguniform_gaps(seed):
    """Every octave has its share; queueing shifts the shortest gaps, so those are left out."""
    n, most = 200000, 4096
    args = ["-n", n, "--duplicates", "10%", "--top", "none", "--seed", seed]
    pairs = gaps_of_pairs(lines(*args, "--gaps", "loguniform", "--gap-max", most))
    octaves = collections.Counter(g.bit_length() - 1 for _, g in pairs)
    share = len(pairs) / 12
    assert max(g for _, g in pairs) < most + 100
    for octave in range(4, 12):
        assert abs(octaves[octave] - share) < 4.5 * math.sqrt(share), octaves


def test_loguniform_gaps_reach_the_end():
    pairs = gaps_of_pairs(lines("-n", 100000, "--gaps", "loguniform"))
    assert max(g for _, g in pairs) > 50000
    late = [first for first, _ in pairs if first > 90000]
    assert 0.05 < len(late) / len(pairs) < 0.15


@pytest.mark.parametrize("seed", range(3))
def test_burst_gaps(seed):
    args = ["-n", 100000, "--duplicates", "5%", "--top", "none", "--seed", seed]
    gaps = [g for _, g in gaps_of_pairs(lines(*args, "--gaps", "burst", "--gap-max", 20))]
    mean = sum(gaps) / len(gaps)
    assert 10.5 - 4 * 5.8 / math.sqrt(len(gaps)) < mean < 11.5  # queueing adds a little
    assert sum(g <= 20 for g in gaps) > 0.95 * len(gaps)


# -- what a record is -------------------------------------------------------------------------------


def test_lines_of_exactly_64_bytes():
    out = stream("-n", 1000, "--id-length", 63)
    assert len(out) == 64000 and all(len(line) == 63 for line in out.splitlines())


@pytest.mark.parametrize("order", ["uniform", "loguniform", "burst"])
def test_mark_tells_the_truth(order):
    met = set()
    for line in lines("-n", 20000, "--gaps", order, "--mark"):
        key, mark = line.split(b"\t")
        assert mark == (b"dup" if key in met else b"new")
        met.add(key)


def test_formats_are_the_same_stream():
    plain = lines("-n", 5000)
    tsv = [line.split(b"\t") for line in lines("-n", 5000, "--format", "tsv")]
    assert tsv[0] == b"time ip cookie publisher ad cost agent".split()
    assert [row[4] + row[2] for row in tsv[1:]] == plain


def test_csv_quotes_fields_with_commas():
    import csv

    rows = list(csv.reader(stream("-n", 5000, "--format", "csv", "--mark").decode().splitlines()))
    assert rows[0] == "time,ip,cookie,publisher,ad,cost,agent,truth".split(",")
    assert {len(row) for row in rows} == {8}
    assert any("," in row[6] for row in rows)


def test_neither_column_alone_is_the_key():
    rows = [line.split(b"\t") for line in lines("-n", 5000, "--format", "tsv")[1:]]
    keys = {(row[2], row[4]) for row in rows}
    assert len({c for c, _ in keys}) < len(keys) and len({a for _, a in keys}) < len(keys)


def test_planted(tmp_path):
    out, truth = with_truth(tmp_path, "-n", 50000, "--format", "tsv")
    rows = [line.decode().split("\t") for line in out[1:]]
    planted = truth["planted"]
    farm = {row[2] for row in rows if row[1] == planted["ip"]}
    assert len(farm) == planted["cookies"] == truth["cookies"] // 1000
    assert len({row[2] for row in rows}) == truth["cookies"]
    top = collections.Counter((row[2], row[4]) for row in rows).most_common(2)
    shown_by = {row[3] for row in rows if (row[2], row[4]) in dict(top)}
    assert shown_by == {planted["publisher"]}
    assert sum(n for _, n in top) == planted["clicks"]


@pytest.mark.parametrize("form,unit", [("s", 1), ("ms", 1000), ("us", 1000000)])
def test_times_rise_at_the_rate(tmp_path, form, unit):
    args = ["-n", 1000, "--time", form, "--rate", 4, "--start", "2000-01-01T00:00:00+01:00"]
    out, truth = with_truth(tmp_path, *args)
    times = [int(line.split(b"\t")[0]) / unit - 946681200 for line in out]
    assert all(int(t * 4 + 1e-6) == i for i, t in enumerate(times)) or form == "s"
    assert times == sorted(times) and 0 <= times[0] and 249 <= times[-1] < 250
    assert truth["last_us"] // (1000000 // unit) == int(out[-1].split(b"\t")[0])


def test_default_stream_takes_a_day():
    times = [line[:27] for line in lines("-n", 1000, "--format", "csv")[1:]]
    assert times == sorted(times)
    assert times[0].startswith(b"2004-08-30T00:0") and times[-1].startswith(b"2004-08-30T23:5")


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_seen_agrees_with_the_mark(form):
    """The whole way round: written here, read by dedup's column reader, judged exactly."""
    log = stream("-n", 30000, "--format", form, "--mark")
    spec = "landmark filter=exact"
    command = [SEEN, f"--{form}", "-k", "cookie,ad", "-w", spec, "--tag", "--quiet"]
    tagged = subprocess.run(command, input=log, capture_output=True, check=True).stdout
    rows = [line.rsplit(b"," if form == "csv" else b"\t", 2)[1:] for line in tagged.splitlines()]
    assert rows[0] == [b"truth", b"seen"] and len(rows) == 30001
    assert all(truth == verdict for truth, verdict in rows[1:])


# -- refusals ---------------------------------------------------------------------------------------

REFUSED = {
    "--recrods 5": "did you mean --records",
    "-n 0": "1 to",
    "-n x": "x",
    "-n": "needs a value",
    "-n 5 --distinct 6": "more distinct",
    "--distinct 5 --duplicates 5": "twice",
    "--duplicates 101%": "100%",
    "--duplicates 100%": "leave none",
    "--duplicates x%": "number",
    "--top 5,,6": "top",
    "--top 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17": "at most 16",
    "-n 5 --top 9": "more often",
    "-n 5 --distinct 2 --top 1": "each at most",
    "-n 5 --distinct 4 --top 3": "fewer records",
    "--gaps zipf": "uniform, loguniform or burst",
    "--gap-max 5": "--gaps",
    "--format xml": "lines, tsv, csv or ndjson",
    "--id-length 13": "14 to 4096",
    "--time noon": "rfc3339",
    "--rate 5": "--time",
    "--rate nan --time s": "number",
    "--rate -1 --time s": "number",
    "--rate 1e-5 --time s": "9999",
    "--start yesterday --time s": "such as",
    "--seed -1": "seed",
    "--truth /nonexistent/truth.json": "No such file",
    "clicks.txt": "clicks.txt",
}


@pytest.mark.parametrize("args", REFUSED)
def test_refusals(args):
    done = generate(*args.split())
    said = done.stderr.decode()
    assert done.returncode == 2 and done.stdout == b""
    assert REFUSED[args] in said and said.count("\n") == 1 and said.startswith("seen: ")


def test_full_disk():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([SEEN, "generate"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr == b"seen: cannot write the stream: No space left on device\n"


def test_closed_pipe_is_quiet():
    command = f"'{SEEN}' generate | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True)
    assert done.stdout.splitlines()[1] == b"141" and done.stderr == b""


def test_memory_is_a_bit_an_id():
    peak = 0  # KiB; 4 bytes a record would be 78,000 more than the program itself
    with subprocess.Popen([SEEN, "generate", "-n", "2e7"], stdout=subprocess.PIPE) as p:
        for chunk in iter(lambda: p.stdout.read(1 << 26), b""):
            status = pathlib.Path(f"/proc/{p.pid}/status").read_text()
            peak = max(peak, *[int(x.split()[1]) for x in status.splitlines() if "VmHWM" in x], 0)
    assert p.returncode == 0 and 0 < peak < 65536


def test_help():
    done = generate("--help")
    assert done.returncode == 0 and b"--truth FILE" in done.stdout and done.stderr == b""
