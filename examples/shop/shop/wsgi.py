"""The shop for a web server."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")

application = get_wsgi_application()

# Imports apps, so it comes after they were set up.
from bpm.jobs.starting import require_schema  # noqa: E402

require_schema()
