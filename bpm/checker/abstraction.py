"""A process without its data: the same nodes and flows, in which what data decides is a question.

What `abstract` gives is an ordinary graph for the ordinary `decide`. It allows every behaviour of the process and,
where data is never such, more:

| in the process                              | in the abstract graph                                                  |
|---------------------------------------------|------------------------------------------------------------------------|
| a constant                                  | stays                                                                  |
| conditions of flows, events, completion     | a question: yes or no                                                  |
| a standard or sequential loop               | a question after each round: another one?                              |
| a parallel multi-instance                   | a question: 0, 1, ... rounds, up to a bound                            |
| names and codes that are computed           | a question: any of those that the model has, or another                |
| a decision (DMN)                            | is passed                                                              |
| variables, mappings, correlation, priority  | nothing; where events wait for conditions, that something was written  |
| dates and durations of timers               | some time ahead, which may come at any moment; cycles keep their count |

A node at which something is asked, and one that closes a cycle, begins a step of its own (`async_before`), so that no
step asks much. That splits steps which are one commit live, and adds no situation in which all is at rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from bpm.checker.questions import Question, asking
from bpm.expressions import ExpressionError, compile_text
from bpm.graph import Formula, LoopSpec, Mapping, Node, Process, Trigger, UserSpec
from bpm.semantics.rounds import COUNTS

# Of so many elements of an ad-hoc subprocess every choice is looked at; of more only one alone and all together.
FEW_ELEMENTS = 3
# What is written where something is: which variable does not matter, conditions are answered anyhow.
WRITTEN = "something"
_TIME = "PT1H"


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstract:
    """An abstract graph, what it asks, and the process it was made of."""

    process: Process
    original: Process
    questions: tuple[Question, ...]


def abstract(process: Process, *, rounds: int = 2) -> Abstract:
    """The process without its data. `rounds`: how many a parallel multi-instance has at most."""
    maker = _Maker(process, rounds)
    flows = {}
    for flow in process.flows.values():
        asks = flow.condition is not None and _chooses(process.nodes[flow.source]) and not _default(process, flow.id)
        condition = maker.truth("flow", flow.id, flow.source, flow.condition) if asks else None
        flows[flow.id] = replace(flow, condition=condition)
    nodes = {node.id: maker.node(node) for node in process.nodes.values()}
    askers = {question.node for question in maker.questions} | set(_closing(process))
    for id in askers:
        if nodes[id].kind not in ("boundary", "start"):
            nodes[id] = replace(nodes[id], async_before=True)
    scopes = {id: replace(scope, data=()) for id, scope in process.scopes.items()}
    made = replace(process, nodes=nodes, flows=flows, scopes=scopes, reads=(), dynamic=False)
    return Abstract(process=made, original=process, questions=tuple(maker.questions))


def constant(formula: Formula | None) -> str | None:
    """The text that the formula always gives; None where it depends on something."""
    if formula is None or formula.kind != "text":
        return None
    try:
        compiled = compile_text(formula.text, language=formula.language)  # type: ignore[arg-type]
        return str(compiled.evaluate({})) if compiled.constant else None
    except ExpressionError:
        return None


def triggers(process: Process) -> Iterator[tuple[Node, Trigger]]:
    """Every event of the process with each thing that it waits for or throws, loops' events among them."""
    for node in process.nodes.values():
        if node.trigger is not None:
            yield from ((node, part) for part in node.trigger.parts or (node.trigger,))
        if node.loop is not None:
            yield from ((node, trigger) for _, trigger in node.loop.thrown)


