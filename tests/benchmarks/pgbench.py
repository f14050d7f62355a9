"""pgbench on the server under test: the limit, and its own tpcb-like for orientation."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.ground import Ground

LIMIT = Path(__file__).with_name("limit.sql")
_RATE = re.compile(r"tps = ([\d.]+) \(without initial connection time\)")
_DONE = re.compile(r"number of transactions actually processed: (\d+)")


@dataclass(frozen=True, slots=True)
class Rate:
    """How many transactions, how many a second, and the server's processor seconds meanwhile."""

    transactions: int
    rate: float
    cpu: float

    @property
    def seconds(self) -> float:
        """How long it took without connecting."""
        return self.transactions / self.rate


def run(
    ground: Ground,
    database: str,
    script: Path | None,
    clients: int,
    transactions: int,
    variables: Mapping[str, object] | None = None,
) -> Rate:
    """So many transactions of each client; without a script, tpcb-like (its tables must be there).

    Raises RuntimeError where pgbench failed or a transaction did.
    """
    command = ["-M", "prepared", "-n", "-c", str(clients), "-j", str(min(2, clients)), "-t", str(transactions)]
    command += ["-b", "tpcb-like"] if script is None else ["-f", str(script)]
    for name, value in (variables or {}).items():
        command += ["-D", f"{name}={value}"]
    before = ground.cpu()
    said = _pgbench(ground, database, *command)
    cpu = ground.cpu() - before
    rate, done = _RATE.search(said), _DONE.search(said)
    if rate is None or done is None or int(done.group(1)) != clients * transactions:
        raise RuntimeError(f"pgbench did not do all of it:\n{said[-2000:]}")
    return Rate(int(done.group(1)), float(rate.group(1)), cpu)


def make_tpcb_tables(ground: Ground, database: str, scale: int) -> None:
    """The tables of tpcb-like in a database of that name."""
    _pgbench(ground, database, "-i", "-q", "-s", str(scale))


def _pgbench(ground: Ground, database: str, *arguments: str) -> str:
    done = subprocess.run(
        [str(ground.postgres.binaries / "pgbench"), "-h", str(ground.postgres.sockets), "-U", "postgres", *arguments,
         database],
        capture_output=True,
        text=True,
        # The plan for any values from the first execution on: for statements that look up rows by key it is the same.
        env={**os.environ, "PGOPTIONS": "-c plan_cache_mode=force_generic_plan"},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"pgbench failed:\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
    return done.stdout
