"""What the tests of the Python package share: the package, built into the build folder.

    /usr/bin/python3 -m pytest test/python                the default run
    SEEN_LONG=1 /usr/bin/python3 -m pytest test/python    10^5 damaged snapshots, 10^6 calls, wheels, ASan

SEEN_PYTHON names a folder in which the package was built before (the run under ASan, other versions of Python).
"""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEN = str((ROOT / os.environ.get("SEEN", "build/seen")).resolve())
BUILD = pathlib.Path(SEEN).parent
LONG = bool(os.environ.get("SEEN_LONG"))
sys.path.append(str(ROOT / "test"))
from drawn import pytest_terminal_summary, rng  # noqa: E402,F401 (pytest finds them here)


def with_ccache(compiler="gcc"):
    return f"ccache {compiler}" if shutil.which("ccache") else compiler


def build(folder, python=sys.executable, **env):
    """Builds the package into a folder, as setup.py does."""
    command = [python, "setup.py", "-q", "build_ext", "--build-lib", folder, "--build-temp", f"{folder}-objects",
               "build_py", "--build-lib", folder]
    done = subprocess.run([*map(str, command)], cwd=ROOT / "python", capture_output=True, text=True,
                          env={"CC": with_ccache(), **os.environ, **env})
    if done.returncode:
        raise pytest.UsageError("the Python package was not built:\n" + done.stdout + done.stderr)
    return folder


def lacking():
    """What stands in the way of building the package here, or None."""
    if not (pathlib.Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        return "python3-dev"
    try:
        import setuptools  # noqa: F401
    except ImportError:
        return "python3-setuptools"


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; runs with SEEN_LONG=1")
    config.lacking = lacking()
    if config.lacking or config.option.collectonly:
        return
    sys.path.insert(0, os.environ.get("SEEN_PYTHON") or str(build(BUILD / "python")))


collect_ignore = []
if lacking():
    collect_ignore = ["test_arrow.py", "test_damage.py", "test_interchange.py", "test_libraries.py", "test_recipes.py",
                      "test_claims.py", "test_threads.py", "test_window.py", "test_sketches.py", "test_package.py"]


def pytest_collection_modifyitems(config, items):
    for item in items:
        if "long" in item.keywords and not LONG:
            item.add_marker(pytest.mark.skip(reason="takes minutes; runs with SEEN_LONG=1"))


def pytest_report_header(config):
    if config.lacking:
        return f"the Python package is not tested: {config.lacking} is not installed (tools/setup.sh test)"


@pytest.fixture
def np():
    return pytest.importorskip("numpy", reason="python3-numpy is not installed (tools/setup.sh test)")
