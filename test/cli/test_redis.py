"""`seen --redis`: what is sent, what comes out, what a shard is."""

from random import Random

import pytest
from conftest import ROOT
from fake_redis import BATCH, CLOSE, Fake, Once, lines, text, unique


@pytest.fixture(autouse=True)
def needs_client(seen):
    if b"without a Redis client" in seen("--redis", "redis://127.0.0.1:1/x").err:
        pytest.skip("this seen was built without hiredis")


# -- one server, many shards --------------------------------------------------------------------------


def test_a_stream_through_one_server_loses_its_duplicates(seen):
    records = lines(10 * BATCH, 3 * BATCH)
    with Fake() as server:
        done = seen("--redis", server.url(), text=text(records))
    assert (done.code, done.err) == (0, b"")
    assert done.out == text(unique(records))


def test_the_filter_stays_between_runs(seen):
    with Fake() as server:
        seen("--redis", server.url(), text="a\nb\n")
        assert seen("--redis", server.url(), text="b\nc\n").out == b"c\n"


def test_one_shard_is_the_name_itself_and_several_are_numbered(seen):
    with Fake() as server:
        seen("--redis", server.url("clicks"), text="a\n")
        seen("--redis", server.url("views"), "--shards", 3, text="a\n")
        assert sorted(server.items()) == [b"clicks", b"views:{0}", b"views:{1}", b"views:{2}"]


@pytest.mark.parametrize("nodes", [0, 3])
def test_verdicts_come_in_the_order_of_the_records(seen, nodes):
    records = lines(10 * BATCH, 2000)
    with Fake(nodes) as servers:
        done = seen("--redis", servers.url(), "--shards", 16, "--tag", text=text(records))
        spread = [len(items) for items in servers.items().values()]
    seen_before, expected = set(), []
    for record in records:
        expected.append((b"dup\t" if record in seen_before else b"new\t") + record)
        seen_before.add(record)
    assert done.out == text(expected)
    assert len(spread) == 16 and min(spread) > 60 and sum(spread) == len(seen_before)


def test_threads_change_nothing(seen):
    records = lines(10 * BATCH, 3 * BATCH)
    for threads in 1, 4:
        with Fake() as server:
            done = seen("--redis", server.url(), "--shards", 8, "-j", threads, "-k", "1,2", text=text(records))
            assert done.out == text(records), "no record has two fields"
            done = seen("--redis", server.url("other"), "--shards", 8, "-j", threads, text=text(records))
            assert done.out == text(unique(records))


def test_the_three_outputs_and_the_account(seen):
    with Fake() as server:
        done = seen("--redis", server.url(), "--duplicates", "--stats=json", text="a\nb\na\n")
        assert done.out == b"a\n"
        assert (done.stats["records"], done.stats["unique"], done.stats["duplicates"]) == (3, 2, 1)
        assert seen("--redis", server.url(), "--exit-code", text="a\n").code == 1
        assert b"duplicates" in seen("--redis", server.url(), "--stats", text="a\n").err


def test_what_is_sent_is_the_key_as_it_was_made(seen):
    made = ["--ignore-case", "--trim", "--key-url", "-d", ","]
    records = "1, HTTP://A.b:80/X#t \n2,http://a.B/x?gclid=1\n3,http://a.b/y\n"
    for threads in 1, 2:
        with Fake() as server:
            done = seen("--redis", server.url("one"), *made, "-j", threads, "-k", "last", text=records)
            assert [line[0] for line in done.lines] == ["1", "3"]
            assert server.items()[b"one"] == {b"http://a.b/x", b"http://a.b/y"}
            seen("--redis", server.url("two"), *made, "--key-regex", "//(.)", "-k", "2", text=records)
            assert server.items()[b"two"] == {b"a"}
            assert seen("--redis", server.url("three"), *made, "-k", "1-", text=records).lines == records.splitlines()
            assert server.items()[b"three"] == {
                b"\x011\x0chttp://a.b/x", b"\x012\x0chttp://a.b/x", b"\x013\x0chttp://a.b/y"}


def test_what_is_sent_is_the_keys_bytes(seen):
    with Fake() as server:
        seen("--redis", server.url("one"), "--csv", "-k", "b", text='a,b\n1,"x""y"\n2,z\n')
        seen("--redis", server.url("two"), "--csv", "-k", "b,a", text='a,b\n1,"x""y"\n2,z\n')
        seen("--redis", server.url("line"), text=b"whole\0line\n")
        assert server.items()[b"one"] == {b'x"y', b"z"}
        assert server.items()[b"two"] == {b'\x03x"y\x011', b"\x01z\x012"}
        assert server.items()[b"line"] == {b"whole\0line"}


