"""BF.*: the replies and errors that clients of RedisBloom know, through redis-py and by hand."""

import random
import socket

import pytest

from conftest import contents
from test_commands import do
from test_persistence import load


def test_redis_py_works_unchanged(r):
    bf = r.bf()
    assert bf.create("bloom", 0.01, 1000)
    assert bf.create("bloom_e", 0.01, 1000, expansion=1)
    assert bf.create("bloom_ns", 0.01, 1000, noScale=True)
    assert bf.add("bloom", "foo") == 1
    assert bf.add("bloom", "foo") == 0
    assert bf.madd("bloom", "foo", "bar", "bar") == [0, 1, 0]
    assert bf.exists("bloom", "foo") == 1
    assert bf.exists("bloom", "noexist") == 0
    assert bf.mexists("bloom", "foo", "noexist") == [1, 0]
    assert bf.insert("captest", ["foo"], capacity=10) == [1]
    assert bf.insert("errtest", ["foo"], error=0.01) == [1]
    info = bf.info("bloom")
    assert (info.insertedNum, info.filterNum, info.expansionRate) == (2, 1, 2)
    assert info.capacity == 1000
    assert bf.info("bloom_ns").expansionRate is None
    assert bf.info("bloom_e").expansionRate == 1


def test_items_are_found_and_strangers_are_not(r):
    r.bf().create("b", 0.001, 2000)
    items = ["i%d" % i for i in range(2000)]
    fresh = r.bf().madd("b", *items)
    assert sum(fresh) >= 1990
    assert r.bf().mexists("b", *items) == [1] * 2000
    false = sum(r.bf().mexists("b", *("x%d" % i for i in range(20000))))
    assert false <= 20 + 3 * 20 ** 0.5
    assert r.execute_command("BF.CARD", "b") == sum(fresh)


def test_a_scaling_filter_grows_and_keeps_its_rate(r):
    r.bf().create("b", 0.01, 100, expansion=2)
    fresh = 0
    for i in range(0, 20000, 500):
        fresh += sum(r.bf().madd("b", *("i%d" % j for j in range(i, i + 500))))
    info = r.bf().info("b")
    assert info.insertedNum == fresh
    assert info.filterNum == 8 and info.capacity == 100 * (2 ** 8 - 1)
    assert r.bf().mexists("b", *("i%d" % i for i in range(20000))) == [1] * 20000
    false = sum(r.bf().mexists("b", *("x%d" % i for i in range(20000))))
    assert false <= 200 + 3 * 200 ** 0.5


def test_links_never_run_out(r):
    r.bf().create("b", 0.01, 1, expansion=1)
    fresh = sum(r.bf().madd("b", *("i%d" % i for i in range(3000))))
    assert r.bf().info("b").insertedNum == fresh
    assert r.bf().info("b").filterNum < 40


def test_a_full_filter_that_does_not_scale_says_so(r, refused, written):
    r.bf().create("b", 0.01, 10, noScale=True)
    assert sum(r.bf().madd("b", *range(10))) == 10
    written()
    refused(lambda: r.bf().add("b", "one more"), "non scaling filter is full")
    reply = r.execute_command("BF.MADD", "b", "0", "new", "1")
    assert reply[0] == 0 and len(reply) == 2 and "non scaling filter is full" in str(reply[1])
    assert r.bf().add("b", "0") == 0
    assert written() == 0


def test_items_before_the_filter_is_full_are_replicated(r, written):
    r.bf().create("b", 0.01, 3, noScale=True)
    written()
    reply = r.execute_command("BF.MADD", "b", *range(5))
    assert reply[:3] == [1, 1, 1] and len(reply) == 4
    assert written() == 1


def test_what_changes_nothing_is_not_replicated(r, written):
    r.bf().madd("b", "a", "b")
    written()
    assert r.bf().madd("b", "a", "b") == [0, 0]
    assert r.bf().add("b", "a") == 0
    r.bf().exists("b", "a")
    r.bf().info("b")
    assert written() == 0
    r.bf().add("b", "c")
    assert written() == 1


