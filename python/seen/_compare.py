"""compare(): what several specs get wrong on given records, against an exact memory."""

import typing

from . import _engine, _times


class Comparison(typing.NamedTuple):
    """The errors of one spec. `false` are new records called duplicates, `missed` duplicates called new."""

    spec: str
    filter: str
    bytes: int
    records: int
    new: int
    duplicates: int
    false: int
    missed: int
    seconds: float


class _Twin:
    """Remembers every key exactly: the last time that counts, for each.

    Between the window's length and its slack both answers are right. Under refresh=first only records that were called
    new begin a window.
    """

    def __init__(self, spec, slack):
        self.window, unit, self.length, self.parts, self.first = _engine._window(spec)
        self.timed = unit == 2
        self.far = self.length * (1 + slack) + (1 if not self.timed else 0)
        self.last = {}

    def ends(self, at):
        """The landmark before a record or time."""
        week = 4 * 86_400_000_000 if self.timed and self.length % (7 * 86_400_000_000) == 0 else 0
        return (at - week) // self.length * self.length + week if self.length else -1

    def judge(self, digest, at, new):
        """0: the verdict is right; 1: a false duplicate; 2: a missed one."""
        last = self.last.get(digest)
        if self.window == "landmark":
            inside = last is not None and (not self.length or last >= self.ends(at))
            beyond = not inside
        elif self.window == "decaying" or last is None:
            inside, beyond = last is not None, last is None
        else:
            age = at - last
            inside = age < self.length if self.timed else age <= self.length
            beyond = age > self.far
        if new or not self.first:
            self.last[digest] = at
        return 1 if beyond and not new else 2 if inside and new else 0


def compare(keys, specs, times=None):
    """Runs each spec over the keys and counts its errors: a list of seen.Comparison.

    `keys` and `times` are as for Window.observe(). The exact memory takes some 200 bytes for each different key.
    """
    import time

    from . import Window

    if isinstance(specs, str):
        raise TypeError("specs is a list of specs: [spec]")
    if not hasattr(keys, "__len__"):
        keys = list(keys)
    if times is not None:
        times = _times.column(times)
    rows = []
    for spec in specs:
        window = Window(spec)
        if window.timed and times is None:
            raise ValueError(f"'{spec}' is a window of time: compare() takes times= for it")
        begin = time.perf_counter()
        mask = window._batch(0, keys, times if window.timed else None, 0)
        seconds = time.perf_counter() - begin
        rows.append(_row(window, _wrong(window, keys, times, mask), mask, seconds))
    return rows


def _wrong(window, keys, times, mask):
    plan = window.plan
    twin, wrong = _Twin(window.spec, plan.slack), [0, 0, 0]
    digests = memoryview(_engine._digests(keys)).cast("Q")
    known = digests.tolist()
    for i, new in enumerate(mask):
        digest = (known[2 * i], known[2 * i + 1])
        if digest == (0, 0):  # a record without a key
            continue
        wrong[twin.judge(digest, times[i] if twin.timed else i, new)] += 1
    return wrong


def _row(window, wrong, mask, seconds):
    plan, new = window.plan, mask.count(1)
    return Comparison(window.spec, plan.filter, plan.bytes, len(mask), new, len(mask) - new, wrong[1], wrong[2], seconds)
