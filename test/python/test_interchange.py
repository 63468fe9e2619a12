"""One format for all: what `seen --state` wrote, what SEEN.DUMP gave and what libseen saved goes on in Python, and the
other way round. Each answers as the one before would have."""

import ctypes
import os
import pathlib
import shutil
import socket
import subprocess
import time

import pytest

import seen
from conftest import BUILD, ROOT, SEEN

COUNTED = ["landmark fp=1e-6 mem=1MiB", "landmark:1500 filter=exact", "jumping:1000/8 fp=1e-4", "sliding:700 fp=1e-4",
           "sliding:700 filter=counting verify=100", "decaying mem=32KiB", "decaying filter=lru mem=64KiB",
           "landmark filter=counting items=3000 shards=4"]
TIMED = ["sliding:1h fp=1e-4 mem=256KiB", "jumping:1h/12 items=3000", "landmark:1d items=5000",
         "sliding:1h filter=exact lateness=1m"]
SPECS = COUNTED + TIMED
START = 1_600_000_000  # seconds
SANITIZED = "sanitize=address" in (BUILD / "build.ninja").read_text()


@pytest.fixture
def records(rng):
    now, rows = START, []
    for _ in range(3000):
        now += rng.randrange(4)
        rows.append((f"key {rng.randrange(1500)}", now))
    return rows


def observe(window, rows):
    """The keys that a window calls new, in order."""
    keys, times = zip(*rows)
    mask = window.observe(keys, times=times if window.timed else None)
    return [key for key, new in zip(keys, mask) if new]


def run(state, rows, *options, timed):
    text = "".join(f"{key},{now}\n" for key, now in rows)
    options = ["-d", ",", "-k", "1", *(["--time", "2"] if timed else []), *options]
    done = subprocess.run([SEEN, "-q", "--state", state, *options], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [line.split(",")[0] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("spec", SPECS)
def test_a_state_of_the_command_line_goes_on_in_python_and_back(records, tmp_path, spec):
    state, twin, timed = tmp_path / "state", tmp_path / "twin", spec in TIMED
    for file in (state, twin):
        run(file, records[:1000], "-w", f"{spec} seed=11", timed=timed)
    f = seen.load(state)
    assert f.stats().records == 1000 and b"seen dedup" in f.blob[:32]
    assert observe(f, records[1000:2000]) == run(twin, records[1000:2000], timed=timed)
    f.save(state)
    assert run(state, records[2000:], timed=timed) == run(twin, records[2000:], timed=timed)


def test_the_command_line_says_that_a_window_of_python_is_no_state_of_its_own(tmp_path):
    seen.Window("landmark items=100").save(tmp_path / "w")
    done = subprocess.run([SEEN, "--state", tmp_path / "w"], input="a\n", capture_output=True, text=True)
    assert done.returncode == 2 and "libseen" in done.stderr and done.stdout == ""


# -- libseen ---------------------------------------------------------------------------------------

CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Digest(ctypes.Structure):
    _fields_ = [("lo", ctypes.c_uint64), ("hi", ctypes.c_uint64)]


class Stream(ctypes.Structure):
    _fields_ = [("call", CALL), ("ctx", ctypes.c_void_p)]


class Library:
    def __init__(self):
        if SANITIZED:
            pytest.skip("ASan does not let itself be loaded into Python; the plain build runs this")
        self.so = ctypes.CDLL(str(BUILD / "libseen.so"))
        self.so.seen_seed.restype = ctypes.c_uint64
        self.so.seen_seed.argtypes = self.so.seen_free.argtypes = [ctypes.c_void_p]
        self.so.seen_save.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, Stream, ctypes.c_void_p]
        self.so.seen_load.argtypes = [ctypes.POINTER(ctypes.c_void_p), Stream, ctypes.c_size_t, ctypes.c_void_p,
                                      ctypes.c_void_p, ctypes.c_char_p]
        self.so.seen_key.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(Digest),
                                     ctypes.c_void_p]
        for name in ("seen_observe", "seen_observe_at"):
            getattr(self.so, name).argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_void_p] * \
                (2 if name == "seen_observe" else 3)

    def load(self, data):
        at = [0]

        def read(_, to, n):
            if at[0] + n > len(data):
                return -1
            ctypes.memmove(to, data[at[0]:at[0] + n], n)
            at[0] += n
            return 0

        detector, error = ctypes.c_void_p(), ctypes.create_string_buffer(512)
        assert not self.so.seen_load(detector, Stream(CALL(read), None), 0, None, None, error), error.raw[16:]
        return detector

    def save(self, detector):
        parts = []

        def write(_, text, n):
            parts.append(ctypes.string_at(text, n))
            return 0

        assert not self.so.seen_save(detector, None, 0, Stream(CALL(write), None), None)
        return b"".join(parts)

    def observe(self, detector, rows, timed):
        n = len(rows)
        digests, verdicts = (Digest * n)(), (ctypes.c_uint8 * n)()
        for i, (key, _) in enumerate(rows):
            assert not self.so.seen_key(detector, key.encode(), len(key), digests[i], None)
        if timed:
            times = (ctypes.c_uint64 * n)(*[now * 1_000_000 for _, now in rows])
            self.so.seen_observe_at(detector, n, digests, times, verdicts)
        else:
            self.so.seen_observe(detector, n, digests, verdicts)
        return [key for (key, _), verdict in zip(rows, verdicts) if verdict == 0]


