"""Every page and table answers; who may not, does not; nothing in a table can be changed."""

from __future__ import annotations

import ast
import gettext
import itertools
import re
from datetime import timedelta
from html import unescape
from pathlib import Path
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import reverse

from bpm import engine
from bpm.audit import past
from bpm.models import EngineEvent
from bpm.queries import definitions, incidents, instances, overview, work
from bpm.queries.integrity import VIOLATION
from bpm.semantics.events import EVENT_TYPES, REASONS
from bpm.store import bases
from bpm.store.schedule import engine_event
from cockpit import throttle
from cockpit.actions import ROUTES
from cockpit.admin.tables import shown_models
from cockpit.pages.sentences import REASONS as REASONS_SAID
from cockpit.pages.sentences import SENTENCES
from tests.system.cockpit.conftest import EXAMPLES, PASSWORD

ROOT = Path(__file__).resolve().parents[3]
FORM = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="tests"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn"><process id="form" isExecutable="true"><startEvent id="start"/>
    <sequenceFlow id="to" sourceRef="start" targetRef="judge"/><userTask id="judge"><extensionElements>
    <camunda:formData>
    <camunda:formField id="note" type="string" defaultValue="none"/>
    <camunda:formField id="verdict" type="enum" defaultValue="refuse"><camunda:value id="approve" name="Approve it"/>
    <camunda:value id="refuse"/></camunda:formField></camunda:formData></extensionElements></userTask></process>
    </definitions>"""
CALLER = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="tests">
    <process id="caller" isExecutable="true"><startEvent id="start"/><sequenceFlow id="to" sourceRef="start"
    targetRef="call"/><callActivity id="call" calledElement="form"/></process></definitions>"""
