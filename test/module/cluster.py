"""A cluster of six servers, three primaries and a replica of each, and `seen --redis` at work on it."""

import json
import os
import re
import shutil
import subprocess
import threading
import time

import pytest
from conftest import ROOT, Server, contents, free_port, settle

SEEN = str((ROOT / os.environ.get("SEEN", "build/seen")).resolve())
BATCH = int(re.search(r"BATCH = (\d+)", (ROOT / "cli/records/format/record.h").read_text()).group(1))
SHARDS = 48
SPEC = "landmark:1d mem=48MiB"


def skip_without_client():
    """Skips a whole file of tests, which need a seen that was built with hiredis."""
    done = subprocess.run([SEEN, "--redis", "redis://127.0.0.1:1/none"], stdin=subprocess.DEVNULL, capture_output=True)
    if b"without a Redis client" in done.stderr:
        pytest.skip("this seen was built without hiredis", allow_module_level=True)


def slot_of(key):
    """By CRC16 of the tag, as the cluster specification has it; of all without a tag."""
    crc = 0
    for byte in key[key.find("{") + 1:key.find("}") if "{" in key else None].encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc % 16384


class Cluster:
    """Six servers; redis-cli (valkey-cli) makes them one."""

    def __init__(self, program, home):
        self.cli = program.replace("-server", "-cli")
        if not shutil.which(self.cli):
            pytest.skip("%s, which makes clusters, is not installed" % self.cli)
        self.nodes = [Server(program, home / str(i), "--cluster-enabled", "yes", "--cluster-port", str(free_port()),
                             "--cluster-node-timeout", "2000", "--cluster-replica-validity-factor", "0",
                             "--client-output-buffer-limit", "replica 0 0 0")
                      for i in range(6)]
        self.run("create", *("127.0.0.1:%d" % node.port for node in self.nodes), "--cluster-replicas", "1")
        self.settle()

    def run(self, *args):
        """One command of the cluster's own tool."""
        done = subprocess.run([self.cli, "--cluster", *args, "--cluster-yes"], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr
        return done.stdout

    def alive(self):
        return [node for node in self.nodes if node.process.poll() is None]

    def is_primary(self, node):
        return node.client.info("replication")["role"] == "master"

    def primaries(self):
        return [node for node in self.alive() if self.is_primary(node)]

    def settle(self):
        """Until every node finds all slots served, and three replicas follow three primaries."""
        for node in self.alive():
            node.wait(lambda: len(self.primaries()) == 3)
            node.wait(lambda: node.client.cluster("info")["cluster_state"] == "ok")
            node.wait(lambda: node.client.info("replication").get("master_link_status", "up") == "up")

    def url(self, name):
        return "redis://127.0.0.1:%d/%s" % (self.alive()[0].port, name)

    def ranges(self):
        """(first slot, last, node that owns them)."""
        rows = self.alive()[0].client.execute_command("CLUSTER SLOTS")
        by_port = {node.port: node for node in self.nodes}
        return [(row[0], row[1], by_port[row[2][1]]) for row in rows]

    def owner(self, key):
        slot = slot_of(key)
        return next(node for first, last, node in self.ranges() if first <= slot <= last)

    def replica_of(self, primary):
        return next(node for node in self.alive()
                    if node.client.info("replication").get("master_port") == primary.port)

    def check_replicas(self):
        """Each replica holds what its primary holds, digest for digest."""
        self.settle()
        for primary in self.primaries():
            replica = self.replica_of(primary)
            settle(primary, replica)
            assert contents(primary.client) == contents(replica.client)

    def stop(self):
        for node in self.nodes:
            node.stop("kill")


class Run:
    """`seen --redis` with records coming in as a test gives them."""

    def __init__(self, cluster, name, *more, shards=SHARDS, spec=SPEC):
        self.process = subprocess.Popen(
            [SEEN, "--redis", cluster.url(name), "--shards", str(shards), "-w", spec, "--tag", "--stats=json", *more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.out, self.fed = [], []
        self.reader = threading.Thread(target=lambda: self.out.extend(self.process.stdout), daemon=True)
        self.reader.start()

    def feed(self, records):
        for start in range(0, len(records), 500):
            self.process.stdin.write(b"".join(record + b"\n" for record in records[start:start + 500]))
            self.process.stdin.flush()
            self.fed.extend(records[start:start + 500])

    def wait_for_output(self, lines):
        end = time.monotonic() + 60
        while len(self.out) < lines:
            assert time.monotonic() < end, "only %d of %d records came out" % (len(self.out), lines)
            time.sleep(0.01)

    def finish(self):
        self.process.stdin.close()
        self.err = self.process.stderr.read().decode()
        assert self.process.wait(60) == 0, self.err
        self.reader.join()
        self.stats = json.loads(self.err.splitlines()[-1])
        return [tuple(line.rstrip(b"\n").split(b"\t", 1)) for line in self.out]
