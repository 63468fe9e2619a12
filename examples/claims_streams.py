#!/usr/bin/python3
"""A worker of a Redis Streams consumer group.  Each job is done once in a day, however often it is in the stream and
even if workers die.

    redis-cli SEEN.CREATE '{jobs}:seen' sliding:24h filter=exact claims=10000
    redis-cli XADD '{jobs}:in' '*' id 17 payload ...
    examples/claims_streams.py [PORT]            as many as you like

A job is claimed, worked on, and then published and acked in one step by a script.  If the worker dies before that step,
its lease ends and another worker does the job.  The names share the hash tag {jobs}, so that a cluster keeps them together.
"""

import os
import sys
import time

import redis

SEEN, IN, OUT, GROUP = "{jobs}:seen", "{jobs}:in", "{jobs}:out", "workers"
LEASE = int(os.environ.get("LEASE", 30000))  # milliseconds: more than the work takes
PATIENCE = float(os.environ.get("PATIENCE", "inf"))  # seconds without a job, after which the worker ends

# Publishes only if the claim still lasts: otherwise another worker has the job by now.
FINISH = """
if redis.call('SEEN.ACK', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('XADD', KEYS[2], '*', 'id', ARGV[1], 'result', ARGV[3])
redis.call('XACK', KEYS[3], ARGV[4], ARGV[5])
return 1
"""


def work(fields):
    time.sleep(0.005)
    return fields[b"payload"].upper()


def handle(r, finish, entry, fields):
    item = fields[b"id"]
    answer, *number = r.execute_command("SEEN.CLAIM", SEEN, item, LEASE)
    if answer == b"new":
        result = work(fields)
        finish(keys=[SEEN, OUT, IN], args=[item, number[0], result, GROUP, entry])
    elif answer == b"seen":
        r.xack(IN, GROUP, entry)
    # pending: another worker has it.  The entry stays in the group, and comes again below.


def next_entries(r, me):
    """Entries that waited for longer than a lease, else new ones."""
    waiting = r.xpending_range(IN, GROUP, "-", "+", 10, idle=LEASE)
    if waiting:
        return r.xclaim(IN, GROUP, me, LEASE, [row["message_id"] for row in waiting])
    return [entry for _, entries in r.xreadgroup(GROUP, me, {IN: ">"}, count=10, block=100) for entry in entries]


def main():
    r = redis.Redis(port=int(sys.argv[1]) if len(sys.argv) > 1 else 6379)
    me, finish, idle_since = "worker-%d" % os.getpid(), r.register_script(FINISH), time.monotonic()
    try:
        r.xgroup_create(IN, GROUP, "0", mkstream=True)
    except redis.exceptions.ResponseError:
        pass  # the group is there
    while time.monotonic() - idle_since < PATIENCE:
        for entry, fields in next_entries(r, me):
            handle(r, finish, entry, fields)
            idle_since = time.monotonic()


if __name__ == "__main__":
    main()
