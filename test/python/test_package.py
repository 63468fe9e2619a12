"""The package as it is shipped: stubs, docstrings, the wheel and the sdist, other versions of Python, ASan."""

import ast
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

import seen
from conftest import BUILD, LONG, ROOT, build, with_ccache

STUB = ast.parse((ROOT / "python/seen/__init__.pyi").read_text())
long = pytest.mark.skipif(not LONG, reason="takes minutes; runs with SEEN_LONG=1")


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


def test_the_stubs_name_everything_that_is_public_and_nothing_else():
    classes = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in STUB.body if isinstance(node, ast.FunctionDef)}
    values = {node.target.id for node in STUB.body if isinstance(node, ast.AnnAssign)}
    named = {name for name in set(classes) | functions | values if not name.startswith("_") or name == "__version__"}
    assert named == set(seen.__all__)
    for name in ("Window", "Counter", "Top", "Claim", "Stats", "Plan", "Heavy", "Comparison", "ClaimStats"):
        body = {node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)} | \
            {node.target.id for node in classes[name].body if isinstance(node, ast.AnnAssign)}
        assert {n for n in body if n[0] != "_"} == public(getattr(seen, name)) - public(tuple) | \
            ({"count"} if name == "Heavy" else set()), name


def test_every_public_call_has_a_docstring_and_a_signature():
    for name in seen.__all__:
        thing = getattr(seen, name)
        if callable(thing):
            assert thing.__doc__, name
    for cls in (seen.Window, seen.Counter, seen.Top):
        for name in public(cls):
            assert getattr(cls, name).__doc__ or name in ("load", "loads"), name


def run(*command, **more):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


SMOKE = ("import seen, pickle; f = seen.Window('sliding:1h filter=exact items=9'); "
         "print(f.add('a'), f.add(b'a'), 'a' in pickle.loads(pickle.dumps(f)), list(f.observe(['a', 'b'])))")


def offline(python):
    """Whether an interpreter can build wheels without asking an index."""
    return not subprocess.run([python, "-c", "import setuptools, wheel, pip"], capture_output=True).returncode


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """The sdist, built from a copy of what git knows of this tree."""
    if not offline(sys.executable) or not (ROOT / ".git").exists():
        pytest.skip("python3-wheel, python3-pip or git's files are not here (tools/setup.sh test)")
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "setup.py", "-q", "egg_info", "--egg-base", folder, "sdist", "-d", folder, cwd=ROOT / "python")
    return next(folder.glob("seen-*.tar.gz"))


@long
def test_a_wheel_from_the_sdist_runs_in_a_clean_environment(sources, tmp_path):
    env = {**os.environ, "CC": with_ccache()}
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "--no-index", "-w", tmp_path,
        sources, env=env)
    wheel = next(tmp_path.glob("*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    assert "-cp311-abi3-" in wheel.name and "seen/py.typed" in names and "seen/__init__.pyi" in names
    clean = tmp_path / "clean"
    run(sys.executable, "-m", "venv", clean)
    run(clean / "bin/python", "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel)
    assert run(clean / "bin/python", "-I", "-c", SMOKE) == "True False True [False, True]\n"
    needed = run("ldd", next((clean / "lib").glob("python*/site-packages/seen/_engine*.so")))
    assert "xxhash" not in needed and "seen" not in needed and "not found" not in needed


@long
@pytest.mark.parametrize("version", ["3.10", "3.12", "3.13", "3.13t", "3.14", "3.14t"])
def test_other_versions_of_python_build_the_sdist(sources, tmp_path, version):
    python = shutil.which(f"python{version}")
    for home in sorted(pathlib.Path.home().glob(f".pyenv/versions/{version.rstrip('t')}*/bin/python{version}")):
        python = str(home)
    if not python or subprocess.run([python, "--version"], capture_output=True).returncode:
        pytest.skip(f"there is no Python {version} here")
    run(python, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    done = subprocess.run([python, "-m", "pip", "install", "-q", sources, "pytest", "numpy"], capture_output=True,
                          text=True, env={**os.environ, "CC": with_ccache()})
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip("pip has no setuptools here")
    assert done.returncode == 0, done.stderr
    assert run(python, "-I", "-c", SMOKE) == "True False True [False, True]\n"
    home = run(python, "-I", "-c", "import seen, os; print(os.path.dirname(os.path.dirname(seen.__file__)))").strip()
    print(run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *other_tests(), cwd=ROOT,
              env={**os.environ, "SEEN_PYTHON": home, "SEEN_LONG": ""}))


def other_tests():
    return [ROOT / "test/python" / f"test_{name}.py"
            for name in ("window", "sketches", "claims", "arrow", "threads", "damage")]


@long
def test_the_extension_under_asan_and_ubsan(tmp_path):
    flags = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -O1 -g"
    home = build(BUILD / "python-asan", CFLAGS=flags, LDFLAGS="-fsanitize=address,undefined")
    preload = " ".join(run("gcc", f"-print-file-name={name}").strip() for name in ("libasan.so", "libubsan.so"))
    env = {**os.environ, "SEEN_PYTHON": str(home), "LD_PRELOAD": preload, "SEEN_LONG": "", "PYTHONMALLOC": "malloc",
           "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    out = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *other_tests(), "--deselect",
              "test/python/test_threads.py::test_calls_leave_no_references_and_no_memory_behind", cwd=ROOT, env=env)
    assert " passed" in out
