"""Records out of order: judged by their own time (--lateness), or sorted first (--reorder), against an
oracle written from each definition alone; on the real stream most of whose rows are late."""

import bisect

import pytest

HOUR = 3600 * 10**6


def spans(text):
    return int(text[:-1]) * {"m": 60, "h": 3600, "d": 86400}[text[-1]] * 10**6


def judged_by_their_own_time(rows, window, lateness):
    """Duplicate: an accepted record of the key has |t - t'| < W, t being at least newest - L."""
    accepted, newest, unique, clamped = {}, 0, 0, 0
    for t, key in rows:
        newest = max(newest, t)
        clamped += t < newest - lateness
        t = max(t, newest - lateness)
        times = accepted.setdefault(key, [])
        i = bisect.bisect_left(times, t)
        near = times[max(0, i - 1):i + 1]
        if any(abs(t - other) < window for other in near):
            continue
        times.insert(i, t)
        unique += 1
    return unique, clamped


def cran(path):
    """Its rows as (time, key)."""
    for line in path.read_text().splitlines()[1:]:
        epoch, client, package, version, _ = line.split("\t")
        yield int(epoch) * 10**6, (client, package, version)


@pytest.mark.parametrize("window", ["10m", "1h", "1d"])
def test_late_records_of_a_mirrors_log_are_judged_by_their_own_time(seen, stream, window):
    path = stream("cran_2014w51_arrival.tsv")
    unique, clamped = judged_by_their_own_time(cran(path), spans(window), HOUR)
    stats = seen("-w", "sliding:" + window, "--lateness", "1h", "--tsv", "--time", "#epoch", "-k",
                 "client,package,version", "--stats=json", path, stdout=-3).stats
    assert (stats["records"], stats["unique"], stats["clamped"]) == (1_345_192, unique, clamped)


def random_rows(rng, n, lateness):
    now, rows = 10**9, []
    for _ in range(n):
        now += rng.choice([0, 1, 7, 1000])
        rows.append((now - rng.choice([0, 0, rng.randrange(2 * lateness), lateness, lateness + 1]),
                     rng.randrange(30)))
    return rows


def as_text(rows):
    return "".join("%d.%06d,%d\n" % (*divmod(t, 10**6), key) for t, key in rows)


@pytest.mark.parametrize("window,lateness", [(5000, 3000), (1000, 40000), (20000, 1000)])
def test_lateness_on_random_streams(seen, rng, window, lateness):
    rows = random_rows(rng, 5000, lateness)
    unique, clamped = judged_by_their_own_time(rows, window, lateness)
    stats = seen("-w", "sliding:%dms" % (window // 1000), "--lateness", "%dms" % (lateness // 1000), "-d,",
                 "--time=1", "-k2", "--stats=json", text=as_text(rows)).stats
    assert (stats["unique"], stats["clamped"]) == (unique, clamped)
