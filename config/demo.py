"""What script/up puts into the engine: the examples' models, and a few instances to look at, each started once.

With EXAMPLES=0 it puts in nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from config.local import ROOT

ACTOR = "script/up"
MODELS: Sequence[str] = (
    "orders/order.bpmn",
    "invoice/clarification.bpmn",
    "invoice/approver.dmn",
    "invoice/invoice.bpmn",
)


@dataclass(frozen=True, slots=True)
class Demo:
    """An instance to look at. Its key makes sure that it is started once, however often script/up runs."""

    process: str
    business_key: str
    variables: Mapping[str, Any] = field(default_factory=dict)


DEMOS: Sequence[Demo] = (
    Demo("order", "ORDER-1", {"customer": "Ada", "quantity": 1}),
    Demo("order", "ORDER-2", {"customer": "Grace", "quantity": 25}),
    Demo("order", "ORDER-3", {"customer": "Edsger", "quantity": 1, "card": "declined"}),
    Demo("order", "ORDER-4", {"customer": "Barbara", "quantity": 2, "card": "flaky"}),
    Demo("order", "ORDER-5", {"customer": "Tony", "quantity": 2, "card": "unreachable"}),
    Demo("invoice", "INVOICE-1", {"supplier": "Paper & Co", "amount": 120}),
)


def deploy_examples() -> None:
    """Deploy the examples' models; those that are deployed already, unchanged, stay as they are."""
    from bpm import engine

    if not settings.EXAMPLES:
        return
    files = {name: (ROOT / "examples" / name).read_bytes() for name in MODELS}
    engine.deploy(files, actor=ACTOR)


def start_demos() -> None:
    """Start the instances that were not started before."""
    from bpm import engine

    for demo in DEMOS if settings.EXAMPLES else ():
        engine.start(
            demo.process,
            business_key=demo.business_key,
            variables=demo.variables,
            actor=ACTOR,
            key=f"demo-{demo.business_key}",
        )
