"""What the module owes the server: events, WATCH, ACLs, maxmemory, settings, and the truth."""

import os
import subprocess

import pytest

import redis

from conftest import MODULE, free_port, sanitizer
from test_commands import do, info


# -- the oracle -------------------------------------------------------------------------------------


class Window:
    """The naive exact window: the last `length` records or milliseconds; refreshed by duplicates."""

    def __init__(self, length, counts):
        self.length, self.counts, self.last, self.n = length, counts, {}, 0

    def add(self, item, now):
        self.n += 1
        clock = self.n if self.counts else now
        seen = item in self.last and (clock - self.last[item] <= self.length if self.counts else
                                      clock - self.last[item] < self.length)
        self.last[item] = clock
        return int(not seen)


@pytest.mark.parametrize("spec, length, counts", [
    ("sliding:300 filter=exact", 300, True), ("sliding:60s filter=exact", 60000, False)])
def test_exact_windows_answer_as_the_oracle(r, rng, spec, length, counts):
    do(r, "SEEN.CREATE", "k", *spec.split())
    oracle, now, fresh, expected = Window(length, counts), 1_800_000_000_000, [], []
    for _ in range(60):
        now += rng.randrange(3000)
        items = ["i%d" % rng.randrange(400) for _ in range(rng.randrange(1, 60))]
        expected += [oracle.add(item, now) for item in items]
        fresh += r.execute_command("SEEN.MADD", "k", *items, "AT", now)
    assert fresh == expected


@pytest.mark.parametrize("spec, length, counts", [
    ("sliding:300 fp=1e-3", 300, True), ("sliding:60s fp=1e-3 mem=8KiB", 60000, False),
    ("jumping:300/6 fp=1e-3", 300, True), ("jumping:60s/6 fp=1e-3 items=20000", 60000, False)])
def test_no_window_misses_a_duplicate(r, rng, spec, length, counts):
    do(r, "SEEN.CREATE", "k", *spec.split())
    oracle, now = Window(length, counts), 1_800_000_000_000
    for _ in range(100):
        now += rng.randrange(3000)
        items = ["i%d" % rng.randrange(500) for _ in range(rng.randrange(1, 60))]
        expected = [oracle.add(item, now) for item in items]
        fresh = r.execute_command("SEEN.MADD", "k", *items, "AT", now)
        assert all(e >= f for e, f in zip(expected, fresh))


def test_a_replica_judges_by_its_own_clock_and_changes_nothing(r, replica):
    do(r, "SEEN.CREATE k sliding:100ms filter=exact")
    do(r, "SEEN.ADD k a AT 1000")
    before = replica.execute_command("DEBUG", "DIGEST-VALUE", "k")
    assert replica.execute_command("SEEN.CHECK", "k", "a") == 0
    assert replica.execute_command("SEEN.CHECK", "k", "a", "AT", 1050) == 1
    assert replica.execute_command("DEBUG", "DIGEST-VALUE", "k") == before


def test_effects_of_one_millisecond_are_told_its_time_once(r, replica):
    do(r, "SEEN.CREATE k sliding:1h filter=exact")
    with r.pipeline(transaction=False) as p:
        for i in range(5000):
            p.execute_command("SEEN.ADD", "k", i)
        p.execute()
    assert info(r, "k")["last time"] == dict(zip(
        *[iter(replica.execute_command("SEEN.INFO", "k"))] * 2))[b"last time"]


@pytest.mark.parametrize("spec", ["sliding:1h fp=1e-3 mem=64KiB", "jumping:1h/12 items=1000"])
def test_info_tells_how_old_the_oldest_generation_is(r, spec):
    do(r, "SEEN.CREATE", "k", *spec.split())
    assert info(r, "k")["oldest generation"] == -1
    seconds, ms = r.time()
    now = seconds * 1000 + ms // 1000
    do(r, "SEEN.ADD k a AT", now - 3_000_000)
    do(r, "SEEN.ADD k b AT", now)
    assert 3_000_000 - 10_000 <= info(r, "k")["oldest generation"] <= 3_000_000 + 310_000
    do(r, "SEEN.CLEAR k")
    assert info(r, "k")["oldest generation"] == -1


# -- overload -----------------------------------------------------------------------------------------


def add_at(r, key, rate, seconds, step=10):
    """New ids at `rate` a second; how many were called duplicates."""
    begin, dropped, ids = 1_800_000_000, 0, 0
    for second in range(0, seconds, step):
        with r.pipeline(transaction=False) as p:
            for at in range(second, second + step):
                p.execute_command("SEEN.MADD", key, *range(ids, ids + rate), "AT", (begin + at) * 1000)
                ids += rate
            dropped += sum(reply.count(0) for reply in p.execute())
    return dropped, ids


