"""What a client asks before it begins: which engines there are, and whose API this is."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from bpm.api.camunda.authentication import may

router = Router()

ENGINE = "default"
# Of the API that is spoken here, not of this engine: what clients compare it with are Camunda's.
VERSION = "7.24.0"


@router.get("/engine", auth=None)
def list_engines(request: HttpRequest) -> Any:
    """The one engine; the only thing that anybody may ask."""
    return [{"name": ENGINE}]


@router.get("/version", auth=may("view", "work"))
def get_version(request: HttpRequest) -> Any:
    """The version of Camunda whose API this is."""
    return {"version": VERSION}