def test_a_record_without_its_key_passes_unjudged(seen):
    with Fake() as server:
        done = seen("--redis", server.url(), "-k", 2, "--tag", text="x\ta\ny\nz\ta\n")
        assert done.out == b"new\tx\ta\n-\ty\ndup\tz\ta\n"
        assert seen("--redis", server.url(), "-k", 2, "--strict", text="y\n").code == 2


# -- what a shard is ----------------------------------------------------------------------------------


def created(server):
    return sorted({words[2] for words in server.commands(b"SEEN.CREATE")})


def options(spec):
    window, *rest = spec.decode().split()
    return {"window": window, **dict(word.split("=") for word in rest)}


def test_every_shard_gets_its_share_of_memory_keys_and_records(seen):
    with Fake() as server:
        seen("--redis", server.url("a"), "--shards", 8, "-w", "landmark:1d items=8e6 fp=1e-4")
        seen("--redis", server.url("b"), "--shards", 8, "-w", "landmark mem=64MiB")
        seen("--redis", server.url("c"), "--shards", 8, "-w", "sliding:8e6 fp=1e-4")
        seen("--redis", server.url("d"), "--shards", 8)
        windows = {}
        for spec in map(options, created(server)):
            windows.setdefault(spec["window"], []).append(spec)
    assert [spec["items"] for spec in windows["landmark:1d"]] == ["1004000"]  # 1e6 + 4 sqrt(1e6)
    assert [spec["fp"] for spec in windows["landmark:1d"]] == ["0.0001"]
    assert {spec["mem"] for spec in windows["landmark"]} == {"8MiB"}, "given, or the usual 64 MiB"
    assert "sliding:1000000" in windows
    assert all(spec["shards"] == "1" for specs in windows.values() for spec in specs)


def test_what_is_there_must_be_what_was_asked_for(seen):
    with Fake() as server:
        seen("--redis", server.url(), "-w", "sliding:1h mem=1MiB", text="a\n")
        assert seen("--redis", server.url(), "-w", "sliding:1h mem=1MiB", text="a\n").out == b""
        assert seen("--redis", server.url(), text="a\n").out == b"", "nothing asked: it is taken as it is"
        seen("--redis", server.url(), "-w", "sliding:2h mem=1MiB").refused("test is 'sliding:1h", "leave out -w")
        seen("--redis", server.url(), "-w", "sliding:1h mem=2MiB").refused("not what was asked for")


def test_another_number_of_shards_is_refused(seen):
    with Fake() as server:
        seen("--redis", server.url(), "--shards", 4, "-w", "landmark:1d mem=1MiB")
        seen("--redis", server.url(), "--shards", 2).refused("test:{2} is there as well")
        seen("--redis", server.url(), "--shards", 8).refused("4 of 8 shards")
        seen("--redis", server.url(), "--shards", 8, "-w", "landmark:1d mem=1MiB").refused("not what was asked")


def test_shards_that_went_away_are_made_again_and_that_is_said(seen):
    records = lines(2 * BATCH, 2 * BATCH)
    with Fake() as server:
        seen("--redis", server.url(), "--shards", 4, "-w", "landmark:1d mem=1MiB")
        server.nodes[0].keys.pop(b"test:{1}")
        done = seen("--redis", server.url(), "--shards", 4, "-w", "landmark:1d mem=1MiB")
        assert b"1 of the 4 shards of test were gone" in done.err

        def lose_the_key(node, words):
            node.keys.pop(words[1])

        server.hook = Once(lose_the_key, 5)
        done = seen("--redis", server.url(), "--shards", 4, text=text(records))
        assert set(done.lines) == {r.decode() for r in records}
        assert b"1 time a shard was gone and was made again" in done.err
        assert {options(spec[0])["mem"] for spec in server.nodes[0].keys.values()} == {"256KiB"}


# -- time ---------------------------------------------------------------------------------------------


def test_records_with_times_of_their_own_carry_them_in_milliseconds(seen):
    table = "".join("%s\t%s\n" % row for row in [("a", "1000.5"), ("b", "1000.5"), ("a", "1000.501"), ("c", "1000.501")])
    with Fake() as server:
        seen("--redis", server.url(), "-w", "sliding:1h", "-k", 1, "--time", 2, text=table)
        sent = [(words[2:-2], words[-1]) for words in server.commands(b"SEEN.MADDX")]
    assert sent == [([b"a", b"b"], b"1000500"), ([b"a", b"c"], b"1000501")]


