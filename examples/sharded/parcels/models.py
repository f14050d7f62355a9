"""A parcel lies on the shard of its instance, so that one transaction holds both."""

from django.db import models


class Parcel(models.Model):
    """What somebody sent. Its number is the business key of its instance, and says where both live."""

    number = models.CharField(max_length=40, unique=True)
    sender = models.CharField(max_length=100)
    recipient = models.CharField(max_length=100)
    instance = models.UUIDField(unique=True)
    grams = models.PositiveIntegerField(null=True)

    def __str__(self) -> str:
        return self.number
