"""Going on with another version: of one instance, or of all that are open in a version.

One looks at the plan, pairs by hand what the ids do not, sees what the engine would do, and only then does it. The page
is a form that asks for itself: each change shows the plan anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, QueryDict
from django.utils.translation import gettext as _

from bpm.engine import batches, versions
from bpm.engine.errors import EngineError
from bpm.queries import definitions, diagram, instances
from bpm.queries.nodes import NodeInfo, nodes_of
from bpm.queries.rows import Definition
from cockpit.access import actor_of, operators_only
from cockpit.pages.rehearsal import rehearsed
from cockpit.pages.shown import Shown, first

TO = "to:"
# Kinds whose timers and tickets may end with the old version: what hangs on an activity or on a scope.
EVENTS = ("boundary", "start")


@dataclass(frozen=True, slots=True)
class Row:
    """A node of the old version: how many tokens stand there, where it goes, and what speaks against it.

    `may_vanish`: it need not be anywhere, since the new version has no node of its id to take it.
    """

    node: NodeInfo
    tokens: int
    target: NodeInfo | None
    may_vanish: bool
    problem: str
    told: bool
    may_drop: bool
    dropped: bool

    @property
    def matters(self) -> bool:
        """Whether somebody should look at it."""
        return bool(self.tokens or self.problem or self.told)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the form says: the version, pairs of nodes that differ, events that may end."""

    version: int
    nodes: Mapping[str, str]
    drop: tuple[str, ...]


@operators_only
def of_instance(request: HttpRequest, id: UUID) -> Shown:
    """Migrate one instance."""
    instance = instances.get_instance(id)
    definition = definitions.get_definition(instance.definition_id) if instance else None
    if instance is None or definition is None:
        raise Http404(_("There is no such instance."))
    marks = diagram.marks_of_instance(instance.id, instance.started_at)
    context = {"instance": instance, **plan_context(request, definition, marks.tokens)}
    asked: Asked | None = context["asked"]
    if asked is not None and instance.is_open:
        context["rehearsal"] = rehearsed(
            lambda: versions.migrate_instance(
                id, actor=actor_of(request), version=asked.version, nodes=asked.nodes, drop=asked.drop
            ),
            context["target"].id,
        )
    return Shown("cockpit/migrate.html", _("Move to another version"), context)


@operators_only
def of_version(request: HttpRequest, id: UUID) -> Shown:
    """Migrate all open instances of a version."""
    definition = definitions.get_definition(id, counts=True)
    if definition is None:
        raise Http404(_("There is no such process definition."))
    marks = diagram.marks_of_definition(definition)
    context = plan_context(request, definition, marks.tokens)
    context["total"] = sum(count.number for count in (definition.running, definition.held) if count is not None)
    return Shown("cockpit/migrate.html", _("Move all instances to another version"), context)


def plan_context(request: HttpRequest, definition: Definition, tokens: Mapping[str, int]) -> dict[str, Any]:
    """The plan between the definition and the version that was chosen (else the latest other one)."""
    others = [one for one in definitions.versions_of(definition.key) if one.id != definition.id]
    wanted = first(request, "version")
    target = next((one for one in others if str(one.version) == wanted), others[0] if others else None)
    context: dict[str, Any] = {"definition": definition, "others": others, "target": target, "asked": None}
    if target is None:
        return context
    if first(request, "planned") == str(target.version):
        asked = asked_in(request.GET, target.version)
    else:
        asked = Asked(target.version, batches.suggested_nodes(definition.id, version=target.version), ())
    try:
        plan = batches.plan_versions(definition.id, version=target.version, nodes=asked.nodes)
    except EngineError as refused:
        raise Http404(refused.message) from None
    rows = list(_rows(definition, asked, plan, tokens))
    return context | {
        "asked": asked,
        "rows": [row for row in rows if row.matters],
        "rest": [row for row in rows if not row.matters],
        "choices": list(nodes_of(target.id).values()),
    }


def asked_in(sent: QueryDict, version: int) -> Asked:
    """The form's fields: `to:NODE` for each node, `drop` for each event that may end."""
    nodes = {
        name.removeprefix(TO): str(value).replace("\x00", "")
        for name, value in sent.items()
        if name.startswith(TO) and value and name != TO and name.removeprefix(TO) != value
    }
    return Asked(version, nodes, tuple(sent.getlist("drop")))


def _rows(definition: Definition, asked: Asked, plan: versions.MigrationPlan, tokens: Mapping[str, int]) -> list[Row]:
    said = {problem.partition(" ")[0]: problem for problem in plan.problems}
    new = nodes_of(plan.new)
    rows = []
    for node in nodes_of(definition.id).values():
        target = asked.nodes.get(node.id, node.id)
        rows.append(
            Row(
                node=node,
                tokens=tokens.get(node.id, 0),
                target=new.get(target) or new.get(node.id),
                may_vanish=node.id not in new,
                problem=said.get(node.id, ""),
                told=node.id in asked.nodes,
                may_drop=target not in new and node.kind in EVENTS,
                dropped=node.id in asked.drop,
            )
        )
    return sorted(rows, key=lambda row: not row.tokens)