def test_without_times_of_their_own_the_servers_clock_counts(seen):
    with Fake() as server:
        seen("--redis", server.url(), "-w", "sliding:1h", text="a\n")
        assert server.commands(b"SEEN.MADDX")[0][-2:] == [b"AT", b"*"]


def test_items_that_look_like_options_are_items(seen):
    with Fake() as server:
        done = seen("--redis", server.url(), text="AT\n5\nAT\n*\n")
        assert done.out == b"AT\n5\n*\n"


# -- the address --------------------------------------------------------------------------------------


def test_user_and_password_come_from_the_address_or_the_environment(seen, monkeypatch):
    with Fake(account=[b"ann", b"p@ss/1"]) as server:
        at = "127.0.0.1:%d/test" % server.nodes[0].port
        assert seen("--redis", "redis://ann:p%40ss%2f1@" + at, text="a\n").out == b"a\n"
        seen("--redis", "redis://ann:wrong@" + at).refused("WRONGPASS")
        monkeypatch.setenv("REDISCLI_AUTH", "secret")
        server.account = [b"secret"]
        assert seen("--redis", "redis://" + at, text="b\n").out == b"b\n"


def test_any_server_that_answers_will_do(seen):
    with Fake(nodes=3) as servers:
        alive = servers.nodes[2].port
        at = "redis://127.0.0.1:1,127.0.0.1:2,127.0.0.1:%d/test" % alive
        done = seen("--redis", at, "--shards", 8, text="a\nb\na\n")
        assert (done.out, done.err) == (b"a\nb\n", b"")
        assert sorted(servers.items()) == [b"test:{%d}" % i for i in range(8)]
    with Fake() as server:
        assert seen("--redis", "redis://127.0.0.1:1,127.0.0.1:%d/x" % server.nodes[0].port, text="a\n").out == b"a\n"


@pytest.mark.parametrize("url, words", [
    ("redis://a,,b/x", "not HOST:PORT"), ("redis://" + ",".join("abcdefghijklmnopq") + "/x", "more than 16"),
    ("localhost/x", "redis://HOST:PORT/NAME"), ("redis://localhost", "name of a filter"),
    ("redis://localhost/", "name of a filter"), ("redis:///x", "not HOST:PORT"),
    ("redis://localhost:0/x", "not HOST:PORT"), ("redis://localhost:65536/x", "not HOST:PORT"),
    ("redis://localhost:6a/x", "not HOST:PORT"), ("rediss://localhost/x", "no TLS"),
    ("redis://me@localhost/x", "USER:PASSWORD"), ("redis://localhost/a%2", "two hex digits"),
    ("redis://localhost/a%00", "NUL"), ("redis://localhost/a{b}", "cannot hold {"),
    ("redis://localhost/" + "n" * 600, "longer than"), ("redis://[::1/x", "not HOST:PORT")])
def test_an_address_that_is_none_is_refused_in_a_sentence(seen, url, words):
    seen("--redis", url).refused(words)


REFUSED = [
    (["--landmark-on", "x"], "--landmark-on"), (["-w", "landmark:1d", "--zone", "UTC"], "--zone"),
    (["--cache", "100", "--confirmed"], "--confirmed"), (["-w", "landmark hash=int"], "hash=int"),
    (["-w", "landmark hash=raw"], "hash=raw"), (["--state", "/tmp/no-such-folder/state"], "--state"),
    (["--audit"], "--audit"), (["--tag=age"], "--tag=age"), (["--tag=first"], "--tag with first"),
    (["--query-key", "1", "--add-key", "2"], "--query-key"), (["-w", "sliding:9", "--within", "3"], "--within")]


@pytest.mark.parametrize("args, words", REFUSED)
def test_what_only_a_filter_kept_here_can_do_is_refused(seen, args, words):
    seen("--redis", "redis://127.0.0.1:1/x", *args).refused("--redis and %s" % words, "exclude each other: ")


def test_the_document_tells_every_refusal_with_its_reason(seen):
    table = (ROOT / "doc/scaling.md").read_text()
    for args, words in REFUSED:
        done = seen("--redis", "redis://127.0.0.1:1/x", *args)
        reason = done.err.decode().split("exclude each other: ")[1].strip()
        assert any(words.split()[0] in row and reason in row for row in table.splitlines()), reason


# -- the same options as without a server ---------------------------------------------------------------


