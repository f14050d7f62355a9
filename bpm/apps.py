"""Tokentrail's engine as a Django app."""

from __future__ import annotations

from django.apps import AppConfig, apps
from django.core.exceptions import ImproperlyConfigured
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class BpmConfig(AppConfig):
    """The one app of the engine; its label is part of table and permission names."""

    name = "bpm"
    label = "bpm"
    verbose_name = _("Processes")
    default_auto_field = "django.db.models.BigAutoField"

    def import_models(self) -> None:
        """As Django does it. Raises ImproperlyConfigured without the app that the rules of the tables need."""
        if not apps.is_installed("pgtrigger"):
            raise ImproperlyConfigured("bpm needs the app pgtrigger: add 'pgtrigger' to INSTALLED_APPS")
        super().import_models()

    def ready(self) -> None:
        """Find the handlers of the installed apps, let Celery know of ready work, keep the roles' groups current."""
        from bpm.jobs import checks
        from bpm.jobs.starting import start_up
        from bpm.store.access import keep_groups_current

        checks.install()
        start_up()
        post_migrate.connect(keep_groups_current, dispatch_uid="bpm.store.access")
