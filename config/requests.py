"""How the site's web server answers a request.

All that the site does with one is synchronous. Django's own ASGI handler takes it to a thread and back at every
middleware, which costs more than the engine does; this one takes it there once.
"""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class InOneThread(ASGIHandler):
    """Middleware and view of a request run one after the other in one thread."""

    def load_middleware(self, is_async: bool = False) -> None:
        """Make the chain of the synchronous kind, whatever Django asks for."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """The answer of that chain."""
        return await sync_to_async(self.get_response)(request)
