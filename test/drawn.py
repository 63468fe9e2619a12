"""All that is drawn in the tests of the command line and of the module comes from SEEN_SEED.

That is what a test draws with `rng`, and what a program draws that a test runs: seeds of filters whose
spec names none.  build/test/fixed_random.so is preloaded into these programs.  A failure prints the seed.
"""

import os
import pathlib
import random

import pytest

SEED = int(os.environ.setdefault("SEEN_SEED", str(random.SystemRandom().getrandbits(32))))


def fix_seeds(build):
    """Programs that are started from now on draw their seeds from SEEN_SEED."""
    library = pathlib.Path(build) / "test/fixed_random.so"
    if library.exists():
        os.environ["LD_PRELOAD"] = str(library)
        options = os.environ.get("ASAN_OPTIONS", "")
        os.environ["ASAN_OPTIONS"] = ":".join(filter(None, [options, "verify_asan_link_order=0"]))


@pytest.fixture
def rng():
    """Random numbers whose seed a failure prints."""
    return random.Random(SEED)


def pytest_terminal_summary(terminalreporter):
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line("SEEN_SEED=%d repeats what was drawn" % SEED)
