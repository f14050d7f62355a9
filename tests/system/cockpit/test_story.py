"""What an operator does: finds the failed task, sees why, retries, packs the parcel, watches the order finish."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from bpm import engine
from bpm.audit.trace import stream
from tests.system.cockpit.conftest import EXAMPLES, TIMEOUT

pytestmark = pytest.mark.browser

# A model without its drawing.
PLAIN = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="tests">
  <process id="plain" name="Plain" isExecutable="true">
    <startEvent id="Begin" name="Begin"/><sequenceFlow id="f1" sourceRef="Begin" targetRef="Look"/>
    <userTask id="Look" name="Look at it"/><sequenceFlow id="f2" sourceRef="Look" targetRef="Finish"/>
    <endEvent id="Finish" name="Finish"/>
  </process>
</definitions>"""


def test_an_operator_repairs_an_order(page: Page, live_server, log_in, failed_order, start_worker):
    start_worker()
    log_in()

    # The overview says that something failed, and where; one click leads to all like it.
    expect(page.locator("#tt-repair")).to_contain_text("Charge card")
    expect(page.locator("#tt-repair")).to_contain_text(TIMEOUT)
    page.locator("#tt-repair").get_by_role("link", name="Charge card").click()
    page.get_by_role("link", name="A-1042").click()

    # The instance shows what stopped, on the diagram and in its history, with the worker that caused it.
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("Charge card stopped and waits for an operator")
    expect(notice).to_contain_text(TIMEOUT)
    expect(page.locator("[data-element-id=ChargeCard].tt-stopped")).to_have_count(1)
    expect(page.locator("[data-element-id=CheckStock].tt-passed")).to_have_count(1)
    expect(page.locator("[data-element-id=PackParcel].tt-standing")).to_have_count(1)
    expect(page.locator(".tt-badge-incident")).to_have_text("! 1")
    expect(page.locator(".bjs-powered-by")).to_be_visible()
    failure = page.locator(".tt-event[data-type=TASK_FAILED]")
    expect(failure).to_contain_text("worker-2 failed at Charge card")
    failure.locator("summary").click()
    expect(failure.locator("pre")).to_have_text("at line 47")
    failure.locator("summary").click()

    # Pointing at a step shows its place; clicking a place shows its steps.
    failure.hover()
    expect(page.locator("[data-element-id=ChargeCard].tt-pointed")).to_have_count(1)
    page.locator("[data-element-id=CheckStock]").first.click()
    expect(page.locator(".tt-event")).to_have_count(3)
    page.get_by_role("button", name="Check stock").click()

    # Retrying asks for a reason and says what will happen.
    notice.get_by_role("button", name="Retry").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Try again: Charge card")
    dialog.get_by_label("Reason").fill("the gateway is back")
    dialog.get_by_role("button", name="Retry").click()
    expect(page.get_by_text("The incident is resolved; the work is tried again.")).to_be_visible()
    expect(page.locator(".tt-event[data-type=INCIDENT_RESOLVED]")).to_contain_text("olga resolved the incident")
    expect(page.locator(".tt-event[data-type=INCIDENT_RESOLVED]")).to_contain_text("the gateway is back")

    # The parcel is packed by a person.
    page.locator("#tt-side").get_by_role("link", name="Pack the parcel").click()
    page.get_by_role("button", name="Claim").click()
    expect(page.get_by_text("The task is yours.")).to_be_visible()
    page.get_by_label("Variables").fill('{"boxes": 2}')
    page.get_by_role("button", name="Complete the task").click()
    expect(page.get_by_text("The task is done.")).to_be_visible()

    # The worker does the rest; the page follows by itself.
    expect(page.locator("#tt-summary h2")).to_contain_text("Completed", timeout=40_000)
    expect(page.locator("[data-element-id=OrderShipped].tt-passed")).to_have_count(1)
    expect(page.locator(".tt-timeline")).to_contain_text("The instance completed")
    expect(page.locator(".tt-standing")).to_have_count(0)
    who = {event.type: (event.actor, event.stated_reason) for event in stream(failed_order)}
    assert who["INCIDENT_RESOLVED"] == ("olga", "the gateway is back")
    assert who["USER_TASK_COMPLETED"][0] == "olga"


