"""Java calls in expressions: `${mailer.send(order, "now")}` is the topic `mailer.send` with the inputs arg0 and arg1.

Nothing of Java runs here, so what an expression of a task calls becomes the topic of an external task: a handler of
that name takes the bean's place. An expression that only computes is no work: it is computed by the engine itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_BRACES: Final = re.compile(r"\s*[$#]\{(?P<inner>.*)\}\s*", re.DOTALL)
_PATH: Final = r"[A-Za-z_][\w$]*(?:\s*\.\s*[A-Za-z_][\w$]*)*"
_REFERENCE: Final = re.compile(_PATH)
_CALL: Final = re.compile(rf"(?P<path>{_PATH})\s*\((?P<arguments>.*)\)", re.DOTALL)
_ANY_CALL: Final = re.compile(rf"({_PATH})\s*\(")
_STRING: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)

# What the engine itself answers in JUEL: calls on these are no work outside.
ENGINE_OBJECTS: Final = ("execution", "task", "empty", "not")
_CLOSES: Final = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Call:
    """`path` is `bean.method`, `arguments` the texts between the commas."""

    path: str
    arguments: tuple[str, ...]


def call(expression: str) -> Call | None:
    """The one call that the expression is; None where it is something else (then see `calls_beans`)."""
    inner = _inner(expression)
    found = _CALL.fullmatch(inner) if inner is not None else None
    if found is None or not _balanced(found["arguments"]):
        return None
    return Call(re.sub(r"\s", "", found["path"]), tuple(split_arguments(found["arguments"])))


def reference(expression: str) -> str | None:
    """The bean or property that the expression names, and nothing more: `${mailer}`."""
    inner = _inner(expression)
    return re.sub(r"\s", "", inner) if inner is not None and _REFERENCE.fullmatch(inner) else None


def calls_beans(expression: str) -> bool:
    """Whether anything in the expression calls a method of an object that the engine does not have."""
    plain = _STRING.sub('""', expression)
    return any("." in path and re.split(r"\s*\.", path)[0] not in ENGINE_OBJECTS for path in _ANY_CALL.findall(plain))


def set_variable(found: Call) -> tuple[str, str] | None:
    """(name, expression) of `execution.setVariable("name", expression)`; None for other calls and computed names."""
    if found.path not in ("execution.setVariable", "execution.setVariableLocal") or len(found.arguments) != 2:
        return None
    name = _STRING.fullmatch(found.arguments[0])
    return (name[0][1:-1], found.arguments[1]) if name else None


def split_arguments(text: str) -> Iterator[str]:
    """The arguments between top-level commas, stripped; nothing for an empty list."""
    part, open_, quote, escaped = "", 0, "", False
    for character in text:
        if quote:
            quote = "" if character == quote and not escaped else quote
            escaped = character == "\\" and not escaped
        elif character in "'\"":
            quote = character
        elif character == "," and not open_:
            yield part.strip()
            part = ""
            continue
        else:
            open_ += (character in _CLOSES) - (character in _CLOSES.values())
        part += character
    if part.strip():
        yield part.strip()


def _inner(expression: str) -> str | None:
    found = _BRACES.fullmatch(expression)
    if found is None or re.search(r"[$#]\{", _STRING.sub('""', found["inner"])):
        return None
    return found["inner"].strip()


def _balanced(text: str) -> bool:
    """Whether every bracket in it closes in it: `a).b(c` is two calls, not one."""
    expected: list[str] = []
    for character in _STRING.sub('""', text):
        if character in _CLOSES:
            expected.append(_CLOSES[character])
        elif character in _CLOSES.values() and (not expected or expected.pop() != character):
            return False
    return not expected
