"""The pages of decisions: tables, rules that matched in an instance, a form that tries inputs."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from django.urls import reverse

from bpm import engine
from bpm.store import decisions as stored
from tests.database.decisions.conftest import BOUND, decides, tiers
from tests.pure.decisions.writing import decision, file, literal, table

RISK = decision("risk", table(["age"], ["risk"], [["< 18", '"high"'], [">= 18", '"low"']]))
OFFER = decision("offer", table(["risk"], ["price"], [['"low"', "10.50"], ['"high"', "base * 2"]]), "risk base")
BASE = decision("base", literal("49"))


@pytest.fixture
def deployed(transactional_db):
    """The processes and decisions of these tests are deployed. Out: ids of decisions by key."""
    files = {"p.bpmn": decides(BOUND), "tier.dmn": tiers(tag="spring"), "offer.dmn": file(RISK, OFFER, BASE)}
    yield {one.key: one.id for one in engine.deploy(files, actor="ann").decisions}
    stored.forget()


def matched(html: str) -> list[str]:
    """The numbers of the rules that are marked, over all tables of the page."""
    return re.findall(r'<tr class="tt-matched" data-rule="(\d+)"', html)


def test_the_list(as_operator, as_auditor, deployed):
    for client in (as_operator, as_auditor):
        html = client.get(reverse("cockpit:decisions")).content.decode()
        for key, id in deployed.items():
            assert reverse("cockpit:decision", args=[id]) in html, key
    assert "offer" not in as_operator.get(reverse("cockpit:decisions") + "?q=tie").content.decode().split("tt-page")[1]


def test_a_page_shows_the_table_and_all_that_it_requires(as_operator, deployed):
    html = as_operator.get(reverse("cockpit:decision", args=[deployed["offer"]])).content.decode()
    for text in ("UNIQUE", "&lt; 18", "&quot;high&quot;", "10.50", "base * 2", ">49<", "&quot;age&quot;: null"):
        assert text in html, text
    assert matched(html) == []
    assert "tt-given" not in html


def test_a_form_tries_inputs_and_marks_the_rules(as_auditor, deployed):
    address = reverse("cockpit:decision", args=[deployed["offer"]])
    html = as_auditor.get(address, {"variables": '{"age": 12}'}).content.decode()
    assert matched(html) == ["2", "1"]
    assert re.search(r"<pre[^>]*data-result>98</pre>", html)
    assert re.findall(r'tt-given tt-mono">([^<]*)<', html) == ["&quot;high&quot;", "12"]
    for wrong in ("{", "[1]", "nonsense"):
        html = as_auditor.get(address, {"variables": wrong}).content.decode()
        assert 'role="alert"' in html
        assert matched(html) == []


def test_from_the_timeline_to_how_it_was_decided(as_operator, deployed):
    instance = engine.start("p", {"amount": 312.40}, business_key="A-7", actor="ann").thread_id
    timeline = as_operator.get(reverse("cockpit:instance", args=[instance])).content.decode()
    (address,) = re.findall(r'href="(/cockpit/evaluations/[^"]+)"', timeline)
    html = as_operator.get(address).content.decode()
    assert matched(html) == ["2"]
    assert re.search(r"<pre[^>]*data-result>&quot;board&quot;</pre>", html)
    assert "312.4" in html
    assert "A-7" in html
    engine.deploy({"tier.dmn": tiers(large='"nobody"')}, actor="ann")
    again = as_operator.get(address).content.decode()
    assert "&quot;nobody&quot;" not in again
    assert matched(again) == ["2"]


def test_what_there_is_not(as_operator, deployed):
    for page in ("decision", "evaluation"):
        assert as_operator.get(reverse(f"cockpit:{page}", args=[UUID(int=7)])).status_code == 404


def test_dmn_files_are_deployed_by_hand(as_operator, transactional_db):
    from django.core.files.uploadedfile import SimpleUploadedFile

    sent = {"files": [SimpleUploadedFile("tier.dmn", tiers())]}
    answer = as_operator.post(reverse("cockpit:deploy"), sent, follow=True)
    assert answer.redirect_chain[-1][0] == reverse("cockpit:decisions")
    assert "1 decision is deployed." in answer.content.decode()


def test_in_a_browser_from_the_timeline_to_other_inputs(page, log_in, live_server, deployed):
    instance = engine.start("p", {"amount": 312.40}, business_key="A-7", actor="ann").thread_id
    log_in()
    page.goto(live_server.url + reverse("cockpit:instance", args=[instance]))
    page.click("a[href*='/evaluations/']")
    assert page.locator("tr.tt-matched").get_attribute("data-rule") == "2"
    page.click("text=Try other inputs")
    page.fill("#decision-variables", '{"amount": 1}')
    page.click("text=Evaluate")
    page.wait_for_selector("[data-result]")
    assert page.locator("tr.tt-matched").get_attribute("data-rule") == "1"
    assert page.locator("[data-result]").inner_text() == '"team"'
