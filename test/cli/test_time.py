"""Late records, and days that have 23 or 25 hours."""

import datetime
import re
import zoneinfo

import pytest

from conftest import ROOT


def days(seen, zone, times, window="landmark:1d"):
    """The windows a stream of equal keys falls into: a list of how many records each has."""
    text = "".join("%s,k\n" % t for t in times)
    args = ["-w", window + " filter=exact", "-d,", "--time=1", "-k2", "--tag"]
    if zone:
        args += ["--zone", zone]
    sizes = []
    for line in seen(*args, text=text).lines:
        if line.startswith("new"):
            sizes.append(0)
        sizes[-1] += 1
    return sizes


def hours(start, n):
    first = datetime.datetime.fromisoformat(start)
    return [(first + datetime.timedelta(hours=i)).isoformat() for i in range(n)]


def test_the_day_summer_time_begins_has_23_hours(seen):
    assert days(seen, "Europe/Berlin", hours("2024-03-29T23:00:00+00:00", 71)) == [24, 23, 24]


def test_the_day_summer_time_ends_has_25_hours(seen):
    assert days(seen, "Europe/Berlin", hours("2024-10-25T22:00:00+00:00", 73)) == [24, 25, 24]


def test_utc_days_have_24(seen):
    assert days(seen, None, hours("2024-03-28T00:00:00+00:00", 72)) == [24, 24, 24]
    assert days(seen, "UTC", hours("2024-03-28T00:00:00+00:00", 72)) == [24, 24, 24]


def test_a_week_begins_on_the_local_monday(seen):
    start = "2024-03-24T23:00:00+00:00"  # Monday the 25th in Berlin; the week has an hour less
    assert days(seen, "Europe/Berlin", hours(start, 7 * 24 + 9), "landmark:1w") == [7 * 24 - 1, 10]


def test_a_day_that_begins_at_one_o_clock(seen):
    # In Sao Paulo summer time began at midnight: 2018-11-04 has no 00:00.
    assert days(seen, "America/Sao_Paulo", hours("2018-11-03T03:00:00+00:00", 71)) == [24, 23, 24]


def test_a_date_that_never_was(seen):
    # Samoa went from the 29th to the 31st of December 2011.
    assert days(seen, "Pacific/Apia", hours("2011-12-29T10:00:00+00:00", 48)) == [24, 24]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu",
                                  "Australia/Lord_Howe", "Pacific/Kiritimati", "Africa/Cairo"])
def test_a_year_of_days_against_zoneinfo(seen, zone, rng):
    tz = zoneinfo.ZoneInfo(zone)
    t, rows, truth, last = 1_567_000_000, [], [], None
    for _ in range(3000):
        t += rng.randrange(20000)
        date = datetime.datetime.fromtimestamp(t, tz).date()
        truth.append("dup" if date == last else "new")
        last = date
        rows.append("%d,k" % t)
    done = seen("-w", "landmark:1d filter=exact", "--zone", zone, "-d,", "--time=1", "-k2", "--tag",
                text="\n".join(rows))
    assert [line[:3] for line in done.lines] == truth


@pytest.mark.parametrize("zone", [[], ["--zone", "Europe/Berlin"]])
def test_late_records_are_counted_and_belong_to_the_current_window(seen, zone):
    times = ["2024-06-01T12:00:00Z", "2024-06-02T12:00:00Z", "2024-06-01T12:00:00Z",
             "2024-06-02T11:59:59.5Z", "2024-06-02T12:00:00Z"]
    text = "".join("%s,k\n" % t for t in times)
    done = seen("-w", "landmark:1d filter=exact", *zone, "-d,", "--time=1", "-k2", "--tag",
                "--stats=json", text=text)
    assert [line[:3] for line in done.lines] == ["new", "new", "dup", "dup", "dup"]
    assert done.stats["late"] == 2 and done.stats["late_most_us"] == 86400 * 1000000


def test_rate_survives_the_zone(seen):
    done = seen("-w", "landmark:1d rate=10 fp=1e-3", "--zone", "Europe/Berlin", "--stats=json")
    assert 860_000 < done.stats["capacity"] < 1_200_000 and done.stats["window"] == "landmark:1d"


TIMES = {
    "0": 0, "7": 7, "1604686251": 1604686251, "1604686251.5": 1604686251.5,
    "99999990000": 99999990000, "100000000000": 100000000, "1604686251250": 1604686251.25,
    "1604686251250000": 1604686251.25, "00001604686251": 1604686251,
    "2020-11-06T18:10:51Z": 1604686251, "2020-11-06t18:10:51z": 1604686251,
    "2020-11-06 18:10:51": 1604686251, "2020-11-06_18:10:51.25+00:00": 1604686251.25,
    "2020-11-06T18:10:51-23:59": 1604686251 + 86340, "1970-01-01T00:00:00Z": 0,
    "2000-02-29T00:00:00Z": 951782400, "2016-12-31T23:59:60Z": 1483228800,
}


@pytest.mark.parametrize("text", TIMES)
def test_spellings_of_time(seen, text):
    """A record a microsecond within the hour is a duplicate, one at the hour is not."""
    start = round(TIMES[text] * 1000000)
    def verdict(t):
        stamp = "%d.%06d" % divmod(t, 1000000)
        done = seen("-w", "sliding:1h filter=exact", "-d,", "--time=1", "-k2", "--tag", "--allow-future",
                    text="%s,k\n%s,k\n" % (text, stamp))
        return [line.split("\t")[0] for line in done.lines]
    assert verdict(start + 3600_000_000 - 1) == ["new", "dup"]
    assert verdict(start + 3600_000_000) == ["new", "new"]


