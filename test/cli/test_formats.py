"""Formats against what others make of them: Python's csv, a regular expression for web logs; and what no
format may be shaken by: pieces of any size, records of a GiB."""

import csv
import io
import re
import resource
import subprocess

import pytest

from conftest import SEEN, sanitized

BUFFER = 256 << 10


def tags(keys):
    """What --tag says of records with these keys; None: no key."""
    known = set()
    for key in keys:
        yield b"-" if key is None else b"dup" if key in known else b"new"
        known.add(key)


# -- CSV -----------------------------------------------------------------------------------------------


def random_csv(rng, rows):
    """Rows as Python writes them, quoted where they must be, and where they need not."""
    words = ["", "a", "b", "a,b", 'say "a"', '"', '""', "two\nlines", "cr\r\nlf", "é", " a", "x" * 70, "\0", ";\t"]
    table = [[rng.choice(words) for _ in range(rng.choice([3, 3, 3, 1, 4]))] for _ in range(rows)]
    out = io.StringIO(newline="")
    for row in table:
        quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        csv.writer(out, quoting=quoting, lineterminator=rng.choice(["\n", "\r\n"])).writerow(row)
    return out.getvalue().encode()


@pytest.mark.parametrize("keys", ["2", "1,3", "3,2"])
def test_random_tables_have_the_values_that_python_reads(seen, rng, keys):
    for rows in 5, 3000:
        text = random_csv(rng, rows)
        records = list(csv.reader(io.StringIO(text.decode(), newline=""), strict=True))
        wanted = [int(k) - 1 for k in keys.split(",")]
        found = [tuple(r[k] for k in wanted) if len(r) > max(wanted) else None for r in records]
        done = seen("--csv", "--no-header", "-k", keys, "--tag", "-q", "--filter=exact", text=text)
        told = [row[-1].encode() for row in csv.reader(io.StringIO(done.out.decode(), newline=""), strict=True)]
        assert told == list(tags(found))


@pytest.mark.parametrize("chunk", [1, 2, 5, 64, 4097])
def test_tables_in_pieces_of_any_size_are_the_same_tables(rng, tmp_path, chunk):
    text = random_csv(rng, 200 if chunk < 64 else 5000)
    command = [SEEN, "--csv", "--no-header", "-k", "2", "--tag", "-q", "--filter=exact"]
    want = subprocess.run(command, input=text, stdout=subprocess.PIPE).stdout
    for threads in "1", "3":
        with open(tmp_path / "out", "wb") as out:
            p = subprocess.Popen([*command, "-j", threads], stdin=subprocess.PIPE, stdout=out, bufsize=0)
        for i in range(0, len(text), chunk):
            p.stdin.write(text[i:i + chunk])
        p.communicate()
        assert (tmp_path / "out").read_bytes() == want


