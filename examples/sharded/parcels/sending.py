"""Sending a parcel: the row and the instance are there together, or neither is."""

from django.db import transaction

from parcels.models import Parcel
from sharded import verbs
from sharded.shards import shard_for, using


def send_parcel(number: str, sender: str, recipient: str) -> Parcel:
    """Save the parcel and start its process, in one transaction on the shard of its number."""
    with using(shard_for(number)), transaction.atomic():
        started = verbs.start("parcel", number, {"recipient": recipient}, actor=sender)
        return Parcel.objects.create(number=number, sender=sender, recipient=recipient, instance=started.thread_id)


def pay_parcel(number: str, payer: str) -> None:
    """Tell the parcel's process that it has been paid."""
    verbs.publish("parcel-paid", number, {"payer": payer}, actor=payer, key=f"paid/{number}")
