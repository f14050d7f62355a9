"""Evaluating FEEL in tests: `value` for the result, `text` for the result as FEEL writes it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from bpm.expressions import Host, Outcome, compile_text, compile_unary_tests
from bpm.expressions.feel_values import text_of
from bpm.expressions.limits import Budget

NOW = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)
HOST = Host(now=lambda: NOW, zone="Europe/Berlin")


def explained(source: str, scope: Mapping[str, object] | None = None, host: Host = HOST) -> Outcome:
    names = frozenset(scope or {})
    return compile_text(source, language="feel", names=names).explain(scope or {}, host)


def value(source: str, scope: Mapping[str, object] | None = None, host: Host = HOST) -> object:
    return explained(source, scope, host).value


def text(source: str, scope: Mapping[str, object] | None = None, host: Host = HOST) -> str:
    return text_of([value(source, scope, host)], Budget())[1:-1]


def met(tests: str, value: object, scope: Mapping[str, object] | None = None) -> object:
    return compile_unary_tests(tests).evaluate({**(scope or {}), "?": value}, HOST)
