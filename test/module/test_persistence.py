"""What a filter survives: restarts, copies, dumps, migrations, a replica that comes late."""

import pytest

from conftest import SANITIZED, VALGRIND, contents, settle
from library import Library
from test_commands import do, info

SPECS = [
    "landmark fp=1e-3 items=2000", "landmark:1000 filter=bloom", "landmark:1d filter=partitioned",
    "landmark filter=counting mem=64KiB", "jumping:500/8 fp=1e-3", "jumping:1h/12 items=20000",
    "sliding:700 fp=1e-4", "sliding:1h fp=1e-3 mem=64KiB", "sliding:500 filter=exact",
    "sliding:1h filter=timing items=500", "sliding:500 filter=timed-cuckoo",
    "sliding:400 filter=counting", "decaying mem=32KiB", "decaying filter=stable mem=32KiB",
    "landmark shards=4 mem=64KiB", "sliding:500 cache=100", "landmark hash=int filter=exact",
    "landmark fp=1e-6 mem=1MiB",
]


def fill(r, key, n=900):
    """Adds keys, some of them twice; they are decimal integers, which every hash takes."""
    items = [str(i * 7919 % (n * 3 // 4)) for i in range(n)]
    for i in range(0, n, 300):
        r.execute_command("SEEN.MADD", key, *items[i:i + 300])


def fill_all(r):
    for i, spec in enumerate(SPECS):
        do(r, "SEEN.CREATE k%d %s seed=1" % (i, spec))
        fill(r, "k%d" % i)


def dump(r, key, command="SEEN.DUMP"):
    """The pairs (cursor, chunk), whose chunks are one snapshot."""
    pairs, cursor = [], 0
    while True:
        cursor, chunk = r.execute_command(command, key, cursor)
        pairs.append((cursor, chunk))
        if cursor == 0:
            return pairs


def load(r, key, pairs):
    for cursor, chunk in pairs:
        assert r.execute_command("SEEN.LOAD", key, cursor, chunk) == b"OK"


# -- restarts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["rdb", "aof", "aof-rewritten", "aof-preamble"])
def test_every_structure_survives_a_restart(start, how):
    options = {"rdb": ["--save", "3600 1"],
               "aof": ["--appendonly", "yes", "--aof-use-rdb-preamble", "no", "--appendfsync", "always"],
               "aof-rewritten": ["--appendonly", "yes", "--aof-use-rdb-preamble", "no",
                                 "--appendfsync", "always"],
               "aof-preamble": ["--appendonly", "yes", "--appendfsync", "always"]}[how]
    server = start(*options)
    r = server.client
    fill_all(r)
    if how in ("aof-rewritten", "aof-preamble"):
        r.bgrewriteaof()
        server.wait(lambda: not r.info("persistence")["aof_rewrite_in_progress"] and
                    not r.info("persistence")["aof_rewrite_scheduled"], 60)
        assert r.info("persistence")["aof_last_bgrewrite_status"] == "ok"
        do(r, "SEEN.ADD k0 after")
    if how == "rdb":
        r.save()
    before = contents(r)
    r = server.restart("kill")
    assert contents(r) == before
    assert len(before) == len(SPECS)
    assert do(r, "SEEN.ADD k0 0") == 0


def test_dump_and_restore_are_the_identity(r):
    fill_all(r)
    before = contents(r)
    for key in before:
        payload = r.dump(key)
        r.delete(key)
        r.restore(key, 0, payload)
    assert contents(r) == before


def test_a_copy_answers_alike_and_lives_alone(r):
    for i, spec in enumerate(SPECS):
        key, twin = "k%d" % i, "twin%d" % i
        do(r, "SEEN.CREATE", key, *spec.split(), "seed=1")  # at which the item below is new
        fill(r, key)
        assert r.copy(key, twin)
        assert r.execute_command("DEBUG", "DIGEST-VALUE", key, twin)[0] == \
            r.execute_command("DEBUG", "DIGEST-VALUE", twin)[0]
        assert r.execute_command("SEEN.ADD", twin, "123456") == 1
        assert r.execute_command("SEEN.CHECK", key, "123456") == 0


def test_a_replica_that_comes_late_holds_the_same(start):
    primary = start()
    fill_all(primary.client)
    replica = start("--replicaof", "127.0.0.1 %d" % primary.port)
    replica.wait(lambda: replica.client.info("replication")["master_link_status"] == "up")
    settle(primary, replica)
    assert contents(replica.client) == contents(primary.client)
    fill_all_again = [primary.client.execute_command("SEEN.ADD", "k%d" % i, "77777")
                      for i in range(len(SPECS))]
    assert all(fill_all_again)
    settle(primary, replica)
    assert contents(replica.client) == contents(primary.client)


# -- SEEN.DUMP and SEEN.LOAD ------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_a_dump_is_a_snapshot_of_the_library(r, spec):
    do(r, "SEEN.CREATE", "k", *spec.split())
    fill(r, "k")
    snapshot = b"".join(chunk for _, chunk in dump(r, "k"))
    library = Library()
    detector = library.load(snapshot)
    assert library.save(detector) == snapshot
    library.so.seen_free(detector)


def test_what_is_dumped_is_loaded(r):
    fill_all(r)
    for i in range(len(SPECS)):
        load(r, "new%d" % i, dump(r, "k%d" % i))
        digests = [r.execute_command("DEBUG", "DIGEST-VALUE", name % i)[0]
                   for name in ("k%d", "new%d")]
        assert digests[0] == digests[1]


def test_a_snapshot_of_the_library_is_loaded_whatever_its_blob(r):
    do(r, "SEEN.CREATE k landmark fp=1e-6 items=1000")
    library = Library()
    detector = library.load(b"".join(chunk for _, chunk in dump(r, "k")))
    assert library.observe(detector, b"a", b"b", b"a") == [1, 1, 0]
    snapshot = library.save(detector, blob=b"where the reader stood" * 10000)
    r.execute_command("SEEN.LOAD", "from", 0, snapshot)
    assert r.execute_command("SEEN.MCHECK", "from", "a", "b", "c") == [1, 1, 0]


def test_large_filters_go_in_chunks(r):
    do(r, "SEEN.CREATE k landmark fp=1e-6 mem=3MiB")
    fill(r, "k")
    pairs = dump(r, "k")
    assert 24 <= len(pairs) <= 30  # the control sample goes in small pieces
    assert max(len(chunk) for _, chunk in pairs) == 128 << 10
    load(r, "new", pairs)
    assert info(r, "new")["stored"] == info(r, "k")["stored"]


@pytest.mark.parametrize("spec", ["landmark filter=exact", "sliding:1h filter=exact",
                                  "decaying filter=lru mem=1MiB", "decaying filter=clock mem=1MiB"])
def test_keys_that_are_found_a_place_each_go_in_small_chunks(r, spec):
    do(r, "SEEN.CREATE k", spec)
    do(r, "SEEN.MADD k", *range(10_000))
    pairs = dump(r, "k")
    # What stands before the keys is none: the control sample, and a clock's flags, a byte a key.
    chunks = [len(chunk) for _, chunk in pairs[2 if "decaying" in spec else 0:]]
    assert max(chunks) < 10 << 10
    assert len(pairs) > 30
    load(r, "new", pairs)
    assert r.execute_command("SEEN.MCHECK", "new", *range(9_990, 10_010)) == [1] * 10 + [0] * 10


def test_a_dump_overtaken_by_a_change_says_so(r, refused):
    do(r, "SEEN.CREATE k landmark fp=1e-6 mem=1MiB")
    cursor, _ = do(r, "SEEN.DUMP k 0")
    do(r, "SEEN.ADD k a")
    refused(lambda: do(r, "SEEN.DUMP k", cursor), "begin again")
    other, _ = do(r, "SEEN.DUMP k 0")
    mine, _ = do(r, "SEEN.DUMP k 0")
    assert do(r, "SEEN.DUMP k", other)[0] > other
    assert do(r, "SEEN.DUMP k", mine)[0] > mine
    refused(lambda: do(r, "SEEN.DUMP k", other), "begin again")
    refused(lambda: do(r, "SEEN.DUMP k 7"), "begin again")
    refused(lambda: do(r, "SEEN.DUMP k -1"), "cursor")
    refused(lambda: do(r, "SEEN.DUMP k x"), "cursor")
    refused(lambda: do(r, "SEEN.DUMP none 0"), "no such key")


def test_many_dumps_given_up_cost_nothing_lasting(r):
    for i in range(40):
        do(r, "SEEN.CREATE k%d landmark fp=1e-6 mem=1MiB" % i)
        do(r, "SEEN.DUMP k%d 0" % i)
    cursor, _ = do(r, "SEEN.DUMP k0 0")
    assert do(r, "SEEN.DUMP k0", cursor)[0]
    r.flushall()


def test_replicas_dump_too(r, replica):
    do(r, "SEEN.CREATE k landmark fp=1e-6 mem=1MiB")
    fill(r, "k")
    assert [c for _, c in dump(r, "k")] == [c for _, c in dump(replica, "k")]


# -- a load under way -------------------------------------------------------------------------------


@pytest.fixture
def half(r):
    """A filter, its chunks, and the first half of them loaded at `new`."""
    do(r, "SEEN.CREATE k landmark fp=1e-6 mem=1MiB")
    fill(r, "k")
    pairs = dump(r, "k")
    load(r, "new", pairs[:4])
    return pairs


def test_a_filter_half_loaded_answers_nothing(r, half, refused):
    for line in ("SEEN.ADD new a", "SEEN.MADD new a", "SEEN.CHECK new a", "SEEN.INFO new",
                 "SEEN.AGE new a", "SEEN.CLEAR new", "SEEN.FORGET new a", "SEEN.MERGE new k",
                 "SEEN.MERGE k new", "SEEN.DUMP new 0"):
        refused(lambda: do(r, line), "still being loaded")
    refused(lambda: r.execute_command("COPY", "new", "other"), "")
    assert r.memory_usage("new") > 2 << 17
    load(r, "new", half[4:])
    assert do(r, "SEEN.CHECK new 0") == 1


def test_a_chunk_out_of_order_is_refused_and_changes_nothing(r, half, refused, written):
    written()
    refused(lambda: load(r, "new", half[5:6]), "does not follow")
    refused(lambda: load(r, "new", half[3:4]), "does not follow")
    refused(lambda: load(r, "other", half[5:6]), "does not follow")
    assert r.exists("other") == 0
    assert written() == 0
    load(r, "new", half[4:])
    assert do(r, "SEEN.CHECK new 0") == 1


def test_a_load_can_begin_again(r, half):
    load(r, "new", half)
    assert do(r, "SEEN.CHECK new 0") == 1


def test_a_load_that_fails_leaves_nothing(r, half, refused):
    cursor, chunk = half[-1]
    load(r, "new", half[4:-1])
    refused(lambda: r.execute_command("SEEN.LOAD", "new", 0, chunk[:-1] + bytes([chunk[-1] ^ 1])), "checksum")
    assert r.exists("new") == 0
    load(r, "new", half[:-1])
    refused(lambda: r.execute_command("SEEN.LOAD", "new", 0, chunk + b"?"), "follow")
    assert r.exists("new") == 0
    load(r, "new", half[:4])
    refused(lambda: r.execute_command("SEEN.LOAD", "new", 0, half[4][1]), "not complete")
    refused(lambda: r.execute_command("SEEN.LOAD", "new", 0, b"SEENILY"), "snapshot")
    refused(lambda: r.execute_command("SEEN.LOAD", "new", 0, b""), "snapshot")
    refused(lambda: r.execute_command("SEEN.LOAD", "k", 0, b"SEEN"), "BUSYKEY")
    r.set("s", "x")
    refused(lambda: r.execute_command("SEEN.LOAD", "s", 0, b"SEEN"), "BUSYKEY")


def test_no_more_is_taken_than_a_value_may_have(r, half, refused):
    r.config_set("seen.max-bytes", 600000)
    try:
        refused(lambda: load(r, "new", half[4:]), "max-bytes")
        r.delete("new")
        refused(lambda: load(r, "new", half), "are allowed")
        refused(lambda: r.restore("other", 0, r.dump("k")), "Bad data format")
    finally:
        r.config_set("seen.max-bytes", 1 << 30)


@pytest.mark.parametrize("how", ["rdb", "aof"])
def test_a_load_survives_a_restart(start, how):
    server = start(*(["--appendonly", "yes", "--aof-use-rdb-preamble", "no"] if how == "aof" else
                     ["--save", "3600 1"]))
    r = server.client
    do(r, "SEEN.CREATE k landmark fp=1e-6 mem=1MiB")
    fill(r, "k")
    pairs = dump(r, "k")
    load(r, "new", pairs[:4])
    if how == "rdb":
        r.save()
    else:
        r.bgrewriteaof()
        server.wait(lambda: not r.info("persistence")["aof_rewrite_in_progress"] and
                    not r.info("persistence")["aof_rewrite_scheduled"], 60)
    before = contents(r)
    r = server.restart("kill")
    assert contents(r) == before
    load(r, "new", pairs[4:])
    assert contents(r)[b"new"] == contents(r)[b"k"]


def test_a_replica_that_comes_in_the_middle_of_a_load_finishes_it(start):
    primary = start()
    r = primary.client
    do(r, "SEEN.CREATE k landmark fp=1e-6 mem=1MiB")
    fill(r, "k")
    pairs = dump(r, "k")
    load(r, "new", pairs[:4])
    replica = start("--replicaof", "127.0.0.1 %d" % primary.port)
    replica.wait(lambda: replica.client.info("replication")["master_link_status"] == "up")
    load(r, "new", pairs[4:])
    settle(primary, replica)
    assert contents(replica.client) == contents(r)


# -- memory -----------------------------------------------------------------------------------------


def test_a_day_of_ten_million_ids_fits_in_32_mb(r):
    do(r, "SEEN.CREATE k sliding:24h fp=5e-4 items=1e7")
    rss = lambda: r.info("memory")["used_memory_rss"]
    before = rss()
    for i in range(0, 200000, 1000):  # enough to touch all of it
        r.execute_command("SEEN.MADD", "k", *range(i, i + 1000))
    assert r.memory_usage("k") <= 32e6
    assert rss() - before <= 32e6 or SANITIZED or VALGRIND
    assert float(info(r, "k")["fp planned"]) <= 5e-4
    assert info(r, "k")["capacity"] >= 1e7


def test_memory_usage_is_what_the_server_gave(start):
    server = start("--activedefrag", "no")
    r = server.client
    used = lambda: r.info("memory")["used_memory"]
    used()
    before = used()
    for i in range(20):
        do(r, "SEEN.CREATE k%d landmark fp=1e-6 mem=2MiB" % i)
    said = sum(r.memory_usage("k%d" % i) for i in range(20))
    assert abs(used() - before - said) < 0.02 * said
    r.flushall()
    server.wait(lambda: used() - before < 0.02 * said)


def test_commands_leave_no_memory_behind(start):
    r = start().client
    do(r, "SEEN.CREATE k landmark fp=1e-3 items=1000")
    do(r, "SEEN.CREATE other landmark fp=1e-3 items=1000 seed=1")
    do(r, "SEEN.CREATE twin landmark fp=1e-3 items=1000 seed=1")
    do(r, "BF.ADD b a")
    lines = ["SEEN.ADD k a", "SEEN.MADD k a b", "SEEN.CHECK k a", "SEEN.MCHECK k a", "SEEN.AGE k a",
             "SEEN.INFO k", "SEEN.CLEAR k", "SEEN.DUMP k 0", "SEEN.MERGE other twin", "BF.ADD b a",
             "BF.MADD b a b", "BF.EXISTS b a", "BF.INFO b", "BF.CARD b", "BF.SCANDUMP b 0",
             "BF.INSERT b ITEMS a", "SEEN.CREATE k landmark", "SEEN.ADD b a", "SEEN.FORGET k a",
             "BF.RESERVE b 0.1 10", "SEEN.LOAD k 0 x", "BF.LOADCHUNK b 1 x", "SEEN.CHECK k a AT x",
             "SEEN.ADD k a AT x", "SEEN.LOAD none 0 x"]

    def run(times):
        with r.pipeline(transaction=False) as p:
            for line in lines * times:
                p.execute_command(*line.split())
            p.execute(raise_on_error=False)
        return r.info("memory")["used_memory"]

    before = run(100)
    assert run(400) - before < 100_000


def test_large_filters_are_made_cleared_and_deleted_at_once(start):
    if SANITIZED or VALGRIND:
        pytest.skip("times say nothing under ASan and valgrind")
    r = start().client
    for spec in ("landmark fp=1e-6 mem=512MiB", "sliding:1h fp=1e-4 mem=512MiB"):
        best = {}
        for _ in range(7):  # others may take the processor in between
            r.config_resetstat()
            do(r, "SEEN.CREATE", "k", *spec.split())
            fill(r, "k", 3000)
            do(r, "SEEN.CLEAR k")
            do(r, "SEEN.INFO k")
            cursor, _ = do(r, "SEEN.DUMP k 0")
            do(r, "SEEN.DUMP k", cursor)
            r.delete("k")
            for name, stat in r.info("commandstats").items():
                best[name.lower()] = min(best.get(name.lower(), 1e9), stat["usec_per_call"])
        for name in ("seen.create", "seen.clear", "seen.info", "seen.dump", "del"):
            assert best["cmdstat_" + name] < 1000, best


@pytest.mark.parametrize("spec", ["sliding:1h filter=timing", "sliding:1h filter=timed-cuckoo",
                                  "sliding:1h filter=counting", "sliding:1h filter=age-partitioned",
                                  "decaying filter=stable", "decaying filter=cache",
                                  "decaying filter=lru"])
def test_no_chunk_of_a_load_takes_long(start, spec):
    if SANITIZED or VALGRIND:
        pytest.skip("times say nothing under ASan and valgrind")
    r = start("--slowlog-log-slower-than", "0", "--slowlog-max-len", "100000").client
    do(r, "SEEN.CREATE k", *spec.split(), "mem=16MiB")
    fill(r, "k", 30000)
    pairs = dump(r, "k")
    rounds = []
    for _ in range(7):  # others may take the processor in between
        r.delete("new")
        r.slowlog_reset()
        load(r, "new", pairs)
        rounds.append([entry["duration"] for entry in r.slowlog_get(-1)
                       if entry["command"].startswith(b"SEEN.LOAD")])
    assert all(len(times) == len(pairs) for times in rounds)
    assert max(map(min, zip(*rounds))) < 3000  # microseconds, a few hundred as a rule
