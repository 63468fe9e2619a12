"""seen.Window: keys, times, batches, snapshots, mistakes."""

import array
import copy
import datetime
import os
import pathlib
import pickle
import subprocess
import sys

import pytest

import seen
from conftest import SEEN

KEYS = ["a", "b", "a", "ä", "", "b", "id-1", "a"]
HOME = str(pathlib.Path(seen.__file__).resolve().parents[1])
NEW = [True, True, False, True, True, False, True, False]
UTC = datetime.timezone.utc


def timed(**more):
    return seen.Window("sliding:1h filter=exact items=1000 seed=1", **more)


# -- keys ------------------------------------------------------------------------------------------


def test_add_says_whether_a_key_is_new_and_in_changes_nothing():
    f = seen.Window("sliding:1e6 fp=1e-6")
    assert f.add("id-1") is True and f.add("id-1") is False
    assert "id-1" in f and "id-2" not in f and "id-2" not in f
    assert f.add("id-2") is True and len(f) == 2


@pytest.mark.parametrize("same", [("7", b"7", 7), ("ä", "ä".encode()), ("-12", -12), (2**70, str(2**70)), ("", b""),
                                  ("\ud800", b"\xed\xa0\x80"), (0, "0"), (-2**63, str(-2**63)), ("a\0b", b"a\0b")])
def test_bytes_str_and_int_are_one_key_if_their_bytes_are_equal(same):
    f = seen.Window("landmark items=100")
    assert f.add(same[0])
    assert not any(f.add(key) for key in same) and all(key in f for key in same)


@pytest.mark.parametrize("key", [1.5, True, None, ("a", "b"), ["a"], bytearray(b"a"), object(), memoryview(b"a")])
def test_other_keys_are_refused_with_a_sentence(key):
    f = seen.Window("landmark items=100")
    for use in (f.add, f.__contains__, f.age):
        with pytest.raises(TypeError, match="a key is bytes, str or int, and this one is"):
            use(key)
    assert f.stats().records == 0


def test_integers_of_numpy_are_integers_and_its_floats_are_not(np):
    f = seen.Window("landmark items=100")
    assert f.add(np.int16(-5)) and "-5" in f and np.str_("-5") in f
    for wrong in (np.float64(5), np.bool_(True)):
        with pytest.raises(TypeError):
            f.add(wrong)


def test_the_digest_of_a_key_is_the_same_in_every_process():
    assert seen.digest("a") == bytes.fromhex("1f4e961eb632c6e63468f15a70af6fa9")
    code = f"import sys; sys.path[:0] = [{HOME!r}]; import seen; print(seen.digest('a', seed=9).hex())"
    found = {subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": s}, capture_output=True, text=True,
                            check=True).stdout for s in "12"}
    assert found == {seen.digest(b"a", seed=9).hex() + "\n"}


def test_several_fields_are_one_key_as_on_the_command_line(tmp_path):
    state = tmp_path / "state"
    subprocess.run([SEEN, "-q", "--csv", "-k", "user,ad", "-w", "landmark items=100", "--state", state],
                   input=b"user,ad\nann,7\nab,c\n", check=True, capture_output=True)
    f = seen.load(state)
    assert seen.key("ann", 7) in f and seen.key("ab", "c") in f and seen.key("a", "bc") not in f
    with pytest.raises(TypeError, match="two or more"):
        seen.key("ann")


# -- batches ---------------------------------------------------------------------------------------


def carriers(np):
    yield "list", KEYS
    yield "generator", (key for key in KEYS)
    yield "bytes", [key.encode() for key in KEYS]
    yield "numpy str", np.array(KEYS)
    yield "numpy bytes", np.array([key.encode() for key in KEYS])
    yield "numpy objects", np.array(KEYS, object)
    yield "every second", np.array([key for k in KEYS for key in (k, "other")])[::2]
    yield "backwards", np.array(KEYS[::-1])[::-1]


def test_a_batch_is_judged_as_its_keys_one_by_one(np):
    for name, keys in carriers(np):
        f = seen.Window("landmark items=100")
        mask = f.observe(keys)
        assert mask.dtype == np.bool_ and mask.tolist() == NEW, name
        assert all(f.contains(KEYS)) and f.stats().records == len(KEYS)