@pytest.mark.parametrize("spec", SPECS)
def test_a_snapshot_goes_on_in_libseen_and_back(records, spec):
    library, f = Library(), seen.Window(spec)
    observe(f, records[:1000])
    detector = library.load(bytes(f))
    assert library.observe(detector, records[1000:2000], f.timed) == observe(f, records[1000:2000])
    data = library.save(detector)
    assert data == bytes(f)
    g = seen.loads(data)
    assert observe(g, records[2000:]) == library.observe(detector, records[2000:], f.timed)
    library.so.seen_free(detector)


# -- the module ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    redis = pytest.importorskip("redis", reason="python3-redis is not installed (tools/setup.sh module)")
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    module = (ROOT / os.environ.get("SEEN_MODULE", BUILD / "module/seen.so")).resolve()
    if not program or not module.exists() or SANITIZED:
        pytest.skip("no Redis or Valkey server with the module here (tools/setup.sh module)")
    folder = tmp_path_factory.mktemp("server")
    place = str(folder / "s") if len(str(folder)) < 90 else f"/tmp/seen-python-{os.getpid()}"
    process = subprocess.Popen([program, "--port", "0", "--unixsocket", place, "--save", "", "--dir", str(folder),
                                "--loadmodule", str(module)], stdout=subprocess.DEVNULL)
    client = redis.Redis(unix_socket_path=place)
    for _ in range(200):
        try:
            client.ping()
            break
        except (redis.ConnectionError, socket.error):
            time.sleep(.05)
    yield client
    process.terminate()
    process.wait()
    pathlib.Path(place).unlink(missing_ok=True)


def chunks(client, key):
    at = 0
    while True:
        at, chunk = client.execute_command("SEEN.DUMP", key, at)
        yield at, chunk
        if not at:
            return


def add(client, key, rows, timed):
    pipe = client.pipeline(transaction=False)
    for item, now in rows:
        pipe.execute_command("SEEN.ADD", key, item, *(["AT", now * 1000] if timed else []))
    return [item for (item, _), new in zip(rows, pipe.execute()) if new]


@pytest.mark.parametrize("spec", SPECS)
def test_a_dump_of_the_module_goes_on_in_python_and_back(server, records, spec):
    timed = spec in TIMED
    server.flushall()
    server.execute_command("SEEN.CREATE", "k", *spec.split())
    add(server, "k", records[:1000], timed)
    f = seen.loads(b"".join(chunk for _, chunk in chunks(server, "k")))
    assert observe(f, records[1000:2000]) == add(server, "k", records[1000:2000], timed)
    server.execute_command("SEEN.LOAD", "back", 0, bytes(f))
    assert add(server, "back", records[2000:], timed) == observe(f, records[2000:])
