"""The BPMN diagram in the browser, with tokens and incidents drawn on it.

The drawing is bpmn-js's (its mark stays visible, as its licence asks); the marks come with the page, made by
`bpm.queries.diagram`, and `static/cockpit/diagram.js` puts them on. Where a model has no drawing the page lists its
nodes.
"""

from __future__ import annotations

from cockpit.diagrams import source
from cockpit.pages.shown import Route

ROUTES: tuple[Route, ...] = (("processes/<uuid:id>/bpmn/", "definition-source", source.view),)