def test_deploy_start_suspend_resume_and_cancel(page: Page, live_server, log_in):
    log_in()
    page.locator("#nav-sidebar").get_by_role("link", name="Processes").click()
    expect(page.get_by_text("No process is deployed")).to_be_visible()
    page.get_by_role("button", name="Deploy").click()
    page.get_by_role("dialog").locator("input[type=file]").set_input_files(EXAMPLES / "orders/order.bpmn")
    page.get_by_role("dialog").get_by_role("button", name="Deploy", exact=True).click()
    expect(page.get_by_text("1 process is deployed.")).to_be_visible()

    page.get_by_role("link", name="Order", exact=True).click()
    page.get_by_role("button", name="Start").click()
    page.get_by_label("Business key").fill("A-7")
    page.get_by_role("dialog").get_by_label("Variables").fill('{"quantity": 3}')
    page.get_by_role("dialog").get_by_role("button", name="Start").click()
    expect(page.locator("#tt-summary h2")).to_contain_text("A-7")
    expect(page.locator("#tt-summary h2")).to_contain_text("Running")

    for button, said, state in (
        ("Suspend", "The instance is suspended.", "Suspended"),
        ("Resume", "The instance goes on.", "Running"),
        ("Cancel", "The instance is cancelled.", "Cancelled"),
    ):
        page.locator("#tt-summary").get_by_role("button", name=button).click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Reason").fill("tests")
        dialog.locator("button:not([type=button])").click()
        expect(page.get_by_text(said)).to_be_visible()
        expect(page.locator("#tt-summary h2")).to_contain_text(state)
    expect(page.locator(".tt-timeline")).to_contain_text("olga cancelled the instance")


def test_many_incidents_are_retried_at_once(page: Page, live_server, log_in, failed_order):
    log_in()
    page.goto(f"{live_server.url}/cockpit/incidents/?process=order&node=ChargeCard")
    page.get_by_role("button", name="Retry all of these").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("all is well again")
    page.get_by_role("dialog").get_by_role("button", name="Retry all").click()
    expect(page.get_by_text("1 incident is retried.")).to_be_visible()
    expect(page.get_by_text("Nothing is broken")).to_be_visible()


def test_a_model_without_a_drawing_shows_its_nodes(page: Page, live_server, log_in, transactional_db):
    engine.deploy({"plain.bpmn": PLAIN.encode()}, actor="tests")
    id = engine.start("plain", actor="tests").thread_id
    log_in()
    page.goto(f"{live_server.url}/cockpit/instances/{id}/")
    expect(page.get_by_text("This model came without a drawing")).to_be_visible()
    expect(page.locator("[data-nodes] li")).to_have_count(3)
    expect(page.locator("[data-nodes] li[data-node=Look]")).to_contain_text("1")


def test_the_cockpit_speaks_chinese(page: Page, live_server, log_in, failed_order):
    page.context.add_cookies([{"name": "django_language", "value": "zh-hans", "url": live_server.url}])
    log_in()
    expect(page.locator("#tt-figures")).to_contain_text("运行中")
    expect(page.locator("#nav-sidebar")).to_contain_text("外部任务")
    page.goto(f"{live_server.url}/cockpit/instances/{failed_order}/")
    expect(page.locator(".tt-event[data-type=TASK_FAILED]")).to_contain_text("worker-2 在 Charge card 失败")
    page.goto(f"{live_server.url}/cockpit/bpm/externaltask/")
    expect(page.locator("#result_list")).to_contain_text("剩余重试")


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=["desk", "phone"])
def test_no_page_complains_or_overflows(page: Page, live_server, log_in, failed_order, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    log_in()
    addresses = ["", "processes/", "instances/", f"instances/{failed_order}/", "incidents/", "tasks/", "work/"]
    addresses += [f"instances/{failed_order}/modify/?before=Ship", f"instances/{failed_order}/migrate/"]
    addresses += ["audit/integrity/", "audit/seals/", "audit/exports/", "audit/archives/"]
    for address in addresses:
        page.goto(f"{live_server.url}/cockpit/{address}")
        page.wait_for_load_state("load")
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, f"{address} is {wider} px wider than the screen"
