"""What the tests of the command line share: the program, the real streams, the two flags.

    python3 -m pytest test/cli                    the default run, about a minute
    python3 -m pytest test/cli --update-golden    writes what seen says now into golden/; read the diff
    SEEN_LONG=1 python3 -m pytest test/cli        10 GiB streams as well

SEEN names the program, from the root of the tree (default: build/seen).
"""

import gzip
import json
import lzma
import os
import pathlib
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEN = str((ROOT / os.environ.get("SEEN", "build/seen")).resolve())
DATA = ROOT.parent / "shared" / "data"
sys.path.append(str(ROOT / "test"))
from drawn import fix_seeds, pytest_terminal_summary, rng  # noqa: E402,F401 (pytest finds them here)

SMALL = ["-w", "landmark fp=1e-9 mem=64KiB"]  # a state that is written in no time


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="accept what seen prints now")


def default_signals():
    """A runner in the background ignores some, and seen would inherit and respect that."""
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(sig, signal.SIG_DFL)


def pytest_configure(config):
    fix_seeds(pathlib.Path(SEEN).parent)
    config.addinivalue_line("markers", "long: takes minutes; runs with SEEN_LONG=1")


def pytest_collection_modifyitems(items):
    if os.environ.get("SEEN_LONG"):
        return
    for item in items:
        if "long" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="takes minutes; runs with SEEN_LONG=1"))


class Done:
    """What one run left behind."""

    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr

    @property
    def lines(self):
        return self.out.decode().splitlines()

    @property
    def stats(self):
        return json.loads(self.err.decode().splitlines()[-1])

    def refused(self, *words):
        """Exit 2 and one sentence on stderr that holds these words."""
        text = self.err.decode(errors="replace")
        assert self.code == 2, (self.code, text)
        sentences = [line for line in text.splitlines() if line.startswith("seen: ")]
        assert len(sentences) == 1, text
        for word in words:
            assert word in text, text


def sanitized():
    """Sanitizers reserve terabytes of address space, and take their time."""
    return b"__asan_init" in open(SEEN, "rb").read()


def skip_what_is_not_built_in(err):
    """Optional libraries may be missing; the program says so."""
    if b"this build of seen " in err:
        pytest.skip(err.decode().strip())


@pytest.fixture
def seen():
    """seen(arguments..., text=b"...") runs the program on that input."""

    def run(*args, text=b"", **more):
        if isinstance(text, str):
            text = text.encode()
        args = [SEEN, *map(str, args)]
        more.setdefault("timeout", 300)
        more.setdefault("stdout", subprocess.PIPE)
        done = Done(subprocess.run(args, input=text, stderr=subprocess.PIPE, **more))
        skip_what_is_not_built_in(done.err)
        return done

    return run


@pytest.fixture
def state(tmp_path):
    """Where --state may keep one; there is none yet."""
    return tmp_path / "run.state"


@pytest.fixture
def sample_files(tmp_path):
    """A folder with files as the examples of --help and of the README name them."""
    def write(name, text):
        (tmp_path / name).write_text(text)

    table = "when,user,ad,id,ip,cookie,publisher\n" + "".join(
        "2024-11-20T10:%02d:00Z,u%d,a%d,i%d,1.2.3.%d,c%d,p%d\n" % (i, i % 7, i % 3, i % 11, i % 5, i % 13, i % 2)
        for i in range(60))
    for name in "clicks.csv", "a.csv", "b.csv":
        write(name, table)
    for name in "clicks.tsv", "orders.tsv":
        write(name, table.split("\n", 1)[1].replace(",", "\t"))
    for name in "access.log", "big.txt", "urls.txt", "clicks.txt", "spool.log":
        write(name, "".join("line %d\n" % (i % 40) for i in range(100)))
    (tmp_path / "big.csv.gz").write_bytes(gzip.compress(table.encode()))
    (tmp_path / "events.json.gz").write_bytes(gzip.compress(b'{"user":{"id":7}}\n' * 3))
    for name in "customers.txt", "blocked.txt", "a.txt", "b.txt", "huge.txt":
        write(name, "u1\nu2\n1.2.3.4\nline 7\n")
    write("sport.txt", "goal\nteam\n")
    write("weather.txt", "storm\nrain\n")
    write("news.txt", "Storm over the coast\nThe team won\nElections\n")
    subprocess.run([SEEN, *SMALL, "--state", str(tmp_path / "clicks.state")], input=b"a\n", stdout=subprocess.DEVNULL)
    return tmp_path


@pytest.fixture(scope="session")
def stream(tmp_path_factory):
    """stream(name): the path of a real stream, unpacked; skips where it is absent."""
    made = {}

    def unpack(name):
        source = DATA / (name + ".xz")
        if not source.exists():
            pytest.skip("%s is not there: ../shared/data holds the real streams" % source.name)
        if name not in made:
            made[name] = tmp_path_factory.mktemp("streams") / name
            made[name].write_bytes(lzma.open(source).read())
        return made[name]

    return unpack
