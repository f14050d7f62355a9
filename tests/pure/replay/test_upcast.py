"""Old events are brought to today's format, step by step; events from the future are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bpm.replay import UnknownFormat, upcast
from bpm.replay.upcast import UPCASTERS
from bpm.semantics import Event
from bpm.semantics.events import FORMAT

OLD = Event("TASK_LOCKED", 5, payload={"who": "w"})


def renamed(event: Event) -> list[Event]:
    """Format 1 called the worker `who`."""
    payload = {("worker" if key == "who" else key): value for key, value in event.payload.items()}
    return [replace(event, payload=payload)]


def doubled(event: Event) -> list[Event]:
    """Format 2 had one event where there are two now."""
    return [event, Event("TASK_EXTENDED", event.id, payload=event.payload)]


def test_each_step_is_taken_in_turn():
    table = {1: renamed, 2: doubled}
    found = upcast([OLD], 1, upcasters=table, current=3)
    assert [(event.type, event.payload) for event in found] == [
        ("TASK_LOCKED", {"worker": "w"}),
        ("TASK_EXTENDED", {"worker": "w"}),
    ]
    assert upcast([OLD], 2, upcasters=table, current=3)[0].payload == {"who": "w"}
    assert upcast([OLD], 3, upcasters=table, current=3) == [OLD]


def test_events_of_today_stay_as_they_are():
    assert upcast([OLD], FORMAT) == [OLD]


@pytest.mark.parametrize("format", [0, FORMAT + 1])
def test_unknown_formats_are_refused(format):
    with pytest.raises(UnknownFormat):
        upcast([OLD], format)


def test_a_missing_step_is_refused():
    with pytest.raises(UnknownFormat):
        upcast([OLD], 1, upcasters={2: doubled}, current=3)


def test_the_table_reaches_from_the_first_format_to_todays():
    assert sorted(UPCASTERS) == list(range(1, FORMAT))
