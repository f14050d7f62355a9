"""A bad day: what was ended says by whom, what broke in called instances is seen from the caller, nothing overflows."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from bpm import engine
from bpm.queries import definitions, incidents
from cockpit.pages import reports
from tests.system.cockpit.conftest import EXAMPLES, TIMEOUT

LOOP = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="tests"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:camunda="http://camunda.org/schema/1.0/bpmn">
    <process id="closing" isExecutable="true"><startEvent id="start"/><sequenceFlow id="to" sourceRef="start"
    targetRef="each"/><callActivity id="each" name="Each branch" calledElement="branch">
    <multiInstanceLoopCharacteristics><loopCardinality xsi:type="tFormalExpression">3</loopCardinality>
    </multiInstanceLoopCharacteristics></callActivity></process>
    <process id="branch" isExecutable="true"><startEvent id="begin"/><sequenceFlow id="on" sourceRef="begin"
    targetRef="close"/><serviceTask id="close" name="Close" camunda:type="external" camunda:topic="close"/></process>
    </definitions>"""
LONG = "Donaudampfschifffahrtsgesellschaftskapitaenspatentverordnung" * 4


def seen(client, id) -> str:
    return client.get(reverse("cockpit:instance", args=[id])).content.decode()


def test_what_was_cancelled_says_by_whom_and_why(as_operator, failed_order):
    engine.cancel_instance(failed_order, actor="olga", reason="ordered twice")
    page = seen(as_operator, failed_order)
    outcome = page[page.index("It was ended from outside.") :]
    assert "<b>olga</b> cancelled the instance" in outcome[:400]
    assert "ordered twice" in outcome[:500]
    # It heads its step in the timeline; nobody has resolved the incident that ended with it.
    (step,) = re.findall(r'<article[^>]*data-type="INSTANCE_CANCELLED".*?</article>', page, re.S)
    assert "The incident at <b>Charge card</b> ended with its token" in step
    assert "resolved the incident" not in page


def test_what_is_suspended_or_failed_says_by_whom_and_why(as_operator, failed_order, transactional_db):
    engine.suspend_instance(failed_order, actor="olga", reason="the bank asked us to wait")
    engine.set_variables(failed_order, {"waits": True}, actor="olga")
    page = seen(as_operator, failed_order)
    notice = page[page.index("nothing moves until it is resumed") :][:600]
    assert "<b>olga</b> suspended the instance" in notice
    assert "the bank asked us to wait" in notice

    engine.deploy({"closing.bpmn": LOOP}, actor="tests")
    id = engine.start("branch", actor="tests").thread_id
    (task,) = engine.fetch_and_lock(["close"], worker="w")
    engine.throw_task_error(task.id, worker="w", code="NO_BOOKS", message="there are none")
    page = seen(as_operator, id)
    outcome = page[page.index("An error that nothing caught ended it.") :][:600]
    assert "NO_BOOKS" in outcome


def test_a_caller_shows_its_loop_and_what_broke_in_those_it_called(as_operator, transactional_db):
    engine.deploy({"closing.bpmn": LOOP}, actor="tests")
    id = engine.start("closing", actor="tests").thread_id
    (task,) = engine.fetch_and_lock(["close"], worker="w")
    engine.fail_task(task.id, worker="w", message="does not balance", retries=0)
    page = seen(as_operator, id)
    assert page.count("the rounds of its loop") == 2  # beside what it waits for, and in the timeline
    assert "<b>?</b>" not in page
    called = page[page.index("Called instances") :]
    assert called.count("1 incident<") == 1


def test_an_instance_is_replayed_by_whoever_may_audit(as_auditor, failed_order):
    answer = as_auditor.post(reverse("cockpit:replay-instance", args=[failed_order]), HTTP_HX_REQUEST="true")
    assert "history leads to exactly the rows that are stored" in answer.content.decode()
    assert f"{reverse('cockpit:exports')}?instance={failed_order}" in seen(as_auditor, failed_order)


