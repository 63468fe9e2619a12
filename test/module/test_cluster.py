"""A real cluster behind `seen --redis`: records in, slots moving, servers dying.  No record may be
lost, and duplicates pass only where doc/scaling.md says."""

import signal
import threading
import time

import pytest
from cluster import BATCH, SHARDS, Cluster, Run, skip_without_client, slot_of

skip_without_client()


@pytest.fixture(scope="module")
def cluster(program, tmp_path_factory):
    made = Cluster(program, tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


@pytest.fixture
def run(cluster):
    """run(name, ...): what a test leaves running is ended."""
    started = []

    def start(*args, **more):
        started.append(Run(cluster, *args, **more))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait(10)
    cluster.check_replicas()


def stream(rng, n, different):
    return [b"%016x" % rng.randrange(different) for _ in range(n)]


def judged(records):
    """What an exact set says."""
    seen, verdicts = set(), []
    for record in records:
        verdicts.append((b"dup" if record in seen else b"new", record))
        seen.add(record)
    return verdicts


def test_a_stream_through_the_cluster_is_judged_as_by_one_exact_set(cluster, run, rng):
    records = stream(rng, 60000, 30000)
    load = run("load")
    load.feed(records)
    assert load.finish() == judged(records)
    kept = {node.port: len([k for k in node.client.keys("load:*")]) for node in cluster.primaries()}
    assert sum(kept.values()) == SHARDS and min(kept.values()) > SHARDS // 6, kept


def test_several_clients_share_one_memory(cluster, run, rng):
    records = stream(rng, 20000, 10**12)
    run("shared").finish()  # the shards are there
    clients = [run("shared") for _ in range(3)]
    loaders = [threading.Thread(target=client.feed, args=(rng.sample(records, len(records)),)) for client in clients]
    for loader in loaders:
        loader.start()
    for loader in loaders:
        loader.join()
    new = [record for client in clients for verdict, record in client.finish() if verdict == b"new"]
    assert sorted(new) == sorted(set(records)), "each record passes one of them, and once"


def new_twice(verdicts):
    """Records that were called new more often than once: a filter forgot them in between."""
    new = [record for verdict, record in verdicts if verdict == b"new"]
    return len(new) - len(set(new))


def feed_until(it, records, happened):
    """Records as they come, some ten thousand a second, until `happened`, and some more."""
    for _ in range(50):
        for start in range(0, len(records), 500):
            it.feed(records[start:start + 500])
            if happened.is_set():
                it.feed(records[:5000])
                return
            time.sleep(0.04)


def test_slots_that_move_under_load_lose_nothing(cluster, run, rng):
    records = stream(rng, 30000, 60000)
    it, moved = run("reshard"), threading.Event()
    it.feed(records)
    # The lowest slots of an owner go, as many as hold three of the shards' keys.
    keys = {slot_of("reshard:{%d}" % i): "reshard:{%d}" % i for i in range(SHARDS)}
    count, first, source = min((sorted(slot for slot in keys if first <= slot <= last)[2] - first + 1, first, i)
                               for i, (first, last, node) in enumerate(cluster.ranges()))
    source = cluster.ranges()[source][2]
    target = next(node for node in cluster.primaries() if node is not source)
    loader = threading.Thread(target=feed_until, args=(it, records, moved))
    loader.start()
    cluster.run("reshard", "127.0.0.1:%d" % source.port, "--cluster-from", source.client.cluster("myid").decode(),
                "--cluster-to", target.client.cluster("myid").decode(), "--cluster-slots", str(count))
    moved.set()
    loader.join()
    assert it.finish() == judged(it.fed)
    assert sum(cluster.owner(key) is target for slot, key in keys.items() if first <= slot < first + count) == 3
    assert it.stats["redirected"] >= 1 and it.stats["uncertain"] == 0


def test_a_shard_that_is_deleted_comes_back_with_its_own_spec(cluster, run, rng):
    records = stream(rng, 20000, 10**12)
    it = run("gone")
    it.feed(records)
    it.wait_for_output(len(records))
    owner = cluster.owner("gone:{5}")
    assert owner.client.delete("gone:{5}") == 1
    it.feed(records)
    verdicts = it.finish()
    again = sum(verdict == b"new" for verdict, record in verdicts[len(records):])
    assert it.stats["shards_remade"] == 1 and "1 time a shard was gone" in it.err
    assert len(records) / SHARDS / 2 < again < len(records) / SHARDS * 2, "what that shard had seen, and no more"
    info = owner.client.execute_command("SEEN.INFO", "gone:{5}")
    assert b"landmark:1d" in info[info.index(b"spec") + 1]


@pytest.mark.parametrize("replicas", [0, 1])
def test_a_primary_that_dies_takes_no_record_with_it(cluster, run, rng, replicas):
    records = stream(rng, 30000, 60000)
    name = "fail%d" % replicas
    cluster.settle()
    victim = cluster.owner(name + ":{0}")
    heir = cluster.replica_of(victim)
    it, taken_over = run(name, "--replicas", str(replicas)), threading.Event()
    it.feed(records)
    loader = threading.Thread(target=feed_until, args=(it, records, taken_over))
    loader.start()
    time.sleep(0.3)
    victim.stop("kill")
    heir.wait(lambda: cluster.is_primary(heir))
    taken_over.set()
    loader.join()
    verdicts = it.finish()
    assert [record for verdict, record in verdicts] == it.fed, "everything comes out, in order"
    assert {record for verdict, record in verdicts if verdict != b"dup"} == set(it.fed), "and none is lost"
    assert cluster.owner(name + ":{0}") is heir
    print("lost", it.stats["connections_lost"], "uncertain", it.stats["uncertain"], "forgotten", new_twice(verdicts), "unreplicated", it.stats["unreplicated"])
    # What a lost connection leaves in doubt is at most what was under way.
    assert it.stats["uncertain"] <= BATCH * it.stats["connections_lost"]
    # What the heir had not been told: the last commands, or, where it was waited for, what is counted.
    assert new_twice(verdicts) <= (it.stats["unreplicated"] if replicas else BATCH)
    victim.restart()
    cluster.settle()


def test_what_a_lagging_replica_missed_passes_once_more_and_nothing_is_lost(cluster, run, rng):
    """The replica stands still while records come in: what it has not read when its primary dies is
    forgotten, and no more."""
    cluster.settle()
    early, late = stream(rng, 5000, 10**12), [b"%0400x" % rng.randrange(10**12) for _ in range(60000)]
    victim = cluster.owner("lag")
    heir = cluster.replica_of(victim)
    it = run("lag", shards=1)
    it.feed(early)
    it.wait_for_output(len(early))
    time.sleep(0.5)
    heir.process.send_signal(signal.SIGSTOP)
    try:
        it.feed(late)
        it.wait_for_output(len(early) + len(late))
        victim.stop("kill")
    finally:
        heir.process.send_signal(signal.SIGCONT)
    heir.wait(lambda: cluster.is_primary(heir))
    it.feed(late)
    it.feed(early)
    verdicts = it.finish()
    assert {record for verdict, record in verdicts if verdict != b"dup"} == set(early + late)
    forgotten = [record for verdict, record in verdicts[-len(early + late):] if verdict == b"new"]
    print("forgotten", len(forgotten), "of", len(late))
    assert 0 < len(forgotten) < len(late) and not set(forgotten) & set(early)
    assert forgotten == late[-len(forgotten):], "the last ones, none before"
    victim.restart()
    cluster.settle()
