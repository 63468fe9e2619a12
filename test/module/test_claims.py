"""SEEN.CLAIM, SEEN.ACK, SEEN.NACK and SEEN.XADD: what they answer, and what replicas, files and other commands see."""

import time

import pytest

import redis

from conftest import contents, settle
from test_commands import do, info
from test_persistence import dump, load

SPECS = ["sliding:1h filter=exact claims=50", "sliding:1h fp=1e-3 items=1000 claims=50",
         "sliding:1000 filter=exact claims=50", "landmark fp=1e-3 items=1000 claims=50",
         "jumping:1h/4 fp=1e-3 items=1000 claims=50", "landmark:1d filter=exact refresh=first claims=50"]


def claim(r, key, item, ms=60000, *more):
    answer, *number = r.execute_command("SEEN.CLAIM", key, item, ms, *more)
    return (answer.decode(), *number)


@pytest.mark.parametrize("spec", SPECS)
def test_what_is_acked_is_done_once_and_what_is_nacked_again(r, replica, spec):
    do(r, "SEEN.CREATE k", *spec.split())
    answer, token = claim(r, "k", "a")
    assert answer == "new"
    answer, left = claim(r, "k", "a")
    assert answer == "pending" and 50000 < left <= 60000
    assert do(r, "SEEN.CHECK k a") == 0  # not seen yet
    assert do(r, "SEEN.ACK k a", token + 1) == 0
    assert do(r, "SEEN.ACK k b", token) == 0
    assert do(r, "SEEN.ACK k a", token) == 1
    assert do(r, "SEEN.ACK k a", token) == 0
    assert claim(r, "k", "a") == ("seen",)
    assert do(r, "SEEN.ADD k a") == 0
    answer, first = claim(r, "k", "b")
    assert do(r, "SEEN.NACK k b", first) == 1
    answer, second = claim(r, "k", "b")
    assert answer == "new" and second > first
    assert do(r, "SEEN.ACK k b", first) == 0
    assert [replica.execute_command("SEEN.CHECK", "k", item) for item in "ab"] == [1, 0]


def test_a_lease_ends_by_the_clock(r):
    do(r, "SEEN.CREATE k sliding:1h filter=exact claims=5")
    answer, token = claim(r, "k", "a", 40)
    assert claim(r, "k", "a", 40)[0] == "pending"
    time.sleep(0.1)
    assert do(r, "SEEN.ACK k a", token) == 0
    assert claim(r, "k", "a", 40)[0] == "new"


def test_at_gives_the_time(r):
    do(r, "SEEN.CREATE k sliding:1h filter=exact claims=5")
    assert claim(r, "k", "a", 100, "AT", 1000) == ("new", 1000000)
    assert claim(r, "k", "a", 100, "at", 1099) == ("pending", 1)
    assert claim(r, "k", "a", 100, "AT", 1100) == ("new", 1100000)
    assert do(r, "SEEN.ACK k a 1100000 AT 1199") == 1
    assert claim(r, "k", "a", 100, "AT", 1199 + 3599999) == ("seen",)
    assert claim(r, "k", "a", 100, "AT", 1199 + 2 * 3600000) == ("new", (1199 + 2 * 3600000) * 1000)
    assert do(r, "SEEN.NACK k a", (1199 + 2 * 3600000) * 1000, "AT", "*") == 0


def test_a_claim_of_what_was_seen_renews_it_like_any_record(r):
    do(r, "SEEN.CREATE last sliding:1h filter=exact claims=5")
    do(r, "SEEN.CREATE first sliding:1h filter=exact refresh=first claims=5")
    for key, then in (("last", ("seen",)), ("first", ("new", 5400000000))):
        do(r, "SEEN.ADD %s a AT 1" % key)
        assert claim(r, key, "a", 100, "AT", 1800000) == ("seen",)
        assert claim(r, key, "a", 100, "AT", 5400000 - (key == "last")) == then
    assert info(r, "last")["duplicates"] == 2