def test_a_part_asked_for_after_the_session_has_ended_leads_to_the_login(failed_order):
    here = reverse("cockpit:instance", args=[failed_order])
    for name in ("instance-live", "instance-timeline", "instance-why"):
        answer = Client().get(
            reverse(f"cockpit:{name}", args=[failed_order]),
            HTTP_HX_REQUEST="true",
            HTTP_HX_CURRENT_URL=f"https://cockpit.example{here}?kind=work",
        )
        assert answer.content == b""
        assert answer["HX-Redirect"] == f"/cockpit/login/?{urlencode({'next': f'{here}?kind=work'})}"


def test_who_has_logged_in_without_a_role_is_told_so(transactional_db, django_user_model):
    client = Client()
    client.force_login(django_user_model.objects.create_user("nobody"))
    page = client.get(reverse("cockpit:index"), follow=True).content.decode()
    assert "You are authenticated as nobody, but are not authorized" in page
    assert "You are authenticated" not in Client().get(reverse("cockpit:login")).content.decode()


def test_many_are_retried_at_once_with_their_number_before_and_after(as_operator, models, monkeypatch):
    for number in range(4):
        engine.start("order", {"quantity": number}, business_key=f"N-{number}", actor="shop")
    for task in engine.fetch_and_lock(["orders.check-stock"], worker="w", max=4):
        engine.fail_task(task.id, worker="w", message="broken", retries=0)
    (first, *_others) = incidents.list_incidents().items
    engine.suspend_instance(first.instance_id, actor="tests")
    listed = f"{reverse('cockpit:incidents')}?process=order"
    assert "4 incidents will be retried." in as_operator.get(listed).content.decode()
    monkeypatch.setattr("cockpit.pages.incidents.MOST", 3)
    assert "There are more than 3: these are the oldest." in as_operator.get(listed).content.decode()
    answer = as_operator.post(
        reverse("cockpit:retry-incidents"), {"process": "order", "reason": "repaired"}, HTTP_REFERER=listed, follow=True
    )
    # One is left, and the list is still as narrow: what is pressed again retries no others.
    assert answer.redirect_chain == [(listed, 302)]
    said = [str(message) for message in answer.context["messages"]]
    assert said == ["1 was refused: the instance is SUSPENDED", "3 incidents are retried."]


def test_a_version_says_what_is_open_of_others(as_operator, failed_order):
    source = (EXAMPLES / "orders/order.bpmn").read_bytes()
    engine.deploy({"orders/order.bpmn": source.replace(b'name="Pack the parcel"', b'name="Pack it"')}, actor="tests")
    old, new = (definitions.find_definition("order", version) for version in (1, 2))
    for page in (
        reverse("cockpit:index"),
        reverse("cockpit:definitions"),
        reverse("cockpit:definition", args=[new.id]),
    ):
        shown = as_operator.get(page).content.decode()
        assert "1 open instance of other versions" in shown, page
        assert re.search(r"incidents/\?process=order\">1 incident<", shown), page
    shown = as_operator.get(reverse("cockpit:definition", args=[old.id])).content.decode()
    assert "of other versions" not in shown


def test_reports_say_who_did_what_and_which_worker_failed(as_auditor, failed_order, monkeypatch):
    engine.cancel_instance(failed_order, actor="olga", reason="ordered twice")
    page = reverse("cockpit:reports")
    said = as_auditor.get(page, {"name": "olga"}).content.decode()
    assert said.count("cancelled an instance") == 1
    assert "ordered twice" in said
    assert ">A-1042<" in said
    said = as_auditor.get(page, {"report": "failures", "name": "worker-2"}).content.decode()
    assert TIMEOUT in said
    assert "Charge card" in said
    assert "An incident came of it" in said
    for report, name in (("who", "nobody"), ("failures", "worker-1")):
        said = as_auditor.get(page, {"report": report, "name": name, "hours": "x"}).content.decode()
        assert "Nothing of that kind happened in that time" in said
    monkeypatch.setattr(reports, "SHOWN", 1)
    assert re.search(r"The newest 1 of \d+", as_auditor.get(page).content.decode())
    monkeypatch.setattr(reports, "SECONDS", -1.0)
    assert "The search was given up" in as_auditor.get(page).content.decode()


