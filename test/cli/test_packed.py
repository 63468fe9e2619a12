"""Compressed input: told by its first bytes, read as what it holds; damage is one sentence and exit 2."""

import bz2
import gzip
import io
import lzma
import random
import shutil
import subprocess
import tarfile
import zipfile
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
    makers = {"gzip": gzip.compress, "zstd": zstd, "xz": lzma.compress, "bzip2": bz2.compress}
    return makers[how](data)


ALL = ["gzip", "zstd", "xz", "bzip2"]


@pytest.fixture(autouse=True)
def built_in(seen):
    for how in ALL:
        seen(text=packed(how, b""))


HOW = pytest.mark.parametrize("how", ALL)


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
    for how in ALL:
        path = tmp_path / how
        path.write_bytes(packed(how, text))
        for threads in 1, 2:
            assert seen("-w", "landmark:1e6", "-j", threads, path).out == text


@pytest.mark.parametrize("begin", [b"\x1f", b"(", b"(\xb5", b"(\xb5/", b"\x1f\n", b"(\xb5/\n", b"(\xb5/\xfe\n",
                                   b"\xfd7zX\n", b"\xfd7zXZ\n", b"BZh9\n", b"BZh91AY&S\n", b"BZh0" + b"1AY&SY\n"])
def test_what_only_begins_like_packed_data_is_plain(seen, tmp_path, begin):
    assert seen(text=begin).out == begin
    path = tmp_path / "file"
    path.write_bytes(begin)
    assert seen(path).out == begin


