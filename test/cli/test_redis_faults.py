"""`seen --redis` when servers answer late, elsewhere, wrongly or not at all: no record is lost."""

import signal
import subprocess
import threading
import time

import pytest
from conftest import SEEN, default_signals
from fake_redis import BATCH, CLOSE, LOSE, Fake, Once, array, lines, slot_of, text, unique


@pytest.fixture(autouse=True)
def needs_client(seen):
    if b"without a Redis client" in seen("--redis", "redis://127.0.0.1:1/x").err:
        pytest.skip("this seen was built without hiredis")


# -- clusters -----------------------------------------------------------------------------------------


def test_keys_are_sent_to_who_owns_their_slot(seen):
    with Fake(nodes=3) as servers:
        seen("--redis", servers.url(), "--shards", 9, text=text(lines(6 * BATCH, 3000)))
        for node in servers.nodes:
            for words in node.commands:
                if words[0] == b"SEEN.MADDX":
                    assert servers.owner_of(words[1]) is node
        assert all(node.keys for node in servers.nodes)
        assert slot_of(b"foo{bar}baz") == slot_of(b"bar") == 5061 and slot_of(b"123456789") == 12739


def test_moved_slots_are_followed(seen):
    records = lines(8 * BATCH, 1500)
    with Fake(nodes=3) as servers:

        def move(node, words):
            servers.move(slot_of(words[1]), servers.nodes[(node.number + 1) % 3])

        servers.hook = Once(move, 20)
        done = seen("--redis", servers.url(), "--shards", 6, "--stats=json", text=text(records))
    assert done.out == text(unique(records))
    assert done.stats["redirected"] >= 1 and done.stats["uncertain"] == 0


def test_a_redirection_without_an_address_means_the_same_machine(seen):
    records = lines(2 * BATCH, 1000)
    with Fake() as first, Fake(nodes=2) as others:
        first.hook = lambda node, words: (
            b"-MOVED %d :%d\r\n" % (slot_of(words[1]), others.nodes[1].port)
            if words[0].startswith(b"SEEN.") or words[0] == b"EXISTS" else None)
        done = seen("--redis", first.url(), "--shards", 4, text=text(records))
        assert len(others.items()) == 4
    assert (done.out, done.err) == (text(unique(records)), b"")


def test_a_slot_in_the_middle_of_its_move_is_asked_for_where_it_goes(seen):
    records = lines(8 * BATCH, 1500)
    with Fake(nodes=2) as servers:
        gone = {}

        def migrate(node, words):
            """The key has gone ahead of its slot."""
            if words[0] == b"SEEN.MADDX" and len(servers.commands(b"SEEN.MADDX")) == 9:
                gone[words[1]] = servers.nodes[1 - node.number]
                gone[words[1]].keys[words[1]] = node.keys.pop(words[1])
            to = gone.get(words[1]) if len(words) > 1 else None
            if to and to is not node:
                return b"-ASK %d 127.0.0.1:%d\r\n" % (slot_of(words[1]), to.port)

        servers.hook = migrate
        done = seen("--redis", servers.url(), "--shards", 4, "--stats=json", text=text(records))
        assert servers.commands(b"ASKING")
    assert done.out == text(unique(records))
    assert done.stats["redirected"] > 1


