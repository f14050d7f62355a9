"""Evaluating decisions: the requirements graph (DMN 1.5, chapter 6 and 10.4).

An `Evaluator` compiles a file's decisions once; it is meant to be kept by whoever keeps the definition. Each
element is evaluated at most once an evaluation, after what it requires. A decision sees the results of what it
requires by their names and, behind them, the variables it is given (as Camunda's tables do, which name no input
data). Functions and services see only what they are given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bpm.decisions.boxed import Workshop, converted
from bpm.decisions.model import Decision, Decisions, Element, Function, InputData, Knowledge, Model, Service, Table
from bpm.decisions.names import difficult_names
from bpm.decisions.trace import TRACE, TableTrace, Trace
from bpm.decisions.types import Types, read_as
from bpm.expressions import NO_HOST, EvaluationFault, Host, LimitFault
from bpm.expressions.feel_frames import Frame, Run, Scope
from bpm.expressions.feel_types import TYPES, FeelType, coerce
from bpm.expressions.feel_values import FeelFunction, intake, measure
from bpm.expressions.limits import Budget

MAX_STEPS = 500_000
"""Steps of one evaluation, all its decisions together."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a decision gives.

    rows: the outputs of the rules that the hit policy kept, one context each, as Camunda's result mappings want
    them; of a decision without a table the one context {its name: value}. tables: every table that was
    evaluated, with the rules that
    matched, in order. warnings: why something is null. broken: those of them that say that more rules matched than
    the hit policy of a table allows."""

    value: object
    rows: tuple[Mapping[str, object], ...]
    tables: tuple[TableTrace, ...]
    warnings: tuple[str, ...]
    broken: tuple[str, ...] = ()


class Evaluator:
    """The decisions of a file, compiled."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions
        self._models = {model.namespace: _CompiledModel(decisions, model) for model in reversed(decisions.models)}
        self._own = self._models[decisions.own.namespace]

    def evaluate(self, key: str, variables: Mapping[str, object], host: Host = NO_HOST) -> Evaluation:
        """The own decision of that id or name, with these variables.

        EvaluationFault when there is none; LimitFault when it takes too much; what looking up a variable raises, other
        than KeyError, passes through."""
        element = self.decisions.decision(key)
        if element is None:
            raise EvaluationFault(f"there is no decision {key!r}")
        course = _Course(self, variables, host)
        try:
            value = course.value_of(self._own, element)
            if isinstance(element, Service):
                value = course.serve(element)
            if isinstance(value, list | dict):
                measure(value, course.budget)
        except RecursionError:
            raise LimitFault("the decisions require each other too deeply") from None
        tables = tuple(course.trace.tables)
        warnings, broken = tuple(course.budget.warnings), tuple(course.trace.broken)
        return Evaluation(value, _rows(element, value, tables), tables, warnings, broken)

    def find(self, model: _CompiledModel, reference: str) -> tuple[_CompiledModel, Element] | None:
        """The element that a reference in a model names."""
        namespace, _, id = reference.rpartition("#")
        target = self._models.get(namespace) if namespace else model
        element = target.elements.get(id) if target is not None else None
        return (target, element) if target is not None and element is not None else None

    @property
    def own(self) -> _CompiledModel:
        """The file's own model."""
        return self._own


class _CompiledModel:
    """One model: its elements by id, its types, and the closures of its decisions and functions."""

    def __init__(self, decisions: Decisions, model: Model) -> None:
        self.model = model
        self.types = Types(decisions, model)
        self.elements: dict[str, Element] = {element.id: element for element in model.elements}
        self.import_names = {known.namespace: known.name for known in model.imports}
        self._names = difficult_names(decisions)
        self._runs: dict[str, Run] = {}

    def run_of(self, decision: Decision) -> Run:
        """A decision's logic, compiled when first asked for."""
        if decision.id not in self._runs:
            self._runs[decision.id] = self._workshop(decision).build(decision.logic)
        return self._runs[decision.id]

    def function_of(self, knowledge: Knowledge) -> Run:
        """A knowledge model as a maker of its function."""
        if knowledge.id not in self._runs:
            function = knowledge.function or Function((), None)
            make = self._workshop(knowledge).function(function, self.types.result_of(knowledge.type))
            self._runs[knowledge.id] = lambda scope, host, budget: make(scope)
        return self._runs[knowledge.id]

    def _workshop(self, element: Element) -> Workshop:
        return Workshop(element.id, self.types, self._names)


