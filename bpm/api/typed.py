"""Camunda's typed values: `{"value": "2026-11-29T10:15:00.000+0000", "type": "Date", "valueInfo": {}}`.

A variable in a request is plain JSON. Who has values of Camunda 7's kind writes each in a wrapper of its own, which
no plain object can be taken for: `{"$typed": {"value": ..., "type": ...}}`. Answers have them where `?typed=true` asks.

What they become: String, Boolean, Short, Integer, Long, Double and Null JSON's own values; Date a date with its time
(`bpm.expressions.typed`); Json, and Object in JSON, the document; Xml a text; File and Bytes a file. Refused, with the
variable's name: what was serialized by Java, transient values, and what does not fit its type.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from bpm.engine import InvalidVariables, keep_file, loads
from bpm.engine.variables import dumps
from bpm.expressions import typed

WRAPPER = "$typed"
JSON_FORMAT = "application/json"
# What is kept beside the variable.
CONTENTS = ("File", "Bytes")
_KEYS = frozenset({"value", "type", "valueInfo", "local"})
_DATE = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})(?:[T ](?P<time>\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
)

type Info = Mapping[str, Any]


class _Unfit(ValueError):
    """A value that is none of its type; the message says why."""


def unwrapped(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables with the wrapped values among them as the engine takes them. Raises InvalidVariables."""
    return {name: _unwrapped(name, value) for name, value in variables.items()}


