"""Logs: one line an event, through structlog, whoever wrote it. JSON unless a person looks at a terminal."""

from __future__ import annotations

import os
import sys
from typing import Any

import structlog

SHARED_PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def logging_config(level: str) -> dict[str, Any]:
    """Django's LOGGING: everything from `level` on to standard error. TOKENTRAIL_LOG=json|console: the form."""
    form = os.environ.get("TOKENTRAIL_LOG") or ("console" if sys.stderr.isatty() else "json")
    renderers: dict[str, list[Any]] = {
        "console": [structlog.dev.ConsoleRenderer()],
        "json": [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": SHARED_PROCESSORS,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers[form]],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django's own handlers would print the same lines twice.
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            # A line for each round of each job, every second: what the jobs did is in history.
            "celery.app.trace": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
        },
    }


def configure_structlog() -> None:
    """Let structlog's loggers end in the standard library's, so that one configuration holds for all."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED_PROCESSORS,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