class _Course:
    """One evaluation under way: what has been found out so far. Services evaluate in a course of their own."""

    def __init__(self, evaluator: Evaluator, variables: Mapping[str, object], host: Host) -> None:
        self.evaluator = evaluator
        self.host = host
        self.budget = Budget(MAX_STEPS)
        self.trace = Trace()
        self.variables = variables
        self._found: dict[tuple[str, str], object] = {}

    def value_of(self, model: _CompiledModel, element: Element) -> object:
        """The value of an element, evaluated when first asked for; null while it is being evaluated."""
        key = (model.model.namespace, element.id)
        if key not in self._found:
            self._found[key] = None  # an element that requires itself finds this
            self._found[key] = self._evaluated(model, element)
        return self._found[key]

    def _evaluated(self, model: _CompiledModel, element: Element) -> object:
        if isinstance(element, InputData):
            wanted = model.types.find(element.type)
            value = read_as(self._given(model, element), wanted)
            return coerce(value, wanted, self.budget) if wanted else value
        if isinstance(element, Decision):
            scope = self._scope(model, element.requires, self.variables)
            value = model.run_of(element)(scope, self.host, self.budget)
            wanted = model.types.find(element.type)
            return coerce(value, wanted, self.budget) if wanted else value
        if isinstance(element, Knowledge):
            scope = self._scope(model, element.requires, {})
            function = model.function_of(element)(scope, self.host, self.budget)
            scope.setdefault(element.name, function)  # it may call itself
            return function
        return self._service(model, element)

    def _scope(self, model: _CompiledModel, requires: Sequence[str], around: Scope) -> Frame:
        """What an element sees: the values it requires by name, those of imported models below the import's name."""
        scope = Frame(around, {TRACE: self.trace, TYPES: model.types})
        tables: list[tuple[Decision, object]] = []
        for reference in requires:
            found = self.evaluator.find(model, reference)
            if found is None:
                self.budget.warn(f"there is no {reference!r}")
                continue
            target, element = found
            value = self.value_of(target, element)
            prefix = "" if target is model else model.import_names.get(target.model.namespace, "")
            if prefix:
                scope[prefix] = {**scope.get(prefix, {}), element.name: value}
            else:
                scope[element.name] = value
            if isinstance(element, Decision):
                tables.append((element, value))
        for decision, value in tables:
            for name, part in _also_known(decision, value):
                scope.setdefault(name, part)
        return scope

    def _given(self, model: _CompiledModel, element: InputData) -> object:
        """The variable of an input; of an imported model's input the one below the import's name, or `import.input`."""
        prefix = self.evaluator.own.import_names.get(model.model.namespace, "")
        if prefix and model is not self.evaluator.own:
            group = self._variable(prefix)
            if isinstance(group, dict) and element.name in group:
                return group[element.name]
            dotted = self._variable(f"{prefix}.{element.name}")
            if dotted is not None:
                return dotted
        return self._variable(element.name)

    def _variable(self, name: str) -> object:
        try:
            value = self.variables[name]
        except KeyError:
            return None
        return intake(value)

    # -- services ------------------------------------------------------------------------------------------------------

    def _service(self, model: _CompiledModel, service: Service) -> FeelFunction:
        """A decision service as a function (DMN 1.5, 10.4): what it is given stands in for what would be evaluated."""
        parameters = [
            found
            for reference in (*service.input_data, *service.input_decisions)
            if (found := self.evaluator.find(model, reference)) is not None
        ]
        kinds = [_type_of(target, element) for target, element in parameters]
        wanted = model.types.result_of(service.type)

        def call(arguments: Sequence[object], host: Host, budget: Budget) -> object:
            course = _Course(self.evaluator, {}, host)
            course.budget, course.trace = budget, self.trace
            for (target, element), value in zip(parameters, arguments, strict=True):
                course._found[target.model.namespace, element.id] = value
            value = course._outputs(model, service)
            return coerce(value, wanted, budget) if wanted else value

        names = [element.name for _, element in parameters]
        return FeelFunction(names, call, lambda arguments, budget: converted(arguments, kinds, budget))

    def _outputs(self, model: _CompiledModel, service: Service) -> object:
        found = [self.evaluator.find(model, reference) for reference in service.outputs]
        values = {element.name: self.value_of(target, element) for target, element in filter(None, found)}
        return next(iter(values.values())) if len(values) == 1 else values

    def serve(self, service: Service) -> object:
        """An own service evaluated with the variables of this evaluation as its arguments."""
        function: Any = self.value_of(self.evaluator.own, service)
        arguments = {name: self._variable(name) for name in function.parameters}
        return function.invoke([], arguments, self.host, self.budget)


def _type_of(model: _CompiledModel, element: Element) -> FeelType | None:
    return model.types.find(element.type)


def _also_known(decision: Decision, value: object) -> Iterator[tuple[str, object]]:
    """By what other names Camunda lets a required decision's result be used: its id, and the outputs of its table."""
    yield decision.id, value
    if isinstance(decision.logic, Table):
        names = [output.name for output in decision.logic.outputs if output.name]
        if len(decision.logic.outputs) == 1:
            yield from ((name, value) for name in names)
        elif isinstance(value, dict):
            yield from ((name, value.get(name)) for name in names)
        elif isinstance(value, list):
            yield from ((name, [row.get(name) for row in value if isinstance(row, dict)]) for name in names)


def _rows(element: Decision | Service, value: object, tables: Sequence[TableTrace]) -> tuple[Mapping[str, object], ...]:
    """The result as Camunda's mappings see it: a list of contexts, one a rule that the hit policy kept."""
    if not (isinstance(element, Decision) and isinstance(element.logic, Table)):
        return ({element.name: value},)
    own = next((table for table in reversed(tables) if table.decision == element.id), None)
    if value is None and (own is None or len(own.rules) != 1):
        return ()
    names = [output.name or element.name for output in element.logic.outputs]
    kept = value if element.logic.hit_policy in _SEVERAL and isinstance(value, list) else [value]
    return tuple(row if len(names) > 1 and isinstance(row, dict) else {names[0]: row} for row in kept)


_SEVERAL = frozenset({"RULE ORDER", "OUTPUT ORDER", "COLLECT"})
