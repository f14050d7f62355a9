"""JSON as PostgreSQL keeps it, ids made of ordinals, arguments that name what is stored elsewhere."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpm.semantics import commands as c
from bpm.semantics.events import Event
from bpm.semantics.state import ENTITIES, field_names
from bpm.store import arguments, ids
from bpm.store.rows import TABLES
from bpm.store.values import UnfitValue, dumps, loads, normal

TEXT = st.text(st.characters(blacklist_characters="\x00", blacklist_categories=["Cs"]), max_size=20)
NUMBERS = st.integers() | st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_normal_values_survive_their_text(value):
    found = normal(value)
    assert loads(dumps(found)) == found
    assert repr(normal(loads(dumps(found)))) == repr(found)


def test_jsonb_gives_back_what_normal_gave(connection):
    value = normal(
        {"bb": 1, "a": Decimal("1.50"), "ab": [1e3, {"ü": None, "z": True}], "aaa": Decimal("-12.000001"), "": "x"}
    )
    (text,) = connection.execute("SELECT %s::jsonb::text", [dumps(value)]).fetchone()
    assert repr(loads(text)) == repr(value)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), Decimal("NaN"), "a\x00b", ["\\\x00"], {"\x00": 1}, "\ud800", {1, 2}, object(), b"x"],
)
def test_what_cannot_be_stored_is_named(value):
    with pytest.raises(UnfitValue):
        normal({"v": value})


@pytest.mark.parametrize("value", ["\\u0000", "\\\\u0000", "D:1.5", "\\"])
def test_what_looks_like_it_is_stored(value):
    assert loads(dumps(value)) == value
    json.loads(dumps(value))


def test_ids_hold_instance_and_ordinal():
    thread = ids.new_instance()
    assert thread.version == 7
    assert ids.ordinal(thread) == 0
    for ordinal in (1, 77, 2**32 - 1):
        entity = ids.entity(thread, ordinal)
        assert ids.ordinal(entity) == ids.ordinal(str(entity)) == ordinal
        assert ids.instance_of(entity) == thread
    with pytest.raises(ValueError):
        ids.entity(thread, 2**32)


def test_derived_ids_are_the_same_each_time():
    assert ids.derived_instance("ann", "key") == ids.derived_instance("ann", "key")
    assert ids.derived_instance("ab", "c") != ids.derived_instance("a", "bc")
    assert ids.ordinal(ids.derived_instance("ann", "key")) == 0
    thread = ids.new_instance()
    found = ids.derived(thread, "variable", 0, "x")
    assert found == ids.derived(thread, "variable", 0, "x") != ids.derived(thread, "variable", 1, "x")
    assert str(found)[:13] == str(thread)[:13]


def test_ids_are_drawn_until_they_fit_what_was_chosen(monkeypatch):
    before = ids.derived_instance("ann", "key")
    monkeypatch.setattr(ids, "_CHOICE", [])
    for place in range(4):
        ids.choose(lambda id, place=place: (id.int >> 32) % 4 == place)
        made = [ids.new_instance(), ids.derived_instance("ann", "key")]
        assert [(id.int >> 32) % 4 for id in made] == [place, place]
        assert made[1] == ids.derived_instance("ann", "key")
        assert (made[1] == before) == ((before.int >> 32) % 4 == place)


def test_a_definition_has_the_same_id_wherever_it_is_deployed():
    assert ids.definition("process", "order", 2, "graph") == ids.definition("process", "order", 2, "graph")
    others = [("process", "order", 1, "graph"), ("process", "order", 2, "other"), ("decision", "order", 2, "graph")]
    assert ids.definition("process", "order", 2, "graph") not in [ids.definition(*other) for other in others]


def test_ids_of_later_instances_are_larger():
    assert ids.new_instance().int >> 80 <= ids.new_instance().int >> 80


AT = datetime(2030, 1, 1, tzinfo=UTC)


@given(st.dictionaries(TEXT, VALUES, max_size=4), st.dictionaries(TEXT, VALUES, max_size=4), st.sets(TEXT, max_size=3))
def test_arguments_come_back_exactly(variables, other, changed):
    command = arguments.normalised(c.StartInstance(at=AT, variables=variables, caller=other or None))
    events = [Event("TOKEN_CREATED", 1)]
    for name, value in command.variables.items():
        stored = "something else" if name in changed else value
        events.append(Event("VARIABLE_SET", 0, payload={"name": name, "value": stored}))
    stored_arguments = loads(dumps(normal(arguments.encode(command, events))))
    values = {ordinal: e.payload["value"] for ordinal, e in enumerate(events) if e.type == "VARIABLE_SET"}
    decoded = arguments.decode(stored_arguments, values)
    assert c.from_json("StartInstance", decoded, AT) == command
    assert list(decoded.get("variables", {})) == list(command.variables)


def test_a_value_stands_in_the_log_once():
    command = arguments.normalised(c.CompleteExternalTask(at=AT, task=1, worker="w", variables={"big": "x" * 100}))
    events = [Event("TASK_COMPLETED", 1), Event("VARIABLE_SET", 0, payload={"name": "big", "value": "x" * 100})]
    assert arguments.encode(command, events) == {"task": 1, "worker": "w", "@": {"variables": {"big": 1}}}


def test_every_field_of_the_core_is_a_column():
    for kind in ENTITIES:
        assert {column.field for column in TABLES[kind][1]} == set(field_names(kind))


def test_nil_is_nobody():
    assert UUID(int=0) == ids.NIL
