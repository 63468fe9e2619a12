"""--within: any w up to the window, asked of a window that is kept as planned."""

import pytest

RECORDS, SPAN = 1000, 3600


def stream(rng, timed):
    """[(time, key)]: keys come again after gaps of every length."""
    t, rows = 1_732_060_800, []
    for i in range(12000):
        t += rng.choice([0, 0, 1, 5]) if timed else 1
        rows.append((t, "k%d" % (rng.randrange(40) if rng.random() < 0.1 else rng.randrange(4000))))
    return rows


def ages(rows, timed):
    """How long ago each record's key came last; None: never."""
    last, found = {}, []
    for i, (t, key) in enumerate(rows):
        at = t if timed else i
        found.append(at - last[key] if key in last else None)
        last[key] = at
    return found


def run(seen, rows, timed, *args):
    text = "".join("%d,%s\n" % row for row in rows)
    done = seen("-d,", "-k2", *(["--time=1"] if timed else []), "--tag", *args, text=text)
    assert done.code == 0, done.err
    return [line.split("\t")[0] == "dup" for line in done.lines], done


# Structures, and the share of the window by which an age may be taken for younger than it is.
SLIDING = [("filter=exact", 0), ("filter=line fp=1e-6", 1 / 31), ("filter=timed-cuckoo fp=1e-6", 1 / 8),
           ("filter=timing fp=1e-6", 1 / 8), ("filter=exact shards=4", 0)]


@pytest.mark.parametrize("filter, slack", SLIDING)
@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("part", [0.01, 0.1, 0.5, 1])
def test_what_is_called_a_duplicate_was_seen_within(seen, rng, filter, slack, timed, part):
    rows, length = stream(rng, timed), SPAN if timed else RECORDS
    within = int(length * part)
    if timed and "line" in filter:
        slack = 1 / 25
    items = " items=4000" if timed and filter != "filter=exact" and "exact" not in filter else ""
    spec = "sliding:%s %s%s" % ("1h" if timed else RECORDS, filter, items)
    verdicts, done = run(seen, rows, timed, "-w", spec, "--within", "%ds" % within if timed else within,
                         "--stats=json")
    wrong = 0
    for verdict, age in zip(verdicts, ages(rows, timed)):
        inside = age is not None and (age <= within and (age < length or not timed))
        assert verdict or not inside  # no false negatives
        if slack == 0:
            assert verdict == inside
        wrong += verdict and (age is None or age > within + slack * length)
    assert wrong <= 3
    assert done.stats["duplicates"] == sum(verdicts) and done.stats["records"] == len(rows)


@pytest.mark.parametrize("spec", ["jumping:1h/12", "jumping:1h/12 filter=exact", "jumping:1h/12 filter=bloom"])
def test_generations_of_a_jumping_window_round_it_up(seen, rng, spec):
    rows = stream(rng, True)
    verdicts, _ = run(seen, rows, True, "-w", spec, "--within", "10m", "-q")
    for verdict, age in zip(verdicts, ages(rows, True)):
        assert verdict or age is None or age > 600
        assert not verdict or age <= 600 + 300 + 1


@pytest.mark.parametrize("more", [["--tag=age"], ["--tag=verdict,age"]])
def test_the_age_that_is_told_is_since_the_key_was_last_seen(seen, more):
    text = "0,a\n60,a\n1000,a\n1100,a\n"
    done = seen("-d,", "-k2", "--time=1", "-w", "sliding:1h filter=exact", "--within", "10m", *more, text=text)
    told = [line.rsplit("\t", 1)[0].split("\t") for line in done.lines]
    assert [t[-1] for t in told] == ["-", "60", "940", "100"]
    if len(told[0]) > 1:
        assert [t[0] for t in told] == ["new", "dup", "new", "dup"]


def test_a_feed_asks_within(seen):
    text = "0,a,\n60,,a\n1000,,a\n1001,a,\n1500,,a\n"
    done = seen("-d,", "--time=1", "-w", "sliding:1h filter=exact", "--add-key", "2", "--query-key", "3",
                "--within", "10m", "--tag", text=text)
    assert [line.split("\t")[0] for line in done.lines] == ["-", "dup", "new", "-", "dup"]


def test_a_record_that_was_new_is_remembered_all_the_same(seen):
    done = seen("-w", "sliding:100 filter=exact", "--within", "2", "--tag", text="a\nb\nc\na\nb\na\n")
    assert [line.split("\t")[0] for line in done.lines] == ["new", "new", "new", "new", "new", "dup"]


@pytest.mark.parametrize("threads", ["-j1", "-j3"])
def test_neither_threads_nor_a_state_change_it(seen, rng, threads, state):
    rows = stream(rng, False)
    whole, _ = run(seen, rows, False, "-w", "sliding:1000 shards=4 seed=5", "--within", "100", threads)
    kept = ["-w", "sliding:1000 shards=4 seed=5", "--within", "100", "--state", state, threads, "-q"]
    parts = run(seen, rows[:5000], False, *kept)[0] + run(seen, rows[5000:], False, *kept)[0]
    assert parts == whole


REFUSED = [(["-w", "sliding:1h", "--within", "2h"], "at most the window's length"),
           (["-w", "sliding:1h", "--within", "0s"], "more than nothing"),
           (["-w", "sliding:1000", "--within", "1001"], "at most the window's length"),
           (["-w", "sliding:1h", "--within", "x"], "--within x"),
           (["-w", "sliding:1h", "--within", "100"], "--within 100"),
           (["-w", "landmark:1d", "--within", "1h"], "sliding and jumping windows"),
           (["-w", "decaying", "--within", "10"], "sliding and jumping windows"),
           (["-w", "sliding:1000 filter=counting", "--within", "10"], "filter=counting does not know"),
           (["-w", "sliding:1h refresh=first", "--within", "1m"], "refresh=first"),
           (["-w", "sliding:1h", "--lateness", "1m", "--within", "1m"], "--lateness"),
           (["-w", "sliding:1000", "--cache", "100", "--within", "10"], "--verify"),
           (["-w", "sliding:1h", "--keep", "last", "--within", "1m"], "--keep last"),
           (["-w", "sliding:1h", "--audit", "--within", "1m"], "--audit"),
           (["-w", "sliding:1h", "--redis", "redis://127.0.0.1:1/x", "--within", "1m"], "--redis")]


@pytest.mark.parametrize("args, word", REFUSED)
def test_within_that_cannot_be_is_refused(seen, args, word):
    seen(*args, text="a\n").refused("--within" if "--redis" not in args else "--redis", word)