TWICE = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="tests">
    <process id="twice" isExecutable="true"><startEvent id="start"/><sequenceFlow id="to" sourceRef="start"
    targetRef="one"/><callActivity id="one" calledElement="form"/><sequenceFlow id="on" sourceRef="one"
    targetRef="two"/><callActivity id="two" calledElement="form"/></process></definitions>"""
PAGES = (
    "index", "definitions", "instances", "incidents", "user-tasks", "external-tasks", "integrity", "seals", "reports",
    "exports", "archives",
)  # fmt: skip
# Pages that have no live part: they are always whole.
WHOLE = ("definitions", "integrity", "seals", "reports", "archives")
AUDIT = ("ask-export", "replay-instance", "verify-seals")


@pytest.mark.parametrize("name", PAGES)
def test_pages_answer_when_empty_and_when_full(as_operator, name, request):
    assert as_operator.get(reverse(f"cockpit:{name}")).status_code == 200
    request.getfixturevalue("failed_order")
    full = as_operator.get(reverse(f"cockpit:{name}"))
    assert full.status_code == 200
    part = as_operator.get(reverse(f"cockpit:{name}"), headers={"HX-Request": "true"})
    assert part.status_code == 200
    assert (b"<html" in part.content) == (name in WHOLE)


def test_a_live_part_that_has_not_changed_is_not_sent_again(as_operator, failed_order):
    address = reverse("cockpit:instance-live", args=[failed_order])
    first = as_operator.get(address)
    assert as_operator.get(f"{address}?known={first['X-Fragment']}").status_code == 204
    engine.set_variables(failed_order, {"new": 1}, actor="tests")
    assert as_operator.get(f"{address}?known={first['X-Fragment']}").status_code == 200


def asked(client: Client, address: str, **headers: str) -> tuple[int, list[str]]:
    """The status, and the statements that it took beside those that ask who it is."""
    statements = []

    def heard(execute, sql, *rest):
        statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(heard):
        status = client.get(address, headers=headers).status_code
    return status, [sql for sql in statements if not re.search(r"django_session|auth_", sql)]


def test_a_page_asks_as_often_however_much_there_is(as_operator, failed_order):
    definition = definitions.find_definition("order")
    pages = [reverse(f"cockpit:{name}") for name in PAGES]
    pages += [f"{reverse('cockpit:instances')}?state=running&process=order&q=A", f"{reverse('cockpit:index')}"]
    pages += [reverse("cockpit:definition", args=[definition.id]), reverse("cockpit:instance", args=[failed_order])]

    def numbers() -> dict[str, int]:
        return {address: len(asked(as_operator, address)[1]) for address in pages}

    numbers()  # what is kept in memory from then on
    few = numbers()
    for number in range(6):
        engine.start("order", business_key=f"A-{number}", actor="shop")
    for task in engine.fetch_and_lock(["orders.check-stock"], worker="w", max=3):
        engine.fail_task(task.id, worker="w", message="broken", retries=0)
    assert numbers() == few
    assert max(few.values()) < 25


def test_to_look_at_what_does_not_change_costs_one_statement(as_operator, failed_order):
    pages = [reverse(f"cockpit:{name}") for name in ("instances", "incidents", "user-tasks", "external-tasks")]
    for address in (reverse("cockpit:instance", args=[failed_order]), *pages):
        shown = as_operator.get(address).content.decode()
        known, live = re.search(r'data-known="(\w+)" hx-get="([^"?]+)', shown).groups()
        status, statements = asked(as_operator, f"{live}?known={known}", **{"HX-Request": "true"})
        assert (status, len(statements)) == (204, 1), (address, statements)


def test_what_changes_no_version_of_the_instance_is_seen(as_operator, failed_order):
    """Locks of its tasks, and what it calls."""
    id = engine.start("order", actor="shop").thread_id
    seen = [instances.state_of(id)]
    (task,) = engine.fetch_and_lock(["orders.check-stock"], worker="w")
    seen.append(instances.state_of(id))
    engine.extend_lock(task.id, worker="w", seconds=120)
    seen.append(instances.state_of(id))
    engine.unlock_task(task.id, actor="w")
    seen.append(instances.state_of(id))
    assert len(set(seen)) == 4
    assert len({state[:2] for state in seen}) == 1
    assert instances.state_of(uuid4()) is None

    engine.deploy({"form.bpmn": FORM, "caller.bpmn": CALLER}, actor="tests")
    caller = engine.start("caller", actor="tests").thread_id
    (called,) = instances.called_by(caller)
    before = instances.state_of(caller)
    engine.suspend_instance(called.id, actor="tests")
    after = instances.state_of(caller)
    assert before != after
    assert before[:2] == after[:2]


def test_a_definition_shows_no_incident_where_only_others_have_some(as_operator, failed_order, monkeypatch):
    """Of more than are read: 0 for one that has none, a dash where that is not known."""
    monkeypatch.setattr(definitions, "READ", -1)
    page = reverse("cockpit:definition", args=[definitions.find_definition("invoice").id])
    listed = as_operator.get(reverse("cockpit:definitions")).content.decode()
    assert listed.count('class="tt-state tt-red"') == listed.count(">1+<") == 1
    assert ">0+<" not in listed
    shown = as_operator.get(page).content.decode()
    assert "tt-figure-loud" not in shown and ">0+<" not in shown
    monkeypatch.setattr(definitions, "ASKED", 0)
    listed = as_operator.get(reverse("cockpit:definitions")).content.decode()
    assert ">0+<" not in listed and "–</td>" in listed


def test_the_chart_says_how_far_it_reaches(as_operator, failed_order, monkeypatch):
    assert "Counted are:" not in as_operator.get(reverse("cockpit:index")).content.decode()
    monkeypatch.setattr(overview, "READ_FOR_CHART", 0)
    shown = as_operator.get(reverse("cockpit:index")).content.decode()
    assert re.search(r"Counted are: Started, since \d\d:\d\d<", shown)
    assert "[null, null," in unescape(shown)


def test_one_more_that_is_called_is_seen_however_many_are_told(models, monkeypatch):
    """The newest are named by their ids: another one may have the version that the last one had."""
    monkeypatch.setattr(instances, "LISTED_CALLED", 1)
    engine.deploy({"form.bpmn": FORM, "twice.bpmn": TWICE}, actor="tests")
    caller = engine.start("twice", actor="tests").thread_id
    (first,) = instances.called_by(caller)
    before = instances.state_of(caller)
    assert before[3] == f"{first.id}:1"
    (task,) = work.list_user_tasks(instance_id=first.id).items
    engine.complete_user_task(task.id, actor="tests")
    (second,) = instances.called_by(caller, 1)
    assert second.id != first.id
    assert instances.state_of(caller)[3] == f"{second.id}:1"


def test_a_broken_rule_is_seen_that_was_committed_after_a_later_one(failed_order):
    seen = [instances.state_of(failed_order)]
    engine_event(VIOLATION, {"instance": failed_order, "code": "rows-differ"})
    seen.append(instances.state_of(failed_order))
    noted = EngineEvent.objects.get(event_type=VIOLATION)
    noted.id, noted.at = None, noted.at - timedelta(seconds=1)
    noted.save(force_insert=True)
    seen.append(instances.state_of(failed_order))
    assert len({state[4] for state in seen}) == 3


def test_a_past_that_takes_too_long_is_not_waited_for(as_operator, failed_order, monkeypatch):
    address = f"{reverse('cockpit:instance-past', args=[failed_order])}?version=1"
    assert b"tt-marks-past" in as_operator.get(address).content
    monkeypatch.setattr(past, "SECONDS", -1.0)
    text = as_operator.get(address).content.decode()
    assert "tt-marks-past" not in text and "longer than a page has time for" in text


def test_lists_are_filtered(as_operator, failed_order):
    def found(page: str, query: str) -> bool:
        return b"A-1042" in as_operator.get(f"{reverse(f'cockpit:{page}')}?{query}").content

    for query in ("state=incident", "state=running&process=order", "q=A-10", f"q={failed_order}", "node=ChargeCard"):
        assert found("instances", query), query
    for query in ("state=completed", "process=invoice", "q=B-", "node=Ship", "after=nonsense"):
        assert not found("instances", query), query
    assert found("incidents", "process=order&node=ChargeCard")
    assert not found("incidents", "process=invoice")
    assert not found("incidents", "state=resolved")
    assert found("user-tasks", "whose=unassigned")
    assert not found("user-tasks", "whose=mine")
    assert found("external-tasks", "state=failed")
    assert not found("external-tasks", "topic=nothing")


@pytest.mark.parametrize(
    "listing",
    [
        "definitions",
        "decisions",
        "instances",
        "incidents",
        "user-tasks",
        "external-tasks",
        "integrity",
        "seals",
        "exports",
        "archives",
    ],
)
def test_addresses_that_nobody_was_given_are_pages_all_the_same(as_operator, listing):
    for query in ("after=nonsense", "q=%00&node=%00&message=%00&topic=%00&process=%00&after=%00"):
        assert as_operator.get(f"{reverse(f'cockpit:{listing}')}?{query}").status_code == 200, query


def test_texts_from_outside_are_shown_as_text(as_operator, models):
    evil = "<script>alert(1)</script>"
    id = engine.start("order", {"evil": evil, evil: 1}, business_key=evil, actor="<b>shop</b>").thread_id
    (task,) = engine.fetch_and_lock(["orders.check-stock"], worker=evil)
    engine.fail_task(task.id, worker=evil, message=evil, details=evil, retries=0)
    for page in (reverse("cockpit:instance", args=[id]), reverse("cockpit:incidents"), reverse("cockpit:index")):
        text = as_operator.get(page).content.decode()
        assert evil not in text
        assert "<b>shop</b>" not in text
        assert "&lt;script&gt;" in text


def test_tables_only_show(as_operator, failed_order):
    bases.take(least=1)
    for model in itertools.chain(*shown_models()):
        name = f"cockpit:bpm_{model._meta.model_name}"
        assert as_operator.get(reverse(f"{name}_changelist")).status_code == 200, name
        for text in ("nonsense", str(failed_order), "\x00"):
            assert as_operator.get(reverse(f"{name}_changelist"), {"q": text}).status_code in (200, 302), name
        assert as_operator.get(reverse(f"{name}_add")).status_code == 403, name
        row = model.objects.first()
        if row is not None:
            shown = reverse(f"{name}_change", args=[row.pk])
            assert as_operator.get(shown).status_code == 200, name
            assert as_operator.post(shown, {}).status_code == 403, name
            assert as_operator.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403, name


def test_nobody_and_those_without_a_role_see_nothing(transactional_db, django_user_model):
    stranger = Client()
    assert stranger.get(reverse("cockpit:instances")).status_code == 302
    stranger.force_login(django_user_model.objects.create_user("stan", is_staff=True))
    assert stranger.get(reverse("cockpit:instances")).status_code == 302


def test_an_auditor_sees_all_and_changes_nothing(as_auditor, failed_order):
    text = as_auditor.get(reverse("cockpit:instance", args=[failed_order])).content.decode()
    assert "stopped and waits for an operator" in text
    assert "data-dialog" not in text.replace('data-dialog="finder"', "")
    (task,) = work.list_user_tasks(instance_id=failed_order).items
    assert as_auditor.get(reverse("cockpit:user-task", args=[task.id])).status_code == 200
    for page in ("migrate-instance-plan", "modify-instance-plan"):
        assert as_auditor.get(reverse(f"cockpit:{page}", args=[failed_order])).status_code == 403, page
    for _route, name, _view in ROUTES:
        if name in AUDIT:
            continue
        arguments = [] if name in ("deploy", "retry-incidents") else [failed_order]
        assert as_auditor.post(reverse(f"cockpit:{name}", args=arguments), {"reason": "no"}).status_code == 403, name


def test_incidents_that_say_nothing_are_a_group_of_their_own(as_operator, failed_order):
    silent = engine.start("order", {"quantity": 1}, actor="shop").thread_id
    (task,) = engine.fetch_and_lock(["orders.check-stock"], worker="worker-1")
    engine.fail_task(task.id, worker="worker-1", retries=0)
    overview = as_operator.get(reverse("cockpit:index")).content.decode()
    assert "&amp;message==" in overview
    listed = as_operator.get(f"{reverse('cockpit:incidents')}?message=%3D").content.decode()
    assert str(silent) in listed
    assert "A-1042" not in listed
    as_operator.post(reverse("cockpit:retry-incidents"), {"message": "=", "reason": "tests"})
    assert [one.instance_id for one in incidents.list_incidents().items] == [failed_order]
    as_operator.post(reverse("cockpit:retry-incidents"), {"message": "", "reason": "tests"})
    assert incidents.list_incidents().items == ()


def test_a_version_that_is_suspended_says_so_and_is_not_started(as_operator, models):
    order = definitions.find_definition("order")
    page = reverse("cockpit:definition", args=[order.id])
    badge = "tt-state tt-amber"

    def shown(address: str = page) -> str:
        return str(as_operator.get(address).content.decode())

    assert 'data-dialog="start"' in shown() and 'data-dialog="suspend"' in shown() and badge not in shown()
    said = as_operator.post(
        reverse("cockpit:suspend-definition", args=[order.id]),
        {"reason": "prices are wrong"},
        headers={"Referer": page},
    )
    assert said["Location"] == page
    text = shown()
    assert "The version is suspended: nothing begins of it." in text and badge in text
    assert 'data-dialog="resume"' in text
    assert reverse("cockpit:start", args=[order.id]) not in text and 'data-dialog="suspend"' not in text
    for listing in ("definitions", "index"):
        assert shown(reverse(f"cockpit:{listing}")).count(badge) == 1, listing
    refused = as_operator.post(reverse("cockpit:start", args=[order.id]), follow=True).content.decode()
    assert "suspended" in refused and instances.list_instances(definition_key="order").items == ()
    assert definitions.get_definition(order.id).suspended

    as_operator.cookies["django_language"] = "zh-hans"
    as_operator.post(reverse("cockpit:resume-definition", args=[order.id]), {"reason": "repaired"})
    text = shown()
    assert "此版本可以再次启动。" in text and "挂起此版本？" in text
    assert 'data-dialog="start"' in text


def test_a_plan_names_the_nodes_of_the_new_version_once(as_operator, failed_order):
    changed = (EXAMPLES / "orders/order.bpmn").read_bytes().replace(b'"ChargeCard"', b'"TakeMoney"')
    engine.deploy({"order.bpmn": changed.replace(b">ChargeCard<", b">TakeMoney<")}, actor="tests")
    plan = as_operator.get(reverse("cockpit:migrate-instance-plan", args=[failed_order])).content.decode()
    assert plan.count('<option value="Ship"') == 2  # where all may choose it, and where it is chosen
    # Only what the new version has no node for may be nowhere.
    rows = {row.partition('"')[0]: row.partition("</tr>")[0] for row in plan.split('data-plan="')[1:]}
    assert [id for id, row in rows.items() if ">nowhere<" in row] == ["ChargeCard"]
    assert '<option value="TakeMoney" selected>' in rows["ChargeCard"]


def test_verbs_are_posts_and_need_a_reason(as_operator, failed_order):
    address = reverse("cockpit:cancel-instance", args=[failed_order])
    assert as_operator.get(address).status_code == 405
    refused = as_operator.post(address, {"reason": " "}, follow=True)
    assert "Please state a reason." in refused.content.decode()
    assert engine.set_variables(failed_order, {"still": "open"}, actor="tests").version > 0


@pytest.mark.parametrize("wanted", ["cockpit:cancel-instance", "//elsewhere.example/", "javascript:0", "/nothing/here"])
def test_after_the_login_one_lands_on_a_page(account, failed_order, wanted):
    account("olga", "operators")
    to = reverse(wanted, args=[failed_order]) if wanted.startswith("cockpit:") else wanted
    logs_in = {"username": "olga", "password": PASSWORD}
    answer = Client().post(f"{reverse('cockpit:login')}?{urlencode({'next': to})}", logs_in)
    assert (answer.status_code, answer["Location"]) == (302, reverse("cockpit:index"))
    page = reverse("cockpit:instance", args=[failed_order])
    answer = Client().post(f"{reverse('cockpit:login')}?{urlencode({'next': page})}", logs_in)
    assert (answer.status_code, answer["Location"]) == (302, page)


def test_who_guesses_passwords_has_to_wait(account):
    account("olga", "operators")
    login = reverse("cockpit:login")
    try:
        for _ in range(throttle.OF_NAME):
            shown = Client().post(login, {"username": "olga", "password": "guessed"})
            assert "Too many wrong passwords" not in shown.content.decode()
            Client().post(login, {"username": "olga", "password": ""})
        shown = Client().post(login, {"username": "OLGA", "password": PASSWORD})
        assert "Too many wrong passwords" in shown.content.decode()
        elsewhere = Client(REMOTE_ADDR="192.0.2.7").post(login, {"username": "olga", "password": PASSWORD})
        assert elsewhere.status_code == 302
    finally:
        cache.clear()


def test_a_form_offers_choices_by_their_ids_and_texts_as_texts(as_operator):
    engine.deploy({"form.bpmn": FORM}, actor="tests")
    instance = engine.start("form", actor="tests").thread_id
    (task,) = work.list_user_tasks(instance_id=instance).items
    text = as_operator.get(reverse("cockpit:user-task", args=[task.id])).content.decode()
    assert re.search(r'<input [^>]*id="field-note"[^>]* value="none"', text)
    assert re.search(r'<select [^>]*id="field-verdict"', text)
    assert '<option value="approve">Approve it</option><option value="refuse" selected>refuse</option>' in text


def test_a_refusal_of_the_engine_is_shown_in_its_own_words(as_operator, failed_order):
    engine.cancel_instance(failed_order, actor="tests")
    address = reverse("cockpit:suspend-instance", args=[failed_order])
    shown = as_operator.post(address, {"reason": "too late"}, follow=True).content.decode()
    assert "the instance is CANCELLED" in shown


def test_every_event_and_reason_has_words():
    told = {type for type, (entity, _, _) in EVENT_TYPES.items() if entity != "engine"}
    assert told - set(SENTENCES) == set()
    assert set(REASONS) - set(REASONS_SAID) == {"none"}


def test_a_form_that_no_page_of_ours_has_sent_is_refused_in_words(as_operator, failed_order, settings, tmp_path):
    settings.BPM_EXPORT_TO = str(tmp_path)
    nonsense = ("\x00", "x\x00y", "nonsense", "9" * 400)
    fields = (
        "after", "process", "node", "message", "user", "name", "variables", "business_key", "version", "keep", "before",
        "end", "token", "drop", "to:x", "definition", "state", "since", "instances", "workers", "mask",
    )  # fmt: skip
    for route, name, _view in ROUTES:
        address = reverse(f"cockpit:{name}", args=[failed_order] if "<uuid:id>" in route else [])
        for text in nonsense:
            given = dict.fromkeys(fields, text) | {"format": "csv"}
            for reason in ("x\x00y", text):
                answer = as_operator.post(address, given | {"reason": reason})
                assert answer.status_code in (200, 302, 404), (name, text)


@pytest.mark.parametrize("app", ["cockpit", "bpm"])
def test_translations_are_whole_and_compiled(app):
    folder = ROOT / app / "locale/zh_Hans/LC_MESSAGES"
    entries = (folder / "django.po").read_text().split("\n\n")[1:]
    with (folder / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for entry in entries:
        assert "fuzzy" not in entry
        text = "".join(
            ast.literal_eval(part)
            for part in re.findall(r'"(?:[^"\\]|\\.)*"', entry.split("\nmsgid_plural")[0].split("\nmsgstr")[0])
        )
        plural = "msgid_plural" in entry
        assert (compiled.ngettext(text, text + "s", 2) if plural else compiled.gettext(text)) != text, text
