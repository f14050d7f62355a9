"""The cockpit as a Django app."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CockpitConfig(AppConfig):
    """Pages, admin tables and actions; no tables of its own."""

    name = "cockpit"
    label = "cockpit"
    verbose_name = _("Cockpit")