def clicks(n=3 * BATCH):
    """Rows (seconds, publisher, id, cost), mostly in order; some ids come again."""
    rng = Random(7)
    rows = []
    for i in range(n):
        key = rng.randrange(n // 2)
        rows.append("%d.%03d\tp%d\tid%d\t0.%02d" % (1000 + i // 10 - rng.choice([0, 0, 0, 5]), i % 1000, key % 3, key, key % 100))
    return "\n".join(rows) + "\n"


WINDOW = ["-w", "sliding:1m", "--time", "1", "-k", "3"]


@pytest.mark.parametrize("args", [
    ["--group-by", "2"], ["--sum", "4"], ["--group-by", "2", "--sum", "4", "--duplicates"],
    ["--tag=verdict,number,time"], ["--tag=number", "--group-by", "2"], ["--output=json"],
    ["--reorder", "10s"], ["--reorder", "10s", "--tag=verdict,number", "--group-by", "2", "--sum", "4"]])
@pytest.mark.parametrize("shards", [1, 5])
def test_an_option_does_the_same_with_a_server(seen, args, shards):
    text = clicks()
    with Fake() as server:
        long = ["-w", "sliding:1w", *WINDOW[2:]]
        here = seen(*long, "--filter=exact", *args, text=text)
        there = seen("--redis", server.url(), "--shards", shards, *long, *args, text=text)
    assert (there.out, there.err) == (here.out, here.err)


@pytest.mark.parametrize("args", [[], ["--duplicates"], ["--tag=verdict,number", "--group-by", "2"]])
def test_keep_last_holds_what_the_server_calls_new(seen, args):
    text = clicks()
    long = ["-w", "sliding:1w", *WINDOW[2:], "--keep", "last", *args]
    here = seen(*long, text=text)
    with Fake() as server:
        there = seen("--redis", server.url(), *long, text=text)
        assert (there.out, there.err) == (here.out, here.err)
        again = seen("--redis", server.url(), "-w", "sliding:1w", *WINDOW[2:], "--keep", "last", "--tag", text=text)
    assert {line.split("\t")[0] for line in again.lines} == {"dup"}, "an earlier run let them through"


def test_keep_last_lets_as_many_through_as_the_server_calls_new(seen):
    """The server forgets key a before its window has ended here: both records go through."""
    forget = []

    def hook(node, words):
        if words[0] == b"SEEN.MADDX" and words[2] == b"x":
            for items in node.fake.items().values():
                items.discard(b"a")
            forget.append(1)

    for refresh in "last", "first":
        with Fake() as server:
            server.hook = hook
            done = seen("--redis", server.url(), "-w", "sliding:1h", "--refresh", refresh, "--time", 2, "-k", 1,
                        "--keep", "last", text="a\t1\na\t2\nx\t3\na\t4\nb\t5\nb\t6\na\t7\n")
            assert done.lines == ["a\t2", "x\t3", "a\t7", "b\t6"] if refresh == "first" else ["a\t2", "x\t3", "b\t6", "a\t7"]
    assert forget


def test_keep_last_needs_a_window_with_an_end_on_the_server_too(seen):
    with Fake() as server:
        seen("--redis", server.url(), "-w", "decaying mem=1MiB", text="a\n")
        seen("--redis", server.url(), "--keep", "last", text="a\n").refused("whose ends are known")


def test_records_held_back_are_passed_on_when_the_server_is_lost(seen):
    text = clicks(BATCH)

    def lose(node, words):
        return CLOSE if words[0] == b"SEEN.MADDX" else None

    for args in ["--reorder", "10s"], ["--keep", "last"]:
        with Fake() as server:
            seen("--redis", server.url(), "-w", "sliding:1w", text="")
            server.hook = lose
            done = seen("--redis", server.url(), "--patience", "100ms", "-w", "sliding:1w", *WINDOW[2:], *args,
                        "--stats=json", text=text)
        assert done.code == 2 and b"the server is lost" in done.err
        assert sorted(done.lines) == sorted(text.splitlines())
        assert done.stats["uncertain"] == done.stats["records"] == BATCH


def test_options_about_the_server_need_one(seen):
    seen("--at-most-once").refused("--redis")
    seen("--patience", "1s").refused("--redis")
    seen("--replicas", "1").refused("--redis")
    seen("--redis", "redis://127.0.0.1:1/x", "--patience", "0s").refused("--patience 0s")
    seen("--redis", "redis://127.0.0.1:1/x", "--replicas", "1e9").refused("--replicas 1e9")
    seen("--redis", "redis://127.0.0.1:1/x", "--patience", "5").refused("--patience 5")
