"""seen diff: keys that one input has and the other lacks, against naive models: Counter for counts, Decimal
for sums, a largest bipartite matching for times."""

import base64
import collections
import csv
import decimal
import io
import json
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from conftest import SEEN, default_signals, sanitized
from test_streams import MEASURE

ESCAPES = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"0": b"\0", b"\\": b"\\"}
LEAST = ["--mem", "1MiB"]  # spills after some ten thousand keys


@pytest.fixture
def diff(seen, tmp_path):
    """diff(left, right, arguments...): the run on files of these bytes."""

    def run(left, right, *args, **more):
        for name, data in ("left", left), ("right", right):
            (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return seen("diff", *args, tmp_path / "left", tmp_path / "right", **more)

    return run


def unescape(field):
    parts = field.split(b"\\")
    # Between two backslashes there is nothing: then the second one was escaped.
    out, i = parts[0], 1
    while i < len(parts):
        if parts[i] == b"":
            out += b"\\" + (parts[i + 1] if i + 1 < len(parts) else b"")
            i += 2
        else:
            out += ESCAPES[parts[i][:1]] + parts[i][1:]
            i += 1
    return out


def rows(done, fields=1):
    """The keys of a table, as tuples, with the numbers behind them."""
    assert done.code == 0, done.err
    lines = done.out.split(b"\n")
    assert lines.pop() == b""
    cells = [line.split(b"\t") for line in lines[1:]]
    return [(tuple(map(unescape, row[:fields])), tuple(row[fields:])) for row in cells]


def counted(left, right):
    """What must be printed of two lists of keys (tuples of bytes), in order."""
    l, r = collections.Counter(left), collections.Counter(right)
    return [(key, (b"%d" % l[key], b"%d" % r[key])) for key in sorted(l | r) if l[key] != r[key]]


def text_of(keys, sep=b"\t"):
    return b"".join(sep.join(key) + b"\n" for key in keys)


def table(rows, header):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def some_keys(rng, n, of, fields=1):
    return [tuple(b"%x" % (rng.randrange(of) ** 2) for _ in range(fields)) for _ in range(n)]


# -- counts -------------------------------------------------------------------------------------


def test_a_key_is_printed_with_both_counts_where_they_differ(diff):
    done = diff("a\nb\na\nc\n", "b\na\nd\n")
    assert done.lines == ["key\tleft\tright", "a\t2\t1", "c\t1\t0", "d\t0\t1"]


@pytest.mark.parametrize("fields", [1, 2, 3])
def test_counts_are_those_of_a_counter(diff, rng, fields):
    for _ in range(10):
        left = some_keys(rng, rng.randrange(300), rng.randrange(1, 100), fields)
        right = some_keys(rng, rng.randrange(300), rng.randrange(1, 100), fields)
        done = diff(text_of(left), text_of(right), *(["-k", "1-%d" % fields] if fields > 1 else []))
        assert rows(done, fields) == counted(left, right)


def test_keys_sort_field_by_field_and_by_their_bytes(diff):
    keys = [(b"a", b"z"), (b"a b", b"a"), (b"ab", b""), (b"", b"x"), (b"\xff", b"\x01"), (b"Z", b"\xc3\xa9"),
            (b"a\x01", b""), (b"", b""), (b"aaaaaaaaaaaaaaaaaaaaab", b""), (b"aaaaaaaaaaaaaaaaaaaaaa", b"")]
    done = diff(text_of(keys[::-1]), b"", "-k", "1,2")
    assert [key for key, _ in rows(done, 2)] == sorted(keys)


@pytest.mark.parametrize("length", [1, 7, 8, 9, 30, 5000])
def test_keys_with_a_long_common_beginning_are_told_apart(diff, rng, length):
    left = [(b"x" * length + b"%d" % rng.randrange(500),) for _ in range(1000)]
    right = [(b"x" * rng.choice([length, length + 1, length // 2]) + b"%d" % rng.randrange(500),)
             for _ in range(1000)]
    assert rows(diff(text_of(left), text_of(right))) == counted(left, right)


def test_two_fields_are_not_their_concatenation(diff):
    done = diff("a\tbc\n", "ab\tc\n", "-k", "1,2")
    assert done.lines == ["key1\tkey2\tleft\tright", "a\tbc\t1\t0", "ab\tc\t0\t1"]


def test_empty_and_identical_inputs(diff, rng):
    keys = text_of(some_keys(rng, 1000, 300))
    assert diff("", "").lines == ["key\tleft\tright"]
    assert diff(keys, keys, "--exit-code").lines == ["key\tleft\tright"]
    assert diff("", "", "--csv", "-k", "u").lines == []  # without a first line columns have no names
    assert diff("u\n", "u\n", "--csv", "-k", "u").lines == ["u,left,right"]
    assert diff("", "u\n7\n", "--csv", "-k", "u").lines == ["u,left,right", "7,0,1"]
    assert rows(diff(keys, "")) == counted([(line,) for line in keys.splitlines()], [])
    assert rows(diff("", keys)) == counted([], [(line,) for line in keys.splitlines()])


def test_one_input_is_standard_input(seen, tmp_path):
    (tmp_path / "b").write_text("x\ny\n")
    assert seen("diff", "-", tmp_path / "b", text="x\nz\n").lines[1:] == ["y\t0\t1", "z\t1\t0"]
    assert seen("diff", tmp_path / "b", "-", text="x\nz\n").lines[1:] == ["y\t1\t0", "z\t0\t1"]


def test_packed_inputs_are_read_as_what_they_hold(seen, tmp_path):
    import gzip
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"x\ny\n"))
    (tmp_path / "b").write_text("x\nz\n")
    assert seen("diff", tmp_path / "a.gz", tmp_path / "b").lines[1:] == ["y\t1\t0", "z\t0\t1"]


# -- beyond memory ------------------------------------------------------------------------------


def spilled(done):
    return done.stats["spilled_runs"]


@pytest.mark.parametrize("fields", [1, 2])
def test_with_little_memory_the_answer_is_the_same(diff, rng, tmp_path, fields):
    left = some_keys(rng, 60000, 40000, fields)
    right = left[1000:] + some_keys(rng, 2000, 10 ** 6, fields)
    rng.shuffle(right)
    keyed = ["-k", "1,2"] if fields > 1 else []
    little = diff(text_of(left), text_of(right), *keyed, *LEAST, "--tmp", tmp_path, "--stats=json")
    enough = diff(text_of(left), text_of(right), *keyed, "--stats=json")
    assert spilled(little) >= 3 and spilled(enough) == 0
    assert rows(little, fields) == rows(enough, fields) == counted(left, right)


def test_many_runs_are_merged_in_several_rounds(diff, rng, tmp_path):
    keys = [b"%d" % i for i in range(700000)]
    rng.shuffle(keys)
    gone = set(rng.sample(keys, 50))
    left, right = keys, [key for key in keys[::-1] if key not in gone]
    done = diff(b"\n".join(left), b"\n".join(right), *LEAST, "--tmp", tmp_path, "--stats=json", timeout=300)
    assert spilled(done) > 100  # more than twice what is merged at once
    assert rows(done) == [((key,), (b"1", b"0")) for key in sorted(gone)]


def test_long_keys_are_counted_beyond_memory(diff, rng, tmp_path):
    longest = (1 << 20) // 100
    pool = [(rng.randbytes(rng.randrange(1, longest)).hex().encode()[:longest],) for _ in range(400)]
    left, right = rng.choices(pool, k=700), rng.choices(pool, k=700)
    done = diff(text_of(left), text_of(right), *LEAST, "--tmp", tmp_path, "--stats=json")
    assert spilled(done) >= 3 and rows(done) == counted(left, right)


def test_a_key_too_long_for_the_memory_is_left_out_and_told(diff):
    done = diff(b"a\n" + b"x" * 100000 + b"\nb\n", b"a\n", *LEAST)
    assert done.lines == ["key\tleft\tright", "b\t1\t0"]
    assert b"left was left out: record 2 has a key that is too long for --mem: raise it" in done.err
    assert len(diff(b"x" * 100000, b"a\n", "--mem", "16MiB").lines) == 3


def test_memory_stays_within_mem_and_what_reading_takes(tmp_path):
    if sanitized():
        pytest.skip("sanitizers take memory of their own")
    for name in "left", "right":
        with (tmp_path / name).open("w") as out:
            out.writelines("%s%d\n" % (name, i) for i in range(250000))

    def peak(mem):
        done = subprocess.run([sys.executable, "-c", MEASURE, SEEN, "diff", "--mem", mem, "--tmp", tmp_path,
                               tmp_path / "left", tmp_path / "right"], stdout=subprocess.PIPE, check=True)
        return int(done.stdout) / 1024

    assert peak("8MiB") < 8 + 6
    assert peak("16MiB") < 16 + 5
    assert peak("1GiB") > 64  # so the measurement can tell


def test_a_full_disk_is_one_sentence(diff, tmp_path, rng):
    def little_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))

    (tmp_path / "tmp").mkdir()
    keys = b"\n".join(b"%d" % i for i in range(100000))
    done = diff(keys, "", *LEAST, "--tmp", tmp_path / "tmp", preexec_fn=little_disk)
    done.refused("cannot write temporary data in %s" % (tmp_path / "tmp"), "--tmp", "--mem")
    assert done.out == b"" and os.listdir(tmp_path / "tmp") == []