def test_what_others_add_needs_no_claim(r):
    do(r, "SEEN.CREATE k landmark filter=exact claims=5")
    token = claim(r, "k", "a")[1]
    assert do(r, "SEEN.MADD k x a") == [1, 1]
    assert claim(r, "k", "a") == ("seen",)
    assert do(r, "SEEN.ACK k a", token) == 0


def test_a_full_table_says_so_and_what_to_do(r, refused, written):
    do(r, "SEEN.CREATE k landmark filter=exact claims=2")
    claim(r, "k", "a", 60000, "AT", 1)
    claim(r, "k", "b", 1, "AT", 1)
    written()
    refused(lambda: claim(r, "k", "c", 1, "AT", 1), "2 claims are open on this key; raise claims= or ack sooner")
    assert written() == 0
    assert claim(r, "k", "c", 1, "AT", 2)[0] == "new"
    assert info(r, "k")["claims dropped"] == 1


def test_a_missing_key_is_made_by_the_default_spec(r):
    assert claim(r, "fresh", "a")[0] == "new"
    said = info(r, "fresh")
    assert said["spec"].startswith(b"sliding:1d fp=0.0001") and said["claims"] == 1000 and said["claims held"] == 1
    assert do(r, "SEEN.ACK none a 1") == 0 and do(r, "SEEN.NACK none a 1") == 0
    assert not r.exists("none")


def test_info_counts_claims(r):
    do(r, "SEEN.CREATE k landmark filter=exact claims=4")
    tokens = [claim(r, "k", item, 100, "AT", 10 + i)[1] for i, item in enumerate("abcd")]
    assert do(r, "SEEN.ACK k a %d AT 20" % tokens[0]) == 1
    assert do(r, "SEEN.NACK k b %d AT 20" % tokens[1]) == 1
    assert claim(r, "k", "b", 100, "AT", 21)[0] == "new"
    assert [claim(r, "k", item, 100, "AT", 115)[0] for item in "ef"] == ["new", "new"]
    said = info(r, "k")
    assert [said["claims" + what] for what in ("", " held", " given", " given again", " acked", " nacked", " dropped")] \
        == [4, 4, 7, 1, 1, 1, 1]
    do(r, "SEEN.CREATE plain landmark")
    assert not any(name.startswith("claims") for name in info(r, "plain"))


def test_clear_ends_claims(r):
    do(r, "SEEN.CREATE k landmark filter=exact claims=5")
    first = claim(r, "k", "a")[1]
    do(r, "SEEN.CLEAR k")
    assert do(r, "SEEN.ACK k a", first) == 0
    answer, token = claim(r, "k", "a")
    assert answer == "new" and token > first


def test_mistakes_get_a_sentence(r, refused):
    do(r, "SEEN.CREATE k landmark filter=exact claims=5")
    do(r, "SEEN.CREATE plain landmark")
    do(r, "SEEN.CREATE ints landmark filter=exact hash=int claims=5")
    r.set("string", "x")
    r.bf().create("chain", 0.01, 10)
    refused(lambda: do(r, "SEEN.CLAIM plain a 10"), "make one with claims=N")
    refused(lambda: do(r, "SEEN.ACK plain a 10"), "make one with claims=N")
    refused(lambda: do(r, "SEEN.CLAIM ints a 10"), "integer")
    for line in ("SEEN.CLAIM %s a 10", "SEEN.ACK %s a 10", "SEEN.NACK %s a 10", "SEEN.XADD %s s * a f v"):
        for key in ("string", "chain"):
            refused(lambda: do(r, line % key), "WRONGTYPE")
        refused(lambda: do(r, " ".join((line % "k").split()[:-1][:3])), "wrong number of arguments")
    for lease in ("0", "-1", "x", "1.5", "1000000000001"):
        refused(lambda: do(r, "SEEN.CLAIM k a", lease), "a lease is a number of milliseconds")
    refused(lambda: do(r, "SEEN.ACK k a x"), "a token is the number")
    refused(lambda: do(r, "SEEN.CLAIM k a 10 AT x"), "AT takes milliseconds")
    refused(lambda: do(r, "SEEN.CLAIM k a 10 IN 5"), "wrong number of arguments")
    refused(lambda: do(r, "SEEN.CREATE z decaying claims=5"), "use landmark, jumping or sliding")
    assert claim(r, "k", "a")[0] == "new"


