"""seen: has this key come before? For endless streams, in fixed memory, with a stated error rate.

    >>> import seen
    >>> f = seen.Window("sliding:1e6 fp=1e-6")
    >>> f.add("id-1"), f.add("id-1"), "id-1" in f
    (True, False, True)

A window is described by a spec, the same text that `seen -w`, the C library and the Redis module read. Snapshots are
the same everywhere, too.
"""

import os
import tempfile
import typing

from . import _engine, _times
from ._engine import FormatError, __version__, digest, key
from ._compare import Comparison, compare

__all__ = ["Claim", "ClaimStats", "Comparison", "Counter", "FormatError", "Heavy", "Plan", "Stats", "Top", "Window", "claim", "compare",
           "digest", "key", "load", "loads", "plan", "plans", "NEW", "DUPLICATE", "CONFIRMED", "__version__"]

NEW, DUPLICATE, CONFIRMED = 0, 1, 2
_MASK, _VERDICTS, _CONTAINS, _FORGET = range(4)


class Stats(typing.NamedTuple):
    """What a window did so far, and how wrong it is. Times and spans are in microseconds."""

    records: int
    unique: int
    duplicates: int
    confirmed: int
    stored: int
    capacity: int
    fp_now: float
    fp_worst: float
    expected_false: float
    false_lo: int
    false_hi: int
    expected_missed: float
    missed_lo: int
    missed_hi: int
    source: str
    sampled_keys: int
    sampled_records: int
    bytes: int
    landmarks: int
    late: int
    clamped: int
    max_late: int
    forgotten: int
    saturated: int
    rebuilt: int
    listed: int
    kept: typing.Optional[int]
    oldest: typing.Optional[int]
    last: int


class Plan(typing.NamedTuple):
    """What a spec comes to, before any memory is allocated."""

    spec: str
    window: str
    filter: str
    bytes: int
    capacity: int
    fp_full: float
    fp_mean: float
    fn: float
    slack: float
    touches: float
    traits: typing.List[str]
    reason: str


class Heavy(typing.NamedTuple):
    """A frequent key: count - error <= truth <= count."""

    key: typing.Union[bytes, str, int]
    count: int
    error: int


class ClaimStats(typing.NamedTuple):
    """What became of a window's claims."""

    most: int
    held: int
    claimed: int
    again: int
    acked: int
    nacked: int
    dropped: int
    bytes: int


class Claim:
    """A key that is reserved while it is worked on: what Window.claim() returns.

    A claim is true if the work is the caller's. As a context manager it acks when the block ends, and nacks when the
    block raises. `state` is "new", "pending" or "seen"; `token` rises with every claim of the window; `wait` is how
    many seconds a pending claim of another still lasts.
    """

    __slots__ = ("window", "key", "state", "token", "wait")

    def __init__(self, window, key, answer, number):
        self.window, self.key = window, key
        self.state = ("new", "pending", "seen")[answer]
        self.token = number if answer == 0 else None
        self.wait = number / 1e6 if answer == 1 else 0.0

    def __bool__(self):
        return self.state == "new"

    def ack(self, time=None):
        """The work is done: the key is seen from now on. False: the lease has ended, so the work may be done again."""
        return bool(self) and self.window.ack(self.key, self.token, time)

    def nack(self, time=None):
        """The work was not done: the key is new at once. False: the lease has ended."""
        return bool(self) and self.window.nack(self.key, self.token, time)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.ack()
        else:
            self.nack()

    def __repr__(self):
        return f"<seen.Claim {self.state} {self.key!r}>"


def _bools(raw):
    """A NumPy array of bool over the bytes; without NumPy a memoryview of bools."""
    try:
        import numpy
    except ImportError:
        return memoryview(raw).cast("?")
    return numpy.frombuffer(raw, numpy.bool_)


def _numbers(raw):
    try:
        import numpy
    except ImportError:
        return memoryview(raw)
    return numpy.frombuffer(raw, numpy.uint8)


def _write(path, write):
    """A file that is there as a whole or not at all: written beside its place, and renamed."""
    path = os.fspath(path)
    folder = os.path.dirname(os.path.abspath(os.fsdecode(path)))
    fd, draft = tempfile.mkstemp(prefix=".seen-", dir=folder)
    try:
        try:
            try:
                os.fchmod(fd, os.stat(path).st_mode & 0o777)
            except FileNotFoundError:
                mask = os.umask(0)
                os.umask(mask)
                os.fchmod(fd, 0o666 & ~mask)
            write(fd)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