@pytest.mark.parametrize("shift", range(0, 80, 7))
@pytest.mark.parametrize("threads", [1, 2])
def test_json_and_web_logs_across_the_buffers_edge(seen, shift, threads):
    line = b'{"k":{"id":"%06d"},"pad":"\\"' + b"p" * 31 + b'"}\n'
    text = b" " * shift + b"".join(line % (i % 9000) for i in range(12000))
    assert len(text) > 2 * BUFFER
    done = seen("--ndjson", "-k", "k.id", "-j", threads, "-w", "landmark:1e6", text=text)
    assert done.out == b" " * shift + b"".join(line % i for i in range(9000))
    line = b'10.0.%d.%d - - [10/Oct/2000:13:55:36 -0700] "GET /\\"a HTTP/1.0" 200 1\n'
    text = b"p" * shift + b"".join(line % (i % 9000 // 250, i % 250) for i in range(12000))
    done = seen("--clf", "-k", "host", "-j", threads, "-w", "landmark:1e6", "-q", text=text)
    assert len(done.out.splitlines()) == 9000 + (shift > 0)  # p is another host


# -- web logs ------------------------------------------------------------------------------------------

QUOTED = rb'"((?:[^"\\]|\\.)*)"'
CLF = re.compile(rb"([^ ]+) ([^ ]+) (.+?) \[([^\]]+)\] " + QUOTED + rb" (\d+|-) (\d+|-)(?= |$)(?: " + QUOTED +
                 rb"(?: " + QUOTED + rb")?)?", re.S)
NAMES = ["host", "ident", "user", "time", "request", "status", "bytes", "referer", "agent"]


def unescape(value):
    def one(m):
        if m[1]:
            return bytes([int(m[1], 16)])
        return {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f", b"v": b"\v"}.get(m[2], m[2])
    return re.sub(rb"\\(?:x([0-9a-fA-F]{2})|(.))", one, value, flags=re.S)


def web_log_line(rng):
    quoted = lambda: b'"' + b"".join(rng.choice([b"a", b" ", b'\\"', b"\\\\", b"\\x22", b"\\n", b"]", b"[", b"\\xzz"])
                                     for _ in range(rng.randrange(6))) + b'"'
    line = b" ".join([rng.choice([b"::1", b"h", b"10.0.0.1"]), b"-", rng.choice([b"-", b"ann", b"ann smith"]),
                      b"[10/Oct/2000:13:55:%02d -0700]" % rng.randrange(60), quoted(),
                      rng.choice([b"200", b"404", b"-"]), rng.choice([b"1", b"-", b"23"])])
    line += b"".join(b" " + quoted() for _ in range(rng.randrange(4)))
    if rng.random() < 0.3:
        at = rng.randrange(len(line))
        line = rng.choice([line[:at], line[:at] + line[at + 1:], line[:at] + rng.choice([b'"', b" ", b"\\"]) + line[at:]])
    return line


@pytest.mark.parametrize("name", NAMES)
def test_random_web_logs_have_the_fields_that_a_pattern_finds(seen, rng, name):
    lines, found = [web_log_line(rng) for _ in range(2000)], []
    lines = [line for line in lines if not re.match(rb"\S+ \S+ \S+ \S+ +\[", line)]  # a virtual host, perhaps
    for line in lines:
        m = CLF.match(line)
        value = m and m[NAMES.index(name) + 1]
        quoted = name in ("request", "referer", "agent")
        found.append(None if value is None else unescape(value) if quoted else value)
    assert None in found and len(set(found)) > (1 if name == "ident" else 2)
    done = seen("--clf", "-k", name, "--tag", "-q", "--filter=exact", text=b"".join(line + b"\n" for line in lines))
    told = [line.split(b"\t")[0] for line in done.out.split(b"\n")[:-1]]
    assert [(line, a, b) for line, a, b in zip(lines, tags(found), told) if a != b] == []


LINE = '%s[10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 5 "r" "a"'


@pytest.mark.parametrize("begin, vhost, host, user", [
    ("example.com:80 1.2.3.4 - - ", "example.com:80", "1.2.3.4", "-"),
    ("example.com:443 client.net - ann ", "example.com:443", "client.net", "ann"),
    ("[::1]:80 ::1 - - ", "[::1]:80", "::1", "-"),
    ("example.com 1.2.3.4 - ann lee ", "example.com", "1.2.3.4", "ann lee"),
    ("1.2.3.4 - ann lee ", None, "1.2.3.4", "ann lee"),
    ("2001:db8::1 - ann lee ", None, "2001:db8::1", "ann lee"),
    ("1.2.3.4:5678 - - ", None, "1.2.3.4:5678", "-"),
])
def test_a_virtual_host_before_the_host_is_a_field(seen, begin, vhost, host, user):
    text = LINE % begin + "\n"
    for name, value in ("vhost", vhost), ("host", host), ("user", user), ("agent", "a"):
        done = seen("top", "--clf", "-k", name, "-w", "landmark", "-q", text=text)
        assert [line.split("\t")[1] for line in done.lines[1:]] == ([value] if value else []), name


def test_without_quotes_a_quote_is_a_byte(seen):
    text = 'id,v\n"a,1\n"a,2\nb",3\n'
    for threads in "1", "2":
        done = seen("--csv", "--no-quotes", "-k", "id", "-j", threads, text=text)
        assert (done.code, done.out) == (0, b'id,v\n"a,1\nb",3\n')
    seen("--no-quotes", "-d", ",").refused("--no-quotes is for --csv")
    seen("--csv", "-k", "id", text='id,v\n"a,1\n').refused("opened in line 2 ", "--no-quotes")


def test_a_column_that_is_not_there_names_the_nearest_or_the_delimiter(seen):
    seen("--csv", "-k", "usr", text="user,ad\n").refused("no column 'usr'", "did you mean 'user'?")
    for byte, option in (";", "-d ';'"), ("|", "-d '|'"), ("\t", "-d tab"):
        seen("--csv", "-k", "ad", text="user%sad\nx\n" % byte).refused("there is no column 'ad'", "try " + option)
        seen("--csv", "-k", "2", text="user%sad\nx\n" % byte).refused("the header names 1: try " + option)
    seen("--tsv", "-k", "ad", text="user,ad\n").refused("try --csv")
    seen("--csv", "-k", "zzzzzz", text="user,ad\n").refused("the columns are user, ad")


def test_a_byte_order_mark_is_no_part_of_the_first_record(seen, tmp_path):
    bom = b"\xef\xbb\xbf"
    for options in [], ["-j", "2"], ["-d", ",", "-k", "1"], ["--csv", "--no-header"]:
        assert seen(*options, text=bom + b"a\nb\na\n").out == b"a\nb\n"
    assert seen("-0", text=bom + b"a\0a\0").out == bom + b"a\0a\0"
    (tmp_path / "a").write_bytes(bom + b"id\n1\n")
    (tmp_path / "b").write_bytes(b"id\n1\n2\n")
    assert seen("--csv", "a", "b", cwd=tmp_path).out == bom + b"id\n1\n2\n"


# -- a record of a GiB ---------------------------------------------------------------------------------

@pytest.mark.parametrize("options, head, tail", [
    ([], "", ""),
    (["-d", ",", "-k", "2"], "a,b,", ""),
    (["--csv", "--no-header", "-k", "1"], '"', '"'),
    (["--ndjson", "-k", "id"], '{"id":"', '"}'),
    (["--clf", "-k", "host"], "h - - [", ""),
    (["-0"], "", ""),
])
def test_a_record_of_a_gib_passes_in_bounded_memory(tmp_path, options, head, tail):
    """16 MiB is the longest record judged by default: twice that in buffers, and a detector of a few MiB."""
    if sanitized():
        pytest.skip("sanitizers reserve terabytes of address space")
    end = "\\0" if "-0" in options else "\\n"
    make = "{ printf '%s'; head -c 1073741824 /dev/zero | tr '\\0' x; printf '%s%s'; }" % (head, tail, end)
    done = subprocess.run(["sh", "-c", "%s | { exec '%s' -w landmark:1e3 --stats=json %s; } | wc -c" % (
        make, SEEN, " ".join(options))], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20)))
    assert int(done.stdout) == 1073741824 + len(head) + len(tail) + 1
    assert b'"unparseable":1,' in done.stderr


# -- anything ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, alphabet", [
    (["--ndjson", "-k", "a,b.0"], [b"{", b"}", b"[", b"]", b":", b",", b'"', b'"a"', b'"b"', b'"a":1', b"\\", b"\\u00",
                                   b"1", b"-", b"e", b"null", b" ", b"\xff", b"\0", b"\n", b"\n"]),
    (["--clf", "-k", "path,agent"], [b'"', b'"GET / HTTP/1.0"', b"\\", b"\\x", b" ", b"-", b"[", b"]", b" [", b"] ", b"1",
                                     b"h - - [t] ", b'"a" 1 1 "b" "c"', b"\xff", b"\0", b"\n", b"\n"]),
    (["-0", "-d", ",", "-k", "2"], [b"a", b",", b"\0", b"\n", b"\r"]),
])
def test_random_bytes_are_all_passed_on(seen, rng, options, alphabet):
    for _ in range(60):
        text = b"".join(rng.choice(alphabet) for _ in range(rng.randrange(600)))
        done = seen(*options, "--tag", "-q", text=text)
        end = b"\0" if "-0" in options else b"\n"
        judged = any(line.startswith((b"new\t", b"dup\t")) for line in done.out.split(end))
        assert done.code == (0 if judged or not text else 2)
        assert end.join(line.split(b"\t", 1)[-1] for line in done.out.split(end)) == text
