"""What the engine does with models and tests that nobody here wrote, counted and put on a page.

The corpus is a folder of public sources: scenarios in this project's format, models of other engines, the DMN kit. Each
module judges one kind of it; `reasons` holds, as tables, why an expectation is not met where the standard says
otherwise, and `page` writes docs/conformance.md. Nothing is judged twice and nothing is written by hand: a failure
without a reason in the tables stands on the page as what it is, a failure.

    scenarios  on the core and through the engine
    models     models without scenarios: read, started, refused by reason
    peer       what the peer's own tests say of its models
    survey     all of it
"""

from __future__ import annotations

from bpm.management.conformance.page import page
from bpm.management.conformance.scenarios import Judged, judge
from bpm.management.conformance.survey import Survey, survey

__all__ = ["Judged", "Survey", "judge", "page", "survey"]
