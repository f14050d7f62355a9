"""Send parcels: manage.py send_parcel NUMBER... --sender NAME --recipient NAME [--paid]."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from parcels.sending import pay_parcel, send_parcel
from sharded.shards import shard_of


class Command(BaseCommand):
    """Sends them, says where each lives, and pays where that was said."""

    help = "Send parcels."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("numbers", nargs="+", metavar="NUMBER")
        parser.add_argument("--sender", required=True)
        parser.add_argument("--recipient", required=True)
        parser.add_argument("--paid", action="store_true", help="the sender pays at once")

    def handle(self, *_: Any, numbers: list[str], sender: str, recipient: str, paid: bool, **__: Any) -> None:
        for number in numbers:
            parcel = send_parcel(number, sender, recipient)
            self.stdout.write(f"{number} {shard_of(parcel.instance)} {parcel.instance}")
            if paid:
                pay_parcel(number, sender)
