"""What happens when a program with the engine in it starts: handlers are found, ready work is announced to Celery, and
a program that works (web server, worker, beat) asks first whether the database is what it was written for.

Setting BPM_CELERY_APP names the Celery app that carries wake-ups ("config.celery.app"). Without it nothing is sent from
this program; the sweeps of whoever runs beat find the work.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any

import structlog
from django.conf import settings
from django.db import Error, connections
from django.utils.module_loading import autodiscover_modules, import_string

from bpm.engine.announcing import Announcement, register
from bpm.engine.recovery import MONTHS_AHEAD
from bpm.store import StoreError, schedule, schema

if TYPE_CHECKING:
    from bpm.jobs.announcer import Sender

log = structlog.get_logger(__name__)


def start_up() -> None:
    """Import `handlers` of every installed app, register the announcer, and log where the project logs."""
    if not structlog.is_configured():
        _log_through_the_standard_library()
    autodiscover_modules("handlers")
    if getattr(settings, "BPM_CELERY_APP", None):
        register("celery", tell_celery)


def _log_through_the_standard_library() -> None:
    """structlog by itself prints to standard output, where it would mix with what a command answers. So LOGGING
    decides, as it does in a Django project; one that sets structlog up itself is left as it is.
    """
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.filter_by_level,
            _in_a_line,
            structlog.stdlib.render_to_log_kwargs,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def _in_a_line(_logger: Any, _method: str, said: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """An ordinary formatter shows the message alone: the values belong into it."""
    kept = {name: said.pop(name) for name in ("exc_info", "stack_info") if name in said}
    event = said.pop("event")
    return {"event": " ".join([str(event), *(f"{name}={value}" for name, value in said.items())]), **kept}


def tell_celery(announcement: Announcement) -> None:
    """Hand over to the sending thread."""
    _sender(settings.BPM_CELERY_APP).tell(announcement)


@cache
def _sender(app: str) -> Sender:
    """Celery is loaded by the first announcement, not by every command."""
    # The threads of a server see the default app, not the one that was current where it was made.
    import_string(app).set_default()
    from bpm.jobs.announcer import SENDER

    return SENDER


def require_schema() -> None:
    """Let the program start only on a database that is fit (`bpm.store.schema`); else end it, with everything that
    differs. Call it where a program that works begins: in asgi.py or wsgi.py, say.

    A database that does not answer is no reason to end: /readyz says so, and what works tries again. Raises SystemExit.
    """
    # A server may load its application in an event loop, where Django lets nobody ask a database.
    with ThreadPoolExecutor(1) as elsewhere:
        verdict = elsewhere.submit(_judged).result()
    if verdict is None:
        return
    for note in verdict.notes:
        log.info("schema", note=note)
    if not verdict.fit:
        sys.exit(str(schema.SchemaDiffers(verdict.differences)))


def _judged() -> schema.Verdict | None:
    try:
        # What was off for months finds no month ahead, and nobody runs that could make it.
        with contextlib.suppress(Error, StoreError):
            schedule.ensure_partitions(MONTHS_AHEAD)
        return schema.verify()
    except Error as trouble:
        log.warning("schema not checked", trouble=str(trouble))
        return None
    finally:
        connections.close_all()
