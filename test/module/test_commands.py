"""What the commands answer, and what they say when they cannot."""

import pytest

HOUR = 3600 * 1000


def do(r, line, *more):
    return r.execute_command(*line.split(), *more)


def info(r, key):
    reply = do(r, "SEEN.INFO", key)
    return {name.decode(): value for name, value in zip(reply[::2], reply[1::2])}


# -- adding and asking ------------------------------------------------------------------------------


def test_an_item_is_new_once(r):
    do(r, "SEEN.CREATE k landmark fp=1e-6 items=1000")
    assert [do(r, "SEEN.ADD k a"), do(r, "SEEN.ADD k a"), do(r, "SEEN.ADD k b")] == [1, 0, 1]


def test_madd_finds_a_duplicate_inside_one_call(r):
    do(r, "SEEN.CREATE k sliding:1e3")
    assert do(r, "SEEN.MADD k a b a c b a") == [1, 1, 0, 1, 0, 0]


def test_check_changes_nothing(r, written):
    do(r, "SEEN.CREATE k sliding:2")
    do(r, "SEEN.ADD k a")
    written()
    for _ in range(5):
        assert do(r, "SEEN.CHECK k a") == 1
        assert do(r, "SEEN.MCHECK k a b") == [1, 0]
    assert written() == 0  # INFO, too, says so
    assert info(r, "k")["records"] == 1


def test_a_key_that_is_not_there_has_seen_nothing(r):
    assert do(r, "SEEN.CHECK none a") == 0
    assert do(r, "SEEN.MCHECK none a b") == [0, 0]
    assert do(r, "SEEN.AGE none a") == -1
    assert r.exists("none") == 0


def test_add_makes_a_missing_key_by_the_default_spec(r):
    assert do(r, "SEEN.ADD fresh a") == 1
    assert info(r, "fresh")["spec"].startswith(b"sliding:1d fp=0.0001")


def test_items_are_any_bytes(r):
    do(r, "SEEN.CREATE k landmark")
    for item in (b"", b"\0", b"\r\n", bytes(range(256)), b"x" * 100000):
        assert r.execute_command("SEEN.ADD", "k", item) == 1
        assert r.execute_command("SEEN.ADD", "k", item) == 0


def test_a_thousand_items_in_one_call(r):
    do(r, "SEEN.CREATE k landmark filter=exact")
    items = ["i%d" % (i % 700) for i in range(1000)]
    assert r.execute_command("SEEN.MADD", "k", *items) == [1] * 700 + [0] * 300
    assert r.execute_command("SEEN.MCHECK", "k", *items, "new") == [1] * 1000 + [0]


# -- time -------------------------------------------------------------------------------------------


def test_at_says_when(r):
    do(r, "SEEN.CREATE k sliding:1h filter=exact")
    t = 1_800_000_000_000
    assert do(r, "SEEN.ADD k a AT", t) == 1
    assert do(r, "SEEN.ADD k a AT", t + HOUR - 1) == 0
    assert do(r, "SEEN.ADD k a AT", t + 3 * HOUR) == 1
    assert do(r, "SEEN.MADD k a b AT", t + 3 * HOUR) == [0, 1]
    assert do(r, "SEEN.CHECK k a AT", t + 4 * HOUR) == 0
    assert do(r, "SEEN.CHECK k a AT", t + 4 * HOUR - 1) == 1
    assert do(r, "SEEN.AGE k a AT", t + 3 * HOUR + 5) == 5


def test_at_star_is_the_servers_clock(r):
    do(r, "SEEN.CREATE k sliding:1h")
    assert do(r, "SEEN.MADD k AT 5 AT *") == [1, 1]  # the items are AT and 5
    assert do(r, "SEEN.AGE k AT AT *") in range(60000)


def test_maddx_adds_to_a_filter_that_is_there_and_makes_none(r, refused):
    refused(lambda: do(r, "SEEN.MADDX k a b"), "no such key")
    assert r.exists("k") == 0
    do(r, "SEEN.CREATE k sliding:1h")
    assert do(r, "SEEN.MADDX k a b a AT *") == [1, 1, 0]
    assert do(r, "SEEN.MADD k a c") == [0, 1]


