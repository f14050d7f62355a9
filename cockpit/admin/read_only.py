"""An admin table that only shows: no adding, no changing, no deleting, and no statement that reads a whole table."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.admin import ModelAdmin

COUNTED = 10_000


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
