"""How long one chunk of SEEN.DUMP and of SEEN.LOAD, or a piece of SEEN.MERGE, holds the server:
bench.py --latency.

Every structure of the registry under every window that it serves, at 64 MiB, with a million keys in
it, is dumped to its end, loaded into another key, and merged into an empty one, several times.  The
server's slow log says how long each command took.  Told is the longest chunk of the quietest round,
and beside it the longest of the chunks' own quietest times: what is in the one and not in the other
is the machine's.
"""

import ctypes
import subprocess

import redis

WINDOWS = ["landmark", "jumping:1000000/8", "jumping:1h/12", "sliding:1000000", "sliding:1h",
           "decaying"]
VARIANTS = ["jumping:1000000/8 filter=counting by=subtract", "sliding:1h filter=timed-cuckoo vla=1",
            "sliding:1h filter=exact lateness=1m", "landmark cache=500000", "landmark shards=16"]
SIZE = " mem=64MiB seed=1"
KEYS, AT_ONCE = 1_000_000, 500


def structures(build):
    """`window filter=name`, whether it can be had or not."""
    name = ctypes.CDLL(str(build / "libseen.so")).seen_filter_name
    name.argtypes, name.restype = [ctypes.c_size_t], ctypes.c_char_p
    names = [n.decode() for n in iter(lambda i=iter(range(99)): name(next(i)), None)]
    return ["%s filter=%s" % (w, n) for w in WINDOWS for n in names] + VARIANTS


def additions():
    """All keys on their way into `k`, as the server reads them."""
    def word(w):
        return b"$%d\r\n%s\r\n" % (len(w), w)
    head = b"*%d\r\n" % (AT_ONCE + 2) + word(b"SEEN.MADD") + word(b"k")
    return b"".join(head + b"".join(word(b"%d" % i) for i in range(at, at + AT_ONCE))
                    for at in range(0, KEYS, AT_ONCE))


def fill(client, port, spec, keys):
    """False: the window has no such structure."""
    client.flushall()
    try:
        client.execute_command("SEEN.CREATE", "k", spec + SIZE)
    except redis.exceptions.ResponseError as e:
        if "does not serve" not in str(e):
            raise
        return False
    for _ in range(2 if "cache=" in spec else 1):
        subprocess.run(["redis-cli", "-p", str(port), "--pipe"], input=keys, check=True,
                       stdout=subprocess.DEVNULL)
    return True


def merge(client, spec):
    client.delete("copy")
    client.execute_command("SEEN.CREATE", "copy", spec + SIZE)
    cursor = b""
    try:
        while cursor != b"0":
            cursor = client.execute_command("SEEN.MERGE", "copy", "k", cursor or 0)
    except redis.exceptions.ResponseError as e:
        if "cannot be merged" not in str(e):
            raise


def transfer(client, spec):
    """One round: microseconds of each chunk or piece, by command."""
    client.delete("copy")
    client.slowlog_reset()
    cursor = None
    while cursor != 0:
        cursor, chunk = client.execute_command("SEEN.DUMP", "k", cursor or 0)
        client.execute_command("SEEN.LOAD", "copy", cursor, chunk)
    merge(client, spec)
    times = {"SEEN.DUMP": [], "SEEN.LOAD": [], "SEEN.MERGE": []}
    for entry in reversed(client.slowlog_get(-1)):
        times.get(entry["command"].split()[0].decode(), []).append(entry["duration"])
    return times


def steps(client, port, build, rounds):
    client.config_set("slowlog-log-slower-than", 0)
    client.config_set("slowlog-max-len", 1_000_000)
    keys = additions()
    print("\nlongest chunk, microseconds: of the least of %d rounds, of each chunk's least\n"
          "%-50s %7s  %-17s %-17s %s" % (
              rounds, "64 MiB", "chunks", "SEEN.DUMP", "SEEN.MERGE", "SEEN.LOAD (last)"))
    for spec in structures(build):
        if not fill(client, port, spec, keys):
            continue
        times = [transfer(client, spec) for _ in range(rounds)]
        row = []
        for name in ("SEEN.DUMP", "SEEN.MERGE", "SEEN.LOAD"):
            each = [t[name] for t in times]
            row += [min(map(max, each)), max(map(min, zip(*each)))]
        print("%-50s %7d  %7d /%7d  %7d /%7d  %7d /%7d (%d)" % (
            spec, len(times[0]["SEEN.LOAD"]), *row, min(t["SEEN.LOAD"][-1] for t in times)),
              flush=True)
    client.config_set("slowlog-log-slower-than", 10000)
