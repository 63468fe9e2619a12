"""The real streams: exact counts, and approximate ones inside the interval that was predicted; memory
that does not grow."""

import json
import random
import subprocess
import sys

import pytest

from conftest import SEEN
from drawn import SEED

STREAMS = [
    ("talkingdata_train_sample.csv", ["--csv", "-k", "ip,app,channel"], 100_000, 90_156),
    ("talkingdata_train_sample.csv", ["--csv", "-k", "ip,app"], 100_000, 76_286),
    ("talkingdata_train_sample.csv", ["--csv", "-k", "ip"], 100_000, 34_857),
    ("talkingdata_train_sample.csv", ["--csv", "-k", "1-5"], 100_000, 97_918),
    ("cran_2014w51_arrival.tsv", ["--tsv", "-k", "client,package,version"], 1_345_192, 1_069_748),
    ("hn_polls_2020-11_2021-06.tsv", ["--tsv", "-k", "url"], 298_890, 21_339),
    ("email-Eu.tsv", ["-k", "2"], 234_760, 25_027),
    ("contact-high-school.tsv", ["-k", "2"], 172_035, 7_818),
    ("CollegeMsg.txt", ["-d", " ", "-k", "1,2"], 59_835, 20_296),
]


@pytest.mark.parametrize("name,args,records,unique", STREAMS)
def test_exact_counts(seen, stream, name, args, records, unique):
    done = seen("-w", "landmark filter=exact", *args, "--stats=json", stream(name))
    header = 0 if name[0] in "eC" or name.startswith("contact") else 1
    assert (done.stats["records"], done.stats["unique"]) == (records, unique)
    assert done.out.count(b"\n") == unique + header


@pytest.mark.parametrize("fp", ["1e-6", "1e-3"])
@pytest.mark.parametrize("name,args,records,unique", STREAMS)
def test_predicted_false_duplicates(seen, stream, name, args, records, unique, fp):
    """With a fixed seed the result is fixed too; it was the first seed tried."""
    spec = "landmark seed=1 fp=%s items=%d" % (fp, unique)
    stats = seen("-w", spec, *args, "--stats=json", stream(name)).stats
    low, high = stats["expected_false_duplicates_95"]
    assert low <= unique - stats["unique"] <= high, stats


def test_a_shuffled_log_is_late_but_complete(seen, stream):
    done = seen("-w", "sliding:1h filter=exact", "--tsv", "--time", "#epoch", "-k",
                "client,package,version", "--stats=json", stream("cran_2014w51_arrival.tsv"))
    assert done.stats["late_most_us"] == 3599 * 1000000
    assert 0.94 < done.stats["late"] / done.stats["records"] < 0.96
    assert done.stats["unparseable"] == 0


def test_polls_of_a_front_page_against_a_dictionary(seen, stream):
    path = stream("hn_polls_2020-11_2021-06.tsv")
    last, unique = {}, 0
    for line in path.read_text().splitlines()[1:]:
        epoch, _, url = line.split("\t")
        epoch = int(epoch)
        unique += url not in last or epoch - last[url] >= 86400
        last[url] = epoch
    args = ["--tsv", "-k", "url", "--time", "#epoch", "--stats=json", path]
    assert seen("-w", "sliding:24h filter=exact", *args).stats["unique"] == unique


NO_FALSE_NEGATIVES = (
    ["landmark filter=" + name for name in ("bloom", "partitioned", "blocked", "counting", "substrings", "exact")] +
    ["jumping:5000/7 filter=" + name for name in
     ("bloom", "blocked", "counting combine=or", "counting combine=subtract", "substrings", "exact")] +
    ["sliding:5000 filter=" + name for name in
     ("line", "line refresh=first", "timing", "timed-cuckoo", "timed-cuckoo packed=1", "counting", "age-partitioned", "exact")])


@pytest.mark.parametrize("name,args,records,unique", [STREAMS[1], STREAMS[4], STREAMS[5], STREAMS[6], STREAMS[8]])
def test_none_that_promises_so_misses_a_duplicate(seen, stream, name, args, records, unique):
    """Every structure without false negatives, small and crowded, against the truth of its window."""
    specs = [spec + (" fp=.02" if "exact" not in spec else "") for spec in NO_FALSE_NEGATIVES]
    specs = [spec + (" items=%d" % unique if spec.startswith("landmark") else "") for spec in specs]
    asked = [word for spec in specs for word in ("-w", spec)]
    for spec in json.loads(seen("compare", "-o", "json", *asked, *args, stream(name)).out)["specs"]:
        assert spec["fn"] == 0, spec
        assert spec["duplicates"] > 1000


# -- memory --------------------------------------------------------------------------------------------


def peak_of(megabytes, *args):
    """Peak memory, in MiB, of a run over that many megabytes of short random lines."""
    rng = random.Random(SEED)
    measure = subprocess.Popen([sys.executable, "-c", MEASURE, SEEN, *args], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    for _ in range(megabytes):
        measure.stdin.write(rng.randbytes(1 << 20))
    out, _ = measure.communicate()
    assert measure.returncode == 0
    return int(out) / 1024


MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""

SPECS = ["landmark fp=1e-6 mem=8MiB", "jumping:100000/8 fp=1e-6", "sliding:10000 filter=exact"]


@pytest.mark.parametrize("spec", SPECS)
def test_memory_does_not_grow(spec):
    small, large = (peak_of(n, "-q", "-w", spec) for n in (16, 256))
    assert large < small + 2


@pytest.mark.long
@pytest.mark.parametrize("spec", SPECS)
def test_memory_does_not_grow_over_10_gib(spec):
    small, large = (peak_of(n, "-q", "-w", spec) for n in (16, 10240))
    assert large < small + 2
