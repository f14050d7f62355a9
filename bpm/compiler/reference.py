"""The reference of what runs, as Markdown: written from the compiler's own tables, so that it cannot be wrong.

`manage.py bpm reference` prints it; docs/bpmn.md is what it printed.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Final

from bpm.compiler.diagnostics import FINDINGS
from bpm.compiler.listeners import BEFORE, BEHIND, WHEN
from bpm.compiler.lowering import LOWER
from bpm.compiler.review import CODES
from bpm.compiler.rulebook import RULES
from bpm.compiler.supported import EVENTS, FEATURES, phrase
from bpm.compiler.vocabulary import ATTRIBUTES, ELEMENTS, FAMILY, ZEEBE, ZEEBE_ELEMENTS, Use
from bpm.graph.model import NODE_KINDS, TRIGGER_KINDS

# Columns of the table of events: heading -> (kind of node, position).
_POSITIONS: Final = {
    "start of a process": ("start", "process"),
    "of a subprocess": ("start", "subprocess"),
    "of an event subprocess, interrupting": ("start", "interrupting"),
    "not interrupting": ("start", "non-interrupting"),
    "catch": ("catch", ""),
    "boundary, interrupting": ("boundary", "interrupting"),
    "boundary, not interrupting": ("boundary", "non-interrupting"),
    "throw": ("throw", ""),
    "end": ("end", ""),
}
# Of kinds of nodes, what a token does there.
DOES: Final = {
    "start": "The token begins.",
    "end": "The token ends, in the way that its event says.",
    "catch": "Waits for its event.",
    "throw": "Brings its event about and goes on.",
    "boundary": "Waits beside an activity.",
    "pass": "Goes through; nothing is waited for.",
    "external": "Work for a worker outside, which finds it by its topic.",
    "decision": "Evaluates a decision (DMN).",
    "send": "Sends a message to another instance.",
    "user": "Work for a person.",
    "receive": "Waits for a message; `instantiate` starts the process.",
    "call": "Runs another process and waits for its end.",
    "subprocess": "Waits for what is inside.",
    "event_subprocess": "Begins when its event comes.",
    "exclusive": "Takes the first flow whose condition holds, else the default.",
    "parallel": "Takes all flows; joins one token of each.",
    "inclusive": "Takes each flow whose condition holds; joins what can still come.",
    "event_based": "Waits for the first of the events behind it; `instantiate` starts the process.",
    "complex": "Joins by its activation condition.",
}
_USES: Final[dict[Use, str]] = {
    "honoured": "Honoured",
    "noted": "Noted: no effect here, and the deployment says so",
    "listener": "Listeners: each is a step of its own (below), or refused",
    "refused": "Refused: the model would do something else without it",
}
_HEAD: Final = """# What of BPMN runs

This page is written by `manage.py bpm reference` from the tables of `bpm.compiler`; a test compares them. How an
element is added stands in [adding-an-element.md](adding-an-element.md).
"""

_EXTERNAL_TASK: Final = """### Expressions of an external task

