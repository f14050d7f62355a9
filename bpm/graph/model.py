"""The frozen data of a compiled process. No behaviour beyond looking things up."""

from __future__ import annotations

from dataclasses import dataclass, field

# What a node does when a token enters it. Each kind has one behaviour in `bpm.semantics.elements`.
# kind: (BPMN elements that compile to it)
NODE_KINDS: dict[str, tuple[str, ...]] = {
    "start": ("startEvent",),
    "end": ("endEvent",),
    "catch": ("intermediateCatchEvent",),
    "throw": ("intermediateThrowEvent",),
    "boundary": ("boundaryEvent",),
    "pass": ("task", "manualTask"),
    "external": ("serviceTask", "sendTask", "scriptTask", "businessRuleTask"),
    "decision": ("businessRuleTask",),
    "send": ("sendTask",),
    "user": ("userTask",),
    "receive": ("receiveTask",),
    "call": ("callActivity",),
    "subprocess": ("subProcess", "transaction", "adHocSubProcess"),
    "event_subprocess": ("subProcess",),
    "exclusive": ("exclusiveGateway",),
    "parallel": ("parallelGateway",),
    "inclusive": ("inclusiveGateway",),
    "event_based": ("eventBasedGateway",),
    "complex": ("complexGateway",),
}

# What a start, catch, throw, boundary or end event reacts to or brings about.
TRIGGER_KINDS = (
    "none",
    "timer",
    "message",
    "signal",
    "error",
    "escalation",
    "conditional",
    "compensation",
    "link",
    "cancel",
    "terminate",
    "multiple",
    "parallel_multiple",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A value a model computes: a text (literal, JUEL or FEEL), the variable that the text names (null where there is
    none), or a list or map of such.

    `kind`: text, variable, list or map. `language` is None where the text itself tells (see `bpm.expressions`). For
    "list" `items` holds the elements; for "map" `keys` and `items` run side by side.
    """

    kind: str = "text"
    text: str = ""
    language: str | None = None
    items: tuple[Formula, ...] = ()
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """One input or output: `target` receives the value of `source`. `local` keeps it in the activity's own scope."""

    target: str
    source: Formula
    local: bool = False
    # A call activity's `variables="all"`: everything is passed on; target and source are empty then.
    everything: bool = False
    # Only for call activities: a mapping that passes the business key.
    business_key: bool = False
    # Zeebe's `target="customer.name"`: where in the target's object the value goes; the rest of it stays.
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """What an event waits for or throws. Which fields speak depends on `kind` (TRIGGER_KINDS)."""

    kind: str = "none"
    name: Formula | None = None  # message, signal, link: the name
    correlation: Formula | None = None  # message: the correlation key (zeebe:subscription)
    code: Formula | None = None  # error, escalation: the code; None catches every code
    code_variable: str | None = None  # error, escalation: where the code is written
    message_variable: str | None = None  # error: where the message is written
    error_message: Formula | None = None  # error end: the message thrown
    timer_kind: str | None = None  # "date" | "duration" | "cycle"
    timer: Formula | None = None
    quartz: bool = True  # cron text counts days as Quartz does (1 = SUN); Spring's way where False
    condition: Formula | None = None  # conditional
    condition_variables: tuple[str, ...] = ()  # camunda:variableName: only these variables wake it
    condition_events: tuple[str, ...] = ()  # camunda:variableEvents: create, update, delete
    activity: str | None = None  # compensation throw: the activity to compensate; None all of the scope
    payload: tuple[Mapping, ...] = ()  # message, signal, escalation throw: variables sent along
    parts: tuple[Trigger, ...] = ()  # multiple and parallel_multiple


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSpec:
    """Work done outside: the topic a worker fetches and how it is handed out."""

    topic: Formula
    priority: Formula | None = None
    retries: Formula | None = None  # how often a worker may fail before an incident; None: the engine's default
    retry_cycle: str | None = None  # camunda:failedJobRetryTimeCycle, "R3/PT10S" or "PT1M,PT5M"
    result_variable: str | None = None
    # [(error code, condition)]: camunda:errorEventDefinition of an external task, judged at completion and failure.
    errors: tuple[tuple[str, Formula], ...] = ()
    # Name and value of fields, headers, extension properties: shown to the worker, never evaluated.
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSpec:
    """Work done by a person."""

    assignee: Formula | None = None
    candidate_users: tuple[Formula, ...] = ()
    candidate_groups: tuple[Formula, ...] = ()
    due: Formula | None = None
    follow_up: Formula | None = None
    priority: Formula | None = None
    form_key: Formula | None = None
    # Form fields in order: {"id", "label", "type", "default", "required", "values"...} as canonical JSON text.
    form_fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSpec:
    """A called process and what passes between caller and called instance."""

    target: Formula
    binding: str = "latest"  # latest | deployment | version | version_tag
    version: Formula | None = None
    inputs: tuple[Mapping, ...] = ()
    outputs: tuple[Mapping, ...] = ()
    # zeebe: all variables of the called process come back; camunda: only what `outputs` names.
    propagate_all_outputs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionSpec:
    """A decision (DMN) that the engine evaluates, and what becomes of its result."""

    target: Formula
    binding: str = "latest"  # latest | deployment | version | version_tag
    version: Formula | None = None
    result_variable: str | None = None
    # singleEntry, singleResult, collectEntries, resultList (camunda); None: the value as DMN defines it (zeebe).
    mapping: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSpec:
    """How often an activity is done: multi-instance (parallel, sequential) or the standard loop."""

    kind: str  # "parallel" | "sequential" | "standard"
    cardinality: Formula | None = None
    collection: Formula | None = None
    element_variable: str | None = None
    index_variable: str | None = None
    first_index: int = 0  # loopCounter of the first round
    completion_condition: Formula | None = None
    output_collection: str | None = None
    output_element: Formula | None = None
    output_variable: str | None = None  # where the output element is just a variable: each round has one of its own
    # Events thrown as rounds end: "none" each time, "one" at the first, "complex" when a condition holds, "all" never.
    behavior: str = "all"
    thrown: tuple[tuple[Formula | None, Trigger], ...] = ()  # (condition of "complex", what is thrown)
    loop_condition: Formula | None = None  # standard loop
    test_before: bool = False
    loop_maximum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A sequence flow. `condition` is None where it is taken without asking."""

    id: str
    source: str
    target: str
    name: str = ""
    condition: Formula | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A BPMN flow node. `kind` chooses the behaviour, `element` is the tag that the modeller drew."""

    id: str
    kind: str
    element: str
    scope: str
    name: str = ""
    line: int = 0
    incoming: tuple[str, ...] = ()
    outgoing: tuple[str, ...] = ()
    default: str | None = None
    trigger: Trigger | None = None
    attached_to: str | None = None  # boundary: the activity
    interrupting: bool = True  # boundary, start of an event subprocess
    boundary: tuple[str, ...] = ()  # activity: the boundary events on it, in document order
    inputs: tuple[Mapping, ...] = ()
    outputs: tuple[Mapping, ...] = ()
    outputs_only: bool = False  # zeebe: what is brought back stays in the own scope, the outputs alone pass it on
    work: WorkSpec | None = None  # external; also throw and end with a message that a worker sends
    user: UserSpec | None = None
    call: CallSpec | None = None
    decision: DecisionSpec | None = None
    loop: LoopSpec | None = None
    activation_condition: Formula | None = None  # complex gateway
    for_compensation: bool = False
    compensation_handler: str | None = None  # activity: the node that undoes it
    async_before: bool = False
    async_after: bool = False
    start_quantity: int = 1  # activity: how many tokens begin it
    completion_quantity: int = 1  # activity: how many tokens leave it by each flow
    instantiate: bool = False  # receive task or event-based gateway that starts the process
    parallel_events: bool = False  # instantiating event-based gateway: all its events are needed, not the first
    ad_hoc: bool = False
    ad_hoc_active: Formula | None = None  # zeebe: the ids of the elements that begin; None: all that no flow leads to
    ad_hoc_completion: Formula | None = None
    cancel_remaining: bool = True
    transaction: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The process itself or a subprocess: the nodes in it and how it begins."""

    id: str
    parent: str | None = None  # the enclosing scope's id
    nodes: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()  # start events
    event_subprocesses: tuple[str, ...] = ()
    data: tuple[tuple[str, str], ...] = ()  # data objects with a first value: (variable name, JSON text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One compiled process definition; `id` is the process id of the model, used as the definition's key.

    `reads` are the names of all variables that expressions of the process may read; `dynamic` says that some
    expression computes a name at run time, so that any variable may be asked for.
    """

    id: str
    name: str = ""
    executable: bool = True
    version_tag: str | None = None
    nodes: dict[str, Node] = field(default_factory=dict)
    flows: dict[str, Flow] = field(default_factory=dict)
    scopes: dict[str, Scope] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    dynamic: bool = False
    conditional: bool = False  # whether any event of it waits for a condition
    # For each inclusive (or complex) join: incoming flow -> the nodes of its scope from which a token can still come to
    # that flow without passing the join itself. See `bpm.graph.reach`.
    reach: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    # The same without the paths through non-interrupting boundary events: where the token itself can come to.
    own_reach: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)

    def node(self, id: str) -> Node:
        """The node with that id; KeyError names what is missing."""
        return self.nodes[id]

    def outgoing(self, node: Node) -> list[Flow]:
        """The node's outgoing flows in document order."""
        return [self.flows[f] for f in node.outgoing]

    def scope_chain(self, node: Node) -> list[str]:
        """Ids of the scopes around a node, innermost first; the last is the process."""
        chain: list[str] = []
        scope: str | None = node.scope
        while scope is not None:
            chain.append(scope)
            scope = self.scopes[scope].parent
        return chain
