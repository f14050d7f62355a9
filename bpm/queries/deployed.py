"""What processes and decisions have in common as deployed things: versions of a key, of which one is the latest."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Exists, Model, OuterRef, Q, QuerySet

# What a list needs; the model itself and its source may be large.
COLUMNS = (
    "id", "key", "name", "version", "version_tag", "created_at", "created_by", "resource", "deployment_id",
)  # fmt: skip
# The order of lists: by key, the newest version first.
ORDER = ("key", "-version")


def versions(model: type[Model], columns: tuple[str, ...] = COLUMNS) -> QuerySet[Any]:
    """All versions with these columns, and whether there is a newer one of the key."""
    rows: QuerySet[Any] = model._default_manager.all()
    newer = rows.filter(key=OuterRef("key"), version__gt=OuterRef("version"))
    return rows.only(*columns).annotate(has_newer=Exists(newer))


def narrowed(rows: QuerySet[Any], *, key: str | None, search: str | None, latest_only: bool) -> QuerySet[Any]:
    """Those of a key, with a text in key or name, and only the latest of each key."""
    if key is not None:
        rows = rows.filter(key=key)
    if search:
        rows = rows.filter(Q(key__icontains=search) | Q(name__icontains=search))
    return rows.filter(has_newer=False) if latest_only else rows


def source_of(model: type[Model], id: UUID) -> str | None:
    """The XML as it was deployed; None where there is no such version."""
    found: str | None = model._default_manager.filter(id=id).values_list("source", flat=True).first()
    return found


def fields_of(row: Any, columns: tuple[str, ...]) -> dict[str, Any]:
    """The columns of a row of `versions`, and whether it is the latest."""
    return {name: getattr(row, name) for name in columns} | {"latest": not row.has_newer}
