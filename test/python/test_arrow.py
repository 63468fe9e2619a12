"""Arrow's PyCapsule interface, by a producer written here: every layout that carries keys, without pyarrow."""

import ctypes

import pytest

import seen


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p),
                   ("dictionary", ctypes.POINTER(Schema)), ("release", ctypes.c_void_p), ("private", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                  ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                  ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.c_void_p),
                  ("dictionary", ctypes.POINTER(Array)), ("release", ctypes.c_void_p), ("private", ctypes.c_void_p)]

capsule = ctypes.pythonapi.PyCapsule_New
capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def bitmap(values, offset):
    bits = [0] * offset + [value is not None for value in values]
    return bytes(sum(bit << i for i, bit in enumerate(bits[at:at + 8])) for at in range(0, len(bits), 8)) + bytes(8)


class Column:
    """A column of values: text, bytes or int, as a format of Arrow's prescribes."""

    def __init__(self, kind, values, offset=0, dictionary=None):
        self.kept, self.values = [], [0 if kind in "cCsSiIlL" else b""] * offset + values
        self.values = [v.encode() if isinstance(v, str) else v for v in self.values]
        self.schema = Schema(kind.encode(), None, None, 2, 0, None, None, None, None)
        buffers = [bitmap(values, offset) if None in values else None, *self.layout(kind)]
        pointers = (ctypes.c_void_p * len(buffers))(*[self.keep(b) for b in buffers])
        self.kept.append(pointers)
        self.array = Array(len(values), values.count(None), offset, len(buffers), 0,
                           ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p)), None, None, None, None)
        if dictionary:
            self.kept.append(dictionary)
            self.schema.dictionary = ctypes.pointer(dictionary.schema)
            self.array.dictionary = ctypes.pointer(dictionary.array)

    def keep(self, data):
        if data is None:
            return None
        self.kept.append(ctypes.create_string_buffer(data, len(data) + 16))
        return ctypes.addressof(self.kept[-1])

    def layout(self, kind):
        if kind in "cCsSiIlL":
            width = 1 << "cCsSiIlL".index(kind) // 2
            yield b"".join((v or 0).to_bytes(width, "little", signed=kind.islower()) for v in self.values)
        elif kind in "uzUZ":
            width, ends = (4 if kind in "uz" else 8), [0]
            for v in self.values:
                ends.append(ends[-1] + len(v or b""))
            yield b"".join(end.to_bytes(width, "little") for end in ends)
            yield b"".join(v or b"" for v in self.values)
        elif kind.startswith("w:"):
            yield b"".join((v or b"").ljust(int(kind[2:]), b"\0") for v in self.values)
        else:  # views: short ones in place, long ones in either of two buffers
            bodies, views = [b"", b""], b""
            for i, v in enumerate(self.values):
                v = v or b""
                at = len(v).to_bytes(4, "little")
                if len(v) > 12:
                    at += v[:4] + (i % 2).to_bytes(4, "little") + len(bodies[i % 2]).to_bytes(4, "little")
                    bodies[i % 2] += v
                views += at + v.ljust(12, b"\0") if len(v) <= 12 else at
            yield views
            yield from bodies
            yield bytes(16)

    def __arrow_c_array__(self, requested_schema=None):
        return (capsule(ctypes.addressof(self.schema), b"arrow_schema", None),
                capsule(ctypes.addressof(self.array), b"arrow_array", None))


TEXTS = ["a", "", None, "a key of more than twelve bytes", "ä", "a", "another key of more than twelve bytes", None,
         "a key of more than twelve bytes", "twelve bytes", "twelve bytes"]


@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize("kind", ["u", "U", "z", "Z", "vu", "vz"])
def test_text_and_binary_of_every_layout(np, kind, offset):
    f, g = (seen.Window("landmark items=100") for _ in "fg")
    assert f.observe(Column(kind, TEXTS, offset)).tolist() == g.observe(TEXTS).tolist()
    assert all(f.contains([t for t in TEXTS if t is not None])) and f.stats().records == len(TEXTS) - 2


@pytest.mark.parametrize("kind", "cCsSiIlL")
def test_integers_of_every_width(np, kind):
    numbers = [5, None, 100, 5, -7 if kind.islower() else 77, 0]
    f, g = (seen.Window("landmark items=100") for _ in "fg")
    assert f.observe(Column(kind, numbers, 2)).tolist() == g.observe(numbers).tolist()
    assert "100" in f and str(numbers[4]) in f


def test_binary_of_fixed_width(np):
    f = seen.Window("landmark items=100")
    assert f.observe(Column("w:3", [b"abc", b"ab\0", b"abc", None])).tolist() == [True, True, False, True]
    assert b"ab\0" in f and b"ab" not in f


@pytest.mark.parametrize("index", "cCsSiIlL")
def test_a_dictionary_is_hashed_once(np, index):
    words = Column("u", ["red", "green", None, "blue"])
    f = seen.Window("landmark items=100")
    assert f.observe(Column(index, [1, 0, 1, 2, 3, None], 1, dictionary=words)).tolist() == \
        [True, True, False, True, True, True]
    assert "green" in f and "blue" in f and len(f) == 3
    top = seen.Top(5)
    top.update(Column(index, [1, 0, 1, 2], dictionary=words))
    assert top.most_common(1) == [("green", 2, 0)]


def test_a_dictionary_index_out_of_range_is_an_error(np):
    with pytest.raises(ValueError, match="dictionary"):
        seen.Window("landmark items=100").observe(Column("i", [5], dictionary=Column("u", ["a"])))


@pytest.mark.parametrize("kind", ["g", "b", "tsu:UTC", "+s", "n", "d:19,10"])
def test_columns_that_are_no_keys_are_refused(kind):
    column = Column("l", [1, 2])
    column.schema.format = kind.encode()
    with pytest.raises(TypeError, match="this Arrow column has the type"):
        seen.Window("landmark items=100").observe(column)


def test_an_empty_column_is_an_empty_batch(np):
    f = seen.Window("landmark items=100")
    assert f.observe(Column("u", [])).tolist() == [] and f.observe([]).tolist() == []
    assert f.observe(np.array([], "int64")).tolist() == []
