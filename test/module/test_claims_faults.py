"""Claims on real servers with kill -9 of workers and of the server: what is acked is not done again, what is not acked
is not lost.

Workers are processes of their own.  Each writes what it does to a ledger, a file that lines are appended to: `start` when it
has a claim, `done` when its work is done, `acked` when the ack is answered.  Tokens grow with every claim, so they tell
the order of the server, however late a worker writes its line.

Two ways to keep claims are tried.  `aof`: one server with appendfsync always is killed and started again.  `failover`: the
primary is killed and its replica takes over; a worker counts an ack only after WAIT says that the replica has it.

3 runs for each server and way by default, 60 with SEEN_LONG=1: 240 where both servers are installed."""

import os
import random
import signal
import time

import pytest

import redis

from conftest import LONG, SANITIZED, SEED, VALGRIND, Server

RUNS = 60 if LONG else 3
JOBS, WORKERS, LEASE = 12, 3, 150  # milliseconds
SPECS = ["sliding:1h filter=exact claims=64", "sliding:1h fp=1e-6 items=1000 claims=64"]

pytestmark = pytest.mark.skipif(VALGRIND, reason="leases of milliseconds end too soon under valgrind")


def write(ledger, *words):
    os.write(ledger, (" ".join(map(str, words)) + "\n").encode())


def work_once(r, ledger, rng, safe):
    job = rng.randrange(JOBS)
    answer, *number = r.execute_command("SEEN.CLAIM", "jobs", job, LEASE)
    if answer != b"new":
        time.sleep(0.002)
        return
    token = number[0]
    write(ledger, "start", job, token)
    time.sleep(rng.choice((0, 0.002, 0.01, 0.2)))  # the last is longer than the lease
    if rng.random() < 0.25:
        r.execute_command("SEEN.NACK", "jobs", job, token)
        return
    write(ledger, "done", job, token)
    if r.execute_command("SEEN.ACK", "jobs", job, token) == 1 and safe(r):
        write(ledger, "acked", job, token)


def work(home, seed, safe):
    """The life of a worker, until it is killed."""
    rng = random.Random(seed)
    ledger = os.open(home / "ledger", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        try:
            r = redis.Redis(port=int((home / "port").read_text()), socket_timeout=5)
            while True:
                work_once(r, ledger, rng, safe)
        except (redis.exceptions.RedisError, ValueError, OSError):
            time.sleep(0.01)  # the server is away


def start_worker(home, seed, safe):
    pid = os.fork()
    if not pid:
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            work(home, seed, safe)
        finally:
            os._exit(1)
    return pid


def kill_worker(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def set_port(home, port):
    (home / "port.new").write_text(str(port))
    os.replace(home / "port.new", home / "port")


class Aof:
    def __init__(self, program, home):
        self.home = home
        self.server = Server(program, home / "server", "--appendonly", "yes", "--appendfsync", "always")
        set_port(home, self.server.port)

    def fail(self):
        self.server.restart("kill")

    def client(self):
        return self.server.client

    def stop(self):
        self.server.stop("kill")

    @staticmethod
    def safe(r):
        return True


class Failover:
    def __init__(self, program, home):
        self.home = home
        self.primary = self.server = Server(program, home / "primary")
        self.replica = Server(program, home / "replica", "--replicaof", "127.0.0.1 %d" % self.primary.port)
        self.replica.wait(lambda: self.replica.client.info("replication")["master_link_status"] == "up")
        self.failed = False
        set_port(home, self.primary.port)

    def fail(self):
        if self.failed:
            return
        self.primary.stop("kill")
        self.replica.client.replicaof("NO", "ONE")
        self.failed = True
        set_port(self.home, self.replica.port)

    def client(self):
        return self.replica.client if self.failed else self.primary.client

    def stop(self):
        self.replica.stop("kill")
        self.primary.stop("kill")

    @staticmethod
    def safe(r):
        """The replica that took over has none of its own.  What it says is certain, because no second server fails."""
        promoted = str(r.info("replication")["master_replid2"]).strip("0")
        return bool(promoted) or r.wait(1, 1000) >= 1


def read_ledger(home):
    rows = {"start": {}, "done": {}, "acked": {}}
    for line in (home / "ledger").read_text().splitlines():
        kind, job, token = line.split()
        rows[kind].setdefault(int(job), []).append(int(token))
    return rows


def check(home, r):
    """The ledger, and what the server says once all leases have ended."""
    time.sleep(LEASE / 1000 + 0.05)
    rows = read_ledger(home)
    for job, acked in rows["acked"].items():
        assert len(acked) == 1, "job %d was acked twice" % job
        again = [token for token in rows["start"][job] if token > acked[0]]
        assert not again, "job %d was acked, and started again" % job
    left = 0
    for job in range(JOBS):
        answer, *number = r.execute_command("SEEN.CLAIM", "jobs", job, 60000)
        if answer == b"seen":
            assert job in rows["done"], "job %d is lost: it is seen, and no worker did it" % job
        else:
            assert answer == b"new" and job not in rows["acked"], "job %d was acked, and is %s" % (job, answer)
            assert r.execute_command("SEEN.ACK", "jobs", job, number[0]) == 1
            left += 1
        assert r.execute_command("SEEN.CLAIM", "jobs", job, 60000) == [b"seen"]
    return len(rows["acked"]), left


def run(program, home, kind, seed):
    rng = random.Random(seed)
    home.mkdir()
    place = kind(program, home)
    workers = []
    try:
        place.client().execute_command("SEEN.CREATE", "jobs", SPECS[seed % len(SPECS)])
        workers = [start_worker(home, rng.random(), place.safe) for _ in range(WORKERS)]
        place.server.wait(lambda: (home / "ledger").exists() and "acked" in (home / "ledger").read_text())
        for fault in rng.sample(("worker", "worker", "worker", "server", "server"), 5):
            time.sleep(rng.uniform(0.01, 0.12))
            if fault == "server":
                place.fail()
                continue
            i = rng.randrange(WORKERS)
            kill_worker(workers[i])
            workers[i] = start_worker(home, rng.random(), place.safe)
        time.sleep(rng.uniform(0.01, 0.12))
        while workers:
            kill_worker(workers.pop())
        return check(home, place.client())
    finally:
        while workers:
            kill_worker(workers.pop())
        place.stop()


@pytest.mark.parametrize("kind", [Aof, Failover])
def test_nothing_acked_is_done_again_and_nothing_else_is_lost(program, tmp_path, kind):
    runs = 1 if SANITIZED else RUNS
    acked, left = map(sum, zip(*(run(program, tmp_path / str(i), kind, SEED + i) for i in range(runs))))
    print("%d runs: %d jobs acked, %d left to be done" % (runs, acked, left))
    assert acked >= runs
