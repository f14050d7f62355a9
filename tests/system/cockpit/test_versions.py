"""Living with versions in the browser: migrate one instance and all, modify one, look at how it was."""

from __future__ import annotations

from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from bpm import engine
from bpm.audit.trace import stream
from bpm.queries import definitions, instances
from tests.system.cockpit.conftest import EXAMPLES

pytestmark = pytest.mark.browser

ORDER = (EXAMPLES / "orders/order.bpmn").read_bytes()
# The same model, in which one task has another id.
NEXT = ORDER.replace(b'"ChargeCard"', b'"TakeMoney"').replace(b">ChargeCard<", b">TakeMoney<")


@pytest.fixture
def next_version(failed_order) -> UUID:
    """A second version of the order process. Out: the id of the first."""
    engine.deploy({"order.bpmn": NEXT}, actor="tests")
    found = definitions.find_definition("order", 1)
    assert found is not None
    return found.id


def test_an_instance_goes_on_with_another_version(page: Page, live_server, log_in, failed_order, next_version):
    log_in()
    page.goto(f"{live_server.url}/cockpit/instances/{failed_order}/")
    page.get_by_role("link", name="Migrate").click()
    # The plan has found the node by its name, and the engine says what it would do.
    target = page.locator("[data-plan=ChargeCard] select")
    expect(target).to_have_value("TakeMoney")
    expect(target.locator("option")).to_have_count(2)
    expect(page.locator("#tt-rehearsal")).to_contain_text("The incident is at Charge card of the new version")
    # Paired with something else it is refused, in words.
    target.focus()
    expect(target).to_have_value("TakeMoney")
    target.select_option("Ship")
    expect(page.locator("[data-plan=ChargeCard]")).not_to_contain_text("differ")
    target.focus()
    target.select_option("PackParcel")
    expect(page.locator("[data-plan=ChargeCard]")).to_contain_text("a serviceTask became a userTask")
    expect(page.locator("#tt-rehearsal")).to_contain_text("The engine would refuse this")
    expect(page.get_by_role("button", name="Go on with version 2")).to_be_disabled()
    assert page.url.count("to%3A") == 1  # what stays is not said
    target.focus()
    target.select_option("TakeMoney")
    page.get_by_label("Reason").fill("the new payment task")
    page.get_by_role("button", name="Go on with version 2").click()
    expect(page.get_by_text("The instance goes on with version 2.")).to_be_visible()
    expect(page.locator("[data-element-id=TakeMoney].tt-stopped")).to_have_count(1)
    told = {event.type: (event.actor, event.stated_reason) for event in stream(failed_order)}
    assert told["INSTANCE_MIGRATED"] == ("olga", "the new payment task")


def test_all_instances_of_a_version_go_on_with_another(page: Page, live_server, log_in, failed_order, next_version):
    for _ in range(24):
        engine.start(str(next_version), {"quantity": 1}, actor="shop")
    log_in()
    page.goto(f"{live_server.url}/cockpit/processes/{next_version}/")
    page.get_by_role("link", name="Migrate instances").click()
    page.get_by_label("Reason").fill("the new payment task")
    page.get_by_role("button", name="Go on with version 2").click()
    expect(page.get_by_text("All have been looked at.")).to_be_visible()
    expect(page.locator("#tt-progress")).to_contain_text("25 moved")
    assert instances.open_ids(next_version) == []


def test_tokens_are_put_elsewhere(page: Page, live_server, log_in, failed_order):
    log_in()
    page.goto(f"{live_server.url}/cockpit/instances/{failed_order}/")
    page.get_by_role("link", name="Modify").click()
    page.locator("[data-element-id=Ship]").first.click()
    expect(page.get_by_label("Node")).to_have_value("Ship")
    page.get_by_role("button", name="Add").click()
    expect(page.locator(".tt-badge-start")).to_have_text("+ 1")
    page.get_by_label("Node").select_option("ChargeCard")
    page.get_by_label("What", exact=True).select_option("end")
    page.get_by_role("button", name="Add").click()
    expect(page.locator(".tt-badge-end")).to_have_text("− 1")
    would = page.locator("#tt-rehearsal")
    expect(would).to_contain_text("A token appeared at Ship")
    expect(would).to_contain_text("The token at Charge card was cancelled")
    assert "INSTANCE_MODIFIED" not in {event.type for event in stream(failed_order)}
    page.get_by_label("Reason").fill("paid by hand")
    page.get_by_role("button", name="Modify the instance").click()
    expect(page.get_by_text("The instance is modified.")).to_be_visible()
    expect(page.locator("[data-element-id=Ship].tt-standing")).to_have_count(1)
    expect(page.locator("[data-element-id=ChargeCard].tt-standing")).to_have_count(0)


def test_it_is_shown_as_it_was_and_why_it_is_here(page: Page, live_server, log_in, failed_order):
    log_in()
    page.goto(f"{live_server.url}/cockpit/instances/{failed_order}/")
    why = page.locator("#tt-why")
    expect(why).to_contain_text("an operator retries the incident")
    expect(why).to_contain_text("one of warehouse claims it")
    expect(page.locator("[data-element-id=ChargeCard].tt-stopped")).to_have_count(1)
    page.locator("[data-then]").fill("1")
    expect(page.locator("#tt-past")).to_contain_text("After commit 1 of")
    expect(page.locator("[data-element-id=CheckStock].tt-standing")).to_have_count(1)
    expect(page.locator("[data-element-id=ChargeCard].tt-stopped")).to_have_count(0)
    page.get_by_role("button", name="Now").click()
    expect(page.locator("[data-element-id=ChargeCard].tt-stopped")).to_have_count(1)
