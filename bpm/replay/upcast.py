"""Events of old formats to those of today, so that histories of every released version replay for ever.

When the shape of a payload changes, `bpm.semantics.events.FORMAT` is raised by one and a row is added here: the
function that makes of an event of format n the events of format n + 1. A row is never changed or removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from bpm.semantics import Event
from bpm.semantics.events import FORMAT

type Upcaster = Callable[[Event], Iterable[Event]]

# format n -> what makes format n + 1 of it. Format 1 is the first, so there is nothing yet to bring forward.
UPCASTERS: dict[int, Upcaster] = {}


class UnknownFormat(Exception):
    """Events of a format that this version does not know; a newer one wrote them."""


def upcast(
    events: Iterable[Event],
    format: int,
    *,
    upcasters: Mapping[int, Upcaster] = UPCASTERS,
    current: int = FORMAT,
) -> list[Event]:
    """The events, written in `format`, as the current format has them. Raises UnknownFormat."""
    if format == current:
        return list(events)
    if not 1 <= format < current or any(step not in upcasters for step in range(format, current)):
        raise UnknownFormat(f"events of format {format} cannot be read; the formats up to {current} can")
    found = list(events)
    for step in range(format, current):
        found = [after for before in found for after in upcasters[step](before)]
    return found
