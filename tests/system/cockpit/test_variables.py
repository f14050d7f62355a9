"""Variables in the cockpit: instances found by their values, dates as their text, files to be saved."""

from __future__ import annotations

from datetime import date

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse

from bpm import engine
from bpm.queries import work
from bpm.queries.variables import variable
from cockpit.pages import instances


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


@pytest.mark.parametrize("given", ["note:like:" + "x" * 201, "n" * 256 + ":exists", "note:like:fragile\\"])
def test_a_search_for_what_no_variable_is_says_so(as_operator, noted_order, given):
    answer = as_operator.get(reverse("cockpit:instances"), {"variable": given})
    assert answer.status_code == 200
    assert "Nothing is found so" in answer.content.decode()
    headers = {"HX-Request": "true"}
    assert as_operator.get(reverse("cockpit:instances"), {"variable": given}, headers=headers).status_code == 200


def test_a_search_that_takes_too_long_says_so_and_is_not_asked_again(as_operator, noted_order, monkeypatch):
    def slow(**_wanted):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(5)")

    address = reverse("cockpit:instances")
    shown = as_operator.get(address, {"variable": "note:like:x%"}).content.decode()
    assert "No instance fits" in shown and 'hx-trigger="every 30s"' in shown
    assert 'hx-trigger="every 5s"' in as_operator.get(address).content.decode()
    monkeypatch.setattr(instances, "SEARCHED", 0.02)
    monkeypatch.setattr(instances.instances, "list_instances", slow)
    shown = as_operator.get(address, {"variable": "note:like:x%"}).content.decode()
    assert "The search was given up" in shown and "It took longer than 0.02 seconds." in shown
    assert "No instance fits" not in shown and "data-live" not in shown


def test_a_file_can_be_saved_and_a_date_is_its_text(as_operator, noted_order):
    shown = as_operator.get(reverse("cockpit:instance", args=[noted_order])).content.decode()
    address = f"/api/instances/{noted_order}/variables/invoice/file?scope=0"
    assert f'href="{address}"' in shown
    assert "&lt;b&gt;invoice.pdf" in shown and "4\xa0bytes · application/pdf" in shown
    assert '<span class="tt-mono">2026-11-29</span>' in shown
    saved = as_operator.get(address)
    assert (saved.content, saved["X-Content-Type-Options"]) == (b"%PDF", "nosniff")
    assert saved["Content-Disposition"].startswith("attachment;")


FORM = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="tests"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn"><process id="form" isExecutable="true"><startEvent id="start"/>
    <sequenceFlow id="to" sourceRef="start" targetRef="judge"/><userTask id="judge"><extensionElements>
    <camunda:formData><camunda:formField id="proof" type="file"/><camunda:formField id="seen" type="date"/>
    </camunda:formData></extensionElements></userTask></process></definitions>"""


def test_a_form_takes_a_file_and_a_date(as_operator, transactional_db, settings):
    engine.deploy({"form.bpmn": FORM}, actor="tests")
    instance = engine.start("form", actor="tests").thread_id
    (task,) = work.list_user_tasks(instance_id=instance).items
    assert 'type="file"' in as_operator.get(reverse("cockpit:user-task", args=[task.id])).content.decode()

    def send(content: bytes) -> None:
        upload = SimpleUploadedFile("proof.png", content, content_type="image/png")
        fields = {"field:proof": upload, "field:seen": "2026-11-29", "variables": "{}"}
        as_operator.post(reverse("cockpit:complete-task", args=[task.id]), fields)

    settings.BPM_FILE_LIMIT = 3
    send(b"PNG!")
    assert variable(instance, "proof") is None
    send(b"PNG")
    seen, proof = variable(instance, "seen"), variable(instance, "proof")
    assert seen is not None and seen.value == {"$type": "date", "value": "2026-11-29"}
    assert proof is not None and engine.read_file(proof.value).content == b"PNG"