def test_within_is_a_part_of_the_window(r):
    do(r, "SEEN.CREATE t sliding:1d filter=exact")
    t = 1_800_000_000_000
    do(r, "SEEN.ADD t a AT", t)
    assert do(r, "SEEN.CHECK t a WITHIN 1h AT", t + HOUR) == 1
    assert do(r, "SEEN.CHECK t a AT %d WITHIN 1h" % (t + HOUR + 1)) == 0
    assert do(r, "SEEN.MCHECK t a b WITHIN 0 AT", t + 5 * HOUR) == [1, 0]
    do(r, "SEEN.CREATE n sliding:10 filter=exact")
    do(r, "SEEN.MADD n a b c")
    assert do(r, "SEEN.MCHECK n a b c WITHIN 2") == [0, 1, 1]


def test_age_counts_records_where_windows_do(r):
    do(r, "SEEN.CREATE n sliding:10 filter=exact")
    do(r, "SEEN.MADD n a b c")
    assert [do(r, "SEEN.AGE n", x) for x in "abcd"] == [3, 2, 1, -1]


# -- replication of effects -------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [
    "landmark", "landmark:1d", "sliding:1h refresh=first", "jumping:1h/4 refresh=first"])
def test_a_duplicate_that_changes_nothing_is_not_replicated(r, written, spec):
    do(r, "SEEN.CREATE k", *spec.split())
    do(r, "SEEN.MADD k a b")
    written()
    assert do(r, "SEEN.ADD k a") == 0
    assert do(r, "SEEN.MADD k a b a") == [0, 0, 0]
    assert written() == 0
    assert do(r, "SEEN.MADD k a c") == [0, 1]
    assert written() > 0
    assert info(r, "k")["duplicates"] == 5


@pytest.mark.parametrize("spec", ["sliding:1h", "sliding:1e3 refresh=first", "jumping:1h/4",
                                  "landmark:1e6", "decaying mem=64KiB"])
def test_a_duplicate_that_changes_something_is_replicated(r, written, spec):
    do(r, "SEEN.CREATE k", *spec.split())
    do(r, "SEEN.ADD k a")
    written()
    assert do(r, "SEEN.ADD k a") == 0
    assert written() > 0


def test_replicas_answer_as_the_primary(r, replica, rng):
    do(r, "SEEN.CREATE k sliding:1h fp=1e-2 mem=4KiB")
    items = ["i%d" % rng.randrange(3000) for _ in range(4000)]
    for i in range(0, 4000, 100):
        r.execute_command("SEEN.MADD", "k", *items[i:i + 100])
    asked = ["i%d" % i for i in range(6000)]
    assert replica.execute_command("SEEN.MCHECK", "k", *asked) == \
        r.execute_command("SEEN.MCHECK", "k", *asked)


def test_the_default_and_its_seed_are_replicated(r, replica, pair):
    pair[1].client.config_set("seen.default", "landmark fp=1e-2 mem=4KiB")
    do(r, "SEEN.ADD k a")
    do(r, "SEEN.MADD many a b")
    for key in ("k", "many"):
        assert replica.execute_command("SEEN.INFO", key)[1] == info(r, key)["spec"]


def test_a_transaction_and_a_script_are_replicated(r):
    with r.pipeline(transaction=True) as p:
        p.execute_command("SEEN.CREATE", "k", "sliding:1h")
        p.execute_command("SEEN.ADD", "k", "a")
        p.execute_command("SEEN.ADD", "fresh", "a")
        assert p.execute() == [b"OK", 1, 1]
    assert r.eval("return redis.call('SEEN.ADD', KEYS[1], 'a')", 1, "k") == 0


# -- resolved specs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [
    "landmark fp=1e-6 items=1000", "jumping:1h/12 fp=1e-4 mem=64KiB", "sliding:1h",
    "decaying mem=64KiB",
    "landmark filter=exact", "sliding:1h filter=exact", "sliding:1h filter=exact lateness=5s",
    "sliding:1h filter=exact mem=1MiB items=1000", "landmark shards=4 filter=exact"])
def test_the_spec_that_info_shows_makes_the_same_filter_again(r, spec):
    do(r, "SEEN.CREATE k " + spec)
    shown = info(r, "k")["spec"].decode()
    do(r, "SEEN.CREATE copy " + shown)
    assert info(r, "copy")["spec"].decode() == shown