@pytest.mark.parametrize("text", ["", "x", "-1", "1.", ".5", "1e9", "12345678901234567890", "2020-11-6", "2020-11-06T18", "2020-11-06 18:10:5",
                                  "2020-11-06T18:10+1", "6 Nov 2020", "Fri 06 Nov 2020 18:10:51 GMT", "6 Nov 20 18:10 GMT",
                                  "31 Jun 2020 18:10:51 GMT", "6 Nov 2020 18:10:51 CETX", "2020-11-06T18:10:51 ",
                                  "1969-12-31T23:59:59Z", "2021-02-29T00:00:00Z", "2020-13-01T00:00:00Z",
                                  "2020-11-06T24:00:00Z", "2020-11-06T18:10:51+1:00",
                                  "2020-11-06T18:10:51.Z", "2020-11-06T18:10:51Zx", "0x10", "1 "])
def test_what_is_no_time(seen, text):
    done = seen("-w", "sliding:1h filter=exact", "-d,", "--time=1", "-k2", "--tag", "--strict",
                text="%s,k\n" % text)
    assert done.out.startswith(b"-\t") and done.code == 2


def read_as(seen, text, *args):
    done = seen("-w", "sliding:1h", "-d\t", "--time=1", "--tag=time", "-q", *args, text=text + "\tk\n")
    return done.lines[0].split("\t")[0]


def spellings():
    """The rows of doc/time.md: what is written, and the time that it is."""
    for line in (ROOT / "doc" / "time.md").read_text().splitlines():
        row = re.match(r"\| (`.*`) \| .* \| `(\d{4}-.*?Z)`(, `\.5`)? \|$", line)
        for text in re.findall(r"`(.*?)`", row.group(1)) if row else []:
            half = row.group(3) and text[-2:] in (".5", ",5")
            yield text, row.group(2)[:-1] + ".5Z" if half else row.group(2)


@pytest.mark.parametrize("text, time", list(spellings()))
def test_the_document_says_what_a_time_means(seen, text, time):
    assert read_as(seen, text) == time


def test_the_document_has_every_spelling():
    assert len(list(spellings())) > 20


ZONED = [("2020-11-06 19:10:51", "2020-11-06T18:10:51Z"), ("2020-11-06", "2020-11-05T23:00:00Z"),
         ("2020-07-06T19:10", "2020-07-06T17:10:00Z"), ("2020-11-06T19:10:51Z", "2020-11-06T19:10:51Z"),
         ("1604686251", "2020-11-06T18:10:51Z"), ("6 Nov 2020 18:10:51 GMT", "2020-11-06T18:10:51Z"),
         ("2024-10-27 02:30:00", "2024-10-27T00:30:00Z"),  # comes twice: the first
         ("2024-03-31 02:30:00", "2024-03-31T01:30:00Z")]  # was skipped


@pytest.mark.parametrize("text, time", ZONED)
def test_zone_places_times_that_carry_none(seen, text, time):
    assert read_as(seen, text, "--zone", "Europe/Berlin") == time


def test_zone_places_times_of_a_format_without_an_offset(seen):
    berlin = ["--zone", "Europe/Berlin", "--time-format"]
    assert read_as(seen, "06.11.2020 19:10:51", *berlin, "%d.%m.%Y %H:%M:%S") == "2020-11-06T18:10:51Z"
    assert read_as(seen, "06.11.2020 19:10:51 +0000", *berlin, "%d.%m.%Y %H:%M:%S %z") == "2020-11-06T19:10:51Z"


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
                                  "America/Sao_Paulo", "Africa/Cairo"])
@pytest.mark.parametrize("threads", ["-j1", "-j3"])
def test_local_times_against_zoneinfo(seen, zone, threads, rng):
    tz, rows, truth = zoneinfo.ZoneInfo(zone), [], []
    for _ in range(3000):
        local = datetime.datetime(2015, 1, 1) + datetime.timedelta(seconds=rng.randrange(9 * 365 * 86400))
        rows.append("%s\tk\n" % local)
        truth.append(local.replace(tzinfo=tz).astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
    done = seen("-w", "sliding:1h", "-d\t", "--time=1", "--tag=time", "-q", "--zone", zone, threads,
                text="".join(rows))
    assert [line.split("\t")[0] for line in done.lines] == truth


def test_zone_serves_days_and_times(seen):
    seen("-w", "sliding:1h", "--zone", "Europe/Berlin", text="a\n").refused("landmark:1d", "--time FIELD")


def test_a_day_of_a_zone_holds_the_local_times_of_its_date(seen):
    text = "".join("2024-03-31 %02d:30:00\tk\n" % hour for hour in (0, 1, 3, 23)) + "2024-04-01 00:00:00\tk\n"
    done = seen("count", "-w", "landmark:1d", "--zone", "Europe/Berlin", "-d\t", "--time=1", text=text)
    assert [line.split("\t")[1] for line in done.lines] == ["records", "4", "1", "5"]


def test_stats_name_the_window_that_was_asked_for(seen):
    done = seen("-w", "sliding:1h", "--zone", "Europe/Berlin", "-d\t", "--time=1", "--stats=json", text="2024-01-01\n")
    assert done.stats["window"] == "sliding:1h"