def test_replicas_get_effects_only(r, written):
    do(r, "SEEN.CREATE k sliding:1h filter=exact claims=5")
    written()
    token = claim(r, "k", "a")[1]
    assert written() == 1
    claim(r, "k", "a")
    do(r, "SEEN.ACK k a", token + 1)
    do(r, "SEEN.NACK k b", token)
    assert written() == 0
    do(r, "SEEN.ACK k a", token)
    assert written() == 1


def test_what_a_replica_promoted_later_says_is_the_same(start):
    """Also after leases have ended, and with the clock of another server."""
    primary = start()
    replica = start("--replicaof", "127.0.0.1 %d" % primary.port)
    replica.wait(lambda: replica.client.info("replication")["master_link_status"] == "up")
    r = primary.client
    do(r, "SEEN.CREATE k sliding:1h filter=exact claims=50")
    tokens = {item: claim(r, "k", item, 30 if item % 3 else 60000)[1] for item in range(30)}
    assert do(r, "SEEN.ACK k 3", tokens[3]) == 1 and do(r, "SEEN.NACK k 6", tokens[6]) == 1
    settle(primary, replica)
    primary.stop("kill")
    replica.client.replicaof("NO", "ONE")
    time.sleep(0.05)
    answers = {item: claim(replica.client, "k", item) for item in range(30)}
    assert answers[3] == ("seen",)
    assert answers[6][0] == "new"
    assert all(answers[item][0] == ("new" if item % 3 else "pending") for item in range(30) if item not in (3, 6))
    assert do(replica.client, "SEEN.ACK k 9", tokens[9]) == 1
    assert min(a[1] for a in answers.values() if a[0] == "new") > max(tokens.values())


@pytest.mark.parametrize("how", ["rdb", "aof", "aof-rewritten"])
def test_claims_survive_a_kill(start, how):
    options = ["--save", "3600 1"] if how == "rdb" else ["--appendonly", "yes", "--appendfsync", "always",
                                                        "--aof-use-rdb-preamble", "no"]
    server = start(*options)
    r = server.client
    tokens = {}
    for i, spec in enumerate(SPECS):
        do(r, "SEEN.CREATE k%d" % i, *spec.split())
        tokens[i] = [claim(r, "k%d" % i, item)[1] for item in range(20)]
        do(r, "SEEN.ACK k%d 0" % i, tokens[i][0])
        do(r, "SEEN.NACK k%d 1" % i, tokens[i][1])
    if how == "rdb":
        r.save()
    if how == "aof-rewritten":
        r.bgrewriteaof()
        server.wait(lambda: not r.info("persistence")["aof_rewrite_in_progress"] and
                    not r.info("persistence")["aof_rewrite_scheduled"], 60)
    before = contents(r)
    r = server.restart("kill")
    assert contents(r) == before
    for i in range(len(SPECS)):
        assert claim(r, "k%d" % i, 0) == ("seen",)
        assert claim(r, "k%d" % i, 1)[0] == "new"
        assert claim(r, "k%d" % i, 2)[0] == "pending"
        assert do(r, "SEEN.ACK k%d 2" % i, tokens[i][2]) == 1


@pytest.mark.parametrize("spec", SPECS)
def test_dumps_and_copies_hold_claims(r, spec):
    do(r, "SEEN.CREATE k", *spec.split())
    tokens = [claim(r, "k", item)[1] for item in range(40)]
    load(r, "loaded", dump(r, "k"))
    r.copy("k", "copied")
    r.restore("restored", 0, r.dump("k"))
    for key in ("loaded", "copied", "restored"):
        assert r.execute_command("DEBUG", "DIGEST-VALUE", key) == r.execute_command("DEBUG", "DIGEST-VALUE", "k")
        assert do(r, "SEEN.ACK", key, 7, tokens[7]) == 1
    assert claim(r, "k", 7)[0] == "pending"


