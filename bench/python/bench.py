#!/usr/bin/python3
"""Measures the Python package: ratios within one run, against the library from C and against rbloom.

    bench/python/bench.py [--build build] [--records 1e7] [--spec "landmark items=2e7 fp=1e-6"]

Needs NumPy; pyarrow and rbloom come from PyPI into build/python-venv, or their rows are left out. Each figure is the best
of several rounds in which the rivals take turns, in CPU time of the thread; of two threads in time that passes. Windows are
made before the clock starts, but their pages come from the system while it runs, for all rivals alike.
"""

import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--records", type=float, default=1e7)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--spec", default="landmark items=2e7 fp=1e-6")
    return parser.parse_args()


def into_venv(build):
    """Runs this script again in a virtual environment that has pyarrow and rbloom, if they can be had."""
    venv = build / "python-venv"
    if os.environ.get("SEEN_BENCH_VENV"):
        return
    if not (venv / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", venv], check=False)
    subprocess.run([venv / "bin/python", "-m", "pip", "install", "-q", "pyarrow", "rbloom"], check=False)
    if (venv / "bin/python").exists():
        os.environ["SEEN_BENCH_VENV"] = "1"
        os.execv(venv / "bin/python", [str(venv / "bin/python"), *sys.argv])


def library(build):
    """batch.c over libseen."""
    out = build / "python-bench.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", ROOT / "include", ROOT / "bench/python/batch.c", "-o", out,
                    "-L", build, f"-Wl,-rpath,{build}", "-lseen"], check=True)
    so = ctypes.CDLL(str(out))
    so.batch_new.restype, so.batch_new.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    for name, n in (("batch_integers", 3), ("batch_strings", 4)):
        getattr(so, name).restype = ctypes.c_size_t
        getattr(so, name).argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_void_p] * (n - 1)
    return so


def seconds(work, clock):
    begin = clock()
    work()
    return clock() - begin


def best(rounds, clock=time.thread_time, **works):
    """{name: the least seconds}; each work is made fresh by a function that returns it."""
    least = {}
    for _ in range(rounds):
        for name, make in works.items():
            least[name] = min(least.get(name, 1e9), seconds(make(), clock))
    return least


def row(what, value, bar):
    print(f"{what:58} {value:8.2f}   {bar}")


def main():
    o = options()
    build = (ROOT / o.build).resolve()
    into_venv(build)
    sys.path.insert(0, str(build / "python"))
    import numpy as np

    import seen
    n, c = int(o.records), library(build)
    keys = np.random.default_rng(1).integers(0, 2**64, n, np.uint64)
    keys[n // 2:] = keys[:n - n // 2][::-1]
    verdict = np.empty(n, np.uint8)
    at = lambda array: array.ctypes.data  # noqa: E731
    print(f"{n:.0e} records, {o.spec}, load {os.getloadavg()[0]:.1f}, NumPy {np.__version__}")

    def window():
        return seen.Window(o.spec)

    def in_c():
        d = c.batch_new(o.spec.encode())
        return lambda: c.batch_integers(d, n, at(keys), at(verdict))

    def in_python():
        f = window()
        return lambda: f.observe(keys)

    def in_rows():
        f, rows = window(), keys.view(np.uint8).reshape(-1, 8)
        return lambda: f.observe(rows)

    t = best(o.rounds, c=in_c, python=in_python, rows=in_rows)
    row("observe, uint64: ns a record", t["python"] / n * 1e9, "")
    row("  rate over that of C (8 raw bytes hashed)", t["c"] / t["python"], "at least 0.70")
    row("observe, rows of eight bytes: ns a record", t["rows"] / n * 1e9, "")
    row("  rate over that of C", t["c"] / t["rows"], "at least 0.70")
    print(f"{'  ns a record of C':58} {t['c'] / n * 1e9:8.2f}")
    arrow_rows(o, c, n, keys, verdict, window, t)
    scalar_rows(o, keys[:10**6].tolist(), window, t["python"] / n)
    thread_rows(o, keys, window)


def arrow_rows(o, c, n, keys, verdict, window, integers):
    try:
        import pyarrow
    except ImportError:
        print("Arrow's rows are left out: pip has no pyarrow here")
        return
    import numpy as np
    strings = pyarrow.array(keys.astype("U20").astype(object) if n < 10**5 else
                            pyarrow.array(keys).cast(pyarrow.string()))
    _, offsets, text = strings.buffers()
    values = np.frombuffer(offsets, np.int32)[:n + 1]

    def in_c():
        d = c.batch_new(o.spec.encode())
        return lambda: c.batch_strings(d, n, values.ctypes.data, text.address, verdict.ctypes.data)

    def in_python():
        f = window()
        return lambda: f.observe(strings)

    t = best(o.rounds, c=in_c, python=in_python)
    row("observe, Arrow strings: ns a record", t["python"] / n * 1e9, "")
    row("  rate over that of C", t["c"] / t["python"], "at least 0.50")
    integers["arrow"] = t["python"]


def scalar_rows(o, keys, window, batch):
    """Loops over single keys, which are new and then duplicates."""
    n = len(keys)

    def ours():
        f = window()
        add = f.add

        def work():
            for key in keys:
                add(key)

        return work

    works = {"seen": ours, "empty": lambda: lambda: [None for _ in keys]}
    try:
        import rbloom
    except ImportError:
        print("rbloom's rows are left out: pip has none here")
        rbloom = None

    def theirs():
        f = rbloom.Bloom(20_000_000, 1e-6)
        add = f.add

        def work():
            for key in keys:
                add(key)

        return work

    def asks():
        f = rbloom.Bloom(20_000_000, 1e-6)
        add = f.add

        def work():
            for key in keys:
                if key not in f:
                    add(key)

        return work

    if rbloom:
        works.update(rbloom=theirs, rbloom_asks=asks)
    t = best(o.rounds, **works)
    row("add in a loop: ns", t["seen"] / n * 1e9, "at most 100, or 1.2 of rbloom's")
    if rbloom:
        row("  rbloom add in a loop: ns", t["rbloom"] / n * 1e9, "")
        row("  seen over rbloom", t["seen"] / t["rbloom"], "at most 1.2")
        row("  rbloom, asked first, as a filter must: ns", t["rbloom_asks"] / n * 1e9, "")
        row("observe (batch) against the loop over rbloom", t["rbloom_asks"] / n / batch, "at least 5 times")


def thread_rows(o, keys, window):
    def one():
        f = window()
        return lambda: f.observe(keys)

    def two():
        f, g = window(), window()

        def work():
            threads = [threading.Thread(target=w.observe, args=(keys,)) for w in (f, g)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        return work

    t = best(o.rounds, time.perf_counter, one=one, two=two)
    row("two windows on two threads, over one", 2 * t["one"] / t["two"], "at least 1.8")


if __name__ == "__main__":
    main()