@pytest.mark.parametrize("word", ["TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "NOREPLICAS", "READONLY", "BUSY "])
def test_a_server_that_says_later_is_asked_later(seen, word):
    records = lines(6 * BATCH, 1000)
    with Fake(nodes=2) as servers:
        servers.hook = Once(b"-%s not now\r\n" % word.encode(), 3)
        done = seen("--redis", servers.url(), "--shards", 4, text=text(records))
    assert (done.out, done.err) == (text(unique(records)), b"")


def test_a_server_that_comes_back_in_time_is_waited_for(seen):
    records = lines(6 * BATCH, 1000)
    with Fake() as server:

        def away(node, words):
            server.hook = lambda node, words: CLOSE
            threading.Timer(0.4, lambda: setattr(server, "hook", None)).start()
            return CLOSE

        server.hook = Once(away, 3)
        done = seen("--redis", server.url(), "--tag", text=text(records))
        assert b"after a lost connection" not in done.err or b"-\t" in done.out
    assert [line.split("\t")[1].encode() for line in done.lines] == records


# -- lost answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("nth", [1, 2, 5])
def test_what_a_lost_answer_leaves_in_doubt_is_passed_on_and_counted(seen, nth):
    records = lines(5 * BATCH, 2 * BATCH)
    with Fake() as server:
        server.hook = Once(LOSE, nth)
        done = seen("--redis", server.url(), "--stats=json", text=text(records))
        sent = [words[2:-2] for words in server.commands(b"SEEN.MADDX")]
    batch, again = sent[nth - 1], sent[nth]
    before = set(sum(sent[:nth - 1], []))
    assert again == batch
    assert set(done.lines) == {r.decode() for r in records}, "no record is lost"
    assert done.stats["uncertain"] == len(batch), "all of them are there the second time"
    extra = len(done.lines) - len(set(records))
    assert extra == len(batch) - len(set(batch) - before)
    assert b"%d records were passed on unjudged after a lost connection" % len(batch) in done.err


def test_what_was_not_carried_out_is_not_in_doubt(seen):
    records = lines(5 * BATCH, 5 * BATCH)
    with Fake() as server:
        server.hook = Once(CLOSE, 2)
        done = seen("--redis", server.url(), "--tag", text=text(unique(records)))
    assert done.out == b"".join(b"new\t%s\n" % r for r in unique(records)), "new is new, asked twice or not"


def test_at_most_once_drops_what_is_in_doubt(seen):
    with Fake() as server:
        server.hook = Once(LOSE)
        done = seen("--redis", server.url(), "--at-most-once", text="a\nb\n")
        assert (done.out, done.err) == (b"", b"")


def test_records_in_doubt_are_tagged_and_fail_a_strict_run(seen):
    with Fake() as server:
        server.hook = Once(LOSE)
        done = seen("--redis", server.url(), "--tag", "--strict", text="a\nb\n")
        assert (done.out, done.code) == (b"-\ta\n-\tb\n", 2)


@pytest.mark.parametrize("have, told", [(2, 0), (1, 4), (None, 4)])
def test_records_that_too_few_replicas_have_are_told_of(seen, have, told):
    with Fake(nodes=3) as servers:
        servers.hook = lambda node, words: (
            CLOSE if have is None else b":%d\r\n" % have) if words[0] == b"WAIT" else None
        done = seen("--redis", servers.url(), "--shards", 6, "--replicas", 2, "--stats=json", text="a\nb\na\nc\n")
        waited = [words for words in servers.commands(b"WAIT")]
    assert done.out == b"a\nb\nc\n"
    assert done.stats["unreplicated"] == told
    assert (b"4 records were judged before 2 replicas had them" in done.err) == bool(told)
    assert 1 <= len(waited) <= 3 and waited[0] == [b"WAIT", b"2", b"250"]


class Chaos:
    """One command in `rarity` goes wrong, in a way drawn at random; slots change hands as they like."""

    later = [b"-TRYAGAIN not now\r\n", b"-CLUSTERDOWN not now\r\n", b"-LOADING not now\r\n"]

    def __init__(self, servers, rng, rarity=8):
        self.servers, self.rng, self.rarity, self.gone = servers, rng, rarity, {}

    def __call__(self, node, words):
        key = words[1] if len(words) > 1 and words[0].startswith(b"SEEN.") else None
        if key in self.gone:  # ahead of its slot, until that follows
            to = self.gone[key]
            if self.rng.random() < 0.3:
                del self.gone[key]
                self.servers.owner[slot_of(key)] = to
            elif to is not node:
                return b"-ASK %d 127.0.0.1:%d\r\n" % (slot_of(key), to.port)
            return None
        if key is None or self.rng.randrange(self.rarity):
            return None
        return self.rng.choice([self.close, self.lose, self.put_off, self.move, self.migrate])(node, key)

    def close(self, node, key):
        return CLOSE

    def lose(self, node, key):
        return LOSE

    def put_off(self, node, key):
        return self.rng.choice(self.later)

    def move(self, node, key):
        self.servers.move(slot_of(key), self.rng.choice(self.servers.nodes))

    def migrate(self, node, key):
        if key in node.keys:
            self.gone[key] = self.servers.nodes[(node.number + 1) % 3]
            self.gone[key].keys[key] = node.keys.pop(key)
            return b"-ASK %d 127.0.0.1:%d\r\n" % (slot_of(key), self.gone[key].port)


def test_whatever_goes_wrong_no_record_is_lost_and_none_is_new_twice(seen, rng):
    for _ in range(6):
        records = lines(8 * BATCH, 3 * BATCH, seed=rng.random())
        with Fake(nodes=3) as servers:
            servers.hook = Chaos(servers, rng)
            done = seen("--redis", servers.url(), "--shards", 5, "--tag", "--stats=json", text=text(records))
        assert done.code == 0, done.err
        verdicts = [tuple(line.encode().split(b"\t")) for line in done.lines]
        assert [record for verdict, record in verdicts] == records
        assert {record for verdict, record in verdicts if verdict != b"dup"} == set(records)
        new = [record for verdict, record in verdicts if verdict == b"new"]
        assert len(new) == len(set(new)) == done.stats["unique"]
        assert done.stats["uncertain"] == sum(verdict == b"-" for verdict, record in verdicts)


# -- servers that are gone, or are not servers --------------------------------------------------------


def test_nobody_there_is_said_at_once(seen):
    seen("--redis", "redis://127.0.0.1:1/x").refused("127.0.0.1:1", "refused")


def test_patience_ends_and_everything_read_is_passed_on(seen):
    records = lines(6 * BATCH, 6 * BATCH)
    with Fake() as server:

        def die(node, words):
            server.hook = lambda node, words: CLOSE
            return CLOSE

        server.hook = Once(die, 3)
        start = time.monotonic()
        done = seen("--redis", server.url(), "--patience", "300ms", text=text(records))
        n = sum(len(words) - 4 for words in server.commands(b"SEEN.MADDX")[:3])
    assert time.monotonic() - start < 5
    assert done.code == 2
    assert BATCH < n < len(records)
    assert [line.encode() for line in done.lines][-100:] == records[n - 100:n], "the third batch is in doubt"
    assert set(done.lines) == {record.decode() for record in records[:n]}
    assert b"everything up to record %d is passed on" % n in done.err


def test_an_interrupt_while_a_server_is_away_ends_the_wait():
    with Fake() as server:
        server.hook = lambda node, words: CLOSE if words[0] == b"SEEN.MADDX" else None
        run = subprocess.Popen([SEEN, "--redis", server.url(), "--tag"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=default_signals)
        run.stdin.write(b"a\n")
        run.stdin.close()
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        assert run.wait(5) == -signal.SIGINT
        assert run.stdout.read() == b"-\ta\n"


@pytest.mark.parametrize("answer", [
    b"+OK\r\n", b":1\r\n", b"$-1\r\n", array([b":1\r\n"] * 7), array([b"+x\r\n"]), b"*-1\r\n",
    b"-MOVED\r\n", b"-MOVED 1 nowhere\r\n", b"-ASK 99999 \r\n", b"-MOVED 1 127.0.0.1:99999\r\n",
    b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
    b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"])
def test_an_answer_that_is_none_ends_the_run_and_loses_nothing(seen, answer):
    with Fake() as server:
        server.hook = lambda node, words: answer if words[0] == b"SEEN.MADDX" else None
        done = seen("--redis", server.url(), "--patience", "200ms", text="a\n")
        assert (done.code, done.out) == (2, b"a\n")
        assert done.err.startswith(b"seen: the server is lost")


@pytest.mark.parametrize("noise", [b"!!!\r\n", b"*100000000\r\n", b"$99999999999\r\n", b"*2\r\n:1\r\n", b"", b"\0" * 100])
def test_noise_instead_of_a_protocol_is_survived(seen, noise):
    with Fake() as server:

        def speak(node, words):
            if words[0] != b"SEEN.MADDX":
                return None
            return noise or CLOSE

        server.hook = speak
        done = seen("--redis", server.url(), "--patience", "200ms", text="a\n", timeout=300)
        assert (done.code, done.out) == (2, b"a\n")


@pytest.mark.parametrize("map_", [
    b"*0\r\n", b":1\r\n", array([array([b":0\r\n", b":99999\r\n"])]), array([b":1\r\n"]),
    array([array([b":0\r\n", b":5\r\n", array([b"$1\r\nx\r\n", b":0\r\n"])])]),
    array([array([b":-1\r\n", b":5\r\n", array([b"$1\r\nx\r\n", b":1\r\n"])])])])
def test_a_map_that_makes_no_sense_is_refused(seen, map_):
    with Fake() as server:
        server.hook = lambda node, words: map_ if words[0] == b"CLUSTER" else None
        seen("--redis", server.url(), "--patience", "100ms").refused("does not say who owns what")


def test_a_server_without_the_module_is_told_apart(seen):
    with Fake() as server:
        server.hook = lambda node, words: (
            b"-ERR unknown command 'SEEN.INFO', with args beginning with: \r\n"
            if words[0].startswith(b"SEEN") else None)
        seen("--redis", server.url()).refused("load the module")