@pytest.mark.parametrize("line, reply", [
    ("BF.RESERVE b x 100", "ERR bad error rate"),
    ("BF.RESERVE b 0 100", "ERR error rate must be in the range (0.000000, 1.000000)"),
    ("BF.RESERVE b 1 100", "ERR error rate must be in the range (0.000000, 1.000000)"),
    ("BF.RESERVE b nan 100", "ERR"),
    ("BF.RESERVE b 0.01 x", "ERR bad capacity"),
    ("BF.RESERVE b 0.01 0", "ERR capacity must be in the range [1, 1073741824]"),
    ("BF.RESERVE b 0.01 -1", "ERR capacity must be in the range [1, 1073741824]"),
    ("BF.RESERVE b 0.01 1073741825", "ERR capacity must be in the range [1, 1073741824]"),
    ("BF.RESERVE b 0.01 100 EXPANSION", "ERR no expansion"),
    ("BF.RESERVE b 0.01 100 EXPANSION x", "ERR bad expansion"),
    ("BF.RESERVE b 0.01 100 EXPANSION -1", "ERR expansion must be in the range [0, 32768]"),
    ("BF.RESERVE b 0.01 100 EXPANSION 32769", "ERR expansion must be in the range [0, 32768]"),
    ("BF.RESERVE b 0.01 100 NONSCALING EXPANSION 2", "Nonscaling filters cannot expand"),
    ("BF.RESERVE there 0.01 100", "ERR item exists"),
    ("BF.RESERVE b 1e-9 1073741824", "ERR Insufficient memory to create filter"),
    ("BF.RESERVE b 0.01", "ERR wrong number of arguments"),
    ("BF.RESERVE b 0.01 100 1 2 3 4 5 6", "ERR wrong number of arguments"),
    ("BF.ADD b", "ERR wrong number of arguments"),
    ("BF.ADD b x y", "ERR wrong number of arguments"),
    ("BF.MADD b", "ERR wrong number of arguments"),
    ("BF.EXISTS b", "ERR wrong number of arguments"),
    ("BF.MEXISTS b", "ERR wrong number of arguments"),
    ("BF.INSERT b", "ERR wrong number of arguments"),
    ("BF.INSERT b ITEMS", "ERR wrong number of arguments"),
    ("BF.INSERT b CAPACITY 10 ITEMS", "ERR wrong number of arguments"),
    ("BF.INSERT b CAPACITY 10", "ERR wrong number of arguments"),
    ("BF.INSERT b CAPACITY x ITEMS a", "Bad capacity"),
    ("BF.INSERT b ERROR 2 ITEMS a", "Bad error rate"),
    ("BF.INSERT b EXPANSION x ITEMS a", "Bad expansion"),
    ("BF.INSERT b NOCREATE ITEMS a", "ERR not found"),
    ("BF.INSERT b FOO ITEMS a", "Unknown argument received"),
    ("BF.INFO b", "ERR not found"),
    ("BF.INFO there foo", "Invalid information value"),
    ("BF.INFO", "ERR wrong number of arguments"),
    ("BF.CARD", "ERR wrong number of arguments"),
    ("BF.SCANDUMP b 0", "ERR not found"),
    ("BF.SCANDUMP there x", "Second argument must be numeric"),
    ("BF.SCANDUMP there", "ERR wrong number of arguments"),
    ("BF.LOADCHUNK b x data", "ERR Second argument must be numeric"),
    ("BF.LOADCHUNK b 0 data", "ERR received bad data"),
    ("BF.LOADCHUNK b 1", "ERR wrong number of arguments"),
])
def test_errors_are_those_documented(pair, r, line, reply):
    do(r, "BF.ADD there a")
    with socket.create_connection(("127.0.0.1", pair[0].port)) as s:
        s.sendall(line.encode() + b"\r\n")
        answer = s.makefile("rb").readline().decode().rstrip()
    assert answer.startswith("-" + reply), answer
    assert r.exists("b") == 0


def test_single_values_of_info(pair, r):
    do(r, "BF.RESERVE b 0.01 100")
    size = r.bf().info("b").size
    r = type(r)(port=pair[0].port)  # one whose replies redis-py does not make objects of
    assert do(r, "BF.INFO b CAPACITY") == [100]
    assert do(r, "BF.INFO b items") == [0]
    assert do(r, "BF.INFO b FILTERS") == [1]
    assert do(r, "BF.INFO b EXPANSION") == [2]
    assert do(r, "BF.INFO b SIZE") == [size]


def test_keys_that_are_not_there(r):
    assert do(r, "BF.EXISTS none a") == 0
    assert do(r, "BF.MEXISTS none a b") == [0, 0]
    assert do(r, "BF.CARD none") == 0


def test_seen_and_bf_keep_to_their_own(r, refused):
    do(r, "BF.ADD b a")
    do(r, "SEEN.ADD s a")
    for line in ("SEEN.ADD b a", "SEEN.CHECK b a", "SEEN.INFO b", "BF.ADD s a", "BF.EXISTS s a",
                 "BF.INFO s", "BF.RESERVE s 0.1 10", "BF.CARD s", "SEEN.MERGE s b"):
        refused(lambda: do(r, line), "wrong kind of value")


