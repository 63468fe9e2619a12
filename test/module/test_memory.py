"""Memory that filters give back: at once, and no more of it than a full server needs."""

import pathlib

import pytest

from conftest import SANITIZED
from test_commands import do

MIB = 1 << 20
FILTERS = {"landmark mem=4MiB": 20_000, "sliding:24h fp=1e-4 mem=4MiB": 20_000,
           "landmark filter=exact": 60_000, "0.001 2000000": 20_000}


def create(r, key, spec):
    """A filter of several MiB that has touched most of them."""
    bloom = spec[0].isdigit()
    do(r, "BF.RESERVE" if bloom else "SEEN.CREATE", key, *spec.split())
    with r.pipeline(transaction=False) as p:
        for i in range(0, FILTERS[spec], 1000):
            p.execute_command("BF.MADD" if bloom else "SEEN.MADD", key, *range(i, i + 1000))
        p.execute()


def used(r):
    return r.info("memory")["used_memory"]


@pytest.mark.parametrize("spec", FILTERS)
@pytest.mark.parametrize("lazy", ["yes", "no"])
def test_room_for_one_filter_evicts_one_filter(start, lazy, spec):
    r = start("--lazyfree-lazy-eviction", lazy, "--maxmemory-policy", "volatile-ttl").client
    for i in range(100):
        r.set("small:%d" % i, "x")
    before = used(r)
    for i in range(4):
        create(r, "k%d" % i, spec)
        r.expire("k%d" % i, 100_000 + 1000 * i)
    size = (used(r) - before) / 4
    assert size > 2 * MIB
    r.config_set("maxmemory", int(used(r) + size / 4))
    for i in range(4, 8):
        create(r, "k%d" % i, spec)
        r.expire("k%d" % i, 100_000 + 1000 * i)
        assert r.ping()
        r.dbsize()
        kept = sorted(r.keys("k*"))
        assert r.info("stats")["evicted_keys"] == i - 3, kept
        assert kept == [b"k%d" % j for j in range(i - 3, i + 1)]
    assert len(r.keys("small:*")) == 100


@pytest.mark.parametrize("spec", [s for s in FILTERS if "exact" not in s])
@pytest.mark.parametrize("free", ["DEL", "UNLINK"])
def test_memory_counts_as_free_with_the_command_that_frees_it(start, free, spec):
    r = start().client
    before = used(r)
    create(r, "k", spec)
    size = used(r) - before
    with r.pipeline(transaction=True) as p:
        p.execute_command(free, "k")
        p.info("memory")
        after = p.execute()[1]["used_memory"]
    assert after < before + size / 20


@pytest.mark.parametrize("spec", FILTERS)
def test_pages_go_back_to_the_system(start, spec):
    if SANITIZED and "exact" in spec:
        pytest.skip("a sanitizer keeps what is freed for a while")
    server = start()
    r = server.client

    def resident():
        return int(pathlib.Path("/proc/%d/statm" % server.process.pid).read_text().split()[1]) * 4096

    create(r, "k", spec)
    for i in range(1, 4):
        do(r, "COPY", "k", "k%d" % i)
    full, size = resident(), r.memory_usage("k")
    r.delete("k", "k1", "k2", "k3")
    r.execute_command("MEMORY", "PURGE")
    server.wait(lambda: resident() < full - 3 * size)


def test_what_is_made_where_something_was_is_empty(start):
    r = start().client
    for spec in ("landmark mem=4MiB", "sliding:24h fp=1e-4 mem=4MiB"):
        for _ in range(3):
            create(r, "k", spec)
            r.delete("k")
            do(r, "SEEN.CREATE k", *spec.split())
            assert not any(r.execute_command("SEEN.MCHECK", "k", *range(20_000)))
            r.delete("k")