@pytest.mark.parametrize("spec", [
    "landmark filter=exact refresh=last overload=grow hash=xxh3 seed=5 shards=1 lines=0",
    "sliding:1h filter=exact refresh=last overload=grow hash=xxh3 seed=5 shards=2 lines=0"])
def test_a_resolved_set_without_limit_gets_that_of_the_server(r, spec):
    do(r, "SEEN.CREATE k " + spec)
    shown = info(r, "k")["spec"].decode()
    assert " mem=1GiB " in shown and " seed=5 " in shown and "lines=0" not in shown
    assert info(r, "k")["capacity"] > 1000000
    assert do(r, "SEEN.MADD k a b a") == [1, 1, 0]


# -- refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("line, words", [
    ("SEEN.CREATE k", "wrong number"),
    ("SEEN.CREATE k lanmark", "did you mean landmark?"),
    ("SEEN.CREATE k landmark fp=2", "fp"),
    ("SEEN.CREATE k landmark fp=1e-9 mem=1MiB items=1e9", "fp="),
    ("SEEN.CREATE k landmark mem=2GiB", "max-bytes"),
    ("SEEN.CREATE k landmark mem=17179869184GiB", "too large"),
    ("SEEN.ADD k", "wrong number"),
    ("SEEN.ADD k a b", "wrong number"),
    ("SEEN.ADD k a AT", "wrong number"),
    ("SEEN.ADD k a AT never", "milliseconds"),
    ("SEEN.ADD k a AT -1", "milliseconds"),
    ("SEEN.ADD k a AT 9223372036854775807", "milliseconds"),
    ("SEEN.ADD k a NOW 5", "wrong number"),
    ("SEEN.MADD k", "wrong number"),
    ("SEEN.MADD k AT 5", "wrong number"),
    ("SEEN.MADD k a AT x", "milliseconds"),
    ("SEEN.CHECK k", "wrong number"),
    ("SEEN.CHECK there a WITHIN x", "x"),
    ("SEEN.CHECK there a WITHIN 5", "5"),
    ("SEEN.AGE there a SINCE 5", "wrong number"),
    ("SEEN.INFO k", "no such key"),
    ("SEEN.INFO k more", "wrong number"),
])
def test_bad_arguments_get_one_sentence_and_change_nothing(r, refused, written, line, words):
    do(r, "SEEN.CREATE there sliding:1h")
    written()
    refused(lambda: do(r, line), words)
    assert r.exists("k") == 0
    assert written() == 0


def test_a_key_that_exists_is_not_made_again(r, refused):
    do(r, "SEEN.ADD k a")
    refused(lambda: do(r, "SEEN.CREATE k landmark"), "BUSYKEY")
    assert do(r, "SEEN.CHECK k a") == 1


def test_keys_of_other_types_are_refused(r, refused):
    r.set("s", "x")
    for line in ("SEEN.ADD s a", "SEEN.MADD s a", "SEEN.CHECK s a", "SEEN.AGE s a", "SEEN.INFO s"):
        refused(lambda: do(r, line), "wrong kind of value")
    refused(lambda: do(r, "SEEN.CREATE s landmark"), "exists")
    assert r.get("s") == b"x"


def test_madd_of_integers_adds_all_or_none(r, refused):
    do(r, "SEEN.CREATE k landmark filter=exact hash=int")
    refused(lambda: do(r, "SEEN.MADD k 1 2 three"), "integer")
    assert do(r, "SEEN.MADD k 1 2") == [1, 1]
    refused(lambda: do(r, "SEEN.MCHECK k 1 two"), "integer")


def test_keys_of_more_than_128_bits_are_refused(r, refused):
    refused(lambda: do(r, "SEEN.CREATE k landmark filter=substrings bits=512 substring=10 fp=.9"), "bits=128")
    assert do(r, "EXISTS k") == 0
    do(r, "SEEN.CREATE k landmark filter=substrings bits=128 substring=10 fp=.9")
    assert [do(r, "SEEN.ADD k a"), do(r, "SEEN.ADD k a")] == [1, 0]
