#!/usr/bin/python3
"""A worker of a NATS JetStream consumer.  Each job is done once in a day, however often it is published and even
if workers die.

    redis-cli SEEN.CREATE jobs sliding:24h filter=exact claims=10000
    examples/claims_nats.py nats://127.0.0.1:4222 [REDIS-PORT]            as many as you like

It needs nats-py (PyPI) and two streams: JOBS with the subject jobs.in, and DONE with the subject jobs.out.  A message has
the id of its job in the header Job.

A worker that dies between its publication and its ack leaves a claim that ends, and another worker publishes the result
again.  The header Nats-Msg-Id closes this gap: JetStream drops a message whose id it had in the last two minutes
(duplicate_window).  So the lease has to be shorter than that.  The window of a day is seen's.
"""

import asyncio
import os
import sys
import time

import nats
import redis

LEASE = int(os.environ.get("LEASE", 30000))  # milliseconds: more than the work takes, less than duplicate_window
PATIENCE = float(os.environ.get("PATIENCE", "inf"))  # seconds without a job, after which the worker ends


async def work(message):
    await asyncio.sleep(0.005)
    return message.data.upper()


async def handle(r, js, message):
    job = message.headers["Job"]
    answer, *number = r.execute_command("SEEN.CLAIM", "jobs", job, LEASE)
    if answer == b"new":
        result = await work(message)
        await js.publish("jobs.out", result, headers={"Nats-Msg-Id": job})
        if r.execute_command("SEEN.ACK", "jobs", job, number[0]) == 1:
            await message.ack()  # else the lease had ended: the message comes again, and is seen by then
    elif answer == b"pending":
        await message.nak(delay=number[0] / 1000)
    else:
        await message.ack()


async def main():
    r = redis.Redis(port=int(sys.argv[2]) if len(sys.argv) > 2 else 6379)
    connection = await nats.connect(sys.argv[1])
    js = connection.jetstream()
    jobs = await js.pull_subscribe("jobs.in", durable="workers", stream="JOBS")
    idle_since = time.monotonic()
    while time.monotonic() - idle_since < PATIENCE:
        try:
            for message in await jobs.fetch(10, timeout=0.2):
                await handle(r, js, message)
                idle_since = time.monotonic()
        except asyncio.TimeoutError:
            pass  # no message
    await connection.close()


if __name__ == "__main__":
    asyncio.run(main())
