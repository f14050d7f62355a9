"""The site's Celery app: worker and beat load it with `celery -A config`."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("tokentrail")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["bpm"], related_name="jobs.tasks")


@setup_logging.connect
def keep_django_logging(**_: Any) -> None:
    """Django has configured the logs; whoever receives this signal keeps Celery from doing it again."""
