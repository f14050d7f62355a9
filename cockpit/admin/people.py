"""Accounts and groups: the only rows that are changed in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.admin import GroupAdmin as PlainGroupAdmin
from django.contrib.auth.admin import UserAdmin as PlainUserAdmin
from django.contrib.auth.models import Group, User
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm


class UserAdmin(PlainUserAdmin, ModelAdmin):
    """Django's, in unfold's forms."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


class GroupAdmin(PlainGroupAdmin, ModelAdmin):
    """Django's, in unfold's look."""


def register(site: Any) -> None:
    """Put them into the site."""
    site.register(User, UserAdmin)
    site.register(Group, GroupAdmin)