def test_a_folder_that_cannot_be_used_is_one_sentence(diff, tmp_path, monkeypatch):
    keys = b"\n".join(b"%d" % i for i in range(100000))
    diff(keys, "", *LEAST, "--tmp", tmp_path / "none").refused("%s/none: No such file" % tmp_path, "--tmp")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nothing"))
    diff(keys, "", *LEAST).refused("%s/nothing: No such file" % tmp_path)
    assert diff("a\n", "").code == 0  # where nothing is spilled no folder is needed


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_no_temporary_files(tmp_path, sig):
    os.mkfifo(tmp_path / "left")
    (tmp_path / "right").write_text("x\n")
    (tmp_path / "tmp").mkdir()
    child = subprocess.Popen([SEEN, "diff", *LEAST, "--tmp", tmp_path / "tmp", tmp_path / "left",
                              tmp_path / "right"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             preexec_fn=default_signals)
    with (tmp_path / "left").open("wb") as out:
        out.write(b"\n".join(b"%d" % i for i in range(100000)))
        out.flush()
        folder = "/proc/%d/fd" % child.pid
        for _ in range(1000):  # until a run is on disk
            if any("/tmp/" in os.readlink("%s/%s" % (folder, fd)) and "deleted" in
                   os.readlink("%s/%s" % (folder, fd)) for fd in os.listdir(folder)):
                break
            time.sleep(0.01)
        else:
            raise AssertionError("nothing was spilled")
        assert os.listdir(tmp_path / "tmp") == []
        child.send_signal(sig)
        printed, said = child.communicate(timeout=300)
    assert child.returncode == -sig and printed == said == b""
    assert os.listdir(tmp_path / "tmp") == []


# -- threads ------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_nothing(diff, rng, threads):
    left = [(*key, b"%d.%02d" % (rng.randrange(90), rng.randrange(100))) for key in some_keys(rng, 40000, 30000, 2)]
    right = left[500:] + left[:200]
    left[777] = (b"no key",)
    right[3] = (b"a", b"b", b"no amount")
    args = ["-k", "1,2", "--sum", "3", "--stats=json", *LEAST]
    one = diff(text_of(left), text_of(right), *args)
    many = diff(text_of(left), text_of(right), *args, "-j", threads)
    assert one.code == many.code == 3 and (one.out, one.err) == (many.out, many.err)
    assert one.stats["left"]["left_out"] == one.stats["right"]["misread"] == 1


# -- sums ---------------------------------------------------------------------------------------


def some_amount(rng):
    return "%s%d%s" % (rng.choice(["", "-", "+"]), rng.choice([0, 7, 10 ** 6, rng.randrange(10 ** 15)]),
                       rng.choice(["", "", ".5", ".05", ".%06d" % rng.randrange(10 ** 6)]))


@pytest.mark.parametrize("memory", [[], LEAST])
def test_sums_are_those_of_decimal(diff, rng, memory):
    def records(n):
        return [("k%d" % rng.randrange(20000 if memory else 50), some_amount(rng)) for _ in range(n)]

    left, right = records(20000), records(20000)
    sums = [collections.defaultdict(decimal.Decimal), collections.defaultdict(decimal.Decimal)]
    counts = [collections.Counter(), collections.Counter()]
    for side, records in enumerate((left, right)):
        for key, amount in records:
            sums[side][key] += decimal.Decimal(amount)
            counts[side][key] += 1
    done = diff(table(left, ["k", "cost"]), table(right, ["k", "cost"]), "--csv", "-k", "k", "--sum", "cost",
                "--stats=json", *memory)
    assert bool(spilled(done)) == bool(memory)
    head, *found = csv.reader(io.StringIO(done.out.decode()))
    assert head == ["k", "left", "right", "left_sum", "right_sum"]
    differ = sorted(k for k in counts[0] | counts[1]
                    if (counts[0][k], sums[0][k]) != (counts[1][k], sums[1][k]))
    assert [row[0] for row in found] == differ
    for k, *row in found:
        assert [int(n) for n in row[:2]] == [counts[0][k], counts[1][k]]
        assert [decimal.Decimal(s) for s in row[2:]] == [sums[0][k], sums[1][k]]
    for side, name in enumerate(("left", "right")):
        assert decimal.Decimal(done.stats[name]["sum"]) == sum(sums[side].values())


def test_a_key_differs_where_only_the_sums_do(diff):
    done = diff("a\t0.1\na\t0.2\nb\t1\n", "a\t0.30\na\t0\nb\t1.001\n", "-k", "1", "--sum", "2")
    assert done.lines == ["key\tleft\tright\tleft_sum\tright_sum", "b\t1\t1\t1.000\t1.001"]


def test_an_amount_that_cannot_be_read_counts_as_nothing_and_is_told(diff):
    left, right, args = "a\t1\nb\t1,5\nc\n", "a\t1\nb\t0\n", ["-k", "1", "--sum", "2"]
    done = diff(left, right, *args)
    assert done.code == 3 and done.lines[1:] == ["c\t1\t0\t0\t0"]
    assert b"left are not decimal numbers and count as nothing; the first is that of record 2" in done.err
    assert diff(left, right, *args, "--strict").code == 2
    assert diff(left, right, *args, "-q").err == b""


def test_a_sum_that_does_not_fit_is_an_error(diff):
    many = "a\t99999999999999999999\n" * 3
    diff(many, "a\t1\n", "-k", "1", "--sum", "2").refused("more than 20 digits")


# -- times --------------------------------------------------------------------------------------


def largest_matching(left, right, tolerance):
    """By augmenting paths: no rule of order."""
    partner = {}

    def place(i, tried):
        for j, t in enumerate(right):
            if abs(left[i] - t) <= tolerance and j not in tried:
                tried.add(j)
                if j not in partner or place(partner[j], tried):
                    partner[j] = i
                    return True
        return False

    return sum(place(i, set()) for i in range(len(left)))


def times_by_key(records):
    out = collections.defaultdict(list)
    for key, t in records:
        out[key].append(t)
    return out


def stamped(records):
    return "".join("%s\t%d\n" % record for record in records)


def test_as_many_records_match_as_can(diff, rng):
    for _ in range(40):
        tolerance, span = rng.randrange(0, 12), rng.choice([10, 40, 200])
        left, right = ([("k%d" % rng.randrange(5), 10 ** 9 + rng.randrange(span)) for _ in range(rng.randrange(60))]
                       for _ in range(2))
        l, r = times_by_key(left), times_by_key(right)
        expected = []
        for key in sorted(set(l) | set(r)):
            n = largest_matching(l[key], r[key], tolerance)
            if n < len(l[key]) or n < len(r[key]):
                expected.append("%s\t%d\t%d\t%d" % (key, len(l[key]), len(r[key]), n))
        done = diff(stamped(left), stamped(right), "-k", "1", "--time", "2", "--tolerance", "%ds" % tolerance)
        assert done.lines[1:] == expected


def two_pointers(left, right, tolerance):
    left, right, n, i, j = sorted(left), sorted(right), 0, 0, 0
    while i < len(left) and j < len(right):
        if abs(left[i] - right[j]) <= tolerance:
            n, i, j = n + 1, i + 1, j + 1
        elif left[i] < right[j]:
            i += 1
        else:
            j += 1
    return n


def test_times_match_beyond_memory(diff, rng, tmp_path):
    left, right = ([("k%d" % min(rng.randrange(3000), 20), 10 ** 9 + rng.randrange(10 ** 5)) for _ in range(40000)]
                   for _ in range(2))
    l, r = times_by_key(left), times_by_key(right)
    done = diff(stamped(left), stamped(right), "-k", "1", "--time", "2", "--tolerance", "30s", *LEAST, "--tmp",
                tmp_path, "--stats=json")
    assert spilled(done) >= 3
    assert done.lines[1:] == ["%s\t%d\t%d\t%d" % (k, len(l[k]), len(r[k]), two_pointers(l[k], r[k], 30))
                              for k in sorted(set(l) | set(r)) if two_pointers(l[k], r[k], 30)
                              < max(len(l[k]), len(r[k]))]


def test_records_that_wait_for_a_match_may_exceed_memory(diff, rng):
    """A day of one key on the left waits for the right, which is two days late."""
    left = [10 ** 9 + i for i in range(30000)]
    right = [t + 172800 for t in left if t % 7] + [t + 172801 for t in left if t % 7 == 0]
    for tolerance in 172800, 172801 - 20000, 3 * 86400:
        done = diff(stamped([("k", t) for t in left]), stamped([("k", t) for t in right]), "-k", "1", "--time",
                    "2", "--tolerance", "%ds" % tolerance)
        n = two_pointers(left, right, tolerance)
        assert done.lines[1:] == ([] if n == len(left) else ["k\t30000\t30000\t%d" % n])
        assert n > 0


def test_the_ends_of_the_tolerance(diff):
    left, right = "a\t1700000000\n", "a\t1700000000.5\n"
    args = ["-k", "1", "--time", "2", "--tolerance"]
    assert diff(left, right, *args, "500ms").lines[1:] == []
    assert diff(left, right, *args, "499ms").lines[1:] == ["a\t1\t1\t0"]
    assert diff(left, left, *args, "0").lines[1:] == []
    assert diff(left, right, *args, "0").lines[1:] == ["a\t1\t1\t0"]


def test_sums_and_times_together(diff):
    left = "k,when,cost\na,2024-11-20T10:00:00Z,1.10\na,2024-11-20T11:00:00Z,1.10\n"
    right = "k,when,cost\na,2024-11-20T10:03:00Z,1.10\na,2024-11-20T11:09:00Z,1.20\n"
    done = diff(left, right, "--csv", "-k", "k", "--time", "when", "--tolerance", "5m", "--sum", "cost")
    assert done.lines == ["k,left,right,matched,left_sum,right_sum", "a,2,2,1,2.20,2.30"]


def test_each_side_has_a_time_zone_of_its_own(diff):
    left, right = "k,t\na,2024-07-01 12:00:00\n", "k,t\na,2024-07-01 10:00:30\n"
    args = ["--csv", "-k", "k", "--time", "t", "--tolerance", "1m"]
    assert diff(left, right, *args, "--left-zone", "Europe/Berlin", "--right-zone", "UTC").lines[1:] == []
    assert diff(left, right, *args).lines[1:] == ["a,1,1,0"]
    assert diff(left, right, *args, "--zone", "Europe/Berlin").lines[1:] == ["a,1,1,0"]
    diff(left, right, *args, "--zone", "Moon").refused("'Moon' is not known")


def test_a_time_that_cannot_be_read_leaves_the_record_out(diff):
    done = diff("a\t1\nb\tsoon\n", "a\t1\n", "-k", "1", "--time", "2", "--tolerance", "1s")
    assert done.lines[1:] == [] and b"left was left out: time 'soon' cannot be read, record 2" in done.err


# -- formats ------------------------------------------------------------------------------------

HOSTILE = ["a\nb", "a\tb", "a\\tb", 'say "x"', "a,b", "\r", "a\0b", "", "\0", "\0\0", "\1", "é", "\\", "a\0", "plain"]


def test_any_bytes_make_a_key_in_every_output(diff):
    left = table([(key, "x") for key in HOSTILE], ["k", "v"])
    args = ["--csv", "-k", "k,v"]
    wanted = sorted(key.encode() for key in HOSTILE)
    done = diff(left, "k,v\n", *args, "-o", "text")
    assert [key[0] for key, _ in rows(done, 2)] == wanted
    done = diff(left, "k,v\n", *args)
    found = list(csv.reader(io.StringIO(done.out.decode(), newline="")))
    assert [row[0].encode() for row in found[1:]] == wanted and found[0] == ["k", "v", "left", "right"]
    done = diff(left, "k,v\n", *args, "-o", "json")
    assert [json.loads(line)["key"][0].encode() for line in done.out.splitlines()] == wanted


def test_a_key_that_is_not_text_is_base64_in_json(diff):
    done = diff(b"a\tb\n\xff\tb\n", b"", "-k", "1,2", "-o", "json")
    one, two = map(json.loads, done.lines)
    assert one == {"key": ["a", "b"], "left": 1, "right": 0}
    assert [base64.b64decode(v) for v in two["key_base64"]] == [b"\xff", b"b"]


def test_json_has_exact_sums_and_a_key_of_one_field_as_a_string(diff):
    done = diff("a\t1.50\n", "b\t2\n", "-k", "1", "--sum", "2", "-o", "json")
    assert [json.loads(line) for line in done.lines] == [
        {"key": "a", "left": 1, "right": 0, "left_sum": "1.50", "right_sum": "0.00"},
        {"key": "b", "left": 0, "right": 1, "left_sum": "0.00", "right_sum": "2.00"}]


def test_quoted_and_bare_values_are_one_key(diff):
    assert diff('k\n"a"\n', "k\na\n", "--csv", "-k", "k").lines == ["k,left,right"]


def test_delimiters_of_csv_are_kept(diff):
    done = diff("k;v\n1,5;x\n", "k;v\n", "--csv", "-d", ";", "-k", "k")
    assert done.lines == ["k;left;right", "1,5;1;0"]


def test_columns_are_called_as_on_the_left(diff):
    left, right = "user,ad\nann,7\n", "publisher,campaign,who\np,7,bob\n"
    done = diff(left, right, "--csv", "--left-key", "user,ad", "--right-key", "who,2")
    assert done.lines == ["user,ad,left,right", "ann,7,1,0", "bob,7,0,1"]


def test_each_side_has_fields_of_its_own(diff):
    left = "id,when,cost\n1,2024-11-20T10:00:00Z,5\n2,2024-11-20T10:00:00Z,5\n"
    right = "at,price,click\n2024-11-20T10:00:09Z,5.0,1\n2024-11-20T10:00:11Z,5.0,2\n"
    done = diff(left, right, "--csv", "--left-key", "id", "--right-key", "click", "--left-time", "when",
                "--right-time", "at", "--left-sum", "cost", "--right-sum", "price", "--tolerance", "10s")
    assert done.lines == ["id,left,right,matched,left_sum,right_sum", "2,1,1,0,5.0,5.0"]


def test_paths_name_the_columns_of_json(diff):
    done = diff('{"user":{"id":7},"a.b":"x"}\n', '{"user":{"id":8},"a.b":"x"}\n', "--ndjson", "-k", "user.id,a\\.b")
    assert done.lines == ["user.id\ta\\\\.b\tleft\tright", "7\tx\t1\t0", "8\tx\t0\t1"]


def test_web_logs(diff):
    line = '10.0.0.%d - - [20/Nov/2024:10:00:0%d +0000] "GET / HTTP/1.1" 200 512\n'
    done = diff(line % (1, 0) + line % (2, 0), line % (1, 5), "--clf", "-k", "host,path", "--time", "time",
                "--tolerance", "5s")
    assert done.lines == ["host\tpath\tleft\tright\tmatched", "10.0.0.2\t/\t1\t0\t0"]
    again = diff(line % (1, 0) + line % (2, 0), line % (1, 5), "--clf", "-k", "host,path", "--tolerance", "5s")
    assert again.out == done.out  # the log's own time


def test_keys_as_people_mean_them(diff):
    assert diff(" Ann\n", "ann \n", "--trim", "--ignore-case").lines[1:] == []
    assert diff("a\tb\tk\n", "c\tk\n", "-k", "last").lines[1:] == []
    done = diff("at 10:05 by ann\n", "at 11:05 by ann\n", "--key-regex", "at ([0-9]+):.* by (.*)")
    assert done.lines == ["key1\tkey2\tleft\tright", "10\tann\t1\t0", "11\tann\t0\t1"]
    done = diff("http://A.example:80/x#top\n", "http://a.example/x\nhttp://a.example/y\n", "--key-url")
    assert done.lines[1:] == ["http://a.example/y\t0\t1"]


def test_keys_of_any_number_of_fields(diff):
    left, right = "x\ta\tb\nx\ta\n", "y\ta\nx\tab\n"
    assert diff(left, right, "-k", "2-").lines == ["key\tleft\tright", "a\\tb\t1\t0", "ab\t0\t1"]
    done = diff(left, right, "-k", "2-", "-o", "json")
    assert [json.loads(line)["key"] for line in done.lines] == [["a", "b"], ["ab"]]


def test_records_may_end_in_nul(diff):
    done = diff(b"a\nb\0c\0", b"c\0", "-0")
    assert done.lines == ["key\tleft\tright", "a\\nb\t1\t0"]


# -- what is told -------------------------------------------------------------------------------


def test_only_shows_one_kind_of_difference(diff):
    left, right = "a\nb\nb\nsame\n", "b\nc\nsame\n"
    assert diff(left, right, "--only", "left").lines[1:] == ["a\t1\t0"]
    assert diff(left, right, "--only", "right").lines[1:] == ["c\t0\t1"]
    assert diff(left, right, "--only", "both").lines[1:] == ["b\t2\t1"]


def test_the_exit_code_says_whether_a_row_was_printed(diff):
    assert diff("a\n", "b\n").code == 0
    assert diff("a\n", "b\n", "--exit-code").code == 1
    assert diff("a\n", "a\n", "--exit-code").code == 0
    assert diff("a\nb\n", "a\n", "--exit-code", "--only", "right").code == 0


def test_stats_are_an_account_of_both_sides(diff):
    left, right = "a\t1\tx\na\t2\tx\nb\t3\tx\nbad\n", "a\t1\tx\nc\t0.5\tx\n"
    args = ["-k", "1,3", "--sum", "2"]
    stats = diff(left, right, *args, "--stats=json", "-q").stats
    assert stats.pop("version")
    assert stats == {
        "left": {"records": 4, "left_out": 1, "not_matched": 2, "keys": 2, "only": 1, "misread": 0,
                 "sum": "6"},
        "right": {"records": 2, "left_out": 0, "not_matched": 1, "keys": 2, "only": 1, "misread": 0,
                  "sum": "1.5"},
        "both": 1, "different": 1, "matched": 1, "spilled_runs": 0, "spilled_bytes": 0}
    told = diff(left, right, *args, "--stats").err.decode()
    assert "left                right" in told and "1 keys are in both, 1 of them differ" in told


def test_what_is_left_out_is_told_with_its_causes(diff):
    left = "a\t1\t5\nx\ny\ta\t1\n" + "long" * 1000 + "\n"
    done = diff(left, "a\t1\t5\n", "-k", "1,2", "--time", "2", "--tolerance", "1s", "--max-record", "1KiB")
    assert done.code == 0 and done.lines[1:] == []
    text = done.err.decode()
    assert "seen: 3 records of " in text and "left were left out: 1 as record 4 is longer than --max-record (1KiB); " \
        "1 as record 2 has 1 field, -k asks for 2; 1 as time 'a' cannot be read, record 3" in text
    assert diff("a\tb\nc\n", "a\tb\n", "-k", "2", "-q").err == b""
    assert diff("a\tb\nc\n", "a\tb\n", "-k", "2", "--strict").code == 2


def test_a_side_of_which_nothing_can_be_counted_is_an_error(diff):
    done = diff("a\nb\n", "a,b\n", "-d", ",", "-k", "2")
    done.refused("none of the records of", "left could be judged (2): record 1 has 1 field, -k asks for 2")
    assert done.out == b""


@pytest.mark.parametrize("args, words", [
    (["a"], ["two inputs", "only one"]),
    ([], ["two inputs", "none"]),
    (["a", "b", "a"], ["two inputs", "more than two"]),
    (["-", "-"], ["both inputs are standard input"]),
    (["a", "gone"], ["cannot open gone"]),
    (["--left-key", "1", "a", "b"], ["--left-key needs --right-key", "--keys for both"]),
    (["--right-sum", "1", "-k", "1", "a", "b"], ["--right-sum needs --left-sum"]),
    (["--left-key", "1", "--right-key", "1,2", "a", "b"], ["1 field in", "2 in", "as many on both sides"]),
    (["--left-key", "2-", "--right-key", "1,2", "a", "b"], ["fixed number", "any number", "-k 2-4"]),
    (["--tolerance", "5m", "-k", "1", "a", "b"], ["--tolerance needs", "--time FIELD"]),
    (["--time", "2", "-k", "1", "a", "b"], ["--time serves --tolerance"]),
    (["--zone", "UTC", "-k", "1", "a", "b"], ["--zone says where the times of --time are"]),
    (["--time-format", "%s", "-k", "1", "a", "b"], ["--time-format"]),
    (["--tolerance", "5", "--time", "2", "-k", "1", "a", "b"], ["--tolerance 5", "unit"]),
    (["--tolerance", "5m", "--time", "2", "a", "b"], ["whole record is the key", "-k"]),
    (["--sum", "2", "a", "b"], ["whole record is the key", "-k"]),
    (["--mem", "1KiB", "a", "b"], ["--mem 1KiB", "1MiB"]),
    (["--mem", "much", "a", "b"], ["--mem much"]),
    (["--only", "none", "a", "b"], ["--only", "none", "left", "both"]),
    (["-o", "xml", "a", "b"], ["output", "xml", "csv"]),
    (["--csv", "-k", "nothing", "a", "b"], ["'nothing'"]),
])
def test_refusals(seen, tmp_path, args, words):
    for name in "a", "b":
        (tmp_path / name).write_text("x\ty\n")
    seen("diff", *args, cwd=tmp_path).refused(*words)


def test_an_input_that_breaks_off_prints_no_row(diff):
    import gzip
    packed = gzip.compress(b"a\nb\n" * 1000)
    done = diff("a\n", packed[:-10])
    assert done.code == 2 and done.out == b""


def test_an_output_that_cannot_be_written_is_an_error(diff):
    with open("/dev/full", "wb") as full:
        done = diff("a\n" * 3, "b\n", stdout=full)
    assert done.code == 2 and b"cannot write the output" in done.err
