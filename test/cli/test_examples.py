"""The programs in examples/ compile without a warning and print what their comments say."""
import pathlib
import re
import subprocess

import pytest

from conftest import ROOT, SEEN, sanitized


@pytest.fixture(scope="module")
def build():
    """Where libseen.so is."""
    return pathlib.Path(SEEN).resolve().parent


def compiled(source, build, to):
    words = ["cc", "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include", "-o", to, source,
             "-L", build, "-lseen", "-Wl,-rpath," + str(build)]
    if sanitized():
        words += ["-fsanitize=address,undefined"]  # as the library is
    subprocess.run(words, check=True)
    return to


def test_a_window_of_an_hour_with_snapshots_and_a_merge(build, tmp_path):
    source = ROOT / "examples/recent.c"
    out = subprocess.run([compiled(source, build, tmp_path / "recent")], capture_output=True, text=True, check=True).stdout
    said = re.findall(r"^ *observe\(.*/\* ([^:*]*?)(?:: .*)? \*/$", source.read_text(), re.M)
    assert len(said) == 5
    assert [line.strip() for line in out.splitlines()[:5]] == said
    assert "15 records, 5 duplicates" in out
    assert "refused: the snapshot's table is damaged" in out
