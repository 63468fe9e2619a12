"""doc/snapshot.md is enough to read a window: these tests find every number of it where the page says."""

import struct

import pytest

MODEL = 72  # bytes of an account without a sample


class Snapshot:
    """The parts of a snapshot of one shard with control=0."""

    def __init__(self, data):
        assert data[:4] == b"SEEN" and struct.unpack_from("<I", data, 4)[0] == 2
        spec_len, blob_len = struct.unpack_from("<II", data, 8)
        self.spec = dict(word.split("=") for word in data[16:16 + spec_len].decode().split()[1:])
        at = 16 + spec_len
        self.tick, self.records, self.duplicates = struct.unpack_from("<3Q", data, at)
        self.window = data[at + 56 + 8 + blob_len + MODEL:-8]

    def u64(self, n):
        """The first n numbers of the window, and the bytes behind them."""
        return struct.unpack_from("<%dQ" % n, self.window), self.window[8 * n:]

    def lines(self, data):
        """The lines of the table as integers; all of the bytes."""
        assert len(data) == 64 * int(self.spec["blocks"])
        return [int.from_bytes(data[i:i + 64], "little") for i in range(0, len(data), 64)]


@pytest.fixture
def snapshot(seen, tmp_path):
    def make(spec, keys):
        state = tmp_path / ("state%d" % len(list(tmp_path.iterdir())))
        seen("-w", spec + " control=0 seed=7", "--state", state, text="".join("%s\n" % key for key in keys))
        return Snapshot(state.read_bytes())

    return make


def cells_above_0(lines, bits, cells_a_line):
    return sum((line >> bits * cell & (1 << bits) - 1) > 0 for line in lines for cell in range(cells_a_line))


def test_timing(snapshot):
    s = snapshot("sliding:100 filter=timing fp=.01", range(50))
    (landmarks, clock, last, floor, cleared, cursor, owed), table = s.u64(7)
    assert (landmarks, last, cleared, s.tick) == (0, 49, 0, 50)
    assert floor <= clock and cursor < len(table) * 8 // int(s.spec["stamp"])
    bits, k = int(s.spec["stamp"]), int(s.spec["k"])
    cells = int.from_bytes(b"".join(line.to_bytes(64, "little") for line in s.lines(table)), "little")
    stamped = [c for c in range((len(table) * 8 - 64) // bits) if cells >> c * bits & (1 << bits) - 1]
    assert 40 * k <= len(stamped) <= 50 * k


def test_age_partitioned(snapshot):
    s = snapshot("sliding:100 filter=age-partitioned fp=.01", range(50))
    (generation, boundary, begun), table = s.u64(3)
    slices = int(s.spec["k"]) + int(s.spec["generations"])
    step = -(-100 // int(s.spec["generations"]))
    assert boundary == (49 // step + 1) * step and begun == 0
    each = int(s.spec["blocks"]) // slices
    lines = s.lines(table)
    stamps = {line >> 496 for place in range(slices) for line in lines[place * each:(place + 1) * each] if line}
    assert max(stamps) == generation


def test_stable(snapshot):
    s = snapshot("decaying filter=stable mem=64KiB fp=.01", range(50))
    (generation, records, landmarks, _random, above, *unused), table = s.u64(16)
    assert (generation, records, landmarks, set(unused)) == (1, 50, 0, {0})
    bits = int(s.spec["cell-max"]).bit_length()
    assert cells_above_0(s.lines(table), bits, 496 // bits) == above > 0


@pytest.mark.parametrize("name", ["lru", "fp-lru"])
def test_lru(snapshot, name):
    first = snapshot("decaying filter=%s mem=64KiB" % name, ["a", "b", "c"])
    again = snapshot("decaying filter=%s mem=64KiB" % name, ["a", "b", "c", "a"])
    digests = []
    for s, duplicates in ((first, 0), (again, 1)):
        (keys, used, landmarks), rest = s.u64(3)
        assert (keys, used, landmarks, s.duplicates) == (3, 1, 0, duplicates)
        assert len(rest) == 3 * 16
        digests.append([rest[i:i + 16] for i in range(0, len(rest), 16)])
    a, b, c = digests[0]
    assert digests[1] == [b, c, a]  # the key used last stands at the end


def test_second_chance(snapshot):
    s = snapshot("decaying filter=second-chance mem=64KiB", ["a", "b", "a", "c"])
    (used, hand, landmarks), rest = s.u64(3)
    assert (used, hand, landmarks) == (3, 0, 0)
    assert list(rest[:3]) == [1, 0, 0]  # a came back
    digests = [rest[3 + 16 * i:19 + 16 * i] for i in range(3)]
    assert len(set(digests)) == 3 and len(rest) == 3 + 3 * 16
