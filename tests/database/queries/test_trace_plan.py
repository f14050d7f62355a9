"""A page of a trace reads a page, however long the instance is: the branches of the view are merged, not sorted."""

from __future__ import annotations

import json

import pytest
from django.db import connection

from bpm.audit import trace
from bpm.store import ids


@pytest.mark.django_db
@pytest.mark.parametrize("direction", ["ASC", "DESC"])
def test_a_page_of_a_trace_is_merged_from_the_indexes(direction):
    statement = (
        f"EXPLAIN (FORMAT JSON) SELECT {', '.join(trace.COLUMNS)} FROM runtime_event"
        " WHERE thread_id = %s AND at >= now() AND (commit_sequence, ordinal) > (5, 0)"
        f" ORDER BY commit_sequence {direction}, ordinal {direction} LIMIT 100"
    )
    with connection.cursor() as cursor:
        # Empty tables are read at once, whatever there is to merge.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off")
        cursor.execute(statement, [ids.new_instance()])
        found = cursor.fetchone()[0]
    plan = json.loads(found) if isinstance(found, str) else found
    kinds = list(_kinds(plan[0]["Plan"]))
    assert "Merge Append" in kinds
    assert "Sort" not in kinds
    assert "Incremental Sort" not in kinds


def _kinds(node):
    yield node["Node Type"]
    for child in node.get("Plans", ()):
        yield from _kinds(child)