@dataclass(slots=True)
class _Maker:
    """Makes the nodes of the abstract graph and gathers the questions."""

    process: Process
    rounds: int
    questions: list[Question] = field(default_factory=list)

    def ask(self, kind: str, element: str, node: str, formula: Formula, options: Iterable[Any]) -> Formula:
        """A formula that asks instead of the one given."""
        number = len(self.questions)
        self.questions.append(
            Question(number=number, kind=kind, element=element, node=node, formula=formula, options=tuple(options))
        )
        return asking(number)

    def truth(self, kind: str, element: str, node: str, formula: Formula | None, *seen: str) -> Formula | None:
        """A condition: a constant one stays, and one that reads nothing but the counts that `seen` names."""
        if formula is None or constant(formula) is not None:
            return formula
        if seen and formula.kind == "text":
            compiled = compile_text(formula.text, language=formula.language)  # type: ignore[arg-type]
            if compiled.names and compiled.names <= set(seen) and not compiled.dynamic:
                return formula
        return self.ask(kind, element, node, formula, (True, False))

    def name(self, node: Node, trigger: Trigger, formula: Formula | None, kinds: tuple[str, ...]) -> Formula | None:
        """A name or code: constant, or any of those that the model has for these kinds of events, or another."""
        if formula is None:
            return None
        found = constant(formula)
        if found is not None:
            return _plain(found)
        said = (part for _, part in triggers(self.process) if part.kind in kinds)
        known = {constant(part.code if part.kind in _CODED else part.name) for part in said}
        options = sorted(one for one in known if one)
        return self.ask("name", node.id, node.id, formula, [*options, f"another than {', '.join(options) or 'any'}"])

    def node(self, node: Node) -> Node:
        """The node without data."""
        told = (Mapping(target=WRITTEN, source=Formula(text="1")),) if self.process.conditional else ()
        made = replace(
            node,
            inputs=told if node.inputs else (),
            outputs=told if node.outputs else (),
            outputs_only=False,
            trigger=None if node.trigger is None else self._trigger(node, node.trigger),
            user=None if node.user is None else UserSpec(),
            loop=None if node.loop is None else self._loop(node, node.loop),
            activation_condition=self.truth("enough", node.id, node.id, node.activation_condition, "activationCount"),
            ad_hoc_active=self._elements(node),
            ad_hoc_completion=self.truth("enough", node.id, node.id, node.ad_hoc_completion),
        )
        if node.work is not None:
            errors = tuple(
                (code, self.truth("error", node.id, node.id, formula) or formula) for code, formula in node.work.errors
            )
            topic = _plain(constant(node.work.topic) or node.id)
            work = replace(node.work, topic=topic, priority=None, retries=None, retry_cycle=None, errors=errors)
            made = replace(made, work=work)
        if node.call is not None:
            target = _plain(constant(node.call.target) or "a process")
            call = replace(node.call, target=target, version=None, inputs=(), outputs=(), propagate_all_outputs=False)
            made = replace(made, call=call)
        if node.kind == "decision":
            made = replace(made, kind="pass", decision=None, outputs=told)
        return made

    def _trigger(self, node: Node, trigger: Trigger) -> Trigger:
        if trigger.parts:
            return replace(trigger, parts=tuple(self._trigger(node, part) for part in trigger.parts))
        kinds = (trigger.kind,)
        if trigger.kind == "timer":
            return replace(trigger, timer_kind=_timer(trigger)[0], timer=_plain(_timer(trigger)[1]))
        if trigger.kind == "link":
            return trigger
        condition = trigger.condition
        if trigger.kind == "conditional":
            condition = self.truth("condition", node.id, node.id, condition)
        # Who waits for a message waits for any; only within the instance names of signals and codes are compared.
        named = trigger.kind in ("signal", *_CODED)
        name = self.name(node, trigger, trigger.name, kinds) if named else _shown(trigger.name, node)
        return replace(
            trigger,
            name=name,
            correlation=None,
            code=self.name(node, trigger, trigger.code, kinds),
            code_variable=None,
            message_variable=None,
            error_message=None,
            condition=condition,
            condition_variables=(),
            condition_events=(),
            payload=(),
        )

    def _loop(self, node: Node, loop: LoopSpec) -> LoopSpec:
        thrown = tuple(
            (self.truth("enough", node.id, node.id, condition, *COUNTS), self._trigger(node, trigger))
            for condition, trigger in loop.thrown
        )
        made = LoopSpec(
            kind=loop.kind,
            behavior=loop.behavior,
            thrown=thrown,
            test_before=loop.test_before,
            completion_condition=self.truth("enough", node.id, node.id, loop.completion_condition),
        )
        asks = loop.loop_condition or loop.collection or loop.cardinality or Formula(text=str(loop.loop_maximum))
        if loop.kind == "standard" and loop.loop_condition is None and loop.loop_maximum is None:
            return made
        count = constant(loop.cardinality)
        if count is not None and count.isdecimal() and int(count) <= max(self.rounds, 1):
            return replace(made, cardinality=_plain(count))
        if loop.kind == "parallel" or (thrown and loop.kind == "sequential"):
            options = range(min(self.rounds, int(count)) if count and count.isdecimal() else 0, self.rounds + 1)
            return replace(made, cardinality=self.ask("rounds", node.id, node.id, asks, options))
        # One round after the other, however many: as a standard loop that asks each time.
        test = loop.test_before if loop.kind == "standard" else count is None or count == "0"
        more = self.ask("loop", node.id, node.id, asks, (True, False))
        return replace(made, kind="standard", test_before=test, loop_condition=more, completion_condition=None)

    def _elements(self, node: Node) -> Formula | None:
        if node.ad_hoc_active is None or constant(node.ad_hoc_active) is not None:
            return node.ad_hoc_active
        inside = [id for id in self.process.scopes[node.id].nodes if self.process.nodes[id].kind not in _NEVER_BEGUN]
        sizes = range(len(inside) + 1) if len(inside) <= FEW_ELEMENTS else (1, len(inside))
        options = [chosen for size in sizes for chosen in combinations(inside, size)]
        return self.ask("elements", node.id, node.id, node.ad_hoc_active, options)


