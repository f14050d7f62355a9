"""Addresses that a project mounts with `path("", include("bpm.urls"))`: the API, and what operations ask."""

from __future__ import annotations

from django.urls import path, re_path

from bpm.api import health
from bpm.api.app import api
from bpm.api.problems import documented, nothing_here

urlpatterns = [
    path("api/", documented(api)),
    re_path("^api/", nothing_here),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
]
