"""Work done outside: service, send, script and business rule tasks, and message events that a worker sends.

how the model binds it                              topic
camunda:type="external" camunda:topic="t"           t                   (flowable: type="external-worker")
zeebe:taskDefinition type="t"                       t
camunda:class="a.b.Charge"                          a.b.Charge          fields become inputs
camunda:expression, delegateExpression              `${mailer.send(x)}`: mailer.send with the input arg0 (`beans`)
camunda:connector                                   its connectorId     with the connector's inputs and outputs
camunda:type="mail", "http", ...                    mail, http, ...     fields become inputs
operationRef, implementation                        the operation's name, the implementation
a script in any language but FEEL and JUEL          script:<format>     the script is in the header `script`
a send task with a message and nothing else         none                the engine sends it
nothing                                             the element's id, with a warning
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bpm.compiler import beans, formulas
from bpm.compiler.activities import activity
from bpm.compiler.document import child, text
from bpm.compiler.mappings import parameters, zeebe_outputs
from bpm.compiler.place import Place
from bpm.compiler.triggers import message
from bpm.compiler.vocabulary import Extensions, extensions, inner
from bpm.compiler.xml import Element
from bpm.graph import Formula, Mapping, Node, WorkSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What a task is bound to: a topic with inputs and outputs of its own, or (topic None) values that the engine
    computes."""

    topic: Formula | None = None
    inputs: tuple[Mapping, ...] = ()
    outputs: tuple[Mapping, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()


def service(place: Place) -> Node:
    """serviceTask, and a businessRuleTask that calls no decision."""
    return _task(place, binding(place, place.element))


def send(place: Place) -> Node:
    """sendTask: work outside or, where nothing says how it is done, the engine sends its message."""
    found = binding(place, place.element)
    if found is None:
        sent = message(place, place.element, required=False)
        if sent.name is not None:
            return activity(place, "send", trigger=sent)
    return _task(place, found)


def script(place: Place) -> Node:
    """scriptTask: FEEL and JUEL are computed by the engine, any other script is the work of a worker that has its
    language."""
    said = place.extensions
    zeebe = said.zeebe.get("script")
    if zeebe is not None:
        found = formulas.formula(place, zeebe.get("expression"), at=zeebe) or formulas.NULL
        kept = _result_of(zeebe.get("resultVariable"), found, local=zeebe_outputs(place))
        return activity(place, "pass", outputs=kept)
    if said.zeebe.get("taskDefinition") is not None or said.get("type") == "external":
        return _task(place, binding(place, place.element))
    source = child(place.element, "script")
    format = place.element.get("scriptFormat", "").strip()
    if source is None and not said.get("resource"):
        place.report("script-missing", "The script task has no script.")
    if language := formulas.language_of(format):
        computed = formulas.formula(place, text(source), at=source, language=language) or formulas.NULL
        return activity(place, "pass", outputs=_result_of(result_name(said), computed))
    topic = Formula(text=f"script:{format.lower()}" if format else "script")
    headers = (("script", text(source)), ("scriptFormat", format), ("resource", said.get("resource") or ""))
    return _task(place, Binding(topic=topic, headers=tuple(pair for pair in headers if pair[1])))


def binding(place: Place, element: Element) -> Binding | None:
    """What the element (a task, or a message event's definition) is bound to; None where it says nothing."""
    said = extensions(element)
    zeebe = place.extensions.zeebe.get("taskDefinition")
    if zeebe is not None and (topic := formulas.formula(place, zeebe.get("type"), at=zeebe)):
        return Binding(topic=topic)
    kind = said.get("type")
    if kind in ("external", "external-worker"):
        topic = formulas.formula(place, said.get("topic"), at=element)
        if topic is None:
            place.report("topic-missing", "The external task has no topic: no worker could find it.", at=element)
        return Binding(topic=topic or Formula(text=place.id), inputs=_fields(place, said))
    connector = said.one("connector")
    if connector is not None:
        return _connector(place, connector)
    if kind:
        return Binding(topic=Formula(text=kind), inputs=_fields(place, said))
    return called(place, said) or _standard(place, element)


def called(place: Place, said: Extensions) -> Binding | None:
    """What Java would be called by class, bean or expression; None where it says none of them."""
    if name := said.get("class"):
        return Binding(topic=Formula(text=name), inputs=_fields(place, said))
    if delegate := said.get("delegateExpression"):
        return _delegate(place, delegate, said)
    if expression := said.get("expression"):
        return _expression(place, expression, said)
    return None


@dataclass(frozen=True, slots=True)
class Bound:
    """The work of a message event, and the inputs that its binding brings."""

    work: WorkSpec
    inputs: tuple[Mapping, ...]
    outputs: tuple[Mapping, ...]


def bound_work(place: Place, definition: Element) -> Bound | None:
    """The work that sends the message of a throwing event; None where no worker is named (the engine sends it)."""
    found = binding(place, definition)
    if found is None or found.topic is None:
        return None
    return Bound(_spec(place, found, found.topic, extensions(definition)), found.inputs, found.outputs)


def _task(place: Place, found: Binding | None) -> Node:
    if found is None:
        place.report(
            "implementation-missing",
            f"The {place.tag} does not say how it is done: set a topic, a class or a task definition. "
            f"Workers find it under the topic {place.id!r}.",
        )
        found = Binding(topic=Formula(text=place.id))
    if found.topic is None:
        return activity(place, "pass", inputs=found.inputs, outputs=found.outputs)
    spec = _spec(place, found, found.topic, place.extensions)
    return activity(place, "external", work=spec, inputs=found.inputs, outputs=found.outputs)


def _spec(place: Place, found: Binding, topic: Formula, said: Extensions) -> WorkSpec:
    zeebe = place.extensions.zeebe.get("taskDefinition")
    cycle = place.extensions.one("failedJobRetryTimeCycle")
    priority = said.get("taskPriority") or place.extensions.get("taskPriority") or place.extensions.get("jobPriority")
    defined = place.extensions.zeebe.get("jobPriorityDefinition")
    priority = priority or (defined.get("priority") if defined is not None else None)
    return WorkSpec(
        topic=topic,
        priority=formulas.formula(place, priority),
        retries=None if zeebe is None else formulas.formula(place, zeebe.get("retries"), at=zeebe),
        retry_cycle=(text(cycle) or None) if cycle is not None else None,
        result_variable=result_name(said),
        errors=tuple(_errors(place)),
        headers=found.headers + tuple(_headers(place)),
    )


def _errors(place: Place) -> list[tuple[str, Formula]]:
    """camunda:errorEventDefinition of an external task: when its expression holds, the error is thrown."""
    found = []
    for item in place.extensions.all("errorEventDefinition"):
        target = place.resolve(item, "errorRef")
        asked = formulas.formula(place, item.get("expression"), at=item)
        if target is not None and asked is not None:
            found.append((target.get("errorCode") or target.get("id") or "", asked))
    return found


def _headers(place: Place) -> list[tuple[str, str]]:
    said = place.extensions
    found = [(item.get("key", ""), item.get("value", "")) for item in inner(said.zeebe.get("taskHeaders"), "header")]
    for holder in (*said.all("properties"), said.zeebe.get("properties")):
        found += [(item.get("name", ""), item.get("value", "")) for item in inner(holder, "property")]
    return found


def _fields(place: Place, said: Extensions) -> tuple[Mapping, ...]:
    """camunda:field: what Java would inject into the class is an input of the task."""
    found = []
    for item in said.all("field"):
        raw = item.get("stringValue") or item.get("expression") or text(item)
        found.append(
            Mapping(
                target=item.get("name", ""), source=formulas.formula(place, raw, at=item) or formulas.NULL, local=True
            )
        )
    return tuple(found)


def _connector(place: Place, element: Element) -> Binding:
    topic = next((text(item) for item in inner(element, "connectorId")), "")
    if not topic:
        place.report(
            "implementation-missing", "The connector has no connectorId; the element's id is its topic.", at=element
        )
    inputs: list[Mapping] = []
    outputs: list[Mapping] = []
    for holder in inner(element, "inputOutput"):
        inputs += parameters(place, holder, "inputParameter")
        outputs += parameters(place, holder, "outputParameter")
    return Binding(topic=Formula(text=topic or place.id), inputs=tuple(inputs), outputs=tuple(outputs))


def _delegate(place: Place, expression: str, said: Extensions) -> Binding:
    fields = _fields(place, said)
    if name := beans.reference(expression):
        return Binding(topic=Formula(text=name), inputs=fields)
    if found := beans.call(expression):
        return Binding(topic=Formula(text=found.path), inputs=_arguments(place, found) + fields)
    return replace(_as_topic(place, expression), inputs=fields)


def _expression(place: Place, expression: str, said: Extensions) -> Binding:
    result = result_name(said)
    found = beans.call(expression)
    if found and (setting := beans.set_variable(found)):
        name, source = setting
        return Binding(outputs=_result_of(name, formulas.formula(place, "${" + source + "}")))
    if found and beans.calls_beans("${" + found.path + "()}"):
        return Binding(topic=Formula(text=found.path), inputs=_arguments(place, found) + _fields(place, said))
    if beans.calls_beans(expression):
        return _as_topic(place, expression)
    path = beans.reference(expression)
    if path and "." in path and not result:
        return Binding(topic=Formula(text=path), inputs=_fields(place, said))
    return Binding(outputs=_result_of(result, formulas.formula(place, expression)))


def _arguments(place: Place, found: beans.Call) -> tuple[Mapping, ...]:
    mapped = []
    for position, argument in enumerate(found.arguments):
        if argument in beans.ENGINE_OBJECTS:
            place.report(
                "argument-dropped",
                f"The argument {argument!r} of {found.path} is not passed: the worker sees the variables.",
            )
            continue
        source = formulas.formula(place, "${" + argument + "}") or formulas.NULL
        mapped.append(Mapping(target=f"arg{position}", source=source, local=True))
    return tuple(mapped)


def _as_topic(place: Place, expression: str) -> Binding:
    topic = expression.strip().removeprefix("$").removeprefix("#").removeprefix("{").removesuffix("}").strip()
    place.report(
        "expression-as-topic",
        f"The expression is more than one call of a bean; its whole text is the topic: {topic!r}.",
    )
    # The topic is text, not an expression: as a FEEL string literal it cannot be taken for one.
    return Binding(topic=formulas.constant(topic))


def _standard(place: Place, element: Element) -> Binding | None:
    """What the standard itself offers: the operation of a service, or the name of a technology."""
    operation = place.document.resolve(element.get("operationRef"))
    if operation is not None and operation.get("name"):
        return Binding(topic=Formula(text=operation.get("name", "")))
    technology = element.get("implementation", "").strip()
    if technology and not technology.startswith("##"):
        return Binding(topic=formulas.constant(technology))
    return None


def result_name(said: Extensions) -> str | None:
    """The variable that takes the result of the work."""
    return said.get("resultVariable") or said.get("resultVariableName")


def _result_of(name: str | None, source: Formula | None, *, local: bool = False) -> tuple[Mapping, ...]:
    return (Mapping(target=name.strip(), source=source, local=local),) if name and name.strip() and source else ()
