"""Pages of our own beside the admin: each a function of the request that returns what to show.

A page asks `bpm.queries` and `bpm.audit` and decides nothing. Where it is asked by htmx it answers with the part that
changes. ROUTES is the table of addresses.
"""

from __future__ import annotations

from cockpit.pages import (
    audit,
    decisions,
    definitions,
    incidents,
    instance,
    instances,
    migration,
    modification,
    overview,
    past,
    reasons,
    reports,
    timeline,
    work,
)
from cockpit.pages.shown import Route

ROUTES: tuple[Route, ...] = (
    ("processes/", "definitions", definitions.listing),
    ("processes/<uuid:id>/", "definition", definitions.page),
    ("processes/<uuid:id>/migrate/", "migrate-version-plan", migration.of_version),
    ("decisions/", "decisions", decisions.listing),
    ("decisions/<uuid:id>/", "decision", decisions.page),
    ("evaluations/<uuid:id>/", "evaluation", decisions.evaluation),
    ("instances/", "instances", instances.listing),
    ("instances/<uuid:id>/", "instance", instance.page),
    ("instances/<uuid:id>/migrate/", "migrate-instance-plan", migration.of_instance),
    ("instances/<uuid:id>/modify/", "modify-instance-plan", modification.page),
    ("instances/<uuid:id>/past/", "instance-past", past.part),
    ("instances/<uuid:id>/why/", "instance-why", reasons.part),
    ("instances/<uuid:id>/live/", "instance-live", instance.live),
    ("instances/<uuid:id>/timeline/", "instance-timeline", timeline.part),
    ("incidents/", "incidents", incidents.listing),
    ("audit/integrity/", "integrity", audit.violations),
    ("audit/seals/", "seals", audit.seals),
    ("audit/reports/", "reports", reports.page),
    ("audit/exports/", "exports", audit.exports),
    ("audit/exports/<uuid:id>/file/", "export-file", audit.export_file),
    ("audit/archives/", "archives", audit.archives),
    ("tasks/", "user-tasks", work.user_tasks),
    ("tasks/<uuid:id>/", "user-task", work.user_task),
    ("work/", "external-tasks", work.external_tasks),
)

__all__ = ["ROUTES", "overview"]
