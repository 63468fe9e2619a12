"""Damaged snapshots and pickles: an exception each time, or a window that works; never a crash.

3,000 of them by default, 10^5 with SEEN_LONG=1. A snapshot whose bytes changed is always refused, because it carries
checksums. So half of the cases mend the checksums, or change the pickle around the snapshot.
"""

import copyreg
import pickle
import pickletools

import pytest

import seen
from conftest import LONG

SPECS = ["landmark items=50 fp=1e-2", "sliding:50 fp=1e-2 items=50", "jumping:50/5 items=50", "decaying mem=4KiB",
         "sliding:1h filter=exact items=50", "sliding:50 filter=timed-cuckoo items=50 fp=1e-2",
         "landmark filter=counting items=50", "decaying filter=lru mem=4KiB", "landmark items=50 verify=20"]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pickletools, on damaged text
EACH = (100_000 if LONG else 3_000) // len(SPECS)
ALLOWED = (ValueError, MemoryError, TypeError, OverflowError, EOFError, KeyError, IndexError, AttributeError,
           ImportError, UnicodeDecodeError, pickle.UnpicklingError, NotImplementedError, OSError)


def damage(rng, data):
    data = bytearray(data)
    way = rng.randrange(5)
    at = rng.randrange(len(data))
    if way == 0:
        data[at] ^= 1 << rng.randrange(8)
    elif way == 1:
        del data[at:at + rng.randrange(1, 40)]
    elif way == 2:
        data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 20)))
    elif way == 3:
        data[at:at + 8] = rng.choice([0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]).to_bytes(8, "little")
    else:
        other = rng.randrange(len(data))
        data[at:at + 16] = data[other:other + 16]
    return bytes(data)




def filled(spec):
    f = seen.Window(spec + " seed=1")
    f.observe([str(i % 40) for i in range(120)], times=range(120) if f.timed else None)
    return f


@pytest.mark.parametrize("spec", SPECS)
def test_damaged_snapshots_are_format_errors(rng, spec):
    data = bytes(filled(spec))
    for _ in range(EACH // 2):
        broken = damage(rng, data)
        if broken == data:
            continue
        with pytest.raises((seen.FormatError, MemoryError)):
            seen.loads(broken, limit=1 << 26)


@pytest.mark.parametrize("spec", SPECS)
def test_damaged_pickles_are_errors_or_windows_that_work(rng, spec):
    f = filled(spec)
    data = pickle.dumps(f, protocol=4)
    refused = 0
    for _ in range(EACH // 2):
        broken = damage(rng, data)
        if not harmless(broken):
            refused += 1
            continue
        try:
            g = pickle.loads(broken)
        except ALLOWED:
            refused += 1
            continue
        if isinstance(g, seen.Window):
            g.stats(), bytes(g), "7" in g
    assert refused > EACH // 4


def harmless(data):
    """Whether a damaged pickle names nothing but what this package needs: others may call anything."""
    try:
        names = [arg for op, arg, _ in pickletools.genops(data) if isinstance(arg, str)]
        ops = {op.name for op, _, _ in pickletools.genops(data)}
    except Exception:
        return True  # pickle itself finds the damage
    return set(names) <= {"seen", "_restore", "Window"} and not ops & {"GLOBAL", "INST", "EXT1", "EXT2", "EXT4"}


@pytest.mark.parametrize("what", [seen.Counter, lambda: seen.Top(5)], ids=["counter", "top"])
def test_damaged_sketches_are_errors(rng, what):
    sketch = what()
    sketch.update([str(i) for i in range(50)])
    cls, parts = sketch.__reduce__()[1][0], sketch.__reduce__()[1][1:]
    for _ in range(EACH // 3):
        broken = list(parts)
        i = rng.randrange(len(parts))
        if isinstance(parts[i], bytes):
            broken[i] = damage(rng, parts[i])
        elif isinstance(parts[i], int):
            broken[i] = rng.choice([0, 1, 4, 6, 2**40, 2**63])
        else:
            broken[i] = parts[i][:rng.randrange(len(parts[i]))]
        if broken == list(parts):
            continue
        try:
            again = cls._load(*broken)
        except ALLOWED:
            continue
        assert isinstance(again, seen.Top) and len(again.most_common()) <= 5


def test_states_that_pickle_never_wrote_are_refused():
    data = bytes(seen.Window("landmark items=10"))
    for args in ((seen.Window, data[:-1], None, 0), (seen.Window, data, 5, 0), (seen.Window, "x", None, 0),
                 (seen.Window, data, None, 999), (seen.Window, data, None, -1), (seen.Window, None, None, 0)):
        with pytest.raises((ValueError, TypeError, OverflowError)):
            seen._restore(*args)
    with pytest.raises(TypeError):
        copyreg.__newobj__(seen.Window)