def test_empty_packed_files_hold_nothing(seen):
    for how in ALL:
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
    for n in range(10, len(data), 1 + len(data) // 60):
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
    for how in ALL:
        done = seen(text=packed(how, TEXT) + b"text\n")
        done.refused("its %s data is damaged" % how)
        assert done.out == WANT


@pytest.mark.parametrize("how", ["xz", "bzip2"])
def test_damaged_data_never_passes_for_other_data(seen, rng, how):
    data = packed(how, TEXT)
    for _ in range(60):
        at = rng.randrange(10, len(data))
        bad = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
        done = seen(text=bad)
        if done.code == 0:
            assert done.out == WANT
        else:
            done.refused("cannot read standard input: its %s data " % how)


def test_zeros_behind_xz_data_are_padding(seen):
    data = lzma.compress(TEXT)
    assert seen(text=data + bytes(8) + data + bytes(4)).out == WANT


def test_more_memory_than_unpack_mem_is_refused_and_more_can_be_given(seen):
    noise = random.Random(1).randbytes(1000)
    data = zstd(noise, "--long=28")
    seen(text=data).refused("its zstd data takes more memory than --unpack-mem allows (default: 128MiB)")
    assert seen("--unpack-mem", "256MiB", text=data).out == noise
    data = lzma.compress(TEXT, preset=6)
    seen("--unpack-mem", "1MiB", text=data).refused("its xz data takes more memory than --unpack-mem allows")
    assert seen("--unpack-mem", "16MiB", text=data).out == WANT
    seen("--unpack-mem", "12").refused("--unpack-mem 12")


# -- what cannot be read -------------------------------------------------------------------------------


def archive(kind):
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as z:
            z.writestr("a.csv", TEXT)
    else:
        with tarfile.open(fileobj=out, mode="w") as t:
            info = tarfile.TarInfo("a.csv")
            info.size = len(TEXT)
            t.addfile(info, io.BytesIO(TEXT))
    return out.getvalue()


WIDE = "id,name\n1,a\n2,b\n2,b\n"
FOREIGN = {
    "zip": (archive("zip"), "unzip -p FILE | seen"),
    "tar": (archive("tar"), "tar -xOf FILE | seen"),
    "tar.gz": (gzip.compress(archive("tar")), "inside its gzip data it is a tar archive: tar -xOf FILE | seen"),
    "tar.xz": (lzma.compress(archive("tar")), "inside its xz data it is a tar archive"),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\4" + bytes(30), "7z e -so FILE | seen"),
    "rar": (b"Rar!\x1a\7\1\0" + bytes(30), "unrar p -inul FILE | seen"),
    "lz4": (b"\x04\x22\x4d\x18" + bytes(30), "lz4 -dc FILE | seen"),
    "lzop": (b"\x89LZO\0\r\n\x1a\n" + bytes(30), "lzop -dc FILE | seen"),
    "lzip": (b"LZIP\1" + bytes(30), "lzip -dc FILE | seen"),
    "lzma": (lzma.compress(TEXT, format=lzma.FORMAT_ALONE), "xz --format=lzma -dc FILE | seen"),
    "Z": (b"\x1f\x9d\x90" + bytes(30), "gzip -dc FILE | seen"),
    "Snappy": (b"\xff\6\0\0sNaPpY" + bytes(30), "snzip -dc FILE | seen"),
    "Parquet": (b"PAR1\x15\0" + bytes(30) + b"PAR1", "it is Parquet", "seen --csv"),
    "Avro": (b"Obj\1" + bytes(30), "avro-tools tojson FILE | seen --ndjson"),
    "Arrow": (b"ARROW1\0\0" + bytes(30), "it is Arrow IPC"),
    "SQLite": (b"SQLite format 3\0" + bytes(30), "sqlite3 -csv -header FILE"),
    "PDF": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "pdftotext"),
    "Office": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(30), "save it as CSV"),
    "UTF-16 BOM": (WIDE.encode("utf-16"), "iconv -f UTF-16 -t UTF-8 FILE | seen"),
    "UTF-16BE BOM": (b"\xfe\xff" + WIDE.encode("utf-16-be"), "iconv -f UTF-16 -t UTF-8 FILE | seen"),
    "UTF-16LE": (WIDE.encode("utf-16-le"), "iconv -f UTF-16LE -t UTF-8"),
    "UTF-16BE": (WIDE.encode("utf-16-be"), "iconv -f UTF-16BE -t UTF-8"),
    "UTF-32": (WIDE.encode("utf-32"), "iconv -f UTF-32 -t UTF-8"),
    "UTF-16 in gz": (gzip.compress(WIDE.encode("utf-16")), "inside its gzip data it is UTF-16"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_no_text_is_refused_with_a_way_to_read_it(seen, tmp_path, kind):
    data, *words = FOREIGN[kind]
    seen(text=data).refused("cannot read standard input: ", *words)
    path = tmp_path / "file"
    path.write_bytes(data)
    for more in [], ["-j", "2"], ["--csv", "-k", "id"]:
        done = seen(*more, path)
        done.refused(str(path), *words)
        assert done.out == b""
    seen("count", path).refused(*words)


def test_an_orc_file_is_told_by_both_its_ends(seen, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"ORC" + bytes(60) + b"ORC\x17")
    seen(path).refused("it is ORC")
    for text in b"ORC\n", b"ORC" + b"x" * 60 + b"\nORC\n":
        path.write_bytes(text)
        assert seen(path).out == text


def test_records_before_a_file_that_cannot_be_read_are_printed(seen, tmp_path):
    (tmp_path / "a").write_bytes(b"x\ny\n")
    (tmp_path / "b").write_bytes(archive("zip"))
    done = seen("a", "b", cwd=tmp_path)
    done.refused("cannot open b: it is a zip archive")
    assert done.out == b"x\ny\n"
    seen("--merge", "--time", "1", "a", "b", cwd=tmp_path).refused("cannot open b: it is a zip archive")


@pytest.mark.parametrize("text", [b"PK\n", b"PAR1\n", b"PAR1,x\n", b"ORC,x\n", b"Obj,1\n", b"Rar!\n", b"7z,x\n", b"BZh,x\n",
                                  b"LZIP\n", b"%PDF-1.4\nhow to write it\n", b"SQLite format 3\n", b"ARROW1\n",
                                  b"\xff\xfe\nx\n", b"a\0b\n", b"ustar\n", b"]\n", b"a" * 257 + b"ustax\n"])
def test_text_that_only_begins_so_is_read(seen, tmp_path, text):
    path = tmp_path / "file"
    path.write_bytes(text)
    assert seen(path).out == text and seen(text=text).out == text


def test_records_ended_by_nul_are_no_utf_16(seen):
    text = b"".join(b"%d\0" % (i % 10) for i in range(10))
    assert seen("-0", text=text).out == text and seen("-0", text=gzip.compress(text)).out == text
