"""Read-only admin tables of runtime and history, in django-unfold's look; and the people who may log in.

Django's autodiscovery imports this package, and that registers them.
"""

from __future__ import annotations

from cockpit.admin import people, tables
from cockpit.site import site

tables.register(site)
people.register(site)
