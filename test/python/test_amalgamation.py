"""The library in one file: built by gcc and by clang, linked with a C++ program, it answers as libseen does."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("SEEN", "build/seen")).resolve().parent
SPECS = ["landmark:15000 fp=1e-4 items=20000", "jumping:8000/4 fp=1e-4 items=8000", "sliding:8000 fp=1e-4 items=8000",
         "jumping:8s/8 fp=1e-3 items=8000", "sliding:8s fp=1e-3 items=8000", "decaying mem=32KiB fp=1%",
         "sliding:8s items=8000 filter=exact lateness=1s", "landmark fp=1e-3 items=30000 shards=4 verify=100",
         "landmark fp=1e-3 mem=8KiB", "sliding:30000 fp=1e-2 items=2000"]
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


def run(*args, **more):
    done = subprocess.run([*map(str, args)], capture_output=True, text=True, timeout=600, **more)
    assert done.returncode == 0, " ".join(map(str, args)) + "\n" + done.stdout + done.stderr
    return done.stdout


def compiler(name):
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed (tools/setup.sh test)")
    return ([shutil.which("ccache")] if shutil.which("ccache") else []) + [name]


@pytest.fixture(scope="module")
def folder():
    """seen.c and seen.h, as make amalgamation writes them."""
    run(ROOT / "tools/amalgamation.py", BUILD / "amalgamation")
    return BUILD / "amalgamation"


def answers(folder, include, linked, name):
    run(*compiler("g++"), "-std=c++17", *WARNINGS, "-I", include, "-c", ROOT / "test/python/amalgamation.cpp",
        "-o", folder / f"{name}_main.o")
    run("g++", folder / f"{name}_main.o", *linked, "-lm", "-o", folder / name)
    return run(folder / name, *SPECS)


@pytest.fixture(scope="module")
def of_library(folder):
    if "sanitize=address" in (BUILD / "build.ninja").read_text():
        pytest.skip("libseen of this build needs its sanitizers")
    return answers(folder, ROOT / "include", ["-L", BUILD, f"-Wl,-rpath,{BUILD}", "-lseen"], "of_library")


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_one_file_answers_as_the_library_does(folder, of_library, name):
    run(*compiler(name), "-std=c11", "-O1" if name == "gcc" else "-O0", *WARNINGS, "-c", folder / "seen.c", "-o", folder / f"seen_{name}.o")
    given = answers(folder, folder, [folder / f"seen_{name}.o"], f"of_{name}")
    assert given.splitlines() == of_library.splitlines()
    assert given.count("\n") > 40


def test_only_names_of_the_header_are_visible(folder):
    run(*compiler("gcc"), "-std=c11", "-O1", *WARNINGS, "-c", folder / "seen.c", "-o", folder / "seen_gcc.o")
    names = re.findall(r" [TDBRVW] (\w+)", run("nm", folder / "seen_gcc.o"))
    documented = set(re.findall(r"\bseen_\w+", (folder / "seen.h").read_text()))
    assert len(names) > 60 and set(names) <= documented


def test_the_header_compiles_alone_as_c_and_as_cplusplus(folder):
    for language, standard in (("c", "c11"), ("c++", "c++11")):
        run("gcc", "-x", language, f"-std={standard}", *WARNINGS, "-fsyntax-only", folder / "seen.h")


def test_writing_it_again_changes_nothing(folder):
    before = [(folder / name).stat().st_mtime_ns for name in ("seen.c", "seen.h")]
    run(ROOT / "tools/amalgamation.py", folder)
    assert before == [(folder / name).stat().st_mtime_ns for name in ("seen.c", "seen.h")]
