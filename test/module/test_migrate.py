"""doc/migrate-redisbloom.md is true: its commands answer as it shows; what does not carry over is refused."""

import os
import re
import struct
import subprocess

import pytest

import redis

from conftest import MODULE, ROOT, free_port, sanitizer

PAGE = ROOT / "doc/migrate-redisbloom.md"
LINE = re.compile(r"^ *(old|new)> (.+)$")


def shown(reply):
    """As redis-cli prints it."""
    if isinstance(reply, list):
        return "\n".join("%d) %s" % (i, shown(r)) for i, r in enumerate(reply, 1))
    if isinstance(reply, redis.exceptions.ResponseError):
        return "(error) %s" % reply
    return "(integer) %d" % reply if isinstance(reply, int) else reply.decode()


def steps():
    """(server, command, reply) of each command of the page."""
    found, inside = [], False
    for line in PAGE.read_text().splitlines():
        if line.strip().startswith("```"):
            inside = line.strip() == "```console"
        elif inside and LINE.match(line):
            found.append([*LINE.match(line).groups(), ""])
        elif inside:
            found[-1][2] += line.strip() + "\n"
    return found


def test_each_command_of_the_page_answers_as_it_shows(start):
    """The old server is played by the module's own BF.*, which answer alike."""
    server = {"old": start(), "new": start()}
    assert len(steps()) >= 15
    for name, command, reply in steps():
        client = redis.connection.Connection(port=server[name].port)
        client.connect()
        client.send_command(*command.split())
        try:
            answer = client.read_response()
        except redis.exceptions.ResponseError as e:
            answer = redis.exceptions.ResponseError("ERR " + str(e))
        client.disconnect()
        assert re.sub("[`'‘’]", "'", shown(answer)).strip() == re.sub("[`'‘’]", "'", reply).strip(), command


def foreign_header():
    """What BF.SCANDUMP of RedisBloom gives first: a chain of one link."""
    return struct.pack("<QIII", 1, 1, 5, 2) + struct.pack("<QQQddLQB", 144, 1152, 1, 0.005, 11.0, 8, 100, 0)


@pytest.mark.parametrize("iterator", [1, 145])
def test_a_chunk_of_theirs_is_recognised_and_changes_nothing(r, refused, iterator):
    refused(lambda: r.execute_command("BF.LOADCHUNK", "k", iterator, foreign_header()), "RedisBloom", "add its items")
    assert not r.exists("k")
    r.execute_command("BF.ADD", "k", "a")
    refused(lambda: r.execute_command("BF.LOADCHUNK", "k", iterator, foreign_header()), "RedisBloom")
    assert r.execute_command("BF.EXISTS", "k", "a") == 1


def as_aof(*commands):
    out = b""
    for command in commands:
        words = [w if isinstance(w, bytes) else str(w).encode() for w in command]
        out += b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)
    return out


def begin(program, home, aof):
    """A server that is to read this AOF; what it says, and whether it began."""
    (home / "appendonlydir").mkdir()
    (home / "appendonlydir/appendonly.aof.1.incr.aof").write_bytes(aof)
    (home / "appendonlydir/appendonly.aof.manifest").write_text("file appendonly.aof.1.incr.aof seq 1 type i\n")
    port = free_port()
    process = subprocess.Popen([program, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(home), "--save", "",
                                "--appendonly", "yes", "--loadmodule", MODULE], stdout=open(home / "log", "wb"),
                               env={**os.environ, **sanitizer()})
    return process, port


def test_an_aof_with_theirs_refuses_at_start(program, tmp_path):
    process, _ = begin(program, tmp_path, as_aof(["SELECT", 0], ["SET", "a", "b"],
                                                 ["BF.LOADCHUNK", "filter", 1, foreign_header()]))
    try:
        assert process.wait(60) != 0
    finally:
        process.kill()
    log = (tmp_path / "log").read_text(errors="replace")
    assert "key 'filter': this chunk is of a dump by RedisBloom" in log


def test_an_aof_of_their_commands_is_replayed(program, tmp_path, start):
    process, port = begin(program, tmp_path, as_aof(["SELECT", 0], ["BF.RESERVE", "b", "0.01", 100], ["BF.ADD", "b", "x"],
                                                    ["BF.MADD", "c", "y", "z"]))
    try:
        r = redis.Redis(port=port)
        other = start()
        other.wait(lambda: r.ping(), 60)
        assert r.execute_command("BF.MEXISTS", "c", "x", "y", "z") == [0, 1, 1]
        assert r.execute_command("BF.EXISTS", "b", "x") == 1
    finally:
        process.terminate()
        process.wait(60)
