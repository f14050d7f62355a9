"""Variables in the cockpit: instances found by their values, dates as their text, files to be saved."""

from __future__ import annotations

from datetime import date

import pytest
from django.urls import reverse

from bpm import engine


@pytest.fixture
def noted_order(failed_order):
    """The order with a date and a file."""
    file = engine.keep_file(b"%PDF", name="<b>invoice.pdf", media_type="application/pdf")
    engine.set_variables(failed_order, {"due": date(2026, 11, 29), "invoice": file}, actor="ann")
    return failed_order


def test_instances_are_found_by_a_variable(as_operator, noted_order):
    def listed(condition: str) -> bool:
        answer = as_operator.get(reverse("cockpit:instances"), {"variable": condition})
        assert answer.status_code == 200
        return "A-1042" in answer.content.decode()

    assert listed("quantity:gteq:1")
    assert listed("due=2026-11-29")
    assert not listed("quantity:gt:1")
    wrong = as_operator.get(reverse("cockpit:instances"), {"variable": "<script>"}).content.decode()
    assert "This is no condition: write name:operator:value." in wrong
    assert 'value="&lt;script&gt;"' in wrong


def test_a_file_can_be_saved_and_a_date_is_its_text(as_operator, noted_order):
    shown = as_operator.get(reverse("cockpit:instance", args=[noted_order])).content.decode()
    address = f"/api/instances/{noted_order}/variables/invoice/file?scope=0"
    assert f'href="{address}"' in shown
    assert "&lt;b&gt;invoice.pdf" in shown and "4\xa0bytes · application/pdf" in shown
    assert '<span class="tt-mono">2026-11-29</span>' in shown
    saved = as_operator.get(address)
    assert (saved.content, saved["X-Content-Type-Options"]) == (b"%PDF", "nosniff")
    assert saved["Content-Disposition"].startswith("attachment;")
