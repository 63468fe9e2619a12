"""SEEN.MERGE: what one filter has seen enters another, a piece a call, while others go on."""

import pytest
import redis

SPECS = ["landmark fp=1e-9 filter=bloom", "landmark fp=1e-9 filter=blocked",
         "landmark fp=1e-9 filter=counting", "jumping:24h/6 fp=1e-9 filter=partitioned",
         "jumping:1e5/6 fp=1e-9", "sliding:24h fp=1e-9 filter=line", "sliding:1e5 fp=1e-9 filter=line",
         "sliding:24h filter=exact", "landmark filter=exact", "jumping:24h/6 filter=exact",
         "sliding:1e5 fp=1e-9 filter=line cache=5000"]
KEYS = 20000


def create(r, spec, *names):
    memory = "" if "exact" in spec else " mem=1MiB"
    for name in names:
        r.execute_command("SEEN.CREATE", name, spec + memory + " seed=7")


def fill(r, name, first):
    items = list(range(first, first + KEYS))
    for i in range(0, KEYS, 1000):
        r.execute_command("SEEN.MADD", name, *items[i:i + 1000], "AT", 1_700_000_000_000)
    return items


def seen(r, name, items):
    return sum(sum(r.execute_command("SEEN.MCHECK", name, *items[i:i + 1000], "AT", 1_700_000_000_000))
               for i in range(0, len(items), 1000))


def pieces(r, into, source):
    """The cursors of a merge."""
    cursor = r.execute_command("SEEN.MERGE", into, source)
    while cursor != b"0":
        yield cursor
        cursor = r.execute_command("SEEN.MERGE", into, source, cursor)


@pytest.mark.parametrize("spec", SPECS)
def test_after_the_last_piece_both_are_in(r, spec):
    create(r, spec, "a", "b")
    mine, theirs = fill(r, "a", 0), fill(r, "b", KEYS // 2)
    assert sum(1 for _ in pieces(r, "a", "b")) > 3
    both = sorted({*mine, *theirs})
    assert seen(r, "a", both) == len(both)
    assert seen(r, "a", [-i for i in range(1, 10000)]) == 0


@pytest.mark.parametrize("spec", SPECS)
def test_items_come_between_the_pieces(r, spec):
    create(r, spec, "a", "b")
    both = fill(r, "b", 0)
    for i, _ in enumerate(pieces(r, "a", "b")):
        # from the one under way, and others
        both += [i, KEYS + i]
        r.execute_command("SEEN.MADD", "a", i, KEYS + i, "AT", 1_700_000_000_000)
    assert seen(r, "a", both) == len(both)


def test_a_merge_of_nothing_is_no_change(r, written):
    create(r, SPECS[0], "a", "b")
    written()
    assert r.execute_command("SEEN.MERGE", "a", "b") == b"0"
    assert written() == 0


def test_a_source_that_does_not_rest_is_told(r):
    create(r, SPECS[5], "a", "b")
    items = fill(r, "b", 0)
    cursor = r.execute_command("SEEN.MERGE", "a", "b")
    r.execute_command("SEEN.ADD", "b", "another", "AT", 1_700_000_000_000)
    with pytest.raises(redis.exceptions.ResponseError, match="the source changed"):
        r.execute_command("SEEN.MERGE", "a", "b", cursor)
    assert r.execute_command("SEEN.CHECK", "b", "another", "AT", 1_700_000_000_000) == 1
    for _ in pieces(r, "a", "b"):  # duplicates and queries do not change a resting window
        r.execute_command("SEEN.MCHECK", "b", *range(10))
    assert seen(r, "a", items) == KEYS


@pytest.mark.parametrize("how", [("SEEN.CLEAR", "a"), ("DEL", "b"), ("DEL", "a")])
def test_a_filter_that_is_another_meanwhile_is_told(r, how):
    create(r, SPECS[0], "a", "b")
    fill(r, "a", 0), fill(r, "b", 0)
    cursor = r.execute_command("SEEN.MERGE", "a", "b")
    r.execute_command(*how)
    if how[0] == "DEL":
        with pytest.raises(redis.exceptions.ResponseError, match="no such key"):
            r.execute_command("SEEN.MERGE", "a", "b", cursor)
        create(r, SPECS[0], how[1])
    with pytest.raises(redis.exceptions.ResponseError, match="made again"):
        r.execute_command("SEEN.MERGE", "a", "b", cursor)


@pytest.mark.parametrize("cursor", ["1", "", "x", "-", "1-2-3", "-".join("0" * 13), "-".join("1" * 13),
                                    "-".join(["f" * 17] * 13), "1-" * 13, "\0"])
def test_what_is_no_cursor_is_refused(r, cursor):
    create(r, SPECS[0], "a", "b")
    fill(r, "b", 0)
    with pytest.raises(redis.exceptions.ResponseError, match="a cursor is 0, or what"):
        r.execute_command("SEEN.MERGE", "a", "b", cursor)


@pytest.mark.parametrize("spec", SPECS)
def test_a_forged_cursor_is_refused(r, spec, rng, written):
    create(r, spec, "a", "b")
    fill(r, "a", 0)
    fill(r, "b", 5)
    true = r.execute_command("SEEN.MERGE", "a", "b").decode().split("-")
    written()
    for _ in range(300):
        forged = list(true)
        i = rng.randrange(len(forged))
        near = max(0, int(true[i], 16) + rng.choice([-2, -1, 1, 2]))
        forged[i] = "%x" % rng.choice([0, 1, 2, near, rng.randrange(5000), rng.getrandbits(64)])
        if forged != true:
            with pytest.raises(redis.exceptions.ResponseError, match="a cursor is 0, or what"):
                r.execute_command("SEEN.MERGE", "a", "b", "-".join(forged))
    assert written() == 0


def test_a_replica_goes_on_where_its_primary_stopped(start):
    """A merge that began on one server starts again on the other: the keys that had entered stay."""
    primary = start()
    replica = start("--replicaof", "127.0.0.1 %d" % primary.port)
    r = primary.client
    create(r, SPECS[5], "a", "b")
    items = fill(r, "b", 0)
    cursors = pieces(r, "a", "b")
    last = [next(cursors) for _ in range(5)][-1]
    r.wait(1, 10000)
    replica.client.execute_command("REPLICAOF NO ONE")
    with pytest.raises(redis.exceptions.ResponseError, match="a cursor is 0, or what"):
        replica.client.execute_command("SEEN.MERGE", "a", "b", last)
    list(pieces(replica.client, "a", "b"))
    assert seen(replica.client, "a", items) == KEYS


def test_half_a_merge_survives_the_append_only_file(start):
    server = start("--appendonly", "yes")
    r = server.client
    create(r, SPECS[7], "a", "b")
    items = fill(r, "b", 0)
    cursors = pieces(r, "a", "b")
    for _ in range(5):
        next(cursors)
    before = seen(r, "a", items)
    r = server.restart("kill")
    assert 0 < before == seen(r, "a", items) < KEYS
    list(pieces(r, "a", "b"))
    assert seen(r, "a", items) == KEYS
