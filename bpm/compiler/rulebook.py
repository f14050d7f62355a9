"""All static rules, in the order in which their findings are made."""

from __future__ import annotations

from typing import Final

from bpm.compiler import (
    rules_collaboration,
    rules_data,
    rules_events,
    rules_expressions,
    rules_flows,
    rules_interfaces,
    rules_references,
)
from bpm.compiler.rules import Rule

RULES: Final[tuple[Rule, ...]] = (
    *rules_flows.RULES,
    *rules_events.RULES,
    *rules_expressions.RULES,
    *rules_collaboration.RULES,
    *rules_data.RULES,
    *rules_interfaces.RULES,
    *rules_references.RULES,
)
