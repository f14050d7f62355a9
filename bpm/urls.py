"""Addresses that a project mounts with `path("", include("bpm.urls"))`: the API, Camunda 7's beside it, and what
operations ask.
"""

from __future__ import annotations

from django.urls import include, path, re_path

from bpm.api import health
from bpm.api.app import api
from bpm.api.camunda.app import addresses
from bpm.api.problems import documented, nothing_here

camunda = addresses()
urlpatterns = [
    path("api/", documented(api)),
    re_path("^api/", nothing_here),
    path("engine-rest/engine/default/", include(camunda)),
    path("engine-rest/", include(camunda)),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
]
