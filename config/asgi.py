"""The site as an ASGI application, for uvicorn."""

from __future__ import annotations

import os
import warnings

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Each request runs in a thread of its own here, so connections are kept in a pool, not one a thread.
os.environ.setdefault("DATABASE_POOL_SIZE", "8")
# Static files are few and small, and whitenoise reads them synchronously: Django says so at each of them.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

django.setup(set_prefix=False)

# They import apps, so they come after those were set up.
from bpm.jobs.starting import require_schema  # noqa: E402
from config.bodies import bounded  # noqa: E402
from config.requests import InOneThread  # noqa: E402

application = bounded(InOneThread())
require_schema()
