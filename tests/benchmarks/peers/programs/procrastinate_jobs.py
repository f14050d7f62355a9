"""Procrastinate: jobs that do nothing, taken from its queue. Arguments: address of the database, jobs, concurrency."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time

from procrastinate import App, PsycopgConnector

url, jobs, concurrency = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
logging.disable(logging.CRITICAL)
app = App(connector=PsycopgConnector(conninfo=url, min_size=1, max_size=concurrency + 2))


@app.task(queue="bench")
async def nothing(n: int) -> int:
    """Nothing."""
    return n


async def main() -> None:
    """Lay them, then take them until there are none."""
    async with app.open_async():
        there = await app.connector.execute_query_one_async(
            "SELECT to_regclass('procrastinate_jobs') IS NOT NULL AS there"
        )
        if not there["there"]:
            await app.schema_manager.apply_schema_async()
        await nothing.batch_defer_async(*({"n": n} for n in range(jobs)))
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        began = time.monotonic()
        await app.run_worker_async(
            queues=["bench"], wait=False, concurrency=concurrency, install_signal_handlers=False, listen_notify=False
        )
        print(json.dumps({"n": jobs, "began": began, "ended": time.monotonic()}), flush=True)


asyncio.run(main())
