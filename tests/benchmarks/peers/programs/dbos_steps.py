"""DBOS Transact: workflows of ten steps that do nothing. Arguments: address of the database, workflows, threads."""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from dbos import DBOS, DBOSConfig

STEPS = 10
url, workflows, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
DBOS(
    config=DBOSConfig(
        name="benchmark",
        system_database_url=url,
        run_admin_server=False,
        log_level="ERROR",
        executor_id=f"process-{os.getpid()}",
        sys_db_pool_size=max(5, 2 * threads),
    )
)


@DBOS.step()
def step(number: int) -> int:
    """Nothing; that it was done is kept."""
    return number


@DBOS.workflow()
def steps() -> int:
    """Ten of them in a row."""
    return sum(step(number) for number in range(STEPS))


DBOS.launch()
with ThreadPoolExecutor(threads) as pool:
    list(pool.map(lambda _: steps(), range(2 * threads)))
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.monotonic()
    list(pool.map(lambda _: steps(), range(workflows)))
    ended = time.monotonic()
print(json.dumps({"n": workflows * STEPS, "began": began, "ended": ended}), flush=True)
os._exit(0)