`camunda:errorEventDefinition` sees the task as `externalTask`, with the members of Camunda 7. Its `id` is the number
of the task within its instance (as text), not the UUID that workers know it by: what is decided knows no other ids, so
that deciding again gives the same.
"""


def markdown() -> str:
    """The whole page."""
    parts = [_HEAD, *_elements(), *_events(), *_features(), *_vocabulary(), *_rules(), *_findings()]
    return "\n".join(parts)


def _elements() -> Iterator[str]:
    yield "## Elements\n"
    yield "Every flow element becomes a node of one kind; the kind says what a token does there.\n"
    rows = []
    for kind, tags in NODE_KINDS.items():
        rows.append((f"`{kind}`", ", ".join(f"`{tag}`" for tag in tags if tag in LOWER), DOES[kind]))
    yield _table(("kind", "elements", "what a token does"), rows)
    yield "A `businessRuleTask` is a decision where it calls one, a `sendTask` sends where nothing says how it is done;"
    yield "else both are work outside. A `scriptTask` in FEEL or JUEL is computed by the engine (`pass`).\n"


def _events() -> Iterator[str]:
    yield "## Events\n"
    yield "● runs, ○ is BPMN that does not run yet; where there is nothing, BPMN has no such event"
    yield "(BPMN 2.0.2, tables 10.84 to 10.93).\n"
    rows = []
    for trigger in TRIGGER_KINDS:
        cells = [
            _mark(FEATURES.get((kind, trigger, position))) if trigger != "compensation" or kind != "boundary" else ""
            for kind, position in _POSITIONS.values()
        ]
        rows.append((trigger.replace("_", " "), *cells))
    yield _table(("", *_POSITIONS), rows)
    undone = _mark(FEATURES["boundary", "compensation", ""])
    yield f"A compensation boundary event ({undone}) interrupts nothing: its activity has ended when it matters.\n"


def _features() -> Iterator[str]:
    yield "## Activities, gateways and their marks\n"
    rows = [(phrase(feature), _mark(runs)) for feature, runs in FEATURES.items() if feature[0] not in EVENTS]
    yield _table(("", "runs"), rows)


def _mark(runs: bool | None) -> str:
    return "" if runs is None else "●" if runs else "○"


def _vocabulary() -> Iterator[str]:
    yield "## The words of the vendors\n"
    yield f"{', '.join(sorted(FAMILY.values()))} are one vocabulary here (the *camunda family*); zeebe has its own."
    yield "A word that is in none of these tables has no effect, and the deployment says so.\n"
    for title, words in (
        ("Attributes of the camunda family", ATTRIBUTES),
        ("Elements of the camunda family", ELEMENTS),
        ("Elements of zeebe", ZEEBE_ELEMENTS),
    ):
        yield f"### {title}\n"
        yield from _uses(words)
    yield from _listeners()
    yield _EXTERNAL_TASK
    yield "Namespaces:\n"
    yield "\n".join(f"- {name}: `{uri}`" for uri, name in (*FAMILY.items(), (ZEEBE, "zeebe"))) + "\n"


def _listeners() -> Iterator[str]:
    yield "### Listeners\n"
    yield "What a listener does is a step of its own, `<element>:<event>:<number>` (of a process or event subprocess:"
    yield "`<start event>:<element>:<event>:<number>`): work for a worker, found by the"
    yield "class, the bean's method or `script:<format>`, or computed where it only sets a variable. Where no token"
    yield "passes, the model is refused (`listener-not-run`), unless it is deployed with `--ignore listener-not-run`.\n"
    places = {BEFORE: "before the element", BEHIND: "behind it", "take": "on the flow"}
    yield _table(("event", "where"), [(f"`{event}`", places[where]) for event, where in WHEN.items()])
    yield "Behind a start or boundary event, whichever is said; before an end event and a gateway that chooses. Not run"
    yield "are other events, those of a multi-instance, of a join, and the end of a process.\n"


def _uses(words: dict[str, tuple[Use, str]]) -> Iterator[str]:
    for use, said in _USES.items():
        found = sorted((name, why) for name, (one, why) in words.items() if one == use)
        if not found:
            continue
        if any(why for _, why in found):
            code = f" (`{CODES[use]}`)" if use in CODES else ""
            yield f"{said}{code}:\n"
            yield _table(("word", "why"), [(f"`{name}`", why) for name, why in found])
        else:
            yield f"{said}: {', '.join(f'`{name}`' for name, _ in found)}.\n"


def _rules() -> Iterator[str]:
    yield "## Static rules\n"
    yield "Rules of the standard that are checked when a model is deployed. An error refuses it; `--strict` makes"
    yield "errors of the warnings, too, but for advice (marked *).\n"
    rows = [
        (f"`{rule.code}`" + ("" if rule.strict else " *"), rule.severity, _said(rule.check), rule.source)
        for rule in RULES
    ]
    yield _table(("code", "severity", "rule", "BPMN 2.0.2"), sorted(rows))


def _said(check: object) -> str:
    """The first paragraph of a docstring, as one line."""
    return " ".join((inspect.getdoc(check) or "").partition("\n\n")[0].split())


def _findings() -> Iterator[str]:
    yield "## Other findings\n"
    yield "What reading and compiling a model may find besides.\n"
    rows = [(f"`{code}`", severity, said) for code, (severity, said) in FINDINGS.items()]
    yield _table(("code", "severity", "what it says"), rows)


def _table(head: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [tuple(head), *rows]
    written = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]
    written.insert(1, "|" + "---|" * len(lines[0]))
    return "\n".join(written) + "\n"
