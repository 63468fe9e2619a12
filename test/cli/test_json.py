"""--ndjson, judged by Python's json: which lines are JSON, and what is at a path."""

import json
import re

import pytest

# -- Python's view -------------------------------------------------------------------------------------


def refuse(word):
    raise ValueError(word)


class Number(str):
    """A number is its text."""


def load(line):
    return json.loads(line, parse_int=Number, parse_float=Number, parse_constant=refuse)


MISSING = object()


def at_path(value, path):
    for name in path.split("."):
        if isinstance(value, dict):
            value = value.get(name, MISSING)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return MISSING if value is None else value


def text_of(value):
    if isinstance(value, bool):
        return b"true" if value else b"false"
    return value.encode("utf-8", "surrogatepass")


def key_of(line, paths):
    """The key's values as bytes, or None."""
    try:
        value = load(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, (dict, list)):
        return None
    values = [at_path(value, path) for path in paths]
    return None if MISSING in values else tuple(text_of(v) for v in values)


def tags_of(lines, paths):
    known = set()
    for line in lines:
        key = key_of(line, paths)
        yield b"-" if key is None else b"dup" if key in known else b"new"
        known.add(key)


# -- random documents ----------------------------------------------------------------------------------

STRINGS = ["", "a", "b", "id", "user", "0", "1", "a.b", "é", "\u2028", "\U0001f600", "\ud800", "\udc00x", '"', "\\",
           "/", "\b\f\n\r\t", "\x00", "\x7f", "x" * 40, "ab" * 60]


def write_string(rng, text):
    out = '"'
    for c in text:
        if rng.random() < 0.3 or c in '"\\' or c < " " or "\ud800" <= c <= "\udfff":
            units = c.encode("utf-16-be", "surrogatepass")
            short = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\n": "\\n", "\t": "\\t"}.get(c)
            if short and rng.random() < 0.5:
                out += short
            else:
                form = rng.choice(["\\u%04x", "\\u%04X"])
                out += "".join(form % (units[i] << 8 | units[i + 1]) for i in range(0, len(units), 2))
        else:
            out += c
    return out + '"'


def scalar(rng):
    return rng.choice([
        lambda: rng.choice(["0", "1", "-1", "1.0", "1e0", "-0", "1E+2", "123456789012345678901234567890",
                            "1e999", "0.1" + "0" * 30]),
        lambda: rng.choice(["true", "false", "null"]),
        lambda: write_string(rng, rng.choice(STRINGS)),
    ])()


def document(rng, names, depth=0):
    """An object or array, with these names more often than others."""
    space = lambda: rng.choice(["", "", "", " ", "\t", "  "])
    kind = rng.random() * (0.6 if depth == 0 else 1)
    if depth > 3 or kind > 0.6:
        return scalar(rng)
    items = [document(rng, names, depth + 1) for _ in range(rng.randrange(5))]
    if kind > 0.4:
        return "[" + space() + ("," + space()).join(i + space() for i in items) + "]"
    names = [rng.choice(names * 5 + STRINGS[:4]) if rng.random() < 0.9 else rng.choice(STRINGS) for _ in items]
    return "{" + space() + ",".join(space() + write_string(rng, name) + space() + ":" + space() + item + space()
                                    for name, item in zip(names, items)) + "}"


def spoil(rng, line):
    """One byte changed, taken or added: mostly no JSON any more, sometimes still."""
    at = rng.randrange(len(line) + 1)
    byte = bytes([rng.choice(b'{}[],:"\\ 01-e.tnu\x00\x01\xff\xc3a')])
    return rng.choice([line[:at] + line[at + 1:], line[:at] + byte + line[at:], line[:at] + byte + line[at + 1:],
                       line[:at]])


def scalars_only(line, paths):
    """Where the values at the paths are objects or arrays, Python does not know their text."""
    try:
        value = load(line.decode())
    except (ValueError, RecursionError):
        return True
    return not any(isinstance(at_path(value, path), (dict, list)) for path in paths)


@pytest.mark.parametrize("paths", [["id"], ["user.id"], ["id", "user"], ["items.0"], ["0.id"], ["x.1"]])
def test_random_documents_have_the_keys_that_python_reads(seen, rng, paths):
    names = [name for path in paths for name in path.split(".")]
    lines = []
    while len(lines) < 3000:
        line = document(rng, names).encode("utf-8", "surrogatepass")
        if rng.random() < 0.1:
            line = spoil(rng, line)
        if b"\n" not in line and scalars_only(line, paths):
            lines.append(line)
    assert sum(tag != b"-" for tag in tags_of(lines, paths)) > 5
    done = seen("--ndjson", "-k", ",".join(paths), "--tag", "--filter=exact", "-q",
                text=b"".join(line + b"\n" for line in lines))
    assert done.code == 0, done.err
    told = [line.split(b"\t", 1) for line in done.out.split(b"\n")[:-1]]
    for line, want, got in zip(lines, tags_of(lines, paths), told):
        assert got == [want, line], (line, want, got)
    assert len(told) == len(lines)


def test_whether_a_line_is_json_does_not_depend_on_what_is_wanted(seen, rng):
    """The key comes first; what follows is often spoilt."""
    lines = []
    while len(lines) < 6000:
        line = b'{"id":"k",' + document(rng, ["a", "b"]).encode("utf-8", "surrogatepass").strip()[1:]
        line = spoil(rng, line) if rng.random() < 0.7 else line
        if b"\n" not in line and scalars_only(line, ["id"]):
            lines.append(line)
    want = [tag == b"-" for tag in tags_of(lines, ["id"])]
    assert 1000 < sum(want) < 5500
    done = seen("--ndjson", "-k", "id", "--tag", "-q", text=b"".join(line + b"\n" for line in lines))
    got = [line.startswith(b"-\t") for line in done.out.split(b"\n")[:-1]]
    assert [line for line, a, b in zip(lines, want, got) if a != b] == []


def test_objects_and_arrays_are_their_text_without_white_space(seen, rng):
    lines, keys = [], []
    for _ in range(2000):
        value = document(rng, ["id", "x"]) if rng.random() < 0.7 else rng.choice(["[]", "{ }", "[ 1, 2]", "[1,2]"])
        lines.append(('{"x":%s,"k" :%s%s}' % (rng.choice("1[{").replace("[", "[ ]").replace("{", "{}"), value,
                                              rng.choice(["", " ", ' ,"z":[{}]']))).encode("utf-8", "surrogatepass"))
        keys.append(re.sub(r'("(?:[^"\\]|\\.)*")|\s+', r"\1", value))
    known = set()
    want = [b"dup" if key in known or known.add(key) else b"new" for key in keys]
    done = seen("--ndjson", "-k", "k", "--tag", "--filter=exact", text=b"".join(line + b"\n" for line in lines))
    assert [line.split(b"\t")[0] for line in done.out.split(b"\n")[:-1]] == want
    assert 100 < want.count(b"dup")