@pytest.mark.parametrize("rate", [2, 5, 9, 16])
def test_a_window_short_of_memory_keeps_less_of_itself_and_drops_no_new_id(start, rate):
    """The preset with a 64th of its memory, at a 64th of 100, 300, 600 and 1,000 ids a second."""
    server = start(module=["default", "sliding:24h fp=1e-4 mem=64KiB"])
    r = server.client
    dropped, ids = add_at(r, "clicks", rate, 2 * 3600)
    assert dropped <= ids * 1e-4 + 4 * (ids * 1e-4) ** 0.5 + 1
    told = info(r, "clicks")
    assert float(told["fp worst"]) <= 1e-4
    kept = told["window kept"] / 1000
    capacity = told["capacity"]
    assert kept == 86400 if rate * 7200 < capacity else 0.5 * capacity / rate <= kept <= 1.5 * capacity / rate
    log = server.log.read_text(errors="replace")
    assert log.count("key 'clicks': the filter is short of memory") == (1 if kept < 86400 else 0)
    assert r.execute_command("SEEN.CHECK", "clicks", ids - 1, "AT", (1_800_000_000 + 7200) * 1000) == 1


def test_an_overfull_landmark_window_says_so_in_the_log_once(start):
    server = start()
    r = server.client
    do(r, "SEEN.CREATE full landmark fp=1e-3 items=1000")
    add_at(r, "full", 100, 200)
    assert server.log.read_text(errors="replace").count("key 'full': the filter holds more than its 1") == 1
    assert float(info(r, "full")["fp worst"]) > 2e-3


# -- events -----------------------------------------------------------------------------------------


def test_keyspace_events_tell_changes_only(r):
    r.config_set("notify-keyspace-events", "Kd")
    try:
        with r.pubsub() as p:
            p.psubscribe("__keyspace@0__:*")
            do(r, "SEEN.CREATE k landmark filter=exact")
            do(r, "SEEN.ADD k a")
            do(r, "SEEN.ADD k a")
            do(r, "SEEN.CHECK k a")
            do(r, "SEEN.FORGET k a")
            do(r, "SEEN.FORGET k a")
            do(r, "SEEN.ADD k b")
            do(r, "SEEN.CLEAR k")
            do(r, "SEEN.CLEAR k")
            do(r, "BF.ADD b a")
            do(r, "BF.ADD b a")
            events = []
            while len(events) < 7:
                message = p.get_message(timeout=5)
                assert message, events
                if message["type"] == "pmessage":
                    events.append(message["data"].decode())
            assert not p.get_message(timeout=0.1)
    finally:
        r.config_set("notify-keyspace-events", "")
    assert events == ["seen.create", "seen.add", "seen.forget", "seen.add", "seen.clear",
                      "bf.reserve", "bf.add"]


def test_watch_fails_where_something_changed_and_only_there(r):
    do(r, "SEEN.CREATE k landmark")
    do(r, "SEEN.ADD k a")
    for item, raises in (("a", False), ("b", True)):
        with r.pipeline() as p:
            p.watch("k")
            do(r, "SEEN.ADD k", item)
            p.multi()
            p.set("done", item)
            if raises:
                with pytest.raises(redis.exceptions.WatchError):
                    p.execute()
            else:
                assert p.execute() == [True]


# -- permissions and memory -------------------------------------------------------------------------


def test_key_patterns_of_acls_hold(r, pair, refused):
    r.execute_command("ACL", "SETUSER", "bob", "reset", "on", "nopass", "~mine:*", "+@all")
    try:
        bob = redis.Redis(port=pair[0].port, username="bob", password="x")
        assert bob.execute_command("SEEN.ADD", "mine:k", "a") == 1
        for command in ("SEEN.ADD", "SEEN.CHECK", "BF.ADD"):
            with pytest.raises(redis.exceptions.NoPermissionError):
                bob.execute_command(command, "theirs", "a")
        with pytest.raises(redis.exceptions.NoPermissionError):
            bob.execute_command("SEEN.MERGE", "mine:k", "theirs")
    finally:
        r.execute_command("ACL", "DELUSER", "bob")


def test_categories_can_be_named_where_servers_have_them(r, refused):
    try:
        r.execute_command("ACL", "SETUSER", "sue", "reset", "on", "nopass", "~*", "+@seen")
    except redis.exceptions.ResponseError:
        pytest.skip("this server lets no module name a category")
    assert r.execute_command("ACL", "DRYRUN", "sue", "SEEN.ADD", "k", "a") == b"OK"
    assert r.execute_command("ACL", "DRYRUN", "sue", "BF.ADD", "k", "a") != b"OK"
    r.execute_command("ACL", "DELUSER", "sue")


