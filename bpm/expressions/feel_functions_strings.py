"""Built-in functions on texts (DMN 1.5, 10.3.4.3), counted in characters, not in UTF-16 halves."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from decimal import Decimal

from bpm.expressions.feel_regex import Pattern, read_pattern
from bpm.expressions.feel_signatures import Call, Declaration, Refused, whole_number
from bpm.expressions.feel_values import charge_text, text_of
from bpm.expressions.limits import MAX_TEXT

type Number = int | Decimal


def _substring(call: Call, text: str, start: Number, length: Number | None = None) -> str:
    place = whole_number(start)
    first = place - 1 if place > 0 else len(text) + place
    if place == 0 or not 0 <= first < len(text):
        raise Refused(f"there is no character {place} in a text of {len(text)}")
    if length is None:
        return text[first:]
    if length < 1:
        raise Refused("the length is less than 1")
    return text[first : first + whole_number(length)]


def _before(call: Call, text: str, match: str) -> str:
    place = text.find(match)
    return text[:place] if place >= 0 else ""


def _after(call: Call, text: str, match: str) -> str:
    place = text.find(match)
    return text[place + len(match) :] if place >= 0 else ""


def _join(call: Call, items: list[object], delimiter: str | None = None) -> str:
    texts = [item for item in items if isinstance(item, str)]
    if any(item is not None and not isinstance(item, str) for item in items):
        raise Refused("not all items are texts")
    between = delimiter or ""
    charge_text(sum(map(len, texts)) + len(between) * len(texts), call.budget)
    return between.join(texts)


def _upper(call: Call, text: str) -> str:
    call.budget.room(3 * len(text), 3 * MAX_TEXT)
    return text.upper()


# -- regular expressions ---------------------------------------------------------------------------


def _matches(call: Call, text: str, pattern: str, flags: str | None = None) -> bool:
    return _pattern(call, pattern, flags).finds(text, call.budget)


def _replace(call: Call, text: str, pattern: str, replacement: str, flags: str | None = None) -> str:
    return _pattern(call, pattern, flags).replace(text, replacement, call.budget)


def _split(call: Call, text: str, delimiter: str) -> list[str]:
    return _pattern(call, delimiter, None).split(text, call.budget)


def _extract(call: Call, text: str, pattern: str, flags: str | None = None) -> list[str]:
    return _pattern(call, pattern, flags).all_in(text, call.budget)


def _pattern(call: Call, pattern: str, flags: str | None) -> Pattern:
    call.budget.charge(20)
    return read_pattern(pattern, flags or "")


# -- Camunda's -------------------------------------------------------------------------------------


def _format(call: Call, template: str, values: list[object]) -> str:
    """`string format("%s is %d", name, age)`: each `%s` or `%d` is the next value's text, `%%` a percent sign."""
    call.budget.charge(len(template) // 16)
    waiting = iter(values)

    def filled(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        try:
            return text_of(next(waiting), call.budget)
        except StopIteration:
            raise Refused("there are fewer values than places") from None

    pieces: list[str] = []
    size = at = 0
    for found in re.finditer(r"%[%sd]", template):
        pieces += [template[at : found.start()], filled(found)]
        charge_text(len(pieces[-1]) + len(pieces[-2]), call.budget)
        size += len(pieces[-1]) + len(pieces[-2])
        call.budget.room(size, MAX_TEXT)
        at = found.end()
    return "".join([*pieces, template[at:]])


def _from_base64(call: Call, text: str) -> str:
    try:
        return b64decode(text, validate=True).decode()
    except ValueError:
        raise Refused("not the base64 of a text") from None


def _to_string(call: Call, value: object) -> str | None:
    return None if value is None else text_of(value, call.budget)


DECLARATIONS: tuple[Declaration, ...] = (
    ("string", "from: any", _to_string),
    ("substring", "string: string, start position: number, length: number?", _substring),
    ("string length", "string: string", lambda call, text: len(text)),
    ("upper case", "string: string", _upper),
    ("lower case", "string: string", lambda call, text: text.lower()),
    ("substring before", "string: string, match: string", _before),
    ("substring after", "string: string, match: string", _after),
    ("contains", "string: string, match: string", lambda call, text, match: match in text),
    ("starts with", "string: string, match: string", lambda call, text, match: text.startswith(match)),
    ("ends with", "string: string, match: string", lambda call, text, match: text.endswith(match)),
    ("string join", "list: list, delimiter: string~?", _join),
    (
        "string join",
        "list: list, delimiter: string~, prefix: string~, suffix: string~",
        lambda call, items, delimiter, prefix, suffix: (prefix or "") + _join(call, items, delimiter) + (suffix or ""),
    ),
    ("matches", "input: string, pattern: string, flags: string~?", _matches),
    ("replace", "input: string, pattern: string, replacement: string, flags: string~?", _replace),
    ("split", "string: string, delimiter: string", _split),
    # Camunda's
    ("extract", "string: string, pattern: string, flags: string~?", _extract),
    ("trim", "string: string", lambda call, text: text.strip()),
    ("is blank", "string: string", lambda call, text: not text.strip()),
    ("string format", "template: string, **values: any", _format),
    ("to base64", "value: string", lambda call, text: b64encode(text.encode()).decode()),
    ("from base64", "value: string", _from_base64),
)
