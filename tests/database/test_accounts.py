"""The demo accounts: made once, each with a password that works, and a new one at any time."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group

from bpm.store.access import find_bearer
from config.accounts import ACCOUNTS, make_missing_accounts, new_password

pytestmark = pytest.mark.django_db


def test_accounts_are_made_once_and_may_enter(client):
    passwords = make_missing_accounts()
    assert set(passwords) == {*ACCOUNTS, "worker token"}
    for name in ACCOUNTS:
        assert client.login(username=name, password=passwords[name])
        assert client.get("/", follow=True).status_code == 200
    assert make_missing_accounts() == {}


def test_a_new_password_replaces_the_old(client):
    old = make_missing_accounts()["operator"]
    new = new_password("operator")
    assert not client.login(username="operator", password=old)
    assert client.login(username="operator", password=new)


def test_the_token_is_a_worker():
    bearer = find_bearer(make_missing_accounts()["worker token"])
    assert bearer is not None
    assert bearer.role == "worker"


def test_groups_may_look_and_not_write():
    make_missing_accounts()
    for group in Group.objects.all():
        names = group.permissions.values_list("codename", flat=True)
        assert not [name for name in names if name.startswith(("add_", "change_", "delete_"))]
