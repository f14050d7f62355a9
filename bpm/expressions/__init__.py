"""Expressions of models: FEEL (DMN 1.5) and JUEL (as Camunda 7 uses it), safe and fast.

Design. Two parsers (`parse_feel`, `parse_juel`) give one tree of frozen nodes (`tree`). Two compilers
(`feel_compile`, `juel_compile`) turn it into closures, because null, coercion, index base and `+` differ; everything
else is shared: positions and errors (`errors`), limits (`limits`), the names an expression reads (`walkers`), the
cache (`compiled`), the host (`host`) and JSON (`boundary`).

Values are None, bool, int, Decimal (34 digits), str, date, time, datetime, the two durations, list, dict, FEEL ranges
and functions; never a float, and never a Python object reachable by a name from a model. Pure: no clock, no chance,
no I/O; `Host` brings the time.

Which language: a leading `=` is FEEL, `${` or `#{` anywhere makes a JUEL template, everything else is literal text.
"""

from __future__ import annotations

from bpm.expressions.boundary import Json, to_json, truth
from bpm.expressions.compiled import Compiled, Outcome, compile_text, compile_unary_tests
from bpm.expressions.errors import EvaluationFault, ExpressionError, LimitFault, SyntaxFault
from bpm.expressions.host import NO_HOST, Host, HostObject, Language

__all__ = [
    "NO_HOST",
    "Compiled",
    "EvaluationFault",
    "ExpressionError",
    "Host",
    "HostObject",
    "Json",
    "Language",
    "LimitFault",
    "Outcome",
    "SyntaxFault",
    "compile_text",
    "compile_unary_tests",
    "to_json",
    "truth",
]
