"""The auditor's pages: broken invariants mark the cockpit red, seals are verified, history is exported."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from bpm.audit import checking, sealing
from bpm.audit.export import requests
from bpm.audit.replaying import Outcome, Problem

BROKEN = Problem(code="rows-differ", message="token 3: the row says WAITING", sequence=5)


def test_a_broken_invariant_is_a_red_mark(as_auditor, failed_order):
    pages = [reverse("cockpit:index"), reverse("cockpit:instance", args=[failed_order]), reverse("cockpit:integrity")]
    assert not any("tt-violated" in as_auditor.get(page).content.decode() for page in pages)
    checking.note(Outcome(instance=str(failed_order), definition="order", problems=(BROKEN,)))
    for page in pages:
        assert "tt-violated" in as_auditor.get(page).content.decode(), page
    assert BROKEN.message in as_auditor.get(pages[1]).content.decode()
    assert BROKEN.message in as_auditor.get(pages[2]).content.decode()


def test_an_export_without_a_place_or_a_reason_is_refused(as_auditor, settings, tmp_path):
    settings.BPM_EXPORT_TO = None
    assert "There is no place that exports go to" in as_auditor.get(reverse("cockpit:exports")).content.decode()
    settings.BPM_EXPORT_TO = str(tmp_path)
    ask = reverse("cockpit:ask-export")
    for sent, said in (
        ({"format": "csv"}, "Please state a reason."),
        ({"format": "pdf", "reason": "r"}, "Please choose a format."),
        ({"format": "csv", "reason": "r", "instances": "seven"}, "Instances are named by their ids."),
        ({"format": "csv", "reason": "r", "since": "soon"}, "soon is no time."),
        ({"format": "csv", "reason": "r", "definition": "nothing"}, "there is no process definition nothing"),
    ):
        assert said in as_auditor.post(ask, sent, follow=True).content.decode()
    assert requests.list_exports() == []


@pytest.mark.browser
def test_an_auditor_verifies_the_seals_and_exports(page: Page, live_server, log_in, failed_order, settings, tmp_path):
    settings.BPM_EXPORT_TO = str(tmp_path)
    sealing.seal()
    log_in("axel", "auditors")
    page.locator("#nav-sidebar").get_by_role("link", name="Seals").click()
    page.get_by_role("button", name="Verify the whole chain").click()
    expect(page.locator("#tt-verified")).to_contain_text("The chain is whole")

    page.locator("#nav-sidebar").get_by_role("link", name="Exports").click()
    expect(page.get_by_text("Nothing was exported yet")).to_be_visible()
    page.get_by_role("button", name="New export").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Format").select_option("jsonl")
    dialog.get_by_label("Hide the values of").fill("card")
    dialog.get_by_label("Reason").fill("yearly audit")
    dialog.get_by_role("button", name="Ask for it").click()
    expect(page.get_by_text("The export is asked for; a worker will write it.")).to_be_visible()
    requests.run_waiting()
    file = page.get_by_role("link", name="File")
    expect(file).to_be_visible()
    with page.expect_download() as download:
        file.click()
    assert download.value.suggested_filename.endswith(".jsonl.gz")
    page.get_by_text("Manifest", exact=True).click()
    expect(page.locator(".tt-manifest pre")).to_contain_text("sha256")
