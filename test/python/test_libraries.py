"""pyarrow, polars and pandas, where pip has them: libraries.py in a virtual environment of the build folder."""

import os
import pathlib
import subprocess
import sys

import pytest

import seen
from conftest import BUILD, ROOT

WANTED = ["pyarrow", "polars", "pandas"]


def environment():
    """The interpreter of build/python-venv with the libraries that pip has, and their names."""
    venv = BUILD / "python-venv"
    python = venv / "bin/python"
    if not python.exists() and subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", venv],
                                              capture_output=True).returncode:
        pytest.skip("no virtual environments here (python3-venv)")
    missing = [name for name in WANTED if not has(python, name)]
    if missing:
        subprocess.run([python, "-m", "pip", "install", "-q", "--timeout", "20", "--retries", "1", *missing],
                       capture_output=True, timeout=300)
    return python, [name for name in WANTED if has(python, name)]


def has(python, name):
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
    return not subprocess.run([python, "-c", code], capture_output=True).returncode


def test_columns_of_other_libraries():
    python, there = environment()
    if not there:
        pytest.skip("pip has no pyarrow, polars or pandas here")
    home = pathlib.Path(seen.__file__).resolve().parents[1]
    env = {**os.environ, "PYTHONPATH": str(home), "SEEN_PYTHON": str(home)}
    done = subprocess.run([python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--confcutdir", ROOT / "test/python",
                           "--noconftest", ROOT / "test/python/libraries.py"], env=env, capture_output=True, text=True)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr
    lacking = [name for name in WANTED if name not in there]
    if lacking:
        pytest.skip("passed, without " + ", ".join(lacking) + ": pip has none here")
