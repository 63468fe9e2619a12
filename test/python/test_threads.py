"""Windows used from several threads, and calls that leave nothing behind."""

import gc
import os
import sys
import threading
import time

import pytest

import seen
from conftest import LONG


def together(*works):
    """Runs functions on threads; raises what one of them raised."""
    failed = []

    def guarded(work):
        try:
            work()
        except BaseException as e:  # noqa: B902
            failed.append(e)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def test_every_key_is_new_on_one_thread_only(np):
    f = seen.Window("landmark items=400_000 fp=1e-9")
    keys, found = np.arange(100_000), []
    together(*[lambda: found.append(f.observe(keys)) for _ in range(4)])
    assert sum(found).tolist() == [1] * 100_000 and f.stats().records == 400_000


def test_all_calls_may_come_at_once(np, tmp_path):
    f, g = (seen.Window("landmark items=100_000 fp=1e-6 seed=1") for _ in "fg")
    counter, top = seen.Counter(), seen.Top(100)
    keys = np.arange(20_000)

    def scalars():
        for i in range(5000):
            f.add(i), i in f, len(f), f.age(i)

    def batches():
        for _ in range(5):
            f.observe(keys), g.update(keys), f.contains(keys), counter.update(keys), top.update(keys[:999])

    def whole():
        for i in range(20):
            f.stats(), bytes(f), f.merge(g), g.merge(f), counter.estimate(), bytes(counter), top.most_common()

    together(scalars, batches, whole, scalars, batches, whole)
    assert all(f.contains(keys)) and len(counter) == pytest.approx(20_000, rel=.05)


def test_batches_let_other_threads_run(np):
    f, turns, done, meanwhile = seen.Window("landmark items=1e6 fp=1e-6"), [0], threading.Event(), []

    def other():
        while not done.is_set():
            turns[0] += 1
            time.sleep(0)

    def batch():
        begin = turns[0]
        f.observe(np.arange(1_000_000))
        meanwhile.append(turns[0] - begin)
        done.set()

    before = sys.getswitchinterval()
    sys.setswitchinterval(5)  # so that only a thread that lets go of the GIL gives way
    try:
        together(other, batch)
    finally:
        sys.setswitchinterval(before)
    assert meanwhile[0] > 10


def test_a_clock_may_ask_its_own_window():
    f = None
    f = seen.Window("sliding:1h items=100", clock=lambda: 1.7e9 + (0 if f is None else len(f)))
    assert f.add("a") and not f.add("a") and f.observe(["b"])[0]


def test_a_window_in_a_circle_is_collected():
    import weakref

    class Named(seen.Window):
        pass

    f = Named("sliding:1h items=100", clock=lambda: f and 5)
    f.self, gone = f, weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_calls_leave_no_references_and_no_memory_behind(np):
    """10^6 calls with SEEN_LONG=1; each kind, with and without errors."""
    now, big, text, wrong = 1.7e9, 2**80, "ä" * 10, 1.5
    batch = ["a", None, text, big]
    array, times = np.array(["a", "b"]), [1.0, 2.0]
    f = seen.Window("landmark items=1000 filter=exact")
    t = seen.Window("sliding:1h items=1000", clock=lambda: now)
    given = seen.Window("sliding:1h items=1000")
    counter, top = seen.Counter(), seen.Top(2)

    def fails(call, *args, **more):
        try:
            call(*args, **more)
        except (ValueError, TypeError):
            return
        raise AssertionError(call)

    def all_calls():
        f.add(text), f.add(big), text in f, f.age(text), f.stats(), len(f), f.spec, f.plan, t.add(text), text in t
        f.observe(batch), f.observe(array), f.observe(iter(batch)), f.contains(array), f.update(batch), f.forget(batch)
        given.observe(array, times=times), given.add(text, time=now), f.observe(batch, verdicts=True)
        counter.add(text), counter.update(batch), top.add(text), top.add(big), top.update(array), top.most_common()
        seen.digest(text), seen.key(text, big), counter.estimate()
        fails(f.add, wrong), fails(f.observe, ["a", wrong]), fails(f.observe, text), fails(f.observe, np.array([1.5]))
        fails(t.add, text, time=now), fails(given.observe, array, times=[1]), fails(seen.Window, "x")
        fails(seen.loads, b"xxxx"), fails(seen.key, text, wrong), fails(f.observe, 5)

    def snapshots():
        seen.loads(bytes(f)), seen.Counter.loads(bytes(counter)), fails(seen.loads, bytes(f)[:-1])

    watched = (now, big, text, wrong, batch, array, times, None, seen.Window, seen.FormatError)
    calls = 28_000 if LONG else 1_000  # of 36 kinds
    for _ in range(calls // 10):
        all_calls(), snapshots()
    gc.collect()
    references, memory = [sys.getrefcount(x) for x in watched], resident()
    for i in range(calls):
        all_calls()
        if i % 20 == 0:
            snapshots()
    gc.collect()
    assert all(abs(sys.getrefcount(x) - n) < calls // 10 for x, n in zip(watched, references))
    assert resident() - memory < 6 << 20
