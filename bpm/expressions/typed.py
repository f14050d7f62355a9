"""Values that JSON has no form for, written as JSON: `{"$type": "date", "value": "2026-11-29"}`.

A variable is JSON, and JSON knows no date. Written as plain text a date would come back to expressions as text: it
could not be compared, moved by a duration or asked for its weekday. So a date, a time, a date with its time, and a
duration stand in an object of exactly these two keys: one form in the database, in history, in exports and in the API.
FEEL and JUEL see the value itself. The texts are those of FEEL's `string()`, so equal values have equal JSON.

A file stands in the same form: `{"$type": "file", "value": {"name", "mediaType", "size", "sha256"}}`. Its content lies
outside of variables, found by its hash; expressions see the object as it is.

An object with other keys beside, or with another `$type`, is plain JSON and nothing of ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from bpm.expressions import feel_time as t

TYPE = "$type"
VALUE = "value"
FILE = "file"

_READ: Mapping[str, Callable[[str], t.Temporal]] = MappingProxyType(
    {"date": t.parse_date, "time": t.parse_time, "dateTime": t.parse_datetime, "duration": t.parse_duration}
)
_NAMES: Mapping[type, str] = MappingProxyType(
    {t.Date: "date", t.Time: "time", t.DateTime: "dateTime", t.DaysDuration: "duration", t.MonthsDuration: "duration"}
)
TYPES = (*_READ, FILE)

NAME_LIMIT = 255
LARGEST_SIZE = 2**53
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
# What has no place in a file's name: control characters, what separates folders, what turns the reading direction.
_UNFIT_IN_NAMES = re.compile("[\x00-\x1f\x7f-\x9f/\\\\\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Untyped(ValueError):
    """An object in the form of a typed value whose value is none of that type; the message says why."""


def is_typed(value: object) -> bool:
    """Whether the value has the form: exactly the two keys, and a type of ours. What it holds is not looked at."""
    return isinstance(value, Mapping) and len(value) == 2 and value.get(TYPE) in TYPES and VALUE in value


def written(value: object) -> dict[str, Any] | None:
    """A date, time or duration, FEEL's or Python's, as JSON; None for any other value."""
    name = _NAMES.get(type(value))
    if name is None:
        value = t.from_python(value)
        if value is None:
            return None
        name = _NAMES[type(value)]
    return {TYPE: name, VALUE: str(value)}


def canonical(value: Mapping[str, Any]) -> dict[str, Any]:
    """What has the form (`is_typed`), as `written` would write it. Raises Untyped."""
    name, content = value[TYPE], value[VALUE]
    if name == FILE:
        return {TYPE: FILE, VALUE: _file(content)}
    if not isinstance(content, str) or len(content) > 200:
        raise Untyped(f"a {name} is a text such as {_EXAMPLES[name]!r}")
    try:
        return {TYPE: name, VALUE: str(_READ[name](content))}
    except ValueError as fault:
        raise Untyped(f"{fault}; a {name} is a text such as {_EXAMPLES[name]!r}") from None


_EXAMPLES = {"date": "2026-11-29", "time": "10:15:00Z", "dateTime": "2026-11-29T10:15:00Z", "duration": "PT2H30M"}


def text_of(value: object) -> str | None:
    """The text of a typed date, time or duration; None for any other value."""
    if is_typed(value):
        content = value[VALUE]  # type: ignore[index]
        return content if isinstance(content, str) else None
    return None


def file_reference(name: str, media_type: str, size: int, sha256: str) -> dict[str, Any]:
    """The value of a variable that is a file. Raises Untyped: a name or a media type that is none."""
    return {TYPE: FILE, VALUE: _file({"name": name, "mediaType": media_type, "size": size, "sha256": sha256})}


def as_file(value: object) -> Mapping[str, Any] | None:
    """What a variable says of its file (name, mediaType, size, sha256); None where the variable is no file."""
    if not is_typed(value) or value[TYPE] != FILE:  # type: ignore[index]
        return None
    try:
        return _file(value[VALUE])  # type: ignore[index]
    except Untyped:
        return None


def _file(said: Any) -> dict[str, Any]:
    if not isinstance(said, Mapping) or said.keys() != {"name", "mediaType", "size", "sha256"}:
        raise Untyped("a file is an object of name, mediaType, size and sha256")
    name, media_type, size, sha256 = said["name"], said["mediaType"], said["size"], said["sha256"]
    if not isinstance(name, str) or not 0 < len(name) <= NAME_LIMIT or name.strip(" .") == "":
        raise Untyped(f"a file's name is a text of 1 to {NAME_LIMIT} characters")
    if _UNFIT_IN_NAMES.search(name):
        raise Untyped("a file's name holds no path, no control character, nothing that turns the direction of reading")
    if not isinstance(media_type, str) or not _MEDIA_TYPE.fullmatch(media_type):
        raise Untyped("a file's mediaType is a text such as 'application/pdf', in lower case, without parameters")
    if type(size) is not int or not 0 <= size <= LARGEST_SIZE:
        raise Untyped("a file's size is a number of bytes")
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        raise Untyped("a file's sha256 is 64 hexadecimal digits in lower case")
    return {"name": name, "size": size, "sha256": sha256, "mediaType": media_type}


# -- into the languages ------------------------------------------------------------------------------------------------

_SCALARS = frozenset({str, int, bool, type(None)})


def for_feel(value: Any) -> Any:
    """A variable as FEEL sees it: typed values inside, however deep, are dates, times and durations."""
    return value if type(value) in _SCALARS else _within(value, _temporal)


def for_juel(value: Any) -> Any:
    """A variable as JUEL sees it: as `for_feel`, with Python's dates and times, which JUEL's methods work on."""
    return value if type(value) in _SCALARS else _within(value, _pythonic)


def for_python(value: Any) -> Any:
    """A variable as a Python function takes it: as `for_juel`, and durations of days as timedelta."""
    return value if type(value) in _SCALARS else _within(value, _python)


def _within(value: Any, read: Callable[[str, str], Any]) -> Any:
    """The value with what is typed in it replaced; the very same object where nothing is."""
    if isinstance(value, dict):
        name, text = value.get(TYPE), value.get(VALUE)
        if len(value) == 2 and isinstance(name, str) and isinstance(text, str) and name in _READ:
            known = read(name, text)
            return value if known is None else known
        changed = {
            key: found
            for key, item in value.items()
            if type(item) not in _SCALARS and (found := _within(item, read)) is not item
        }
        return value | changed if changed else value
    if isinstance(value, list):
        places = [
            (place, found)
            for place, item in enumerate(value)
            if type(item) not in _SCALARS and (found := _within(item, read)) is not item
        ]
        if places:
            value = list(value)
            for place, found in places:
                value[place] = found
    return value


@lru_cache(maxsize=4096)
def _temporal(name: str, text: str) -> t.Temporal | None:
    try:
        return _READ[name](text)
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _pythonic(name: str, text: str) -> object:
    """Python's value where it has one as exact, else FEEL's."""
    found = _temporal(name, text)
    try:
        if isinstance(found, t.Date):
            return date(found.year, found.month, found.day)
        if isinstance(found, t.Time):
            return _clock(found)
        if isinstance(found, t.DateTime):
            return datetime.combine(date(found.date.year, found.date.month, found.date.day), _clock(found.time))
    except (ValueError, OverflowError):
        return found
    return found


def _python(name: str, text: str) -> object:
    found = _pythonic(name, text)
    if isinstance(found, t.DaysDuration) and not found.nanoseconds % 1000:
        try:
            return timedelta(microseconds=found.nanoseconds // 1000)
        except OverflowError:
            return found
    return found


def _clock(found: t.Time) -> time:
    microseconds, rest = divmod(found.nanosecond, 1000)
    if rest:
        raise ValueError("Python's clock has no nanoseconds")
    return time(found.hour, found.minute, found.second, microseconds, _zone(found.zone))


def _zone(zone: t.Zone) -> tzinfo | None:
    if zone is None:
        return None
    if isinstance(zone, str):
        return t.zone_info(zone)
    return timezone(timedelta(seconds=zone)) if zone else UTC
