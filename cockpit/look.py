"""How django-unfold looks here: the value of the setting UNFOLD. Settings import it, so everything in it is lazy."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.utils.translation import gettext_lazy as _

PRIMARY = {
    "50": "oklch(96.2% .018 272.314)",
    "100": "oklch(93% .034 272.788)",
    "200": "oklch(87% .065 274.039)",
    "300": "oklch(78.5% .115 274.713)",
    "400": "oklch(67.3% .182 276.935)",
    "500": "oklch(58.5% .233 277.117)",
    "600": "oklch(51.1% .262 276.966)",
    "700": "oklch(45.7% .24 277.023)",
    "800": "oklch(39.8% .195 277.366)",
    "900": "oklch(35.9% .144 278.697)",
    "950": "oklch(25.7% .09 281.288)",
}


def _icon(request: HttpRequest | None = None) -> str:
    return static("cockpit/icon.svg")


def _styles(request: HttpRequest | None = None) -> str:
    return static("cockpit/cockpit.css")


def _scripts(request: HttpRequest | None = None) -> str:
    return static("cockpit/cockpit.js")


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Tokentrail",
    "SITE_HEADER": "Tokentrail",
    "SITE_SUBHEADER": _("Every step can be proved"),
    "SITE_ICON": _icon,
    "SITE_URL": None,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _icon}],
    "SHOW_LANGUAGES": True,
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "8px",
    "COLORS": {"primary": PRIMARY},
    "STYLES": [_styles],
    "SCRIPTS": [_scripts],
    "COMMAND": {"search_callback": "cockpit.pages.search.found", "search_models": False},
    "SIDEBAR": {"show_search": True, "show_all_applications": False, "navigation": "cockpit.navigation.entries"},
}
