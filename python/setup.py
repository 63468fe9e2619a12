"""Builds seen._engine: the extension, over the library in one file.

The library comes from the sdist (generated/), or in a checkout from tools/amalgamation.py. The wheel for CPython 3.11
and later uses the stable ABI; 3.10 and free-threaded builds get one of their own.
"""

import pathlib
import subprocess
import sys
import sysconfig

from setuptools import Extension, setup

HERE = pathlib.Path(__file__).resolve().parent
TOOL = HERE.parent / "tools" / "amalgamation.py"
GENERATED = HERE / "generated"


def engine():
    if TOOL.exists() and (HERE.parent / "src").is_dir():
        done = subprocess.run([sys.executable, TOOL, GENERATED], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr.strip() or "setup.py: tools/amalgamation.py failed")
    if not (GENERATED / "seen.c").exists():
        raise SystemExit("setup.py: generated/seen.c is missing: build from a checkout of seen or from its sdist")


def options():
    free_threaded = sysconfig.get_config_var("Py_GIL_DISABLED")
    if free_threaded or sys.version_info < (3, 11) or sys.implementation.name != "cpython":
        return [], {}
    return [("Py_LIMITED_API", "0x030B0000")], {"bdist_wheel": {"py_limited_api": "cp311"}}


engine()
macros, more = options()
sources = sorted(str(path.relative_to(HERE)) for path in (HERE / "src").glob("*.c")) + ["generated/seen.c"]
setup(
    ext_modules=[Extension("seen._engine", sources, include_dirs=["generated"], define_macros=macros,
                           depends=["src/engine.h", "generated/seen.h"], libraries=["m"],
                           extra_compile_args=["-std=gnu11", "-O3", "-fvisibility=hidden", "-fno-math-errno",
                                               "-Wall", "-Wextra", "-Werror=implicit-function-declaration"],
                           py_limited_api=bool(macros))],
    options=more,
)
