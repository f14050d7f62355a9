"""The ready-made site around the cockpit: logging in, addresses that lead nowhere."""

from __future__ import annotations

import asyncio
import threading

import pytest
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.test import Client

from config.requests import InOneThread

pytestmark = pytest.mark.django_db


def test_logging_in_without_a_page_to_go_to_leads_to_the_overview(client: Client) -> None:
    User.objects.create_superuser("root", password="secret")

    answer = client.post("/cockpit/login/", {"username": "root", "password": "secret"})

    assert (answer.status_code, answer["Location"]) == (302, "/cockpit/")


def test_logging_in_leads_to_the_page_that_was_asked_for(client: Client) -> None:
    User.objects.create_superuser("root", password="secret")

    answer = client.post("/cockpit/login/?next=/cockpit/incidents/", {"username": "root", "password": "secret"})

    assert answer["Location"] == "/cockpit/incidents/"


@pytest.mark.parametrize(("language", "said"), [("en", "Nothing here"), ("zh-hans", "此处没有内容")])
def test_a_page_that_does_not_exist_says_so(client: Client, language: str, said: str) -> None:
    answer = client.get("/nothing", headers={"accept-language": language})

    assert answer.status_code == 404
    assert said in answer.content.decode()


@pytest.mark.parametrize(("language", "said"), [("en", "This page is out of date"), ("zh-hans", "此页面已过期")])
def test_a_form_whose_proof_is_gone_is_refused_in_words(language: str, said: str) -> None:
    answer = Client(enforce_csrf_checks=True).post("/cockpit/login/", headers={"accept-language": language})

    assert answer.status_code == 403
    assert said in answer.content.decode()


def test_the_icon_has_the_address_that_browsers_guess(client: Client) -> None:
    assert client.get("/favicon.ico")["Location"].endswith("cockpit/icon.svg")


THREADS: list[int] = []


def noted(get_response):
    """A middleware that notes its thread on the way in and out."""

    def middleware(request):
        THREADS.append(threading.get_ident())
        try:
            return get_response(request)
        finally:
            THREADS.append(threading.get_ident())

    return middleware


@pytest.mark.django_db(transaction=True)
def test_the_web_server_takes_a_request_to_a_thread_once(settings) -> None:
    me = f"{__name__}.noted"
    settings.MIDDLEWARE = [me, *settings.MIDDLEWARE, me]
    THREADS.clear()

    async def answered() -> dict:
        scope = {"type": "http", "method": "GET", "path": "/healthz", "query_string": b""}
        scope["headers"] = [(b"host", b"localhost")]
        server = ApplicationCommunicator(InOneThread(), scope)
        await server.send_input({"type": "http.request"})
        return await server.receive_output(10)

    assert asyncio.run(answered())["status"] == 200
    assert len(THREADS) == 4
    assert len(set(THREADS)) == 1
    assert threading.get_ident() not in THREADS
