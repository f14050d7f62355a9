"""Tokentrail's engine as a Django app."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.checks import register
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class BpmConfig(AppConfig):
    """The one app of the engine; its label is part of table and permission names."""

    name = "bpm"
    label = "bpm"
    verbose_name = _("Processes")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Find the handlers of the installed apps, let Celery know of ready work, keep the roles' groups current, check
        the settings.
        """
        from bpm.jobs.starting import start_up
        from bpm.store.access import keep_groups_current
        from bpm.store.checks import connections_are_kept

        start_up()
        register(connections_are_kept)
        post_migrate.connect(keep_groups_current, dispatch_uid="bpm.store.access")