def test_memory_usage_includes_the_table(r):
    do(r, "SEEN.CREATE few landmark filter=bloom mem=1MiB claims=1")
    do(r, "SEEN.CREATE none landmark fp=1e-3 items=1000 filter=bloom")
    do(r, "SEEN.CREATE many landmark fp=1e-3 items=1000 filter=bloom claims=1e5")
    assert r.memory_usage("few") < 1.02 * 2 ** 20  # the table is part of mem=
    more = r.memory_usage("many") - r.memory_usage("none")
    assert 50e5 < more < 64e5


def test_without_memory_no_work_begins_but_work_ends(start, refused):
    r = start().client
    do(r, "SEEN.CREATE k landmark filter=exact claims=5")
    tokens = [claim(r, "k", item)[1] for item in "ab"]
    r.config_set("maxmemory", 1)
    refused(lambda: claim(r, "k", "c"), "maxmemory")
    refused(lambda: do(r, "SEEN.XADD k s * c f v"), "maxmemory")
    assert do(r, "SEEN.ACK k a", tokens[0]) == 1
    assert do(r, "SEEN.NACK k b", tokens[1]) == 1


def test_the_server_knows_the_keys_of_the_commands(r):
    assert r.execute_command("COMMAND GETKEYS", "SEEN.XADD", "f", "s", "*", "i", "a", "b") == ["f", "s"]
    assert r.execute_command("COMMAND GETKEYS", "SEEN.CLAIM", "f", "i", "5") == ["f"]
    assert b"stream" in str(r.execute_command("COMMAND DOCS", "seen.xadd")).encode()


def test_a_user_needs_rights_on_both_keys_of_xadd(r, refused):
    r.execute_command("ACL", "SETUSER", "half", "on", ">p", "~f*", "+seen.xadd")
    other = redis.Redis(port=r.connection_pool.connection_kwargs["port"], username="half", password="p")
    refused(lambda: other.execute_command("SEEN.XADD", "f", "s", "*", "i", "a", "b"), "ermissions")
    assert other.execute_command("SEEN.XADD", "f", "fs", "*", "i", "a", "b")
    r.execute_command("ACL", "DELUSER", "half")


@pytest.mark.parametrize("protocol", [2, 3])
def test_replies_are_plain_in_both_protocols(r, protocol):
    """Read from the wire: an array of a string and a number, and a null."""
    import socket
    with socket.create_connection(("127.0.0.1", r.connection_pool.connection_kwargs["port"])) as s:
        f = s.makefile("rwb")
        f.write(b"HELLO %d\r\n" % protocol)
        f.flush()
        while not f.readline().startswith(b"$7"):  # "modules", the last of the greeting's names
            pass
        time.sleep(0.1)
        f.write(b"PING\r\n")
        f.flush()
        while f.readline() != b"+PONG\r\n":
            pass
        line = lambda text, n: (f.write(text), f.flush(), [f.readline().strip() for _ in range(n)])[2]
        assert line(b"SEEN.CLAIM w a 60000\r\n", 4)[:3] == [b"*2", b"$3", b"new"]
        assert line(b"SEEN.CLAIM w a 60000\r\n", 4)[:3] == [b"*2", b"$7", b"pending"]
        line(b"SEEN.ADD w b\r\n", 1)
        assert line(b"SEEN.CLAIM w b 60000\r\n", 3) == [b"*1", b"$4", b"seen"]
        null = b"$-1" if protocol == 2 else b"_"
        assert line(b"SEEN.XADD w s * b f v\r\n", 1) == [null]


# -- SEEN.XADD --------------------------------------------------------------------------------------


