"""The page on Python says what is so: its examples are run, and its recipes do what they promise."""

import collections
import doctest
import os
import re
import types

import pytest

import seen
from conftest import ROOT

PAGE = (ROOT / "doc/python.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


def recipe(name):
    """The names that a block of the page defines: the block that contains `name`."""
    block = next(b for b in BLOCKS if name in b and not b.startswith(">>>"))
    space = {"seen": seen, "os": os, "collections": collections}
    exec(block, space)
    return types.SimpleNamespace(**space)


def test_the_first_five_minutes_print_what_the_page_says(np):
    session = "\n".join(block for block in BLOCKS if block.startswith(">>>"))
    test = doctest.DocTestParser().get_doctest(session, {}, "doc/python.md", None, 0)
    printed = []
    result = doctest.DocTestRunner().run(test, out=printed.append)
    assert result.attempted > 15 and not result.failed, "".join(printed)


def test_the_readme_of_the_package_shows_calls_that_exist(np):
    block = re.search(r"```python\n(.*?)```", (ROOT / "python/README.md").read_text(), re.S).group(1)
    for name in re.findall(r"\bf\.(\w+)", block):
        assert hasattr(seen.Window, name)
    for name in re.findall(r"\bseen\.(\w+)", block):
        assert hasattr(seen, name)


def test_the_dupefilter_of_scrapy_goes_on_after_a_restart(tmp_path):
    path = str(tmp_path / "requests.seen")
    request = types.SimpleNamespace(url="https://example.org/a")
    first = recipe("SeenDupeFilter").SeenDupeFilter(path)
    first.open()
    assert not first.request_seen(request) and first.request_seen(request)
    first.close("finished")
    assert recipe("SeenDupeFilter").SeenDupeFilter(path).request_seen(request)


def test_the_webhook_works_once_for_each_event_and_again_after_a_failure():
    handle, done = recipe("def handle").handle, []
    assert handle("e1", lambda: done.append(1)) == 200 and handle("e1", lambda: done.append(2)) == 200
    with pytest.raises(OSError):
        handle("e2", lambda: open("/nonexistent/file"))
    assert handle("e2", lambda: done.append(3)) == 200 and done == [1, 3]
    inner = []
    assert handle("e3", lambda: inner.append(handle("e3", lambda: inner.append("twice")))) == 200
    assert inner == [409]


def test_partitions_drop_their_duplicates():
    rows = [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 5)]
    assert list(recipe("mapPartitions").drop_duplicates(iter(rows))) == [("a", 1), ("b", 2), ("c", 4)]


def test_gaps_are_counted_by_decades():
    keys = [str(i) for i in range(50)] * 2 + ["49", "49"]
    window = seen.Window("sliding:1000 filter=exact items=1000")
    assert recipe("gap_decades").gap_decades(keys, window) == [2, 50]


def test_frames_keep_their_new_rows(np):
    pandas = pytest.importorskip("pandas", reason="pandas is not here; test_libraries.py runs this where pip has it")
    frames = [pandas.DataFrame({"id": ids, "n": range(3)}) for ids in (["a", "b", "a"], ["b", "c", None])]
    kept = list(recipe("def fresh").fresh(frames, seen.Window("landmark items=100")))
    assert [list(frame["n"]) for frame in kept] == [[0, 1], [1, 2]]
