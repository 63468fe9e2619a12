"""Compressed input: told by its first bytes, read as what it holds; damage is one sentence and exit 2."""

import gzip
import random
import shutil
import subprocess
import zlib

import pytest

from conftest import SEEN

TEXT = b"".join(b"%d %s\n" % (i % 500, b"x" * (i % 37)) for i in range(3000))
WANT = b"".join(dict.fromkeys(TEXT.splitlines(True)))


def zstd(data, *options):
    if not shutil.which("zstd"):
        pytest.skip("zstd, which makes the files to read, is not installed")
    return subprocess.run(["zstd", "-q", "-c", *options], input=data, stdout=subprocess.PIPE, check=True).stdout


def packed(how, data):
    return gzip.compress(data) if how == "gzip" else zstd(data)


@pytest.fixture(autouse=True)
def built_in(seen):
    for how in "gzip", "zstd":
        seen(text=packed(how, b""))


HOW = pytest.mark.parametrize("how", ["gzip", "zstd"])


# -- good data -----------------------------------------------------------------------------------------


@HOW
@pytest.mark.parametrize("threads", [1, 3])
def test_a_file_reads_as_what_it_holds_whatever_its_name(seen, tmp_path, how, threads):
    path = tmp_path / "log"
    path.write_bytes(packed(how, TEXT))
    plain = tmp_path / "plain.gz"
    plain.write_bytes(b"plain\n")
    assert seen("-j", threads, path, plain, path).out == WANT + b"plain\n"


@HOW
def test_standard_input_too(seen, how):
    assert seen(text=packed(how, TEXT)).out == WANT


@HOW
@pytest.mark.parametrize("chunk", [1, 3, 1000])
def test_pieces_of_any_size(how, chunk):
    data = packed(how, TEXT)
    p = subprocess.Popen([SEEN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    for i in range(0, len(data), chunk):
        p.stdin.write(data[i:i + chunk])
    assert p.communicate()[0] == WANT and p.returncode == 0


@HOW
def test_members_one_behind_the_other_are_one_file(seen, how):
    data = b"".join(packed(how, TEXT[i:i + 1001]) for i in range(0, len(TEXT), 1001))
    assert seen(text=data).out == WANT


def test_zeros_behind_gzip_data_are_padding(seen):
    data = gzip.compress(TEXT)
    assert seen(text=data + bytes(1000)).out == WANT
    assert seen(text=data + bytes(7) + data).out == WANT


def test_more_than_the_buffers_hold(seen, tmp_path):
    text = b"".join(b"%d\n" % i for i in range(400000))
    for how in "gzip", "zstd":
        path = tmp_path / how
        path.write_bytes(packed(how, text))
        for threads in 1, 2:
            assert seen("-w", "landmark:1e6", "-j", threads, path).out == text


@pytest.mark.parametrize("begin", [b"\x1f", b"(", b"(\xb5", b"(\xb5/", b"\x1f\n", b"(\xb5/\n", b"(\xb5/\xfe\n"])
def test_what_only_begins_like_packed_data_is_plain(seen, tmp_path, begin):
    assert seen(text=begin).out == begin
    path = tmp_path / "file"
    path.write_bytes(begin)
    assert seen(path).out == begin


def test_empty_packed_files_hold_nothing(seen):
    for how in "gzip", "zstd":
        done = seen(text=packed(how, b""))
        assert (done.code, done.out) == (0, b"")


def test_tables_and_json_may_be_packed(seen, tmp_path):
    path = tmp_path / "t"
    path.write_bytes(gzip.compress(b"id,v\n1,2\n1,3\n"))
    assert seen("--csv", "-k", "id", path, path).out == b"id,v\n1,2\n"
    path.write_bytes(gzip.compress(b'{"id":1}\n{"id":1,"x":2}\n'))
    assert seen("--ndjson", "-k", "id", path).out == b'{"id":1}\n'


def test_what_has_come_is_shown_before_more_comes():
    z = zlib.compressobj(wbits=31)
    p = subprocess.Popen([SEEN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    for i in range(20):
        p.stdin.write(z.compress(b"line %d\n" % i) + z.flush(zlib.Z_SYNC_FLUSH))
        assert p.stdout.readline() == b"line %d\n" % i
    p.stdin.write(z.flush())
    assert p.communicate()[0] == b"" and p.returncode == 0


# -- bad data ------------------------------------------------------------------------------------------


@HOW
def test_a_file_cut_short_anywhere_is_an_error_and_its_whole_lines_are_printed(seen, tmp_path, how):
    data = packed(how, TEXT)
    path = tmp_path / "cut.log"
    for n in range(4, len(data), 1 + len(data) // 60):
        path.write_bytes(data[:n])
        done = seen(path)
        done.refused("cut.log", "cut short")
        assert WANT.startswith(done.out) and (not done.out or done.out.endswith(b"\n"))
    assert seen("-j", 2, path).out == done.out


def test_damaged_gzip_data_never_passes_for_other_data(seen, rng):
    data = gzip.compress(TEXT)
    for _ in range(150):
        at = rng.randrange(10, len(data))
        bad = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
        done = seen(text=bad)
        if done.code == 0:  # some other bits say the same
            assert done.out == WANT
        else:
            done.refused("cannot read standard input: its gzip data ")


def test_damaged_zstd_data_never_crashes(seen, rng):
    data = zstd(TEXT, "--check")
    for _ in range(150):
        at = rng.randrange(4, len(data))
        bad = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
        done = seen(text=bad)
        assert done.out == WANT if done.code == 0 else done.code == 2


def test_what_follows_packed_data_must_be_packed(seen):
    for how in "gzip", "zstd":
        done = seen(text=packed(how, TEXT) + b"text\n")
        done.refused("its %s data is damaged" % how)
        assert done.out == WANT


def test_a_window_that_would_take_too_much_memory_is_refused(seen):
    data = zstd(random.Random(1).randbytes(1000), "--long=28")
    seen(text=data).refused("128 MiB", "zstd -dc --long=31")
