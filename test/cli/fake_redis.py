"""Servers that behave as badly as a test needs: they speak Redis' protocol, keep exact sets behind
SEEN.CREATE, SEEN.INFO and SEEN.MADDX, and do what a test's hook says before, after or instead.

    with Fake() as server: ...           one server
    with Fake(nodes=3) as servers: ...   a cluster; servers.owner[slot] says who owns what

A hook gets (node, words) of each command and returns None (go on), bytes (the answer instead),
CLOSE (the connection is closed, the command not carried out) or LOSE (it is carried out, and then
the connection is closed without an answer).
"""

import random
import re
import socket
import socketserver
import threading

from conftest import ROOT

CLOSE, LOSE = object(), object()
NO_KEY = b"-ERR no such key\r\n"


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def slot_of(key):
    start = key.find(b"{")
    end = key.find(b"}", start + 1)
    return crc16(key[start + 1:end] if start >= 0 and end > start + 1 else key) % 16384


def bulk(text):
    return b"$%d\r\n%s\r\n" % (len(text), text)


def array(parts):
    return b"*%d\r\n" % len(parts) + b"".join(parts)


class Node(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, fake, number, port=0):
        super().__init__(("127.0.0.1", port), Connection)
        self.fake, self.number, self.port = fake, number, self.server_address[1]
        self.keys, self.commands, self.open = {}, [], set()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def kill(self):
        """Stops listening and cuts off all clients."""
        self.shutdown()
        self.server_close()
        for connection in list(self.open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def handle_error(self, request, address):
        pass  # a client that went away


class Connection(socketserver.StreamRequestHandler):
    def read_command(self):
        head = self.rfile.readline()
        if not head:
            return None
        words = []
        for _ in range(int(head[1:])):
            length = int(self.rfile.readline()[1:])
            words.append(self.rfile.read(length + 2)[:-2])
        return words

    def handle(self):
        self.asking = False
        self.server.open.add(self.request)
        while words := self.read_command():
            answer = self.answer(words)
            if answer is None:
                break
            self.wfile.write(answer)
        self.server.open.discard(self.request)

    def answer(self, words):
        node, fake = self.server, self.server.fake
        with fake.lock:
            node.commands.append(words)
            told = fake.hook(node, words) if fake.hook else None
            if told is CLOSE:
                return None
            if isinstance(told, bytes):
                return told
            answer = self.carry_out(words)
            return None if told is LOSE else answer

    def carry_out(self, words):
        node, fake = self.server, self.server.fake
        name = words[0].upper()
        if name == b"AUTH":
            good = words[1:] == fake.account
            return b"+OK\r\n" if good else b"-WRONGPASS invalid username-password pair\r\n"
        if name == b"ASKING":
            self.asking = True
            return b"+OK\r\n"
        if name == b"CLUSTER":
            return fake.map()
        asking, self.asking = self.asking, False
        owner = fake.owner_of(words[1])
        if owner is not node and not asking:
            return b"-MOVED %d 127.0.0.1:%d\r\n" % (slot_of(words[1]), owner.port)
        return getattr(self, name.decode().lower().replace(".", "_"))(node.keys, *words[1:])

    def exists(self, keys, key):
        return b":%d\r\n" % (key in keys)

    def seen_create(self, keys, key, spec):
        if key in keys:
            return b"-BUSYKEY Target key name already exists\r\n"
        keys[key] = (spec, set())
        return b"+OK\r\n"

    def seen_info(self, keys, key):
        if key not in keys:
            return NO_KEY
        return array([b"+spec\r\n", bulk(keys[key][0] + b" seed=7"), b"+bytes\r\n", b":1\r\n"])

    def seen_maddx(self, keys, key, *items):
        assert items[-2] == b"AT", items
        if key not in keys:
            return NO_KEY
        verdicts = []
        for item in items[:-2]:
            verdicts.append(b":%d\r\n" % (item not in keys[key][1]))
            keys[key][1].add(item)
        return array(verdicts)


class Fake:
    def __init__(self, nodes=0, account=None):
        self.lock, self.hook, self.account = threading.Lock(), None, account
        self.sharded = nodes > 0
        self.nodes = [Node(self, i) for i in range(nodes or 1)]
        self.owner = [self.nodes[slot * len(self.nodes) // 16384] for slot in range(16384)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.kill()

    def owner_of(self, key):
        return self.owner[slot_of(key)]

    def url(self, name="test"):
        return "redis://127.0.0.1:%d/%s" % (self.nodes[0].port, name)

    def map(self):
        if not self.sharded:
            return b"-ERR This instance has cluster support disabled\r\n"
        ranges, start = [], 0
        for slot in range(1, 16385):
            if slot < 16384 and self.owner[slot] is self.owner[start]:
                continue
            node = array([bulk(b"127.0.0.1"), b":%d\r\n" % self.owner[start].port, bulk(b"id")])
            ranges.append(array([b":%d\r\n" % start, b":%d\r\n" % (slot - 1), node]))
            start = slot
        return array(ranges)

    def move(self, slot, node):
        """The slot and its keys are another node's from now on."""
        for key in [k for k in self.owner[slot].keys if slot_of(k) == slot]:
            node.keys[key] = self.owner[slot].keys.pop(key)
        self.owner[slot] = node

    def items(self):
        """What has been added, shard by shard."""
        return {key: value[1] for node in self.nodes for key, value in node.keys.items()}

    def commands(self, name):
        return [words for node in self.nodes for words in node.commands if words[0] == name]


# -- what tests send, and what goes wrong -------------------------------------------------------------


BATCH = int(re.search(r"BATCH = (\d+)", (ROOT / "cli/records/format/record.h").read_text()).group(1))


def lines(n, different, seed=1):
    draw = random.Random(seed)
    return [b"item-%d" % draw.randrange(different) for _ in range(n)]


def unique(records):
    return list(dict.fromkeys(records))


def text(records):
    return b"".join(record + b"\n" for record in records)


class Once:
    """A hook that does one thing to the n-th SEEN.MADDX and then no more."""

    def __init__(self, what, nth=1):
        self.what, self.left = what, nth

    def __call__(self, node, words):
        if words[0] != b"SEEN.MADDX":
            return None
        self.left -= 1
        return (self.what(node, words) if callable(self.what) else self.what) if self.left == 0 else None
