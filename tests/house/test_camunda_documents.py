"""docs/camunda.md lists every operation and filter of Camunda's API that there is here, and no other."""

from __future__ import annotations

from bpm.api.camunda import definitions, deployments, external_tasks, history, incidents, instances, tasks
from bpm.api.camunda.app import api
from tests.house.test_code import ROOT
from tests.house.test_documents import marked, tables

DOCUMENT = ROOT / "docs" / "camunda.md"
LISTS = {
    "/external-task": external_tasks.WORDS,
    "/process-definition": definitions.WORDS,
    "/process-instance": instances.WORDS,
    "/task": tasks.WORDS,
    "/deployment": deployments.WORDS,
    "/incident": incidents.WORDS,
    "/history/process-instance": history.PAST,
}


def test_every_operation_is_listed():
    described = api.get_openapi_schema(path_prefix="")["paths"]
    there = {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}
    rows = tables(DOCUMENT, "Operations")
    listed = {marked(operation)[0] for operation, _ in rows}
    also = {operation.replace("GET", "POST") for operation in listed for one, how in rows
            if marked(one)[0] == operation and how.startswith("also POST")}  # fmt: skip
    assert len(rows) == len(listed)
    assert listed | also == there


def test_every_filter_and_sort_order_is_listed():
    rows = tables(DOCUMENT, "Filters")
    told = {marked(name)[0]: (filters.split(", "), sorts.split(", ")) for name, filters, sorts in rows}
    assert told == {name: ([*words.asks, *words.keeps], list(words.sorts)) for name, words in LISTS.items()}