def test_resp3_has_booleans_maps_and_null(pair, r):
    do(r, "BF.RESERVE b 0.01 100 NONSCALING")
    with socket.create_connection(("127.0.0.1", pair[0].port)) as s:
        f = s.makefile("rb")

        def ask(line, lines):
            s.sendall(line + b"\r\n")
            return [f.readline() for _ in range(lines)]

        hello = int(ask(b"HELLO 3", 1)[0][1:])
        s.sendall(b"ECHO end-of-hello\r\n")
        while f.readline() != b"end-of-hello\r\n":
            assert hello
        assert ask(b"BF.ADD b x", 1) == [b"#t\r\n"]
        assert ask(b"BF.EXISTS b x", 1) == [b"#t\r\n"]
        assert ask(b"BF.MEXISTS b x y", 3) == [b"*2\r\n", b"#t\r\n", b"#f\r\n"]
        assert ask(b"BF.INFO b EXPANSION", 3) == [b"%1\r\n", b"+Expansion rate\r\n", b"_\r\n"]
        assert ask(b"BF.INFO b", 1) == [b"%5\r\n"]


def test_dumped_and_loaded_as_redis_py_documents_it(r):
    r.bf().create("b", 0.001, 1000)
    for i in range(0, 40000, 1000):
        r.bf().madd("b", *range(i, i + 1000))
    pairs, cursor = [], 0
    while True:
        cursor, data = r.bf().scandump("b", cursor)
        if cursor == 0:
            assert not data
            break
        pairs.append((cursor, data))
    assert len(pairs) > 1
    for cursor, data in pairs:
        assert r.bf().loadchunk("new", cursor, data) in (True, b"OK")
    assert contents(r)[b"new"] == contents(r)[b"b"]
    assert r.bf().info("new").insertedNum == r.bf().info("b").insertedNum


@pytest.mark.parametrize("how", ["rdb", "aof"])
def test_chains_survive_a_restart(start, how):
    server = start(*(["--appendonly", "yes", "--aof-use-rdb-preamble", "no"] if how == "aof" else
                     ["--save", "3600 1"]))
    r = server.client
    r.bf().create("b", 0.01, 10)
    r.bf().madd("b", *range(1000))
    if how == "rdb":
        r.save()
    else:
        r.bgrewriteaof()
        server.wait(lambda: not r.info("persistence")["aof_rewrite_in_progress"] and
                    not r.info("persistence")["aof_rewrite_scheduled"], 60)
    before, info = contents(r), r.bf().info("b").__dict__
    r = server.restart("kill")
    assert contents(r) == before
    assert r.bf().info("b").__dict__ == info
    assert r.bf().madd("b", *range(1000)) == [0] * 1000


def test_copy_and_restore(r):
    r.bf().create("b", 0.01, 10)
    r.bf().madd("b", *range(1000))
    r.copy("b", "twin")
    r.restore("other", 0, r.dump("b"))
    assert r.bf().mexists("twin", *range(1000)) == [1] * 1000
    assert len(set(contents(r).values())) == 1


def test_bf_no_leaves_the_names_alone(start, refused):
    r = start(module=["bf", "no"]).client
    refused(lambda: do(r, "BF.ADD b a"), "unknown command")
    assert do(r, "SEEN.ADD k a") == 1


def scanned(r, key, between=lambda: None):
    cursor, pairs = 0, []
    while True:
        cursor, data = r.bf().scandump(key, cursor)
        if not cursor:
            return pairs
        pairs.append((cursor, data))
        between()


def test_a_dump_goes_on_while_items_are_added(r):
    r.bf().create("b", 0.001, 100000)
    r.bf().madd("b", *range(1000))
    later = iter(range(10**6, 2 * 10**6))
    pairs = scanned(r, "b", lambda: r.bf().madd("b", *(next(later) for _ in range(60_000))))
    assert len(pairs) > 1
    for cursor, data in pairs:
        assert r.bf().loadchunk("new", cursor, data) in (True, b"OK")
    assert r.bf().mexists("new", *range(1000)) == [1] * 1000
    assert sum(r.bf().mexists("new", *range(5 * 10**6, 5 * 10**6 + 2000))) < 20


