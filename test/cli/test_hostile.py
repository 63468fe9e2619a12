"""Hostile input: one sentence and exit 2, or the right answer; never a crash, never a byte lost."""

import os
import resource
import subprocess

import pytest

from conftest import SEEN, sanitized

BUFFER = 256 << 10  # the read buffer: things happen at its edge


def test_every_byte_value_passes(seen):
    text = b"".join(bytes([i]) + b"x" + bytes([i]) + b"\n" for i in range(256) if i != 10)
    assert seen(text=text).out == text


def test_invalid_utf8_is_bytes(seen):
    text = b"\xff\xfe\n\xc3\x28\n\xff\xfe\n"
    assert seen(text=text).out == b"\xff\xfe\n\xc3\x28\n"


@pytest.mark.parametrize("shift", range(-3, 4))
def test_lines_across_the_buffers_edge(seen, shift):
    first = b"a" * (BUFFER + shift - 1) + b"\n"
    rest = b"".join(b"%d\n" % i for i in range(70000))
    assert seen(text=first + rest + first).out == first + rest


@pytest.mark.parametrize("shift", range(-4, 5))
def test_quotes_across_the_buffers_edge(seen, shift):
    pad = b"p" * (BUFFER - 20 + shift)
    head = b"id,v\n" + pad + b",1\n"
    tail = b'"x ""y""\n,z",2\r\n"x ""y""\n,z",3\r\n"""",4\n"""",5\n'
    done = seen("--csv", "-k", "id", text=head + tail)
    assert done.code == 0
    assert done.out == head + b'"x ""y""\n,z",2\r\n"""",4\n'


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
def test_pieces_of_any_size_make_the_same_records(chunk):
    text = b'id,v\r\n"a ""b""\r\n",1\r\n"a ""b""\r\n",2\r\nb,"3"\r\n"b",4'
    p = subprocess.Popen([SEEN, "--csv", "-k", "id", "--tag"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, bufsize=0)
    for i in range(0, len(text), chunk):
        p.stdin.write(text[i:i + chunk])
    out = p.communicate()[0]
    assert out == (b'id,v,seen\r\n"a ""b""\r\n",1,new\r\n"a ""b""\r\n",2,dup\r\nb,"3",new\r\n"b",4,dup')


# -- long records --------------------------------------------------------------------------------------


def open_quote(text, most):
    """Where the first record begins that has a quoted field of more than `most` bytes, or one that is never
    closed."""
    record = at = quoted = 0
    while at < len(text):
        if text[at:at + 1] == b'"' and (at == record or text[at - 1:at] == b","):
            quoted = at + 1
            at = quoted
            while text[at:at + 1] != b'"' or text[at + 1:at + 2] == b'"':
                if at >= len(text):
                    return record
                at += 1 + (text[at:at + 1] == b'"')
            if at - quoted > most:
                return record
            at += 1
        if text[at:at + 1] == b"\n":
            record = at + 1
        at += 1
    return len(text)


def test_nothing_is_lost_behind_a_quoted_field_that_is_too_long(rng, tmp_path):
    path, rejects = tmp_path / "in", tmp_path / "rejects"
    for _ in range(60):
        most = rng.randrange(1, 9)
        # All keys differ, so that what can be judged is printed.
        rows = ['%d,%s\n' % (i, rng.choice(['a', '"%s"' % rng.choice(['b', '""', '\n,', 'c' * most, '""' * 4]), 'x"']))
                for i in range(rng.randrange(40))] + [rng.choice(['', '1,"' + 'c' * (most + 1) + '"\n', '1,"\n'])]
        text = "".join(rows + ["%d,b\n" % i for i in range(100, rng.randrange(101, 120))]).encode()
        path.write_bytes(text)
        cut, told = open_quote(text, most), set()
        for threads, piece in ("1", 0), ("3", 0), ("1", 1), ("1", 7):
            command = [SEEN, "--csv", "--no-header", "-k1", "--max-field", "%dB" % most, "-j", threads, "--rejects", rejects]
            p = subprocess.Popen(command, stdin=subprocess.PIPE if piece else open(path, "rb"), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, bufsize=0)
            for i in range(0, len(text) if piece else 0, piece or 1):
                p.stdin.write(text[i:i + piece])
            out, err = p.communicate()
            assert p.returncode == (2 if cut < len(text) else 0)
            assert out == text[:cut] and rejects.read_bytes() == text[cut:]
            told.add(err)
        assert len(told) == 1, told


def test_a_quoted_field_that_is_too_long_is_told_with_its_line(seen, tmp_path):
    """A quote that was never closed made the rest of the file one record, which was not judged."""
    rows = b"".join(b"%d,b\n" % i for i in range(300000))
    text = b'id,v\n1,a\n2,"b\n' + rows
    for threads in 1, 3:
        done = seen("--csv", "-k", "id", "-j", threads, text=text)
        done.refused("standard input: the quote opened in line 3 is not closed within 1MiB", "--max-field", "--no-quotes")
        assert done.out == text
    done = seen("--csv", "-k", "id", "--stats=json", text=text)
    assert done.stats["records"] == 2 and done.stats["unparseable_causes"] == [
        {"cause": "open_quote", "records": 1,
         "first": "record 2 has a quote that is not closed, and all that follows is part of it"}]
    assert seen("--csv", "-k", "id", "--no-quotes", text=text).out == b'id,v\n1,a\n2,"b\n0,b\n' + rows[12:]
    short = b'id,v\n1,a\n2,"' + b"x" * 1025 + b'"\n3,c\n2,d\n'
    seen("--csv", "-k", "id", "--max-field", "1KiB", text=short).refused("line 3 is not closed within 1KiB")
    assert seen("--csv", "-k", "id", "--max-field", "2KiB", text=short).out == short[:-4]
    for command in ["count"], ["top", "-w", "landmark"], ["compare", "-w", "landmark", "-w", "sliding:10"]:
        done = seen(*command, "--csv", "-k", "id", text=text)
        assert done.code == 2 and b"line 3 is not closed within 1MiB" in done.err


def test_where_a_long_field_meets_a_long_record_the_buffer_does_not_matter(seen, tmp_path):
    """The record gets too long before, at and behind the byte that makes its field too long."""
    for before in range(1015, 1035):
        text = b"id,v\n1,a\n" + b"x" * before + b',"' + b"y" * 2000 + b"\n2,b\n"
        path = tmp_path / "in"
        path.write_bytes(text)
        args = ["--csv", "-k1", "--max-record", "2KiB", "--max-field", "1KiB", "--stats=json", "-q"]
        whole = seen(*args, path)
        pipe = subprocess.run("dd bs=64 status=none if=%s | %s %s" % (path, SEEN, " ".join(args)), shell=True,
                              capture_output=True)
        assert whole.code == pipe.returncode == 2 and whole.out == pipe.stdout == text
        cause = '"cause":"%s"' % ("open_quote" if before + 2 + 1025 <= 2049 else "too_long")
        assert cause in whole.err.decode() and cause in pipe.stderr.decode(), before


def test_max_field_is_for_quoted_fields(seen):
    seen("--max-field", "1KiB", "-d,").refused("--max-field is for --csv")
    seen("--csv", "--no-quotes", "--max-field", "1KiB", text="a\n").refused("--max-field is for --csv")
    seen("--csv", "--max-field", "1000", text="a\n").refused("--max-field 1000", "needs a unit")
    seen("--csv", "--max-field", "2GiB", text="a\n").refused("--max-field 2GiB is more than 1GiB")
    seen("--csv", "--max-field", "1KiB", text='id,"' + "v" * 2000 + '"\n1,2\n').refused("line 1", "--max-field")


def test_a_record_up_to_the_limit_is_judged_and_a_longer_one_passes(seen):
    fits, long = b"a" * 1024 + b"\n", b"b" * 1025 + b"\n"
    done = seen("--max-record", "1KiB", "--stats=json", text=fits * 2 + long * 2)
    assert done.out == fits + long * 2
    assert done.stats["unparseable"] == 2 and done.stats["records"] == 4


@pytest.mark.parametrize("size", [BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER + 5])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_record_beyond_the_limit_is_streamed(seen, size, end):
    text = b"x\n" + b"y" * size + end
    done = seen("--max-record", "64KiB", "--tag", "--stats=json", "--crlf", text=text)
    assert done.out == b"new\tx\n-\t" + b"y" * size + end
    assert done.stats["unparseable"] == 1


def test_a_streamed_csv_record_is_tagged_behind_its_quotes(seen):
    long = b'"' + b'x,""\n' * 100000 + b'",1'
    text = b"id,v\n" + long + b"\r\n2,3\r\n"
    done = seen("--csv", "-k", "id", "--max-record", "1KiB", "--tag", text=text)
    assert done.out == b"id,v,seen\n" + long + b",-\r\n2,3,new\r\n"
    assert seen("--csv", "-k", "id", "--max-record", "1KiB", text=text).out == text


def test_an_endless_line_takes_no_memory():
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))

    with open("/dev/zero", "rb") as zeros:
        head = subprocess.Popen(["head", "-c", "400M"], stdin=zeros, stdout=subprocess.PIPE)
        done = subprocess.run([SEEN, "--stats=json"], stdin=head.stdout, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, preexec_fn=limit if not sanitized() else None)
        head.communicate()
    assert done.returncode == 2 and b'"unparseable":1,' in done.stderr


