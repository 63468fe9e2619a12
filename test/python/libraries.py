"""What columns of pyarrow, polars and pandas mean to seen.  test_libraries.py runs this where pip has them."""

import datetime

import pytest

import seen

VALUES = ["a", None, "b", "a", "a text of more than twelve bytes", "", "ä", "a text of more than twelve bytes"]
UTC = datetime.timezone.utc


def window():
    return seen.Window("landmark items=1e5 filter=exact")


def expected(values=VALUES):
    return window().observe(values).tolist()


def pyarrow_columns():
    pa = pytest.importorskip("pyarrow")
    for kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view(), pa.binary_view()):
        yield pa.array([v.encode() if "binary" in str(kind) and v is not None else v for v in VALUES], kind)
    yield pa.array(VALUES).dictionary_encode()
    yield pa.array(["x", *VALUES, "y"]).slice(1, len(VALUES))
    yield pa.chunked_array([VALUES[:3], [], VALUES[3:]])
    yield pa.chunked_array([pa.array(VALUES[:4]).dictionary_encode(), pa.array(VALUES[4:]).dictionary_encode()])


def test_columns_of_pyarrow():
    for column in pyarrow_columns():
        f = window()
        assert f.observe(column).tolist() == expected(), column.type
        assert "a" in f and "a text of more than twelve bytes" in f


def test_integers_and_fixed_widths_of_pyarrow():
    pa = pytest.importorskip("pyarrow")
    for kind in (pa.int8(), pa.uint16(), pa.int32(), pa.uint64()):
        assert window().observe(pa.array([5, None, 7, 5], kind)).tolist() == [True, True, True, False]
    assert window().observe(pa.array([b"abc", b"abc", None], pa.binary(3))).tolist() == [True, False, True]
    for wrong in (pa.array([1.5]), pa.array([True]), pa.array([[1]]), pa.table({"a": [1]}), pa.array([None])):
        with pytest.raises(TypeError):
            window().observe(wrong)


def test_a_large_chunked_column_is_judged_as_a_list():
    pa = pytest.importorskip("pyarrow")
    values = [str(i * i % 7919) for i in range(30_000)]
    chunks = pa.chunked_array([values[i:i + 777] for i in range(0, len(values), 777)])
    assert window().observe(chunks).tolist() == expected(values)


def test_columns_of_polars():
    pl = pytest.importorskip("polars")
    for kind in (pl.String, pl.Categorical):
        f = window()
        assert f.observe(pl.Series(VALUES, dtype=kind)).tolist() == expected() and "ä" in f
    assert window().observe(pl.Series([5, None, 5])).tolist() == [True, True, False]
    frame = pl.DataFrame({"id": VALUES})
    assert frame.filter(window().observe(frame["id"]))["id"].to_list() == [v for v, new in zip(VALUES, expected()) if new]


def test_columns_of_pandas():
    pd = pytest.importorskip("pandas")
    for column in (pd.Series(VALUES), pd.Series(VALUES, dtype="string"), pd.Series(VALUES, dtype="category")):
        assert window().observe(column).tolist() == expected(), column.dtype
    assert window().observe(pd.Series([5, 7, 5])).tolist() == [True, True, False]
    assert window().observe(pd.Series([5, None, 5], dtype="Int64")).tolist() == [True, True, False]
    with pytest.raises(TypeError):
        window().observe(pd.Series([1.5]))


def test_times_of_each_library():
    moments = [datetime.datetime(2024, 1, 1, h, tzinfo=UTC) for h in (0, 1, 2)]
    columns = [moments]
    try:
        import pandas
        columns += [pandas.Series(moments), pandas.DatetimeIndex(moments), [pandas.Timestamp(m) for m in moments]]
    except ImportError:
        pass
    try:
        import pyarrow
        columns += [pyarrow.array(moments, pyarrow.timestamp(unit, "UTC")) for unit in ("s", "ms", "us", "ns")]
    except ImportError:
        pass
    try:
        import polars
        columns += [polars.Series(moments)]
    except ImportError:
        pass
    for times in columns:
        f = seen.Window("sliding:2h filter=exact items=100")
        assert f.observe(["a", "a", "a"], times=times).tolist() == [True, False, False], type(times)
        assert f.stats().last == int(moments[-1].timestamp() * 1e6), type(times)
