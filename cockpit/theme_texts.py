"""Texts of the theme (django-unfold) that it does not translate itself: named here so that our catalogs can."""

from __future__ import annotations

from django.utils.translation import gettext_noop

TEXTS = (
    gettext_noop("All applications"),
    gettext_noop("Apply Filters"),
    gettext_noop("Available shortcuts"),
    gettext_noop("Changelist shortcuts"),
    gettext_noop("Clear all filters"),
    gettext_noop("Command tool shortcuts"),
    gettext_noop("Create new record"),
    gettext_noop("Dark"),
    gettext_noop("Filters"),
    gettext_noop("Global shortcuts"),
    gettext_noop("Light"),
    gettext_noop("Navigate"),
    gettext_noop("Next"),
    gettext_noop("No results found"),
    gettext_noop("Nothing matched your search"),
    gettext_noop("Open command tool"),
    gettext_noop("Open selection"),
    gettext_noop("Open selection in new tab"),
    gettext_noop("Open shortcuts list"),
    gettext_noop("Previous"),
    gettext_noop("Recent searches"),
    gettext_noop("Reset filters"),
    gettext_noop("Show all"),
    gettext_noop("Submit"),
    gettext_noop("System"),
    gettext_noop("This page yielded into no results."),
    gettext_noop("Type to search"),
    gettext_noop("Welcome back to"),
)