def test_a_line_number_survives_embedded_newlines_and_long_records(seen):
    text = 'id\n"a\nb"\n' + "c" * 2000 + "\n\nd\n" + 'e,"\nf\n'
    done = seen("--csv", "--max-record=1KiB", "-k1", text=text)
    done.refused("opened in line 7 ")
    assert done.out.decode() == text.replace("\n\nd", "\n\nd")


def test_an_unclosed_quote_in_a_record_beyond_the_limit(seen):
    text = b'id\nx\n"' + b"y\n" * 400000
    done = seen("--csv", "--max-record=1KiB", text=text)
    done.refused("opened in line 3 ")
    assert done.out == text


# -- refusals ------------------------------------------------------------------------------------------


def test_a_truncated_file_loses_nothing(seen, tmp_path):
    whole = b'id,v\n1,"a\nb"\n2,"c\nd"\n'
    for n in range(6, len(whole)):
        path = tmp_path / "cut.csv"
        path.write_bytes(whole[:n])
        done = seen("--csv", "-k", "id", path)
        assert done.out == whole[:n]
        assert done.code == (2 if whole[:n].count(b'"') % 2 else 0), n


def test_unreadable_file(seen, tmp_path):
    path = tmp_path / "secret"
    path.write_text("x\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("root may read everything")
    seen(path).refused("Permission denied")


def test_full_disk_early_and_late(seen):
    for text in (b"x\n", b"".join(b"%d\n" % i for i in range(100000))):
        with open("/dev/full", "wb") as full:
            seen(text=text, stdout=full).refused("No space left on device")


def test_closed_standard_output():
    done = subprocess.run('echo x | "%s" >&-' % SEEN, shell=True, capture_output=True, timeout=300)
    assert done.returncode == 2 and b"cannot write" in done.stderr
    done = subprocess.run('echo x | "%s" --duplicates >&-' % SEEN, shell=True, capture_output=True, timeout=300)
    assert done.returncode == 0 and done.stderr == b""


def test_closed_standard_input():
    done = subprocess.run('"%s" <&-' % SEEN, shell=True, capture_output=True, timeout=300)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1


def test_two_hundred_random_option_lines_never_crash(seen, rng):
    words = ["-w", "-k", "-d", "--csv", "--tsv", "--time", "--zone", "--stats=json", "--tag", "--fp",
             "--mem", "--landmark-on", "--max-record", "--no-header", "--crlf", "1", "2-1", "0", "-1",
             "landmark:1d", "jumping:10/3", "sliding:1h", "landmark fp=1e-300", "UTC", "1e-3", "1KiB",
             ",", "a,b", "999999999999999999999", "", "[", "x=y", "\xff"]
    for _ in range(200):
        args = [rng.choice(words) for _ in range(rng.randrange(1, 7))] + ["-"]
        done = seen(*args, text=b'a,b\n1,"2"\n1,2\n')
        assert done.code in (0, 2), (args, done.code, done.err)
        assert done.code == 0 or done.err.startswith(b"seen: "), (args, done.err)


def test_random_bytes_as_csv_never_crash(seen, rng):
    for _ in range(100):
        text = bytes(rng.choice(b'",\n\r\x00ab') for _ in range(rng.randrange(400)))
        done = seen("--csv", "--no-header", "-k", "1,3", text=text)
        assert done.code in (0, 2), (text, done.err)
        tagged = seen("--csv", "--no-header", "-k", "1,3", "--filter=exact", text=text)
        again = seen("--csv", "--no-header", "-k", "1,3", "--filter=exact", text=tagged.out)
        assert again.out == tagged.out, text