def test_commands_are_documented(r):
    names = ["SEEN.CREATE", "SEEN.ADD", "SEEN.MADD", "SEEN.CHECK", "SEEN.MCHECK", "SEEN.AGE",
             "SEEN.INFO", "SEEN.FORGET", "SEEN.CLEAR", "SEEN.MERGE", "SEEN.DUMP", "SEEN.LOAD",
             "SEEN.CLAIM", "SEEN.ACK", "SEEN.NACK", "SEEN.XADD",
             "BF.RESERVE", "BF.ADD", "BF.MADD", "BF.INSERT", "BF.EXISTS", "BF.MEXISTS", "BF.INFO",
             "BF.CARD", "BF.SCANDUMP", "BF.LOADCHUNK", "BF.DEBUG"]
    docs = r.execute_command("COMMAND DOCS", *names)
    assert len(docs) == 2 * len(names)
    assert docs[::2] == [name.lower().encode() for name in names]

    def arguments(name):
        doc = r.execute_command("COMMAND DOCS", name)[1]
        found = dict(zip(doc[::2], doc[1::2]))[b"arguments"]
        rows = [dict(zip(row[::2], row[1::2])) for row in found]
        return {row[b"name"].decode(): b"optional" in row.get(b"flags", []) for row in rows}

    assert arguments("SEEN.DUMP") == {"key": False, "cursor": False}
    assert arguments("SEEN.CLAIM") == {"key": False, "item": False, "milliseconds": False, "ms": True}
    assert arguments("BF.LOADCHUNK") == {"key": False, "next": False, "chunk": False}
    assert arguments("BF.INFO") == {"key": False, "field": True}
    assert r.execute_command("COMMAND GETKEYS", "SEEN.MERGE", "a", "b") == ["a", "b"]
    assert r.execute_command("COMMAND GETKEYS", "SEEN.MADD", "a", "b") == ["a"]


def test_nothing_grows_when_memory_is_short_but_reads_go_on(start, refused):
    r = start().client
    do(r, "SEEN.ADD k a")
    r.config_set("maxmemory", 1)
    for line in ("SEEN.CREATE n landmark", "SEEN.ADD k b", "SEEN.MADD k b", "BF.ADD b a",
                 "SEEN.LOAD n 0 x"):
        refused(lambda: do(r, line), "maxmemory")
    assert do(r, "SEEN.CHECK k a") == 1
    assert do(r, "SEEN.CLEAR k") == b"OK"


# -- settings ---------------------------------------------------------------------------------------


def test_settings_by_argument_and_by_config(start, refused):
    r = start(module=["default", "landmark fp=1e-3 items=500", "max-bytes", "2MiB"]).client
    assert r.config_get("seen.*") == {
        "seen.default": "landmark fp=1e-3 items=500", "seen.max-bytes": "2097152", "seen.bf-error-rate": "0.01",
        "seen.bf-initial-size": "100", "seen.bf-expansion-factor": "2"}
    do(r, "SEEN.ADD k a")
    assert info(r, "k")["spec"].startswith(b"landmark fp=0.001 items=500")
    refused(lambda: do(r, "SEEN.CREATE big landmark mem=3MiB"), "max-bytes")
    r.config_set("seen.default", "sliding:1h fp=1e-2 mem=64KiB")
    do(r, "SEEN.ADD other a")
    assert info(r, "other")["window"] == b"sliding"
    refused(lambda: r.config_set("seen.default", "lanmark"), "the window 'lanmark' is not known")
    refused(lambda: r.config_set("seen.max-bytes", 1), "")
    assert r.config_get("seen.default") == {"seen.default": "sliding:1h fp=1e-2 mem=64KiB"}


