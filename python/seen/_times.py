"""Times from Python become microseconds since 1970."""

import array
import datetime

LIMIT = 10**17  # microseconds: the year 5138
UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1, "m": 60_000_000, "h": 3_600_000_000, "D": 86_400_000_000}


def _refuse(what):
    raise ValueError(f"a time is seconds since 1970 or a datetime with a zone, and {what}")


def _check(us, record=None):
    where = "" if record is None else f" (record {record})"
    if us < 0:
        _refuse(f"{us / 1e6:g} is before 1970{where}")
    if us >= LIMIT:
        _refuse(f"{us / 1e6:g} is beyond the year 5138: divide milliseconds by 1000{where}")
    return us


def scalar(value, record=None):
    """Microseconds of one time: seconds (int, float), an aware datetime, a datetime64 of NumPy or pandas."""
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            _refuse(f"{value!s} has no zone: add tzinfo=datetime.timezone.utc, or give seconds")
        since = value - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return _check((since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds, record)
    if hasattr(value, "dtype") and value.dtype.kind == "M":
        return int(_from_datetimes(value.reshape(1))[0])
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"a time is seconds since 1970 or a datetime, and not {type(value).__name__}")
    seconds = float(value)
    if seconds != seconds:
        _refuse("NaN is none" + ("" if record is None else f" (record {record})"))
    return _check(round(min(max(seconds, -1e12), 1e12) * 1e6), record)


def column(times):
    """A buffer of uint64, microseconds, from an array, a column of Arrow or pandas, or an iterable."""
    kind = getattr(getattr(times, "dtype", None), "kind", None)
    if not isinstance(kind, str) or not hasattr(times, "__array__"):
        if hasattr(times, "__arrow_c_stream__") or hasattr(times, "__arrow_c_array__") or hasattr(times, "__array__"):
            times = _as_array(times)
        elif not isinstance(times, (list, tuple)) and hasattr(times, "__buffer__") or isinstance(times, memoryview):
            times = list(memoryview(times))
    elif type(times).__module__ != "numpy":
        times = _as_array(times)
    if not hasattr(times, "dtype"):
        return array.array("Q", [scalar(t, i) for i, t in enumerate(times)])
    if times.dtype.kind == "M":
        return _from_datetimes(times)
    if times.dtype.kind == "O":
        return array.array("Q", [scalar(t, i) for i, t in enumerate(times)])
    return _from_numbers(times)


def _as_array(times):
    import numpy

    if not hasattr(times, "__array__"):
        raise TypeError("times= cannot read this Arrow object: pass a NumPy array, or a column of pyarrow or polars")
    return numpy.asarray(times)


def _from_datetimes(times):
    import numpy

    if numpy.isnat(times).any():
        _refuse(f"record {int(numpy.isnat(times).argmax())} has none (NaT)")
    us = times.astype("datetime64[us]").astype("int64")
    _bounds(us, 0, LIMIT, 1)
    return numpy.ascontiguousarray(us.view("uint64"))


def _from_numbers(times):
    import numpy

    if times.dtype.kind not in "iuf":
        raise TypeError(f"times are seconds since 1970 or datetimes, and not {times.dtype}")
    if times.dtype.kind == "f" and numpy.isnan(times).any():
        _refuse(f"record {int(numpy.isnan(times).argmax())} has none (NaN)")
    _bounds(times, 0, LIMIT // 1_000_000, 1e-6)
    if times.dtype.kind == "f":
        return numpy.rint(times.astype("float64") * 1e6).astype("uint64")
    return times.astype("uint64") * numpy.uint64(1_000_000)


def _bounds(times, least, most, _unit):
    bad = (times < least) | (times >= most)
    if bad.any():
        record = int(bad.argmax())
        seconds = float(times[record]) * (1e-6 if most == LIMIT else 1)
        _check(round(seconds * 1e6), record)
