"""Why an instance is where it is: of each open token how it came there, what it waits for, and who can move it."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

from django.http import HttpRequest

from bpm.audit.explain import explain_tokens, open_tokens
from bpm.audit.trace import last_of_tokens
from bpm.queries.nodes import name_of
from cockpit.pages.instance import found
from cockpit.pages.sentences import sentence_of
from cockpit.pages.shown import Shown

# Tokens that are explained, and the last steps of each.
TOKENS = 20
STEPS = 6


def part(request: HttpRequest, id: UUID) -> Shown:
    """The explanations, for htmx."""
    instance = found(id)
    tokens = open_tokens(id, TOKENS + 1)
    came = last_of_tokens(id, tokens[:TOKENS], STEPS) if tokens else {}

    def named(node: str) -> str:
        return name_of(instance.definition_id, node)

    explained: list[dict[str, Any]] = [
        {
            "token": one,
            "came": [(event, sentence_of(event, named)) for event in came.get(one.token_id, ())],
            # Of what is waited for alike one is told, with how many there are.
            "waits": Counter((wait.text, wait.mover) for wait in one.waits).items(),
        }
        for one in explain_tokens(tokens[:TOKENS])
    ]
    context = {"instance": instance, "explained": explained, "more": len(tokens) > TOKENS}
    return Shown("cockpit/reasons.html", context=context, fragment=True)
