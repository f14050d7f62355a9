"""What runs and what ran, shard by shard: manage.py processes."""

from typing import Any

from django.core.management.base import BaseCommand

from bpm.queries.instances import list_instances
from sharded import verbs


class Command(BaseCommand):
    """The list of the cockpit, of all shards."""

    help = "List the processes of all shards."

    def handle(self, *_: Any, **__: Any) -> None:
        for shard, page in verbs.everywhere(lambda: list_instances(size=100)).items():
            for one in page.items:
                self.stdout.write(f"{shard} {one.definition_key} {one.business_key} {one.state} {one.id}")
