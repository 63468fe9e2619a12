"""Records judged at a later time than their own are told of, not only with --stats."""

import pytest

BASE = 1_732_000_000
ARGS = ["-d,", "--time=1", "-k2"]
HOUR = ["-w", "sliding:1h", *ARGS]


def rows(*times):
    return "".join("%d,k%d\n" % (BASE + t, i) for i, t in enumerate(times))


def late_lines(done):
    return [line for line in done.err.decode().splitlines() if "later time than their own" in line]


def test_a_log_out_of_order_is_told_in_one_line(seen):
    done = seen(*HOUR, text=rows(5000, *range(100)))
    assert len(late_lines(done)) == 1 and done.code == 0
    for word in ("100 of 101 records", "5000s", "--reorder", "--lateness"):
        assert word in late_lines(done)[0]


def test_less_than_one_in_a_hundred_by_less_than_the_window_is_fine(seen):
    assert not late_lines(seen(*HOUR, text=rows(*range(150), 100)))


def test_one_in_a_hundred_is_told(seen):
    assert late_lines(seen(*HOUR, text=rows(*range(99), 50)))


def test_one_that_is_late_by_more_than_the_window_is_told(seen):
    assert "1 of 501 records" in late_lines(seen(*HOUR, text=rows(*range(4000, 4500), 0)))[0]


@pytest.mark.parametrize("more", [["-q"], ["--reorder", "2h"], ["--lateness", "2h"]])
def test_not_where_it_is_put_right_or_not_wanted(seen, more):
    assert not late_lines(seen(*HOUR, *more, text=rows(5000, *range(100))))


def test_too_little_lateness_is_told(seen):
    assert "100 of 101" in late_lines(seen(*HOUR, "--lateness", "1m", text=rows(5000, *range(100))))[0]
    assert "100 of 101" in late_lines(seen(*HOUR, "--reorder", "1m", text=rows(5000, *range(100))))[0]


@pytest.mark.parametrize("zone", [[], ["--zone", "Europe/Berlin"]])
def test_within_one_day_order_does_not_matter_to_a_landmark(seen, zone):
    day = ["-w", "landmark:1d", *zone, *ARGS]
    assert not late_lines(seen(*day, text=rows(5000, *range(100))))
    assert "100 of 101" in late_lines(seen(*day, text=rows(90000, *range(100))))[0]


@pytest.mark.parametrize("spec", ["sliding:1h", "jumping:1h/6"])
def test_compare_tells_it_too(seen, spec):
    assert "100 of 101" in late_lines(seen("compare", "-w", spec, *ARGS, text=rows(5000, *range(100))))[0]


def test_each_run_of_a_state_tells_its_own(seen, state):
    args = [*HOUR, "--state", state]
    assert late_lines(seen(*args, text=rows(5000, *range(100))))
    assert not late_lines(seen(*args, text=rows(*range(5000, 5100))))
    assert "3 of 3" in late_lines(seen(*args, text=rows(1, 2, 3)))[0]