def only_asked(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The same for a request that writes nothing: a content would be kept for ever. Raises InvalidVariables."""
    for name, value in variables.items():
        said = value.get(WRAPPER) if isinstance(value, dict) else None
        if isinstance(said, dict) and _first_large(said.get("type")) in CONTENTS:
            raise InvalidVariables(f"{name}: nothing is kept of what is only asked: give a file's value instead")
    return unwrapped(variables)


def _unwrapped(name: str, value: Any) -> Any:
    if isinstance(value, dict) and len(value) == 1 and WRAPPER in value:
        return taken(name, value[WRAPPER])
    return value


def _first_large(kind: Any) -> str:
    """A type's name; as Camunda reads it: the first letter may be small."""
    return kind[:1].upper() + kind[1:] if isinstance(kind, str) else ""


def taken(name: str, said: Any) -> Any:
    """The value of one of Camunda's typed values. Raises InvalidVariables, with the variable's name."""
    if not isinstance(said, Mapping) or not said.keys() <= _KEYS:
        raise InvalidVariables(f"{name}: a typed value is an object of value, type and valueInfo")
    value, kind, info = said.get("value"), said.get("type"), said.get("valueInfo") or {}
    if not isinstance(info, Mapping):
        raise InvalidVariables(f"{name}: valueInfo is an object")
    if info.get("transient") is True:
        raise InvalidVariables(f"{name}: a transient value would be lost with the first restart; there is none here")
    if kind is None:
        return value
    known = _first_large(kind)
    if known not in TAKEN:
        raise InvalidVariables(f"{name}: unsupported value type {str(kind)[:60]!r}; known are {', '.join(TAKEN)}")
    if value is None and known not in CONTENTS:
        return None
    try:
        return TAKEN[known](value, info)
    except _Unfit as unfit:
        raise InvalidVariables(f"{name}: {unfit}") from None
    except InvalidVariables as unfit:
        raise InvalidVariables(f"{name}: {unfit.message}", code=unfit.code) from None


def _string(value: Any, info: Info) -> str:
    if not isinstance(value, str):
        raise _Unfit(f"a String is a text, not {_shown(value)}")
    return value


def _boolean(value: Any, info: Info) -> bool:
    found = {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise _Unfit(f"a Boolean is true or false, not {_shown(value)}")
    return found


def _whole(kind: str, bits: int) -> Callable[[Any, Info], int]:
    def whole(value: Any, info: Info) -> int:
        if isinstance(value, str) and re.fullmatch(r"[+-]?\d{1,20}", value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise _Unfit(f"{_article(kind)} is a whole number of {bits} bits, not {_shown(value)}")
        return value

    return whole


def _double(value: Any, info: Info) -> int | Decimal:
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,3})?", value):
        value = Decimal(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _Unfit(f"a Double is a number, not {_shown(value)}")
    return value  # type: ignore[return-value]


def _date(value: Any, info: Info) -> dict[str, Any]:
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise _Unfit(f"a Date is a text such as '2026-11-29T10:15:00.000+0000', not {_shown(value)}")
    zone = found["zone"] or ""
    if len(zone) == 5:
        zone = f"{zone[:3]}:{zone[3:]}"
    text = f"{found['date']}T{found['time'] or '00:00:00'}{zone}"
    try:
        return typed.canonical({typed.TYPE: "dateTime", typed.VALUE: text})
    except typed.Untyped as unfit:
        raise _Unfit(str(unfit)) from None


def _document(value: Any, info: Info) -> Any:
    if not isinstance(value, str):
        raise _Unfit(f"a Json is the document as a text, not {_shown(value)}")
    return loads(value)


def _object(value: Any, info: Info) -> Any:
    form = info.get("serializationDataFormat")
    if form != JSON_FORMAT:
        raise _Unfit(f"an Object is taken as {JSON_FORMAT} only, not as {_shown(form)}: what Java wrote, Java reads")
    return _document(value, info)


def _null(value: Any, info: Info) -> None:
    raise _Unfit(f"a Null has no value, and this one has {_shown(value)}")


def _file(value: Any, info: Info) -> dict[str, Any]:
    name = info.get("filename")
    if not isinstance(name, str):
        raise _Unfit("a File says its filename in valueInfo")
    media_type = info.get("mimeType") or info.get("mimetype") or "application/octet-stream"
    return keep_file(_decoded(value), name=name, media_type=str(media_type).partition(";")[0].strip().lower())


def _bytes(value: Any, info: Info) -> dict[str, Any]:
    return keep_file(_decoded(value), name="bytes")


def _decoded(value: Any) -> bytes:
    try:
        return base64.b64decode(value or "", validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise _Unfit("the content is a text in base64") from None


TAKEN: Mapping[str, Callable[[Any, Info], Any]] = {
    "String": _string,
    "Boolean": _boolean,
    "Short": _whole("Short", 16),
    "Integer": _whole("Integer", 32),
    "Long": _whole("Long", 64),
    "Double": _double,
    "Date": _date,
    "Null": _null,
    "Json": _document,
    "Object": _object,
    "Xml": _string,
    "File": _file,
    "Bytes": _bytes,
}


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "AEIOU" else f"a {kind}"


def _shown(value: Any) -> str:
    return repr(value)[:60]


# -- out ---------------------------------------------------------------------------------------------------------------


def told(value: Any) -> dict[str, Any]:
    """A variable's value as one of Camunda's typed values."""
    kind, shown, info = _told(value)
    return {"value": shown, "type": kind, "valueInfo": info}


def _told(value: Any) -> tuple[str, Any, dict[str, Any]]:
    match value:
        case None:
            return "Null", None, {}
        case bool():
            return "Boolean", value, {}
        case int() if -(2**31) <= value < 2**31:
            return "Integer", value, {}
        case int() if -(2**63) <= value < 2**63:
            return "Long", value, {}
        case int() | Decimal():
            return "Double", value, {}
        case str():
            return "String", value, {}
    if (file := typed.as_file(value)) is not None:
        return "File", None, {"filename": file["name"], "mimeType": file["mediaType"]}
    if (text := typed.text_of(value)) is not None:
        found = typed.for_juel(value)
        return ("Date", camunda_date(found), {}) if isinstance(found, date) else ("String", text, {})
    return "Json", dumps(value), {}


def camunda_date(moment: date) -> str:
    """With milliseconds and a numeric zone; without a zone of its own in UTC."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}{moment:%z}"
