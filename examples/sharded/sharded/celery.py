"""The Celery app of one shard: SHARD=shard0 celery -A sharded worker, SHARD=shard0 celery -A sharded beat."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sharded.settings")

app = Celery("sharded")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["bpm"], related_name="jobs.tasks")
