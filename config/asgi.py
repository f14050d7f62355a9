"""The site as an ASGI application, for uvicorn."""

from __future__ import annotations

import os
import warnings

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Each request runs in a thread of its own here, so connections are kept in a pool, not one a thread.
os.environ.setdefault("DATABASE_POOL_SIZE", "8")
# Static files are few and small, and whitenoise reads them synchronously: Django says so at each of them.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

application = get_asgi_application()

# Imports apps, so it comes after they were set up.
from bpm.jobs.starting import require_schema  # noqa: E402

require_schema()