def test_config_rewrite_leaves_a_configuration_that_starts(start):
    server = start(module=["default", "sliding:1h fp=1e-5 mem=1MiB", "max-bytes", "64mb", "BF-ERROR-RATE", "0.001",
                           "INITIAL_SIZE", "500", "bf-expansion-factor", "4"])
    conf = server.directory / "rewritten.conf"
    conf.write_text("loadmodule %s default \"sliding:1h fp=1e-5 mem=1MiB\" max-bytes 64mb bf-error-rate 0.001 "
                    "INITIAL_SIZE 500 bf-expansion-factor 4\n" % MODULE)
    settings = server.client.config_get("seen.*")
    assert settings["seen.default"] == "sliding:1h fp=1e-5 mem=1MiB"
    server.stop()
    for change in ({}, {"seen.default": "sliding:2h fp=1e-4 mem=64KiB", "seen.max-bytes": "32MiB"}):
        server.port, server.client = free_port(), None
        server.process = process = subprocess.Popen([server.program, str(conf), "--port", str(server.port), "--bind", "127.0.0.1", "--dir",
                                    str(server.directory), "--save", ""], stdout=subprocess.DEVNULL,
                                   env={**os.environ, **sanitizer()})
        try:
            r = redis.Redis(port=server.port)
            server.wait(lambda: r.ping(), 60)
            assert r.config_get("seen.*") == settings
            for name, value in change.items():
                r.config_set(name, value)
            settings = r.config_get("seen.*")
            r.config_rewrite()
        finally:
            process.terminate()
            process.wait(60)
    words = conf.read_text()
    assert 'seen.default "sliding:2h fp=1e-4 mem=64KiB"' in words and "seen.max-bytes" in words


def test_filters_of_bf_are_made_as_redisbloom_is_configured(start, refused):
    r = start(module=["ERROR_RATE", "0.001", "INITIAL_SIZE", "500"]).client
    do(r, "BF.ADD b a")
    assert r.bf().info("b").capacity == 500
    r.config_set("seen.bf-initial-size", 900)
    r.config_set("seen.bf-expansion-factor", 4)
    r.config_set("seen.bf-error-rate", "0.01")
    do(r, "BF.ADD c a")
    assert (r.bf().info("c").capacity, r.bf().info("c").expansionRate) == (900, 4)
    assert r.bf().info("c").size < 2 * r.bf().info("b").size
    refused(lambda: r.config_set("seen.bf-error-rate", "1.5"), "between 0 and 1")
    refused(lambda: r.config_set("seen.bf-initial-size", "0"), "")


@pytest.mark.parametrize("size, bytes", [
    ("2mb", 2 << 20), ("2MB", 2 << 20), ("2m", 2000000), ("2M", 2000000), ("3kb", 3072), ("3k", 3000),
    ("1gb", 1 << 30), ("4096", 4096), ("4096b", 4096), ("2MiB", 2 << 20)])
def test_max_bytes_reads_sizes_as_the_server_does(start, size, bytes):
    r = start(module=["max-bytes", size]).client
    assert r.config_get("seen.max-bytes") == {"seen.max-bytes": str(bytes)}
    r.config_set("seen.max-bytes", 5000)
    r.config_set("seen.max-bytes", size)
    assert r.config_get("seen.max-bytes") == {"seen.max-bytes": str(bytes)}


def test_a_spec_in_the_configuration_has_the_units_of_specs(start, refused):
    r = start(module=["default", "landmark mem=64K"]).client
    r.config_set("seen.default", "landmark mem=64KB")
    refused(lambda: r.config_set("seen.default", "landmark mem=64kb"), "64K (65536 bytes) or 64KB")


def test_what_grows_stops_at_the_bytes_a_value_may_take(start):
    r = start(module=["max-bytes", "1MiB"]).client
    do(r, "SEEN.CREATE k landmark filter=exact")
    for i in range(0, 50000, 1000):
        r.execute_command("SEEN.MADD", "k", *range(i, i + 1000))
    assert r.memory_usage("k") < 1.2 * (1 << 20)
    assert info(r, "k")["forgotten"] > 0


@pytest.mark.parametrize("arguments, words", [
    (["default", "lanmark"], "the window 'lanmark' is not known"), (["default"], "a name and a value"),
    (["max-bytes", "many"], "'many' is not a size"), (["max-bytes", "1.5gb"], "is not a size"),
    (["max-bytes", "99999999999gb"], "is not a size"), (["max-bytes", "2tb"], "is not a size"),
    (["max-bytes", "1b"], "between 1kb and 1024gb"), (["bf", "maybe"], "bf yes|no"), (["bf-error-rate", "2"], "between 0 and 1"),
    (["INITIAL_SIZE", "0"], "bf-initial-size is between 1 and"), (["bf-expansion-factor", "-1"], "is between 0 and"), (["what", "x"], "arguments are")])
def test_bad_arguments_stop_the_module_with_a_reason(program, tmp_path, arguments, words):
    done = subprocess.run([program, "--port", str(free_port()), "--dir", str(tmp_path),
                           "--loadmodule", MODULE, *arguments], capture_output=True, timeout=300,
                          env={**os.environ, **sanitizer()})
    assert done.returncode != 0
    assert words in done.stdout.decode()
