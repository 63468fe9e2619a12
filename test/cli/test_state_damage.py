"""A state that is damaged, or none at all: refused with one sentence, and left as it is."""

import ctypes
import os
import pathlib

import pytest

from conftest import ROOT, SEEN, sanitized


def saved(seen, state, tmp_path, more=()):
    """A small state of a run that read a table from a file."""
    table = tmp_path / "table.csv"
    table.write_text("id,v\n" + "".join("%d,%d\n" % (i, i % 5) for i in range(300)))
    done = seen("-w", "sliding:100 fp=1e-3", "--csv", "-k", "id", *more, "--state", state, table)
    assert done.code == 0
    return state.read_bytes(), ["--csv", "-k", "id", *more, "--state", state, table]


def test_a_state_cut_anywhere_is_refused(seen, state, tmp_path, rng):
    whole, args = saved(seen, state, tmp_path)
    cuts = {0, 1, 15, 16, len(whole) - 1, *(rng.randrange(len(whole)) for _ in range(40))}
    for cut in sorted(cuts):
        state.write_bytes(whole[:cut])
        seen(*args).refused("the state", "remove it to start again")
    state.write_bytes(whole + b"x")
    seen(*args).refused("more follows behind its end")
    state.write_bytes(whole)
    assert seen(*args).code == 0


def test_a_flipped_byte_is_refused(seen, state, tmp_path, rng):
    whole, args = saved(seen, state, tmp_path)
    for _ in range(1000 if os.environ.get("SEEN_LONG") else 60):
        at = rng.randrange(len(whole))
        flipped = bytearray(whole)
        flipped[at] ^= 1 << rng.randrange(8)
        state.write_bytes(flipped)
        seen(*args).refused("the state")
        assert state.read_bytes() == bytes(flipped), at  # and stays as it is


def test_a_state_of_another_version_is_refused(seen, state, tmp_path):
    whole, args = saved(seen, state, tmp_path)
    state.write_bytes(whole[:4] + b"\x7f\0\0\0" + whole[8:])
    seen(*args).refused("format version 127, and this program reads")
    state.write_bytes(b"no state at all\n")
    done = seen(*args)
    done.refused("does not begin with SEEN", "one that is not there yet")
    assert b"remove" not in done.err  # what others wrote


def test_what_cannot_be_a_state_is_refused(seen, state, tmp_path):
    state.touch()
    seen("--state", state, text="a\n").refused("is empty; remove it to start again")
    seen("--state", tmp_path, text="a\n").refused("is a directory")
    seen("--state", "", text="a\n").refused("needs the name of a file")
    seen("--state", tmp_path / "no" / "state", text="a\n").refused("No such file or directory")
    os.mkfifo(tmp_path / "fifo")
    seen("--state", tmp_path / "fifo", text="a\n").refused("no regular file")
    (tmp_path / "mine").write_text("precious\n")
    (tmp_path / "mine.new").write_text("precious\n")
    seen("--state", tmp_path / "mine", text="a\n").refused("mine.new", "File exists")
    assert (tmp_path / "mine.new").read_text() == "precious\n"


class Library:
    """libseen, for snapshots with correct checksums over any blob."""

    def __init__(self):
        path = pathlib.Path(SEEN).with_name("libseen.so")
        if sanitized():
            path = ROOT / "build" / "libseen.so"  # no sanitizer starts within this process
        if not path.exists():
            pytest.skip("%s is not there" % path)
        self.lib = ctypes.CDLL(str(path))

    def load(self, data):
        """The detector and the blob of a snapshot."""
        at = 0

        def read(_, to, n):
            nonlocal at
            if at + n > len(data):
                return -1
            ctypes.memmove(to, data[at:at + n], n)
            at += n
            return 0

        detector, blob = ctypes.c_void_p(), None

        def place(_, n):
            nonlocal blob
            blob = ctypes.create_string_buffer(n)
            return ctypes.addressof(blob)

        room = Stream(ctypes.cast(PLACE(place), MOVE), None)
        bad = self.lib.seen_load(ctypes.byref(detector), Stream(MOVE(read), None), ctypes.c_size_t(0),
                                 ctypes.byref(room), None, None)
        assert bad == 0
        return detector, blob.raw

    def save(self, detector, blob):
        out = bytearray()

        def write(_, data, n):
            out.extend(ctypes.string_at(data, n))
            return 0

        assert self.lib.seen_save(detector, blob, ctypes.c_size_t(len(blob)), Stream(MOVE(write), None), None) == 0
        return bytes(out)

    def hash(self, data, seed):
        """XXH3-64, in eight bytes."""
        self.lib.seen_hash.restype = Digest
        digest = self.lib.seen_hash(data, ctypes.c_size_t(len(data)), ctypes.c_uint64(seed))
        return digest.lo.to_bytes(8, "little")


class Digest(ctypes.Structure):
    _fields_ = [("lo", ctypes.c_uint64), ("hi", ctypes.c_uint64)]


MOVE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
PLACE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Stream(ctypes.Structure):
    _fields_ = [("move", MOVE), ("ctx", ctypes.c_void_p)]


def test_a_state_that_names_options_as_they_were_called_goes_on(seen, state):
    run = ["-w", "decaying filter=stable cell-max=3 fp=.1 mem=64KiB", "--state", state]
    seen(*run, text="a\nb\n")
    library = Library()
    detector, blob = library.load(state.read_bytes())
    assert b"cell-max=3" in blob
    state.write_bytes(library.save(detector, blob.replace(b"cell-max=3", b"max=3     ")))
    done = seen(*run, text="a\nc\n")
    assert (done.code, done.out) == (0, b"c\n"), done.err


@pytest.mark.parametrize("more", [[], ["--group-by", "v,id", "--sum", "v", "--output=json"]], ids=["plain", "groups"])
def test_a_blob_with_right_checksums_is_believed_nothing(seen, state, tmp_path, rng, more):
    whole, args = saved(seen, state, tmp_path, more)
    library = Library()
    detector, blob = library.load(whole)
    assert library.save(detector, blob) == whole
    state.write_bytes(library.save(detector, b""))
    seen(*args).refused("the snapshot of a filter", "no state of seen", "another --state")
    state.write_bytes(library.save(detector, blob.replace(b"seen dedup", b"seen-redis")))
    seen(*args).refused("the snapshot of a filter", "no state of seen", "another --state")
    version = blob.index(b"seen dedup") + 11
    state.write_bytes(library.save(detector, blob[:version] + b"\x09" + blob[version + 1:]))
    seen(*args).refused("in format 9, and this is seen")
    numbers = [0, 1, 255, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, len(blob)]
    for i in range(2000 if os.environ.get("SEEN_LONG") else 250):
        bad = bytearray(blob)
        at = rng.randrange(len(bad))
        if i % 4 == 0:
            bad = bad[:at]
        elif i % 4 == 1:
            bad[at] ^= 1 << rng.randrange(8)
        elif i % 4 == 2:
            bad[at:at + 8] = rng.choice(numbers).to_bytes(8, "little")
        else:
            bad[at:at] = rng.randbytes(rng.randrange(1, 20))
        state.write_bytes(library.save(detector, bytes(bad)))
        done = seen(*args)
        assert done.code in ((0, 2, 3) if more else (0, 2)), (i, done.code, done.err)
        assert all(line.startswith((b"seen: ", b'{"group_by"')) for line in done.err.splitlines()), done.err
        if i % 4 in (0, 3):
            assert done.code == 2, i
