"""An admin table that only shows: no adding, no changing, no deleting, and no statement that reads a whole table."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from cockpit.templatetags.cockpit import moment, state

COUNTED = 10_000
NIL = UUID(int=0)


class BoundedPaginator(Paginator):
    """Counts up to a limit, where pages end: who looks further narrows the list."""

    @cached_property
    def count(self) -> int:
        """Exact up to COUNTED."""
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        return rows.order_by()[: COUNTED + 1].count()


class ReadOnlyAdmin(ModelAdmin):
    """Whoever may view a model may look at its rows."""

    show_full_result_count = False
    paginator = BoundedPaginator
    list_per_page = 50
    list_select_related = False
    list_fullwidth = True
    compressed_fields = True
    warn_unsaved_form = False
    show_facets = None
    actions = None
    list_disable_select_all = True

    @admin.display(description=_("instance"), ordering="instance_id")
    def instance_link(self, row: Any) -> str:
        """The instance, as a link to its page."""
        return _link(row.instance_id)

    @admin.display(description=_("thread"), ordering="thread_id")
    def thread_link(self, row: Any) -> str:
        """The instance that the commit log calls a thread."""
        return _link(row.thread_id)

    @admin.display(description=_("time"))
    def moment_at(self, row: Any) -> str:
        """When, to the second, in the reader's own time."""
        return format_html('<span class="tt-nowrap">{}</span>', moment(row.at, "full"))

    @admin.display(description=_("state"), ordering="state")
    def state_badge(self, row: Any) -> str:
        """The state in its colour."""
        return state(row.state)

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        """Never."""
        return False

    def has_change_permission(self, request: HttpRequest, *_: Any) -> bool:
        """Never."""
        return False

    def has_delete_permission(self, request: HttpRequest, *_: Any) -> bool:
        """Never."""
        return False

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """The admin's own log of changes has nothing to say about rows that nobody changes here."""
        return self.changeform_view(request, object_id, "", extra_context)


def _link(instance: UUID | None) -> str:
    # The nil thread is what people and schedulers do outside of instances.
    if instance is None or instance == NIL:
        return "–"
    return format_html(
        '<a class="tt-link tt-mono tt-nowrap" href="{}">{}</a>', reverse("cockpit:instance", args=[instance]), instance
    )
