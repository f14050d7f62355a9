"""Parcels as a Django app."""

from django.apps import AppConfig


class ParcelsConfig(AppConfig):
    """Tells the engine, in every program, which ids instances may have."""

    name = "parcels"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from bpm.store import ids
        from sharded.shards import belongs_here

        ids.choose(belongs_here)