_CODED = ("error", "escalation")
_NEVER_BEGUN = ("boundary", "event_subprocess")


def _chooses(node: Node) -> bool:
    return node.kind not in ("parallel", "event_based")


def _default(process: Process, flow: str) -> bool:
    return process.nodes[process.flows[flow].source].default == flow


def _plain(text: str) -> Formula:
    """A formula that gives the text, whatever signs are in it."""
    for sign in ("${", "#{"):
        text = text.replace(sign, "{")
    return Formula(text=text.lstrip("= \n\t") or "something")


def _shown(formula: Formula | None, node: Node) -> Formula | None:
    return None if formula is None else _plain(constant(formula) or node.id)


def _timer(trigger: Trigger) -> tuple[str, str]:
    """A time ahead that repeats as often as the one in the model: never, a few times, or for ever."""
    if trigger.timer_kind != "cycle":
        return "duration", _TIME
    said = constant(trigger.timer)
    head = (said or "R").strip().partition("/")[0]
    if head.startswith("R") and head[1:].isdecimal() and int(head[1:]) <= FEW_ELEMENTS:
        return "cycle", f"{head}/{_TIME}"
    return "cycle", f"R/{_TIME}"


def _closing(process: Process) -> Iterator[str]:
    """The nodes at which a way through the graph comes back to where it was."""
    done: set[str] = set()
    for first in process.nodes:
        stack: list[tuple[str, Iterator[str]]] = []
        on_the_way: set[str] = set()
        if first not in done:
            stack.append((first, _after(process, first)))
            on_the_way.add(first)
            done.add(first)
        while stack:
            id, following = stack[-1]
            target = next(following, None)
            if target is None:
                stack.pop()
                on_the_way.discard(id)
            elif target in on_the_way:
                yield target
            elif target not in done:
                done.add(target)
                on_the_way.add(target)
                stack.append((target, _after(process, target)))


def _after(process: Process, id: str) -> Iterator[str]:
    """The nodes that follow one in its scope: by flows, by boundary events, by a link."""
    node = process.nodes[id]
    yield from (process.flows[flow].target for flow in node.outgoing)
    yield from node.boundary
    if node.kind == "throw" and node.trigger is not None and node.trigger.kind == "link":
        for other in process.scopes[node.scope].nodes:
            catch = process.nodes[other]
            if catch.kind == "catch" and catch.trigger == node.trigger:
                yield other
