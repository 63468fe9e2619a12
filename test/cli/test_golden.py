"""Golden tests: golden/NAME/cmd is a shell command that runs in that folder, with `seen` on its PATH.

Beside it stand what it must print (out), say (err; absent: nothing) and return (code; absent: 0).
The name tells the story.  --update-golden writes all three again.
"""

import os
import pathlib
import subprocess

import pytest

from conftest import SEEN, skip_what_is_not_built_in

GOLDEN = pathlib.Path(__file__).parent / "golden"
CASES = sorted(path.parent for path in GOLDEN.glob("*/cmd"))


def write(path, content, default):
    if content != default:
        path.write_bytes(content)
    elif path.exists():
        path.unlink()


def read(path, default):
    return path.read_bytes() if path.exists() else default


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_golden(case, request, tmp_path):
    (tmp_path / "seen").symlink_to(SEEN)
    env = dict(os.environ, PATH="%s:%s" % (tmp_path, os.environ["PATH"]), LC_ALL="C")
    done = subprocess.run(["sh", "cmd"], cwd=case, env=env, capture_output=True, timeout=300,
                          stdin=subprocess.DEVNULL)
    skip_what_is_not_built_in(done.stderr)
    if request.config.getoption("--update-golden"):
        write(case / "out", done.stdout, b"")
        write(case / "err", done.stderr, b"")
        write(case / "code", b"%d\n" % done.returncode, b"0\n")
        return
    assert done.stderr.decode(errors="replace") == read(case / "err", b"").decode(errors="replace")
    assert done.stdout == read(case / "out", b"")
    assert done.returncode == int(read(case / "code", b"0\n"))
