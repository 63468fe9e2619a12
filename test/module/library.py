"""libseen, called from Python: what the module's snapshots must be interchangeable with."""

import ctypes
import pathlib

import pytest

from conftest import MODULE, SANITIZED

WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Digest(ctypes.Structure):
    _fields_ = [("lo", ctypes.c_uint64), ("hi", ctypes.c_uint64)]


class Stream(ctypes.Structure):
    _fields_ = [("call", WRITE), ("ctx", ctypes.c_void_p)]


class Library:
    def __init__(self):
        if SANITIZED:
            pytest.skip("ASan does not let itself be loaded into Python; the plain build runs this")
        self.so = ctypes.CDLL(str(pathlib.Path(MODULE).parents[1] / "libseen.so"))
        self.so.seen_seed.restype = ctypes.c_uint64
        self.so.seen_seed.argtypes = [ctypes.c_void_p]
        self.so.seen_hash.restype = Digest
        self.so.seen_hash.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
        self.so.seen_spec_of.restype = ctypes.POINTER(ctypes.c_uint32)  # window, unit, ...
        self.so.seen_spec_of.argtypes = [ctypes.c_void_p]
        self.so.seen_observe.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(Digest),
                                         ctypes.POINTER(ctypes.c_uint8)]
        self.so.seen_observe_at.argtypes = [ctypes.c_void_p, ctypes.c_size_t,
                                            ctypes.POINTER(Digest), ctypes.POINTER(ctypes.c_uint64),
                                            ctypes.POINTER(ctypes.c_uint8)]
        self.so.seen_save.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, Stream,
                                      ctypes.c_void_p]
        self.so.seen_load.argtypes = [ctypes.POINTER(ctypes.c_void_p), Stream, ctypes.c_size_t,
                                      ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p]
        self.so.seen_free.argtypes = [ctypes.c_void_p]

    def load(self, snapshot):
        """The detector, or what is wrong with it."""
        at = [0]

        def read(_, buf, n):
            if at[0] + n > len(snapshot):
                return -1
            ctypes.memmove(buf, snapshot[at[0]:at[0] + n], n)
            at[0] += n
            return 0

        detector, error = ctypes.c_void_p(), ctypes.create_string_buffer(512)
        if self.so.seen_load(detector, Stream(WRITE(read), None), 0, None, None, error):
            raise ValueError(error.raw[16:].split(b"\0")[0].decode())
        assert at[0] == len(snapshot)
        return detector

    def save(self, detector, blob=b""):
        out = []

        def write(_, buf, n):
            out.append(ctypes.string_at(buf, n))
            return 0

        assert self.so.seen_save(detector, blob, len(blob), Stream(WRITE(write), None), None) == 0
        return b"".join(out)

    def observe(self, detector, *items, now=0):
        seed, verdict, time = self.so.seen_seed(detector), ctypes.c_uint8(), ctypes.c_uint64(now)
        out, timed = [], self.so.seen_spec_of(detector)[1] == 2
        for item in items:
            digest = self.so.seen_hash(item, len(item), seed)
            if timed:
                self.so.seen_observe_at(detector, 1, digest, time, verdict)
            else:
                self.so.seen_observe(detector, 1, digest, verdict)
            out.append(int(verdict.value == 0))
        return out
