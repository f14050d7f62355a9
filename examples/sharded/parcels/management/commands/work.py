"""Work for all shards: manage.py work [--until-done].

Each shard has its turn: what its schedule asks for, then one task of each topic. Run as many as you like. A shard with
much to do may have workers of its own (SHARD=... celery -A sharded worker), which ask no other.
"""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from bpm.jobs.handlers import topics
from bpm.jobs.running import run_one
from bpm.jobs.schedule import Rounds
from bpm.queries.instances import list_instances
from sharded import verbs
from sharded.shards import SHARDS, using

IDLE = 0.2


class Command(BaseCommand):
    """A worker and a scheduler in one, over all shards."""

    help = "Do the external tasks and the schedule of all shards."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--until-done", action="store_true", help="end when no process runs any more")

    def handle(self, *_: Any, until_done: bool, **__: Any) -> None:
        rounds = {shard: Rounds() for shard in SHARDS}
        while True:
            done = 0
            for shard in SHARDS:
                with using(shard):
                    done += rounds[shard].run_due() + sum(run_one(topic, beside=topics()) for topic in topics())
            if not done:
                if until_done and not any(verbs.everywhere(lambda: list_instances(states=["RUNNING"]).items).values()):
                    break
                time.sleep(IDLE)