def test_xadd_appends_what_is_new(r, replica):
    do(r, "SEEN.CREATE f sliding:1h filter=exact")
    first = do(r, "SEEN.XADD f s * job-1 field value other thing")
    assert b"-" in first
    assert do(r, "SEEN.XADD f s * job-1 field value") is None
    assert do(r, "SEEN.XADD f s 99999999999999-1 job-2 field value") == b"99999999999999-1"
    assert [fields for _, fields in r.xrange("s")] == [{b"field": b"value", b"other": b"thing"}, {b"field": b"value"}]
    assert replica.execute_command("XLEN", "s") == 2
    assert replica.execute_command("SEEN.MCHECK", "f", "job-1", "job-2") == [1, 1]


def test_an_entry_that_is_refused_is_not_seen(r, refused):
    do(r, "SEEN.CREATE f landmark filter=exact")
    do(r, "SEEN.XADD f s 5-1 a f v")
    refused(lambda: do(r, "SEEN.XADD f s 5-1 b f v"), "equal or smaller")
    r.set("string", "x")
    refused(lambda: do(r, "SEEN.XADD f string * b f v"), "WRONGTYPE")
    refused(lambda: do(r, "SEEN.XADD f f * b f v"), "WRONGTYPE")
    refused(lambda: do(r, "SEEN.XADD f s MAXLEN x * b f v"), "integer")
    assert do(r, "SEEN.XADD f none NOMKSTREAM * b f v") is None
    assert do(r, "SEEN.CHECK f b") == 0 and not r.exists("none")
    refused(lambda: do(r, "SEEN.XADD fresh string * b f v"), "WRONGTYPE")
    assert not r.exists("fresh")
    for line in ("SEEN.XADD f s * b", "SEEN.XADD f s * b f", "SEEN.XADD f s * b f v g", "SEEN.XADD f s MAXLEN 5 * b f"):
        refused(lambda: do(r, line), "wrong number of arguments")


def test_xadd_trims_as_xadd_does(r):
    do(r, "SEEN.CREATE f landmark filter=exact")
    for i in range(20):
        do(r, "SEEN.XADD f s MAXLEN = 5 * %d f v" % i)
    assert r.xlen("s") == 5
    for i in range(20, 40):
        do(r, "SEEN.XADD f s NOMKSTREAM MAXLEN ~ 1000 LIMIT 10 * %d f v" % i)
    assert r.xlen("s") == 25
    last = do(r, "SEEN.XADD f s * last f v")
    do(r, "SEEN.XADD f s MINID %s * more f v" % last.decode())
    assert r.xlen("s") == 2


def test_xadd_makes_a_missing_filter(r):
    assert do(r, "SEEN.XADD fresh s * a f v")
    assert do(r, "SEEN.XADD fresh s * a f v") is None
    assert info(r, "fresh")["spec"].startswith(b"sliding:1d")


def test_filter_and_stream_survive_together(start):
    server = start("--appendonly", "yes", "--appendfsync", "always")
    r = server.client
    do(r, "SEEN.CREATE f sliding:1h filter=exact")
    for i in range(50):
        do(r, "SEEN.XADD f s *", i % 30, "n", i)
    before, entries = contents(r), r.xrange("s")
    r = server.restart("kill")
    assert contents(r) == before and r.xrange("s") == entries and len(entries) == 30


def test_in_scripts_and_transactions(r):
    do(r, "SEEN.CREATE f landmark filter=exact claims=5")
    with r.pipeline() as p:
        p.execute_command("SEEN.XADD", "f", "s", "*", "a", "f", "v")
        p.execute_command("SEEN.CLAIM", "f", "b", 60000)
        appended, claimed = p.execute()
    assert appended and claimed[0] == b"new"
    assert r.eval("return redis.call('SEEN.XADD', KEYS[1], KEYS[2], '*', 'a', 'f', 'v')", 2, "f", "s") is None
    token = r.eval("return redis.call('SEEN.CLAIM', KEYS[1], 'c', 60000)", 1, "f")[1]
    assert r.eval("return redis.call('SEEN.ACK', KEYS[1], 'c', ARGV[1])", 1, "f", token) == 1
