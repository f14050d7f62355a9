"""What Django's `check` says of a project in which the cockpit lacks what its pages stand on."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, Error, register

NEEDED = ("unfold", "unfold.contrib.filters", "django.contrib.admin", "django.contrib.messages")


def check_apps(**_: Any) -> list[CheckMessage]:
    """cockpit.E001: an app is missing; cockpit.E002: unfold stands behind the admin whose templates it replaces."""
    installed = [config.name for config in apps.get_app_configs()]
    missing = [name for name in NEEDED if name not in installed]
    if missing:
        hint = f"Add {', '.join(missing)} to INSTALLED_APPS; unfold stands before django.contrib.admin."
        return [Error("The cockpit's pages need apps that are not installed.", hint=hint, id="cockpit.E001")]
    if installed.index("unfold") > installed.index("django.contrib.admin"):
        hint = "Put cockpit, unfold and unfold.contrib.filters before django.contrib.admin in INSTALLED_APPS."
        return [Error("unfold must replace the admin's templates, but stands behind it.", hint=hint, id="cockpit.E002")]
    return []


def install() -> None:
    """Let `manage.py check`, and what runs it (migrate, runserver), ask."""
    register(check_apps)
