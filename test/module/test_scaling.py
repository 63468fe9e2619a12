"""doc/scaling.md is true: its recipes run against a cluster, its tables are what the commands print,
and what it says of windows that are spread holds."""

import os
import re
import subprocess

import pytest
from cluster import BATCH, SEEN, Cluster, skip_without_client
from conftest import ROOT

skip_without_client()

TEXT = (ROOT / "doc/scaling.md").read_text()


def blocks(language):
    return re.findall(r"^```%s\n(.*?)^```" % language, TEXT, re.M | re.S)


@pytest.fixture(scope="module")
def cluster(program, tmp_path_factory):
    made = Cluster(program, tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


@pytest.fixture
def recipes(cluster, capsys):
    """What the document's Python defines, at work on this cluster, and what it prints."""
    pytest.importorskip("xxhash", reason="python3-xxhash is not installed: tools/setup.sh module")
    names = {}
    for node in cluster.primaries():
        node.client.flushall()
    for block in blocks("python"):
        exec(block.replace("7000", str(cluster.nodes[0].port)), names)
    names["printed"] = capsys.readouterr().out
    return names


def through_seen(at, *args, text):
    done = subprocess.run([SEEN, "--redis", at, *map(str, args)], input=text, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def make_clicks(cluster):
    through_seen(cluster.url("clicks"), "--shards", 64, "-w", "sliding:24h items=1e6 fp=1e-6", text=b"")


def test_the_python_recipes_share_their_memory_with_the_command_line(cluster, recipes):
    make_clicks(cluster)
    items = [b"id-%d" % i for i in range(500)]
    assert recipes["new_of"](items[:200] + items[:300]) == items[:300]
    assert through_seen(cluster.url("clicks"), "--shards", 64, text=b"\n".join(items[:400])) == b"\n".join(items[300:400])
    assert not recipes["is_new"](items[399]) and recipes["is_new"](items[400])
    assert len({recipes["shard"](item) for item in items}) == 64


def test_what_was_not_delivered_is_not_marked(cluster, recipes):
    make_clicks(cluster)
    delivered = []

    def fail(items):
        raise OSError("the other end is gone")

    with pytest.raises(OSError):
        recipes["deliver_once"]([b"a", b"b"], fail)
    recipes["deliver_once"]([b"a", b"b", b"a"], delivered.extend)
    recipes["deliver_once"]([b"b", b"c"], delivered.extend)
    assert delivered == [b"a", b"b", b"c"]


def test_keys_of_several_fields_are_lengths_and_bytes(cluster, recipes):
    make_clicks(cluster)
    through_seen(cluster.url("clicks"), "--shards", 64, "-k", "1,3", text=b"ab\tx\tc\n")
    assert not recipes["is_new"](b"\x02ab\x01c") and recipes["is_new"](b"\x01a\x02bc")


def test_the_shell_recipe_adds_up_the_records(cluster, recipes):
    make_clicks(cluster)
    recipes["new_of"]([b"%d" % i for i in range(1000)])
    command = blocks("sh")[0].replace("7000", str(cluster.nodes[0].port)).replace("redis-cli", cluster.cli)
    assert subprocess.check_output(["bash", "-c", command], text=True) == "1000\n"


def test_the_table_of_the_fullest_primary_is_what_the_recipe_prints(recipes):
    assert recipes["printed"] == blocks("text")[0]


def test_the_sizes_are_what_seen_plan_prints(tmp_path):
    env = dict(os.environ, PATH=os.path.dirname(SEEN) + os.pathsep + os.environ["PATH"])
    command, shown = blocks("console")[0].split("\n", 1)
    assert subprocess.check_output(["bash", "-c", command[2:]], env=env, text=True) == shown


def test_what_can_be_under_way_is_a_batch():
    assert "a batch, {:,} records".format(BATCH) in TEXT


def test_a_shard_gets_its_share_of_the_keys_and_four_roots_more(cluster):
    make_clicks(cluster)
    spec = cluster.owner("clicks:{0}").client.execute_command("SEEN.INFO", "clicks:{0}")
    spec = dict(zip(spec[::2], spec[1::2]))[b"spec"].decode()
    assert "items=16125 " in spec, "15,625, and 4 times its root"


# -- windows of records, spread -----------------------------------------------------------------------


def found_at(server, name, shards, window, gap, probes):
    """The part of repeats at that distance that is found."""
    firsts = range(window, window + 8 * probes, 8)
    assert gap > 8 * probes, "no record is both first and repeat"
    records = [b"%s-%d" % (name.encode(), i) for i in range(firsts.stop + gap)]
    for first in firsts:
        records[first + gap] = records[first]
    out = through_seen("redis://127.0.0.1:%d/%s" % (server.port, name), "--shards", shards, "--tag",
                       "-w", "sliding:%d filter=exact" % window, text=b"\n".join(records) + b"\n").splitlines()
    return sum(out[first + gap].startswith(b"dup") for first in firsts) / probes


def test_a_window_of_records_over_shards_is_approximate_as_the_formula_says(start):
    server, window, shards = start(), 20000, 16
    spread = 4 * (shards / window) ** 0.5
    assert 0.1 < spread < 0.2
    near, at, far = (found_at(server, name, shards, window, int(gap), 1500) for name, gap in
                     [("near", window * (1 - spread)), ("at", window), ("far", window * (1 + spread))])
    assert near > 0.998 and far < 0.002
    assert 0.3 < at < 0.7


def test_a_window_of_time_over_shards_is_as_exact_as_on_one(start):
    server = start()
    table = b"".join(b"key-%d\t%d.%03d\n" % (i % 3000, 1_700_000_000 + i // 2, i % 2 * 500) for i in range(20000))
    args = ["-w", "sliding:1500s filter=exact", "-k", 1, "--time", 2, "--tag"]
    alone = subprocess.check_output([SEEN, *map(str, args)], input=table)
    assert through_seen("redis://127.0.0.1:%d/t" % server.port, "--shards", 16, *args, text=table) == alone
    assert alone.count(b"new\t") == 20000, "a key comes again after 1500 s exactly: outside"
    args[1] = "sliding:1501s filter=exact"
    alone = subprocess.check_output([SEEN, *map(str, args)], input=table)
    assert through_seen("redis://127.0.0.1:%d/u" % server.port, "--shards", 16, *args, text=table) == alone
    assert alone.count(b"new\t") == 3000
