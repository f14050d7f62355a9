"""The cockpit as a Django app."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CockpitConfig(AppConfig):
    """Pages, admin tables and actions; no tables of its own."""

    name = "cockpit"
    label = "cockpit"
    verbose_name = _("Cockpit")

    def ready(self) -> None:
        """Say what is missing before a page does."""
        from cockpit import checks

        checks.install()