def test_why_it_is_here_names_places_as_the_diagram_does(as_operator, failed_order):
    said = as_operator.get(
        reverse("cockpit:instance-why", args=[failed_order]), HTTP_HX_REQUEST="true"
    ).content.decode()
    assert "its branch at Charge card" in said
    assert "its branch at Pack the parcel" in said


@pytest.mark.browser
def test_what_is_no_json_is_said_before_it_is_sent(page: Page, live_server, log_in, failed_order):
    log_in()
    page.goto(live_server.url + reverse("cockpit:instance", args=[failed_order]))
    page.get_by_role("button", name="Variables").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("typo")
    for text in ('{"amount": 12,}', "[1]"):
        dialog.get_by_label("Variables").fill(text)
        dialog.get_by_role("button", name="Set").click()
        expect(dialog).to_be_visible()
        expect(dialog.get_by_label("Variables")).to_have_value(text)
    dialog.get_by_label("Variables").fill('{"amount": 12}')
    dialog.get_by_role("button", name="Set").click()
    expect(page.get_by_text("1 variable is set.")).to_be_visible()


@pytest.mark.browser
def test_a_preview_keeps_what_was_typed_and_no_secret(page: Page, live_server, log_in, failed_order):
    log_in()
    page.goto(live_server.url + reverse("cockpit:modify-instance-plan", args=[failed_order]))
    page.get_by_label("Node").select_option("Ship")
    page.get_by_label("Reason").fill("sent by hand")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#tt-rehearsal")).to_contain_text("A token appeared at Ship")
    expect(page.get_by_label("Reason")).to_have_value("sent by hand")
    assert "csrf" not in page.url
    page.get_by_role("button", name="Modify the instance").click()
    expect(page.locator(".tt-event[data-type=INSTANCE_MODIFIED]")).to_contain_text("sent by hand")


@pytest.mark.browser
def test_names_without_a_space_overflow_nothing(page: Page, live_server, log_in, models):
    for number in range(26):
        engine.start("order", {LONG: LONG}, business_key=f"{LONG[:240]}{number}", actor=LONG[:100])
    log_in()
    found = engine.start("order", business_key="KEY-7", actor="shop").thread_id
    id = engine.start("order", business_key=LONG[:240], actor="shop").thread_id
    for name, arguments in (("index", ()), ("instances", ()), ("external-tasks", ()), ("instance", (id,))):
        for width in (390, 1024):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(live_server.url + reverse(f"cockpit:{name}", args=arguments))
            wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wider <= 0, (name, width)
    # The pager of a list that is asked for again stands inside its card as any other does.
    page.goto(live_server.url + reverse("cockpit:instances"))
    older = page.get_by_role("link", name="Older")
    expect(older).to_be_visible()
    card, button = page.locator(".tt-card").bounding_box(), older.bounding_box()
    assert button["x"] + button["width"] < card["x"] + card["width"] - 8
    assert button["x"] > card["x"] + card["width"] / 2
    # Whoever has a role finds an instance by the keyboard alone, on any page.
    page.keyboard.press("Control+k")
    page.get_by_role("searchbox", name="Find an instance or a process").fill("KEY-7")
    expect(page.locator("#finder-found li")).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/instances/{found}/")
    # What stands below a name in a row does so however short the name is.
    page.goto(live_server.url + reverse("cockpit:definitions"))
    title, below = page.get_by_role("link", name="Order"), page.locator("td .tt-sub", has_text=re.compile("^order$"))
    assert below.bounding_box()["y"] > title.bounding_box()["y"] + 10