class Window(_engine.Window):
    """Window(spec, *, clock=None): remembers the keys of a window in fixed memory.

    `spec` is a window with its options: "landmark fp=1e-6", "sliding:24h fp=1e-6 items=1e7". A window of time goes by
    time.time(), by `clock` (a function that returns seconds since 1970), or by the times that each call gives. One
    window has its times from one source; mixing them raises ValueError.

    Keys are bytes, str (their UTF-8) and int (their decimal digits). Any other type raises TypeError.

    A window may be used from several threads: a lock puts their calls one after the other, and batches run without
    the GIL. ValueError: the spec makes no sense or is not possible. MemoryError: there is no memory for it.
    """

    __slots__ = ()

    def observe(self, keys, times=None, *, verdicts=False):
        """Adds n keys in order. Returns a NumPy array of n bools: True where a key is new.

        `keys` is a NumPy array of integers or of fixed-width bytes or str, rows of a 2-D array of uint8, an object with
        Arrow's PyCapsule interface (columns of pyarrow, polars, duckdb), a pandas column, any buffer of integers, or
        an iterable of keys. Records without a key (None, NaN, Arrow's nulls) count as new and are not added.

        `times` are n seconds since 1970 or n datetimes; datetime64 and Arrow's timestamps know their unit. With
        verdicts=True the result is an array of uint8 instead: seen.NEW, seen.DUPLICATE, seen.CONFIRMED (with verify=).

        An error leaves the window as it was.
        """
        if times is not None:
            times = _times.column(times)
        if verdicts:
            return _numbers(self._batch(_VERDICTS, keys, times, 0))
        return _bools(self._batch(_MASK, keys, times, 0))

    def update(self, keys, times=None):
        """Adds keys, as observe() does, and returns how many of them are new."""
        if times is not None:
            times = _times.column(times)
        return self._batch(_MASK, keys, times, 0).count(1)

    def contains(self, keys, time=None, *, within=0):
        """Asks for n keys without adding them: a NumPy array of n bools, True where a key is in the window.

        Only the last `within` seconds or records count (0: the whole window). In a window of time the question is
        asked at `time`; else by the clock, or at the newest time that the window was given.
        """
        reach = round(within * 1e6) if self.timed else int(within)
        if reach < 0:
            raise ValueError("within= is a number of seconds or records, and not negative")
        return _bools(self._batch(_CONTAINS, keys, time, reach))

    def forget(self, keys):
        """Removes keys. ValueError: the structure cannot remove keys."""
        self._batch(_FORGET, keys, None, 0)

    def claim(self, key, lease=30, time=None):
        """Reserves a key for `lease` seconds while it is worked on: a seen.Claim, true if the work is the caller's.

        The spec must say claims=N, for at most N open claims. A claim that is neither acked nor nacked before its lease
        ends leaves the key new. ValueError: N claims are open, or the window keeps none.
        """
        us = round(lease * 1e6)
        if us < 1:
            raise ValueError("lease= is a number of seconds above 0")
        return Claim(self, key, *self._claim(key, us, time))

    def ack(self, key, token, time=None):
        """Ends a claim whose work is done. False: the token is not that of a claim that lasts."""
        return self._ack(key, token, time, True)

    def nack(self, key, token, time=None):
        """Ends a claim whose work was not done. False: the token is not that of a claim that lasts."""
        return self._ack(key, token, time, False)

    def claims(self):
        """What became of the claims so far: a seen.ClaimStats."""
        return ClaimStats(*self._claims())

    def stats(self):
        """Counts, the false-positive rate, and estimates of the errors so far with 95 % intervals."""
        return Stats(**self._stats())

    @property
    def plan(self):
        """The plan that this window was built from."""
        return Plan(*_engine._plan(self.spec, False))._replace(reason="")

    def save(self, path):
        """Writes a snapshot to a file, as a whole or not at all. seen.load() reads it."""
        _write(path, self._save)

    def __reduce__(self):
        return _restore, (type(self), bytes(self), self.clock, self._mode)

    def __repr__(self):
        return f"<seen.{type(self).__name__} {self.spec!r}>"


def _restore(cls, data, clock, mode):
    return cls._load(data, clock, mode, 0)


def load(path, *, clock=None, limit=0):
    """Loads the window of a file that save(), `seen --state` or another program wrote.

    At most `limit` bytes of memory are taken (0: no limit). FormatError: the file is damaged or something else.
    """
    with open(path, "rb") as file:
        return Window._load(file.fileno(), clock, 0, limit)


def loads(data, *, clock=None, limit=0):
    """Loads the window of bytes(window), or of the chunks of SEEN.DUMP one after the other."""
    if isinstance(data, int):
        raise TypeError("loads() takes bytes")
    return Window._load(data, clock, 0, limit)


def claim(window, key, lease=30, time=None):
    """window.claim(key, lease, time): reserves a key while it is worked on."""
    return window.claim(key, lease, time)


def plan(spec):
    """What a spec comes to: structure, bytes, errors. Nothing is allocated."""
    return Plan(*_engine._plan(spec, False))


def plans(spec):
    """The plans of all structures that could serve a spec, the chosen one first."""
    return [Plan(*row) for row in _engine._plan(spec, True)]


class Counter(_engine.Counter):
    """Counter(error=0.01, kind="hll"): counts different keys, exactly while they are few.

    `error` is the relative standard error; `kind` is "hll" (HyperLogLog), "fm" (Flajolet-Martin) or "set" (exact,
    grows). len(c) is the estimate as an int. Counters of one kind and error can be merged.
    """

    __slots__ = ()

    def save(self, path):
        """Writes a snapshot to a file; Counter.load() reads it."""
        data = bytes(self)
        _write(path, lambda fd: open(fd, "wb", closefd=False).write(data))

    @classmethod
    def load(cls, path):
        with open(path, "rb") as file:
            return cls._load(file.read())

    @classmethod
    def loads(cls, data):
        return cls._load(data)

    def __reduce__(self):
        return _restore_counter, (type(self), bytes(self))


def _restore_counter(cls, data):
    return cls._load(data)


class Top(_engine.Top):
    """Top(k): finds the most frequent keys of a stream with k counters (Space-Saving).

    After N records every key that came more than N/k times is in the list.
    """

    __slots__ = ()

    def most_common(self, n=None):
        """The most frequent keys as seen.Heavy(key, count, error), the highest count first."""
        return [Heavy(*row) for row in self._list()[:n]]

    def __reduce__(self):
        return _restore_top, (type(self), *self._dump())


def _restore_top(cls, k, data, keys):
    return cls._load(k, data, keys)
