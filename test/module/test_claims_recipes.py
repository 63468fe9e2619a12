"""The workers of examples/ do each job once on real servers, with kill -9 of workers and servers in between."""

import os
import shutil
import socket
import subprocess
import sys
import time

import pytest

from conftest import ROOT, SANITIZED, VALGRIND, free_port
from test_commands import do

JOBS, COPIES, WORKERS, KILLS = 50, 3, 3, 4
LEASE = 300  # milliseconds

pytestmark = pytest.mark.skipif(VALGRIND or SANITIZED, reason="leases of milliseconds end too soon in a slow server")


class Workers:
    """Some of one program; any may be killed, and another takes its place."""

    def __init__(self, *command, **env):
        self.command, self.env = [sys.executable, *map(str, command)], {**os.environ, "LEASE": str(LEASE), **env}
        self.all = [self.start() for _ in range(WORKERS)]

    def start(self, **env):
        return subprocess.Popen(self.command, env={**self.env, **env}, stderr=subprocess.DEVNULL)

    def kill(self, i):
        self.all[i].kill()
        self.all[i].wait()
        self.all[i] = self.start()

    def finish(self, patience):
        """All are killed but one, which does what is left until nothing comes any more."""
        for worker in self.all:
            worker.kill()
            worker.wait()
        assert self.start(PATIENCE=patience).wait(60) == 0


def jobs(rng):
    """Each several times, in any order."""
    all_jobs = [str(i) for i in range(JOBS)] * COPIES
    rng.shuffle(all_jobs)
    return all_jobs


def test_a_consumer_group_of_redis_streams(start, rng):
    server = start("--appendonly", "yes", "--appendfsync", "always")
    r = server.client
    do(r, "SEEN.CREATE {jobs}:seen sliding:24h filter=exact claims=1000")
    for job in jobs(rng):
        r.xadd("{jobs}:in", {"id": job, "payload": "job " + job})
    workers = Workers(ROOT / "examples/claims_streams.py", server.port)
    for kill in range(KILLS):
        time.sleep(rng.uniform(0.05, 0.25))
        workers.kill(rng.randrange(WORKERS))
        if kill == KILLS // 2:
            server.restart("kill")  # whose workers die with it
            for i in range(WORKERS):
                workers.kill(i)
    workers.finish("1")
    done = [fields for _, fields in server.client.xrange("{jobs}:out")]
    assert sorted(int(fields[b"id"]) for fields in done) == list(range(JOBS))
    assert all(fields[b"result"] == b"JOB " + fields[b"id"] for fields in done)
    assert server.client.xpending("{jobs}:in", "workers")["pending"] == 0


def test_stream_to_stream_needs_no_claims(start, rng):
    """A reader that dies between SEEN.XADD and XACK gets the entry again, and SEEN.XADD says that it is there."""
    r = start().client
    do(r, "SEEN.CREATE f sliding:24h filter=exact")
    r.xgroup_create("in", "readers", "0", mkstream=True)
    for job in jobs(rng):
        r.xadd("in", {"id": job})
    while r.xpending("in", "readers")["pending"] or r.xinfo_stream("in")["last-generated-id"] != \
            r.xinfo_groups("in")[0]["last-delivered-id"]:
        waiting = r.xpending_range("in", "readers", "-", "+", 10)
        entries = r.xclaim("in", "readers", "me", 0, [row["message_id"] for row in waiting]) if waiting else \
            r.xreadgroup("readers", "me", {"in": ">"}, count=10)[0][1]
        for entry, fields in entries:
            r.execute_command("SEEN.XADD", "f", "out", "*", fields[b"id"], "id", fields[b"id"])
            if rng.random() < 0.3:
                break  # it dies
            r.xack("in", "readers", entry)
    assert sorted(int(fields[b"id"]) for _, fields in r.xrange("out")) == list(range(JOBS))


# -- NATS JetStream ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nats_py():
    """The folder of nats-py: installed, or fetched into the build folder once."""
    folder = ROOT / "build/nats-py"
    found = subprocess.run([sys.executable, "-c", "import nats"], capture_output=True,
                           env={**os.environ, "PYTHONPATH": str(folder)}).returncode == 0
    if not found:
        pip = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), "nats-py"],
                             capture_output=True, timeout=120)
        if pip.returncode:
            pytest.skip("nats-py is not installed, and pip cannot fetch it")
    return folder


class Nats:
    def __init__(self, home):
        self.port, self.home = free_port(), home
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["nats-server", "-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self.home)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            with socket.socket() as s:
                if not s.connect_ex(("127.0.0.1", self.port)):
                    return
            time.sleep(0.02)
        raise AssertionError("nats-server does not start")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def url(self):
        return "nats://127.0.0.1:%d" % self.port


PUBLISH = """
import asyncio, nats, sys
async def main():
    connection = await nats.connect(sys.argv[1])
    js = connection.jetstream()
    await js.add_stream(name="JOBS", subjects=["jobs.in"])
    await js.add_stream(name="DONE", subjects=["jobs.out"])
    await js.pull_subscribe("jobs.in", durable="workers", stream="JOBS",
                            config=nats.js.api.ConsumerConfig(ack_wait=1))
    for job in sys.argv[2].split():
        await js.publish("jobs.in", b"job " + job.encode(), headers={"Job": job})
    await connection.close()
asyncio.run(main())
"""

RESULTS = """
import asyncio, nats, sys
async def main():
    connection = await nats.connect(sys.argv[1])
    js = connection.jetstream()
    n = (await js.stream_info("DONE")).state.messages
    for i in range(1, n + 1):
        print((await js.get_msg("DONE", i)).data.decode())
    left = await js.consumer_info("JOBS", "workers")
    print("left", left.num_pending + left.num_ack_pending)
    await connection.close()
asyncio.run(main())
"""


def test_a_consumer_of_nats_jetstream(start, rng, tmp_path, nats_py):
    if not shutil.which("nats-server"):
        pytest.skip("nats-server is not installed: apt-get install nats-server")
    env = {"PYTHONPATH": str(nats_py)}
    server, broker = start("--appendonly", "yes", "--appendfsync", "always"), Nats(tmp_path / "nats")

    def run(program, *words):
        return subprocess.run([sys.executable, "-c", program, broker.url(), *words], env={**os.environ, **env},
                              check=True, capture_output=True, text=True).stdout.split("\n")

    try:
        do(server.client, "SEEN.CREATE jobs sliding:24h filter=exact claims=1000")
        run(PUBLISH, " ".join(jobs(rng)))
        workers = Workers(ROOT / "examples/claims_nats.py", broker.url(), server.port, **env)
        for kill in range(KILLS):
            time.sleep(rng.uniform(0.2, 0.5))
            workers.kill(rng.randrange(WORKERS))
            if kill == KILLS // 3:
                server.restart("kill")
            if kill == KILLS // 2:
                broker.kill()
                broker.start()
            if kill in (KILLS // 3, KILLS // 2):
                for i in range(WORKERS):
                    workers.kill(i)
        workers.finish("2")
        *results, left, _ = run(RESULTS)
        assert sorted(results) == sorted("JOB %d" % i for i in range(JOBS))
        assert left == "left 0"
    finally:
        broker.kill()
