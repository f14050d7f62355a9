"""The compiler's only door to `bpm.expressions`: texts become checked formulas, and a process says what its formulas
read.

Which language a text is in. An attribute or element that says so wins: FEEL (`feel` or a FEEL URI; a leading `=` is
dropped), JUEL (`juel`; braces are added where they are missing). Otherwise the text tells (`=` FEEL, `${` or `#{` JUEL,
else literal). The `expressionLanguage` of the file counts only where it is FEEL: modelling tools write the XPath URI
into every file, whatever the expressions are. A condition cannot be a literal: bare text is read as FEEL (`amount >
100`), with a note; text that is no FEEL either stays a literal with a warning, and asking it opens an incident, as
Camunda does. Any other language is refused: conditions decide inside the engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final

from bpm.compiler.document import text
from bpm.compiler.place import Place
from bpm.compiler.xml import Element
from bpm.expressions import ExpressionError, Language, compile_text, timers
from bpm.graph import Formula, Process

NULL: Final = Formula(text="null", language="feel")
_JUEL: Final = re.compile(r"[$#]\{")
_BOOLEAN: Final = ("true", "false")
# What `language` says in lower case: how it is read. None: as if nothing were said.
LANGUAGES: Final[dict[str, str | None]] = {
    "": None,
    "feel": "feel",
    "juel": "juel",
    "uel": "juel",
    "el": "juel",
    "http://www.w3.org/1999/xpath": None,
    "http://www.w3.org/tr/xpath": None,
    "https://www.w3.org/tr/xpath-31": None,
}


def formula(place: Place, raw: str | None, *, at: Element | None = None, language: str | None = None) -> Formula | None:
    """The checked formula of a text in the model; None where there is none. `language` is "feel", "juel" or None."""
    source = (raw or "").strip()
    if not source:
        return None
    if language == "feel":
        source = source.removeprefix("=").strip()
    elif language == "juel" and not _JUEL.search(source):
        source = "${" + source + "}"
    if fault := _fault(place, source, language):
        place.report("expression-broken", f"The expression cannot be read: {fault}", at=at)
    return Formula(text=source, language=language)


def condition(place: Place, element: Element, *, what: str) -> Formula | None:
    """The formula of an element that decides (a condition of any kind); `what` names it in findings."""
    default = place.document.language
    said = element.get("language") or (default if language_of(default) == "feel" else "")
    if not known_language(said):
        place.report(
            "unsupported-language", f"{what} is written in {said!r}; the engine decides in FEEL and JUEL.", at=element
        )
        return None
    source = text(element)
    if not source:
        place.report(
            "expression-missing", f"{what} has no text: write an expression, such as ${{amount > 100}}.", at=element
        )
        return None
    language = language_of(said)
    if language is None and not _JUEL.search(source) and not source.startswith("="):
        return _bare(place, source, element, what)
    return formula(place, source, at=element, language=language)


def _bare(place: Place, source: str, element: Element, what: str) -> Formula:
    if source in _BOOLEAN:
        return Formula(text=source, language="feel")
    if fault := _fault(place, source, "feel"):
        said = f"{what} is no expression and is never true: write ${{...}} (JUEL) or =... (FEEL). In FEEL: {fault}"
        place.report("text-not-expression", said, at=element)
        return Formula(text=source)
    place.report("read-as-feel", f"{what} names no language and is read as FEEL.", at=element)
    return Formula(text=source, language="feel")


def language_of(said: str) -> str | None:
    """How the engine calls the language that a model names: "feel", "juel", or None for one that says nothing."""
    name = said.strip().lower()
    return "feel" if "/feel" in name else LANGUAGES.get(name)


def known_language(said: str) -> bool:
    """Whether the engine can evaluate what is written in that language."""
    name = said.strip().lower()
    return name in LANGUAGES or "/feel" in name


def variable(name: str) -> Formula:
    """The value of the variable of that name, null where there is none (as Camunda passes variables by name)."""
    return Formula(kind="variable", text=name.strip())


def constant(value: str) -> Formula:
    """A text that is no expression, even where it looks like one."""
    if not looks_computed(value):
        return Formula(text=value)
    quoted = value.replace("\\", "\\\\").replace('"', '\\"')
    return Formula(text=f'"{quoted}"', language="feel")


def timer(place: Place, kind: str, element: Element, *, quartz: bool) -> Formula | None:
    """The text of a timeDate, timeDuration or timeCycle; a constant one is checked as a timer."""
    found = formula(place, text(element), at=element)
    if found is None:
        place.report("timer-missing", "The timer says no time: write one, such as PT15M.", at=element)
    elif not looks_computed(found.text):
        try:
            timers.check(_timer_kind(kind), found.text, quartz=quartz)
        except timers.TimerFault as fault:
            place.report("timer-broken", f"The {kind} of the timer cannot be read: {fault}", at=element)
    return found


def _timer_kind(kind: str) -> timers.Kind:
    return "date" if kind == "date" else "duration" if kind == "duration" else "cycle"


def reads_variables(found: Formula) -> bool:
    """Whether the value of the formula depends on variables."""
    if found.kind == "variable":
        return True
    if found.kind != "text" or not (found.language or looks_computed(found.text)):
        return False
    try:
        compiled = compile_text(found.text, language=_language(found.language))
    except ExpressionError:
        return False  # reported where it stands
    return compiled.dynamic or bool(compiled.names)


def reads(process: Process) -> tuple[tuple[str, ...], bool]:
    """The names of all variables that formulas of the process may read, sorted; and whether one may ask for any."""
    names: set[str] = set()
    # What a decision reads is in its own model: any variable may be asked for.
    dynamic = any(node.decision is not None for node in process.nodes.values())
    for found in _formulas(process):
        if found.kind == "variable":
            names.add(found.text)
        if found.kind != "text" or not (found.language or looks_computed(found.text)):
            continue
        try:
            compiled = compile_text(found.text, language=_language(found.language))
        except ExpressionError:
            continue  # reported where it stands
        names |= compiled.names
        dynamic = dynamic or compiled.dynamic
    return tuple(sorted(names)), dynamic


def _formulas(value: Any) -> Iterator[Formula]:
    if isinstance(value, Formula):
        yield value
    if is_dataclass(value):
        for field in fields(value):
            yield from _formulas(getattr(value, field.name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from _formulas(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from _formulas(item)


def looks_computed(source: str) -> bool:
    """Whether a text without a language is an expression."""
    return source.startswith("=") or _JUEL.search(source) is not None


def _fault(place: Place, source: str, language: str | None) -> str:
    try:
        compile_text(source, language=_language(language), names=place.document.names)
    except ExpressionError as fault:
        return str(fault)
    return ""


def _language(name: str | None) -> Language | None:
    return "feel" if name == "feel" else "juel" if name == "juel" else None
