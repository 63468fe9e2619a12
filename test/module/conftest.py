"""What the tests of the module share: servers on loopback, a replica of each, and one law.

    python3 -m pytest test/module

Every test that takes `r` runs on redis-server and on valkey-server, if they are installed.  At its
end the replica must hold the same: same keys, same digests.  SEEN_MODULE names the module, from
the root of the tree (default: build/module/seen.so).

SEEN_VALGRIND=1 runs the servers under valgrind, some 30 times slower, and fails the test whose
server it finds something in; `make check-valgrind` on the build that this needs.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import zlib

import pytest

try:
    import redis
except ImportError:
    redis = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = str((ROOT / os.environ.get("SEEN_MODULE", "build/module/seen.so")).resolve())
SANITIZED = pathlib.Path(MODULE).exists() and b"libasan.so" in pathlib.Path(MODULE).read_bytes()
sys.path.append(str(ROOT / "test"))
from drawn import SEED, fix_seeds, pytest_terminal_summary, rng  # noqa: E402,F401 (pytest finds them here)

SERVERS = ["redis-server", "valkey-server"]
VALGRIND = bool(os.environ.get("SEEN_VALGRIND"))
LONG = bool(os.environ.get("SEEN_LONG"))


def pytest_configure(config):
    fix_seeds(pathlib.Path(MODULE).parents[1])
    config.addinivalue_line("markers", "unlike: the replica need not hold the same")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def sanitizer():
    """Into a server that knows nothing of it, ASan is brought from outside."""
    if not SANITIZED:
        return {}
    names = (subprocess.check_output(["gcc", "-print-file-name=" + name], text=True).strip()
             for name in ("libasan.so", "libubsan.so"))
    names = [*names, os.environ.get("LD_PRELOAD", "")]
    return {"LD_PRELOAD": " ".join(names), "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}


def valgrind(program, log):
    """valkey-server calls jemalloc by its own names too, which so must keep its memory: there valgrind
    sees what was never written, but not what lies out of bounds."""
    if not VALGRIND:
        return []
    keep = ["--soname-synonyms=somalloc=nouserintercepts"] if "valkey" in program else []
    return ["valgrind", "--quiet", "--error-exitcode=99", "--log-file=%s.%%p" % log, *keep,
            "--suppressions=%s" % pathlib.Path(__file__).with_name("valgrind.supp")]


class Server:
    """One server in a directory of its own; `options` as on its command line."""

    def __init__(self, program, directory, *options, module=()):
        self.program, self.directory, self.options = program, pathlib.Path(directory), options
        self.module = module
        self.directory.mkdir(parents=True, exist_ok=True)
        self.log = self.directory / "log"
        self.port = free_port()
        self.start()

    def start(self):
        command = [*valgrind(self.program, self.directory / "valgrind"),
                   self.program, "--port", str(self.port), "--bind", "127.0.0.1",
                   "--dir", str(self.directory), "--save", "", "--appendonly", "no",
                   "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0",
                   *self.options, "--loadmodule", MODULE, *self.module]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.directory,
                                            env={**os.environ, **sanitizer(), "SEEN_SEED": str(self.seed())})
        self.client = redis.Redis(port=self.port, socket_timeout=120)
        self.wait(lambda: self.client.ping(), 60)

    def seed(self):
        """A server does not draw what its replica draws, but the same in every run."""
        return SEED + zlib.crc32(self.directory.name.encode())

    def wait(self, until, seconds=20):
        end = time.monotonic() + seconds
        while True:
            try:
                if until():
                    return
            except redis.exceptions.RedisError:
                if self.process.poll() is not None:
                    break
            if time.monotonic() > end:
                break
            time.sleep(0.02)
        raise AssertionError(self.log.read_text(errors="replace")[-4000:])

    def stop(self, how="terminate"):
        if self.process.poll() is None:
            getattr(self.process, how)()
        self.process.wait(120 if VALGRIND else 30)

    def found(self):
        """What valgrind has to say, once the server has stopped."""
        return "".join(f.read_text() for f in self.directory.glob("valgrind.*"))

    def restart(self, how="terminate"):
        self.stop(how)
        self.start()
        return self.client


def stop_all(*servers):
    for server in servers:
        server.stop()
    found = "".join(server.found() for server in servers)
    assert not found, found[:8000]


@pytest.fixture(scope="session", params=SERVERS)
def program(request):
    if not redis:
        pytest.skip("python3-redis is not installed: tools/setup.sh module")
    if SANITIZED and request.param == "valkey-server":
        pytest.skip("valkey-server calls jemalloc by its own names, so that ASan cannot take its place")
    if not any(map(shutil.which, SERVERS)):
        pytest.skip("neither redis-server nor valkey-server is installed: tools/setup.sh module")
    if VALGRIND and not shutil.which("valgrind"):
        pytest.exit("valgrind is not installed: tools/setup.sh valgrind", 2)
    if not shutil.which(request.param):
        pytest.skip("%s is not installed; the other server runs these tests" % request.param)
    return shutil.which(request.param)


@pytest.fixture(scope="session")
def pair(program, tmp_path_factory):
    """A primary and its replica, shared by all tests."""
    home = tmp_path_factory.mktemp("pair")
    primary = Server(program, home / "primary")
    replica = Server(program, home / "replica", "--replicaof", "127.0.0.1 %d" % primary.port)
    replica.wait(lambda: replica.client.info("replication")["master_link_status"] == "up")
    yield primary, replica
    stop_all(replica, primary)


@pytest.fixture
def start(program, tmp_path):
    """start(*options): a server of the test's own."""
    started = []

    def run(*options, **more):
        started.append(Server(program, tmp_path / ("server%d" % len(started)), *options, **more))
        return started[-1]

    yield run
    stop_all(*started)


def settle(primary, replica):
    """Until the replica has read all that the primary wrote."""
    offset = primary.client.info("replication")["master_repl_offset"]
    replica.wait(lambda: replica.client.info("replication")["slave_repl_offset"] >= offset)


def contents(client):
    return {key: client.execute_command("DEBUG", "DIGEST-VALUE", key)[0]
            for key in client.keys("*")}


@pytest.fixture
def replica(pair):
    """The replica's client, which has seen everything when it is asked."""

    class Settled:
        def execute_command(self, *args, **more):
            settle(*pair)
            return pair[1].client.execute_command(*args, **more)

    return Settled()


@pytest.fixture
def r(pair, request):
    """A client of an empty primary."""
    primary, replica = pair
    primary.client.flushall()
    yield primary.client
    settle(primary, replica)
    if not request.node.get_closest_marker("unlike"):
        assert contents(primary.client) == contents(replica.client)


@pytest.fixture
def written(pair):
    """written(): how many commands of ours the primary has sent to its replica since last asked."""
    last = [0]

    def calls():
        stats = pair[1].client.info("commandstats")
        return sum(row["calls"] for name, row in stats.items()
                   if name.lower().startswith(("cmdstat_seen.", "cmdstat_bf.")))

    def count():
        settle(*pair)
        now = calls()
        fresh, last[0] = now - last[0], now
        return fresh

    count()
    return count


@pytest.fixture
def refused():
    """refused(call, words...): an error reply that holds these words."""

    def check(call, *words):
        with pytest.raises(redis.exceptions.ResponseError) as e:
            call()
        for word in words:
            assert word in str(e.value), str(e.value)

    return check
