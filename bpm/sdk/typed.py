"""Dates, times and durations between Python and the API: there `{"$type": "date", "value": "2026-11-29"}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

_DAYS = re.compile(
    r"(?P<sign>-?)P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d{1,6})?)S)?)?"
)


def written(value: Any) -> dict[str, str] | None:
    """A date, time, datetime or timedelta as the API has it; None for any other value."""
    if isinstance(value, datetime):
        return {"$type": "dateTime", "value": _zoned(value)}
    if isinstance(value, date):
        return {"$type": "date", "value": value.isoformat()}
    if isinstance(value, time):
        return {"$type": "time", "value": _zoned(value)}
    if isinstance(value, timedelta):
        microseconds = abs(value) // timedelta(microseconds=1)
        text = f"PT{microseconds // 1_000_000}.{microseconds % 1_000_000:06d}S"
        return {"$type": "duration", "value": f"{'-' if value < timedelta(0) else ''}{text}"}
    return None


def read(value: Any) -> Any:
    """A variable with its dates, times and durations as Python's; what Python has no value for stays as it is."""
    if isinstance(value, list):
        return [read(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"$type", "value"} and isinstance(value["value"], str):
        try:
            return _READ[value["$type"]](value["value"])
        except (KeyError, TypeError, ValueError, OverflowError):
            return value
    return {key: read(item) for key, item in value.items()}


def _zoned(value: datetime | time) -> str:
    """With the name of its zone where it has one: an offset alone forgets summer and winter."""
    if isinstance(value.tzinfo, ZoneInfo) and value.tzinfo.key:
        return f"{value.replace(tzinfo=None).isoformat()}@{value.tzinfo.key}"
    return value.isoformat()


def _datetime(text: str) -> datetime:
    text, _, zone = text.partition("@")
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=ZoneInfo(zone)) if zone else moment


def _time(text: str) -> time:
    text, _, zone = text.partition("@")
    moment = time.fromisoformat(text)
    return moment.replace(tzinfo=ZoneInfo(zone)) if zone else moment


def _duration(text: str) -> timedelta:
    found = _DAYS.fullmatch(text)
    if found is None:
        raise ValueError(text)
    whole, _, fraction = (found["seconds"] or "0").partition(".")
    size = timedelta(
        days=int(found["days"] or 0), hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0),
        seconds=int(whole), microseconds=int(fraction.ljust(6, "0") or 0),
    )  # fmt: skip
    return -size if found["sign"] else size


_READ: Mapping[str, Callable[[str], Any]] = MappingProxyType(
    {"date": date.fromisoformat, "time": _time, "dateTime": _datetime, "duration": _duration}
)