@pytest.mark.parametrize("code", "bBhHiIlLqQ")
def test_integers_of_any_width_are_their_decimal_digits(np, code):
    info = np.iinfo(code)
    numbers = [info.min, info.max, 0, 9, 10, 99, 100, 101, info.max, info.max - 1]
    keys = {"numpy": np.array(numbers, code), "array": array.array(code, numbers), "list": numbers,
            "view": memoryview(array.array(code, numbers))}
    for name, batch in keys.items():
        f = seen.Window("landmark items=100")
        assert f.observe(batch).tolist() == seen.Window("landmark items=100").observe(list(map(str, numbers))).tolist()
        assert all(str(n) in f for n in numbers) and "11" not in f, name


def test_integers_of_every_length_have_the_digits_that_str_gives(np, rng):
    numbers = [10**i + d for i in range(1, 20) for d in (-1, 0, 1)] + [rng.randrange(2**64) for _ in range(300)]
    for array in (np.array(numbers, "uint64"), np.array([n // 2 for n in numbers]), np.array([-(n // 2) for n in numbers])):
        f = seen.Window("landmark items=1000 filter=exact")
        f.observe(array)
        assert all(f.contains([str(n) for n in array.tolist()])) and len(f) == len(set(array.tolist()))


def test_rows_of_bytes_are_keys_of_fixed_width(np):
    rows = np.array([[1, 2, 0], [1, 2, 3], [1, 2, 0]], np.uint8)
    f = seen.Window("landmark items=100")
    assert f.observe(rows).tolist() == [True, True, False]
    assert b"\1\2\0" in f and b"\1\2" not in f


def test_long_batches_and_short_ones_agree(np, rng):
    numbers = np.array([rng.randrange(3000) for _ in range(10_000)])
    whole, parts, single = (seen.Window("sliding:2000 fp=1e-3 items=2000 seed=3") for _ in range(3))
    mask = whole.observe(numbers)
    assert mask.tolist() == [bool(x) for i in range(0, 10_000, 777) for x in parts.observe(numbers[i:i + 777])]
    assert mask.tolist() == [single.add(int(n)) for n in numbers]
    assert bytes(whole) == bytes(parts) == bytes(single)


def test_records_without_a_key_pass_and_are_not_remembered(np):
    f = seen.Window("landmark items=100")
    NAType = type("NAType", (), {})
    assert f.observe(["a", None, float("nan"), NAType(), "a", None]).tolist() == [True] * 4 + [False, True]
    assert f.contains([None, "a", "b"]).tolist() == [False, True, False]
    assert f.stats().records == 2 and "None" not in f and "nan" not in f


@pytest.mark.parametrize("keys, why", [
    ("abc", "one key"), (b"abc", "one key"), ([1.5], "a key is bytes"), (["a", ("b",)], "a key is bytes"), (5, "")])
def test_batches_of_other_things_are_refused_and_change_nothing(keys, why):
    f = seen.Window("landmark items=100")
    with pytest.raises(TypeError, match=why):
        f.observe(keys)
    assert f.stats().records == 0


def test_arrays_of_other_things_are_refused(np):
    f = seen.Window("landmark items=100")
    for wrong in (np.array([1.5]), np.array([True]), np.array([1j]), np.array(["2024-01-01"], "M8[s]"),
                  np.zeros(3, [("a", int)])):
        with pytest.raises(TypeError):
            f.observe(wrong)
    for wrong in (np.zeros((2, 2), int), np.zeros((2, 2, 2), np.uint8), np.array(5)):
        with pytest.raises(ValueError, match="one-dimensional"):
            f.observe(wrong)
    with pytest.raises(TypeError, match="big-endian"):
        f.observe(np.array([1, 2], ">i4"))
    assert f.stats().records == 0


def test_a_key_that_the_hash_refuses_leaves_the_window_as_it_was(np):
    f = seen.Window("landmark mem=1MiB hash=int bits=20 filter=bitvector")
    before = bytes(f)
    for batch in (["1", "x"], np.array(["1"] * 3000 + ["x"])):
        with pytest.raises(ValueError, match="record [0-9]+: hash=int needs keys that are decimal integers"):
            f.observe(batch)
    with pytest.raises(ValueError, match="decimal integers"):
        f.add("x")
    assert bytes(f) == before and f.add(5) and not f.add("5")


def test_verdicts_tell_confirmed_duplicates(np):
    f = seen.Window("landmark items=100 verify=100")
    verdicts = f.observe(["a", "a", "a", None], verdicts=True)
    assert verdicts.tolist() == [seen.NEW, seen.DUPLICATE, seen.CONFIRMED, seen.NEW]


def test_update_counts_what_is_new_and_forget_removes(np):
    f = seen.Window("landmark items=100 filter=exact")
    assert f.update(KEYS) == 5 and f.update(KEYS) == 0
    f.forget(["a"])
    assert "a" not in f and "b" in f
    f.clear()
    assert len(f) == 0 and f.stats().records == 0 and "b" not in f
    with pytest.raises(ValueError, match="blocked"):
        seen.Window("landmark items=100 filter=blocked").forget(["a"])


def test_contains_looks_back_as_far_as_asked(np):
    f = seen.Window("sliding:100 filter=exact items=100")
    f.observe([str(i) for i in range(100)])
    assert f.contains(["99", "50", "0", "x"], within=50).tolist() == [True, True, False, False]
    assert f.age("99") == 1 and f.age("0") == 100 and f.age("x") is None
    with pytest.raises(ValueError, match="not negative"):
        f.contains(["1"], within=-1)


# -- times -----------------------------------------------------------------------------------------


def moments(np):
    seconds = [1.7e9, 1.7e9 + 0.5, 1.7e9 + 3599, 1.7e9 + 3601]
    yield "floats", seconds
    yield "numpy", np.array(seconds)
    yield "datetimes", [datetime.datetime.fromtimestamp(s, UTC) for s in seconds]
    yield "another zone", [datetime.datetime.fromtimestamp(s, datetime.timezone(datetime.timedelta(hours=5)))
                           for s in seconds]
    for unit in ("ms", "us", "ns"):
        yield unit, (np.array(seconds) * 1000).astype("int64").astype("M8[ms]").astype(f"M8[{unit}]")


def test_times_come_in_seconds_or_know_their_unit(np):
    for name, times in moments(np):
        f = timed()
        assert f.observe(["a", "b", "a", "b"], times=times).tolist() == [True, True, False, True], name
        assert f.stats().last == 1_700_003_601_000_000
        assert f.age("a") == 2.0, name


def test_one_key_may_have_its_time():
    f = timed()
    assert f.add("a", time=100) and not f.add("a", 3000.5) and f.add("a", time=datetime.datetime(1970, 1, 2, tzinfo=UTC))
    assert f.contains(["a"], time=86401)[0] and not f.contains(["a"], time=96400)[0]


def test_a_window_of_time_goes_by_the_clock():
    now = [1.7e9]
    f = timed(clock=lambda: now[0])
    assert f.add("a") and not f.add("a")
    now[0] += 3600
    assert "a" not in f and f.add("a") and f.observe(["b", "a"]).tolist() == [True, False]
    assert timed().add("a") and abs(timed().clock is None)


def test_times_and_a_clock_are_not_mixed():
    cases = [(timed(), dict(time=5), {}, "give times to every call"), (timed(), {}, dict(time=5), "from the first call"),
             (timed(clock=lambda: 5), {}, dict(time=5), "has a clock="),
             (seen.Window("landmark items=9"), {}, dict(time=5), "counts records")]
    for f, first, then, why in cases:
        f.add("a", **first)
        with pytest.raises(ValueError, match=why):
            f.add("b", **then)
        assert f.stats().records == 1
        with pytest.raises(ValueError, match=why):
            f.observe(["b"], **({"times": [5]} if then else {}))


@pytest.mark.parametrize("time, error, why", [
    (-1, ValueError, "before 1970"), (1.7e12, ValueError, "divide milliseconds by 1000"), (float("nan"), ValueError, ""),
    (datetime.datetime(2024, 1, 1), ValueError, "has no zone"), ("2024-01-01", TypeError, "not str"),
    (True, TypeError, "not bool"), (10**400, (ValueError, OverflowError), ""), (float("inf"), ValueError, "5138")])
def test_what_is_not_a_time_is_refused(time, error, why):
    f = timed()
    with pytest.raises(error, match=why):
        f.add("a", time=time)
    with pytest.raises(error, match=why):
        f.observe(["a", "b"], times=[1, time])
    assert f.stats().records == 0


def test_arrays_of_times_are_checked_as_a_whole(np):
    f = timed()
    for times, why in ((np.array([1, -1]), "before 1970"), (np.array([1, 1.7e12]), "record 1"),
                       (np.array([1, np.nan]), "record 1"), (np.array(["2024-01-01", "NaT"], "M8[s]"), "NaT"),
                       ([1], "2 keys and 1 times"), (np.arange(3), "2 keys and 3 times")):
        with pytest.raises(ValueError, match=why):
            f.observe(["a", "b"], times=times)
    with pytest.raises(TypeError):
        f.observe(["a", "b"], times=np.array(["1", "2"]))
    assert f.stats().records == 0


def test_a_clock_that_fails_or_lies_is_an_error():
    for clock, error in ((lambda: 1 / 0, ZeroDivisionError), (lambda: "noon", TypeError), (lambda: -5, ValueError)):
        f = timed(clock=clock)
        with pytest.raises(error):
            f.add("a")
        with pytest.raises(error):
            f.observe(["a"])
    with pytest.raises(TypeError, match="clock="):
        timed(clock=5)
    with pytest.raises(ValueError, match="windows of time"):
        seen.Window("landmark items=9", clock=lambda: 5)


# -- specs, plans, statistics --------------------------------------------------------------------------


@pytest.mark.parametrize("spec, why", [
    ("slidin:1h", "slidin"), ("sliding:1M", "1e6"), ("landmark fp=2", "fp"), ("landmark itms=5", "items"),
    ("sliding:1e6 mem=4KiB fp=1e-9", ""), ("", ""), ("landmark mem=1e30", "")])
def test_a_wrong_spec_is_a_value_error_with_the_engines_sentence(spec, why):
    for use in (seen.Window, seen.plan, seen.plans):
        with pytest.raises(ValueError, match=why) as caught:
            use(spec)
        assert len(str(caught.value)) > 10


def test_a_plan_tells_the_price_before_anything_is_allocated():
    plan = seen.plan("sliding:1h rate=5e3 fp=1e-4")
    assert plan.filter == "line" and plan.fp_full <= 1e-4 and plan.capacity >= 18e6 and "no_fn" in plan.traits
    assert plan.reason and plan.spec.startswith("sliding:1h") and plan.bytes > 2**20
    assert [p.filter for p in seen.plans("landmark:1e6 fp=1e-6")][0] == seen.plan("landmark:1e6 fp=1e-6").filter
    window = seen.Window("landmark items=1000 fp=1e-3")
    assert window.plan.bytes == window.stats().bytes and f"seed={window.seed}" in window.spec
    assert sys.getsizeof(window) > window.plan.bytes and "landmark" in repr(window)


def test_statistics_have_every_figure_of_the_engine():
    f = seen.Window("landmark items=100 fp=1e-3")
    f.observe(KEYS)
    s = f.stats()
    assert (s.records, s.unique, s.duplicates) == (8, 5, 3) and s.capacity >= 100 and 0 < s.fp_now < 1e-3
    assert s.source in ("model", "sample") and s.kept is None and s.expected_false < 1


def test_an_allocation_that_fails_is_a_memory_error():
    with pytest.raises((MemoryError, ValueError)):
        seen.Window("landmark mem=200TiB")


def test_compare_counts_the_errors_of_each_spec(rng):
    keys = [str(rng.randrange(3000)) for _ in range(9000)]
    rows = seen.compare(keys, ["landmark mem=2KiB", "sliding:1000 fp=1e-6", "jumping:1000/4 fp=1e-6 items=1000",
                               "landmark:500 fp=1e-9 items=500", "decaying mem=4KiB", "sliding:1000 filter=exact items=1000 refresh=first"])
    assert [row.missed == 0 for row in rows] == [True] * 4 + [False, True]
    assert rows[0].false > 100 and [row.false for row in rows[1:4]] == [0, 0, 0] and rows[5].false == 0
    assert all(row.records == 9000 and row.new + row.duplicates == 9000 for row in rows)
    times = sorted(rng.random() * 7200 for _ in keys)
    by_time = seen.compare(keys, ["sliding:10m fp=1e-6 items=3000", "landmark:1h fp=1e-6 items=3000",
                                  "jumping:10m/5 fp=1e-6 items=3000"], times=times)
    assert [(row.false, row.missed) for row in by_time] == [(0, 0)] * 3
    with pytest.raises(ValueError, match="times="):
        seen.compare(keys, ["sliding:1h items=10"])
    with pytest.raises(TypeError, match="list"):
        seen.compare(keys, "landmark")


# -- snapshots -------------------------------------------------------------------------------------

SPECS = ["landmark items=1000 fp=1e-4", "sliding:500 fp=1e-4", "jumping:500/5 fp=1e-4 items=500", "decaying mem=32KiB",
         "sliding:500 filter=exact items=500", "landmark items=1000 shards=4 verify=50"]


@pytest.mark.parametrize("spec", SPECS)
def test_a_snapshot_goes_on_as_the_window_would_have(spec, tmp_path, rng):
    keys = [rng.randrange(800) for _ in range(3000)]
    f = seen.Window(spec)
    f.observe(keys[:2000])
    f.save(tmp_path / "w.seen")
    copies = [seen.load(tmp_path / "w.seen"), seen.loads(bytes(f)), pickle.loads(pickle.dumps(f)), copy.deepcopy(f),
              seen.loads(memoryview(bytes(f)))]
    rest = f.observe(keys[2000:]).tolist()
    for g in copies:
        assert g.spec == f.spec and g.observe(keys[2000:]).tolist() == rest and bytes(g) == bytes(f)


def test_a_pickled_window_keeps_its_source_of_times():
    f = timed()
    f.add("a", time=5)
    with pytest.raises(ValueError, match="give times to every call"):
        pickle.loads(pickle.dumps(f)).add("b")
    import time
    g = pickle.loads(pickle.dumps(timed(clock=time.time)))
    assert g.clock is time.time and g.add("a")


def test_what_is_no_snapshot_is_a_format_error(tmp_path):
    assert issubclass(seen.FormatError, ValueError)
    data = bytes(seen.Window("landmark items=100"))
    for wrong in (b"", b"x" * 200, data[:-1], data + b"x", data[:50] + b"!" + data[51:]):
        (tmp_path / "w").write_bytes(wrong)
        for use in (lambda: seen.loads(wrong),) + ((lambda: seen.load(tmp_path / "w"),) if wrong != data + b"x" else ()):
            with pytest.raises(seen.FormatError):
                use()
    with pytest.raises(seen.FormatError, match="memory|limit|bytes"):
        seen.loads(data, limit=10)
    with pytest.raises(FileNotFoundError):
        seen.load(tmp_path / "none")
    with pytest.raises(TypeError):
        seen.loads(5)


def test_saving_replaces_a_file_as_a_whole_or_not_at_all(tmp_path):
    f, path = seen.Window("landmark items=100"), tmp_path / "w.seen"
    f.save(path)
    path.chmod(0o640)
    f.add("a")
    f.save(str(path))
    assert "a" in seen.load(path) and path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(FileNotFoundError):
        f.save(tmp_path / "no" / "w.seen")
    assert [p.name for p in tmp_path.iterdir()] == ["w.seen"]


def test_windows_merge_if_their_specs_agree():
    f, g = (seen.Window("landmark items=100 seed=5") for _ in "fg")
    f.add("a"), g.add("b")
    f.merge(g)
    f.merge(f)
    assert "a" in f and "b" in f and "a" not in g
    with pytest.raises(ValueError):
        f.merge(seen.Window("landmark items=100 seed=6"))
    with pytest.raises(TypeError):
        f.merge("g")


def test_a_window_without_numpy_answers_with_a_view_of_bools(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    mask = seen.Window("landmark items=9").observe(["a", "b", "a"])
    assert isinstance(mask, memoryview) and mask.tolist() == [True, True, False]
    f = timed()
    assert f.observe(["a", "a"], times=[1, 2.5]).tolist() == [True, False]
