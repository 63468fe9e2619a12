"""seen.Counter and seen.Top."""

import collections
import pickle

import pytest

import seen


@pytest.mark.parametrize("kind, error", [("hll", .01), ("fm", .02), ("set", .01)])
def test_a_counter_counts_different_keys(np, kind, error):
    c = seen.Counter(error, kind)
    c.update(np.arange(50_000))
    c.update([str(i) for i in range(100)] + [None, "x"])
    c.add(b"x")
    exact = kind == "set"
    assert c.estimate() == pytest.approx(50_001, rel=1e-9 if exact else 5 * error)
    assert len(c) == round(c.estimate()) and (c.error == 0) == exact
    few = seen.Counter(kind=kind, error=error)
    few.update(["a", "b", "a"])
    assert len(few) == 2


def test_counters_merge_and_are_saved(np, tmp_path):
    a, b = seen.Counter(), seen.Counter(error=.01)
    a.update(np.arange(6000)), b.update(np.arange(3000, 9000))
    a.merge(b)
    assert a.estimate() == pytest.approx(9000, rel=.05)
    a.save(tmp_path / "c")
    for copy in (seen.Counter.load(tmp_path / "c"), seen.Counter.loads(bytes(a)), pickle.loads(pickle.dumps(a))):
        assert copy.estimate() == a.estimate() and bytes(copy) == bytes(a)
    for wrong in (b"", bytes(a)[:-1], bytes(a) + b"x"):
        with pytest.raises(seen.FormatError):
            seen.Counter.loads(wrong)
    with pytest.raises(ValueError):
        a.merge(seen.Counter(.05))
    with pytest.raises(TypeError):
        a.merge(5)
    a.clear()
    assert len(a) == 0


@pytest.mark.parametrize("wrong, error", [(dict(error=1e-9), ValueError), (dict(error=-1), ValueError),
                                          (dict(kind="x"), ValueError), (dict(error="a"), TypeError)])
def test_a_counter_that_cannot_be_is_refused(wrong, error):
    with pytest.raises(error):
        seen.Counter(**wrong)


def test_top_finds_the_most_frequent_keys_as_they_came(np, rng):
    stream = [f"key {min(int(rng.paretovariate(.7)), 5000)}" for _ in range(20_000)]
    truth = collections.Counter(stream)
    for keys in (stream, np.array(stream), iter(stream)):
        top = seen.Top(500)
        top.update(keys)
        rows = top.most_common(10)
        assert {row.key for row in rows[:5]} == {key for key, _ in truth.most_common(5)}
        assert all(row.count - row.error <= truth[row.key] <= row.count for row in top.most_common())
        assert top.bound(rows[0].key) == rows[0].count and len(top.most_common()) == 500 == top.k
        copy = pickle.loads(pickle.dumps(top))
        copy.update(stream), top.update(stream)
        assert copy.most_common() == top.most_common()


def test_top_keeps_integers_and_bytes_as_they_are(np):
    top = seen.Top(10)
    top.update(np.array([7, -7, 7], "int8"))
    top.update([b"\xff", b"\xff", None])
    top.update(np.array([b"ab\0c"]))
    assert {row.key for row in top.most_common()} == {7, -7, b"\xff", b"ab\0c"}
    with pytest.raises(TypeError):
        top.add(1.5)
    for k in (0, -1):
        with pytest.raises(ValueError):
            seen.Top(k)


def test_a_damaged_top_is_refused():
    top = seen.Top(4)
    top.update("abcdabc"[i] for i in range(7))
    k, data, keys = top._dump()
    for wrong in ((k, data[:-1], keys), (k, data + b"x", keys), (k, data, keys[:1]), (10**12, data, keys)):
        with pytest.raises(seen.FormatError):
            seen.Top._load(*wrong)
