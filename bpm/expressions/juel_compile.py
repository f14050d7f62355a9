"""JUEL trees to closures."""

from __future__ import annotations

from bpm.expressions.errors import EvaluationFault
from bpm.expressions.host import Closure
from bpm.expressions.tree import Node


def compile_juel(tree: Node, text: str) -> Closure:
    """The closure of a JUEL tree."""
    raise EvaluationFault("being written", text)