def test_two_dumps_of_a_filter_do_not_disturb_each_other(r):
    r.bf().create("b", 0.001, 200000)
    r.bf().madd("b", *range(5000))
    inner = []
    outer = scanned(r, "b", lambda: inner or inner.append(scanned(r, "b")))
    assert len(outer) > 1
    for name, pairs in (("x", outer), ("y", inner[0])):
        for cursor, data in pairs:
            r.bf().loadchunk(name, cursor, data)
    assert contents(r)[b"x"] == contents(r)[b"y"] == contents(r)[b"b"]


def test_an_iterator_that_is_not_known_ends_a_scan(r):
    do(r, "BF.ADD b a")
    assert r.execute_command("BF.SCANDUMP", "b", 12345) == (0, b"") or \
        list(r.execute_command("BF.SCANDUMP", "b", 12345)) == [0, b""]


def test_debug_tells_the_parts(r):
    r.bf().create("b", 0.01, 10)
    r.bf().madd("b", *range(25))
    lines = r.execute_command("BF.DEBUG", "b")
    assert lines[0] == b"size:%d" % r.bf().info("b").insertedNum
    assert len(lines) == 1 + r.bf().info("b").filterNum
    assert b"capacity:10 size:10 ratio:0.005" in lines[1]


def test_a_limit_of_bytes_is_named(start, refused):
    server = start(module=["max-bytes", "64kb"])
    r = server.client
    refused(lambda: r.bf().create("b", 0.001, 1000000), "Insufficient memory to create filter",
            "seen.max-bytes, which is 65536", "CONFIG SET")
    r.bf().create("g", 0.01, 1000, expansion=4)
    reply = r.execute_command("BF.MADD", "g", *range(100_000))
    assert "problem inserting into filter: to grow, this would take more than seen.max-bytes" in str(reply[-1])
    assert r.bf().exists("g", 0) == 1
    for i in range(3):
        reply = r.execute_command("BF.MADD", "g", *("more %d" % j for j in range(1000 * i, 1000 * i + 1000)))
        assert "seen.max-bytes" in str(reply[-1])
    log = server.log.read_text(errors="replace")
    assert log.count("key 'g': problem inserting") == 1 and log.count("key 'b': Insufficient memory") == 1


# -- small parts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("items, most", [(1, 430), (10, 430), (100, 500)])
def test_many_small_filters_take_little_memory(start, items, most):
    r = start().client
    before, filters = r.info("memory")["used_memory"], 4000
    with r.pipeline(transaction=False) as p:
        for i in range(filters):
            p.execute_command("BF.MADD", "filter:%d" % i, *range(items))
        p.execute()
    each = (r.info("memory")["used_memory"] - before) / filters
    assert each <= most
    assert r.memory_usage("filter:7") <= each


def test_small_filters_keep_to_their_rate_and_miss_nothing(r):
    false = 0
    for i in range(40):
        r.bf().madd("b%d" % i, *range(100))
        r.bf().madd("b%d" % i, *range(100, 300))
        assert r.bf().mexists("b%d" % i, *range(300)) == [1] * 300
        false += sum(r.bf().mexists("b%d" % i, *range(10_000, 11_000)))
    assert false <= 400 + 3 * 400 ** 0.5


def test_a_damaged_small_part_is_refused(r):
    r.bf().madd("b", *range(20))
    (cursor, data), = scanned(r, "b")
    assert r.bf().loadchunk("same", cursor, data) in (True, b"OK")
    for at in range(len(data)):
        for bit in (1, 128):
            wrong = data[:at] + bytes([data[at] ^ bit]) + data[at + 1:]
            with pytest.raises(Exception):
                r.bf().loadchunk("wrong", cursor, wrong)
            assert not r.exists("wrong")
    assert contents(r)[b"same"] == contents(r)[b"b"]


@pytest.mark.parametrize("error, capacity", [(0.01, 1), (0.3, 256), (1e-6, 200), (1e-9, 7), (0.001, 257)])
def test_parts_of_any_size_survive_a_copy_and_a_dump(r, error, capacity):
    r.bf().create("b", error, capacity)
    for i in range(0, 4 * capacity, 50):
        r.bf().madd("b", *range(i, i + 50))
    do(r, "COPY b c")
    r.restore("d", 0, r.dump("b"))
    r.bf().madd("b", *range(10**6, 10**6 + capacity))
    r.bf().madd("d", *range(10**6, 10**6 + capacity))
    assert contents(r)[b"b"] == contents(r)[b"d"] != contents(r)[b"c"]
    assert r.bf().mexists("c", *range(4 * capacity)) == [1] * (4 * capacity)
