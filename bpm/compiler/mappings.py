"""What goes into and out of an activity: `camunda:inputOutput`, `zeebe:ioMapping`, and the values in them."""

from __future__ import annotations

from bpm.compiler import formulas
from bpm.compiler.document import text
from bpm.compiler.place import Place
from bpm.compiler.vocabulary import inner, split
from bpm.compiler.xml import Element
from bpm.graph import Formula, Mapping


def mappings(place: Place) -> tuple[tuple[Mapping, ...], tuple[Mapping, ...]]:
    """The element's own inputs and outputs, in document order."""
    inputs: list[Mapping] = []
    outputs: list[Mapping] = []
    for holder in place.extensions.all("inputOutput"):
        inputs += parameters(place, holder, "inputParameter")
        outputs += parameters(place, holder, "outputParameter")
    zeebe = place.extensions.zeebe.get("ioMapping")
    inputs += [_zeebe(place, item) for item in inner(zeebe, "input")]
    outputs += [_zeebe(place, item) for item in inner(zeebe, "output")]
    return tuple(inputs), tuple(outputs)


def zeebe_outputs(place: Place) -> bool:
    """Whether the element has output mappings of Zeebe: then nothing but these leaves its scope."""
    return next(inner(place.extensions.zeebe.get("ioMapping"), "output"), None) is not None


def refuse(place: Place) -> None:
    """Report mappings where nothing could see them: on start and boundary events and event subprocesses.

    Zeebe maps what a caught message brings by outputs of the event: those are honoured.
    """
    zeebe = place.extensions.zeebe.get("ioMapping")
    wrong = [item for holder in place.extensions.all("inputOutput") for item in inner(holder)]
    for item in wrong + list(inner(zeebe, "input")):
        place.report("unsupported-extension", f"A {place.tag} has no mappings: put them on what it leads to.", at=item)


def parameters(place: Place, holder: Element, name: str) -> list[Mapping]:
    """The `camunda:inputParameter` or `outputParameter` elements in an inputOutput."""
    found = []
    for item in inner(holder, name):
        target = item.get("name", "").strip()
        if not target:
            place.report("value-wrong", f"A {name} has no name.", at=item)
            continue
        found.append(Mapping(target=target, source=value(place, item)))
    return found


def passed(place: Place, element: Element) -> Mapping:
    """camunda:in or out: what passes between a caller and the called process, or goes along with what is thrown."""
    local = element.get("local") == "true"
    if element.get("variables") == "all":
        return everything(local)
    if key := element.get("businessKey"):
        return Mapping(target="", source=formulas.formula(place, key, at=element) or formulas.NULL, business_key=True)
    target = element.get("target", "").strip()
    source: Formula | None
    if name := element.get("source", "").strip():
        source = formulas.variable(name)
    else:
        source = formulas.formula(place, element.get("sourceExpression"), at=element)
    if source is None or not target:
        place.report("value-wrong", "What is passed needs a target and a source or sourceExpression.", at=element)
    return Mapping(target=target, source=source or formulas.NULL, local=local)


def everything(local: bool = False) -> Mapping:
    """All variables are passed; `local`: only those of the activity's own scope."""
    return Mapping(target="", source=Formula(), everything=True, local=local)


def value(place: Place, element: Element) -> Formula:
    """The value in a parameter, list item or map entry: text, expression, list, map or script. An empty one is null."""
    for item in inner(element, "list", "map", "script", "value", "expression"):
        return _structured(place, item)
    return formulas.formula(place, text(element), at=element) or formulas.NULL


def _structured(place: Place, element: Element) -> Formula:
    name = split(element.tag)[1]
    if name == "list":
        return Formula(kind="list", items=tuple(_structured(place, item) for item in inner(element)))
    if name == "map":
        entries = list(inner(element, "entry"))
        keys = tuple(entry.get("key", "") for entry in entries)
        return Formula(kind="map", keys=keys, items=tuple(value(place, entry) for entry in entries))
    if name == "script":
        return _script(place, element)
    return formulas.formula(place, text(element), at=element) or formulas.NULL


def _script(place: Place, element: Element) -> Formula:
    said = element.get("scriptFormat", "")
    language = formulas.language_of(said)
    if language is None:
        place.report(
            "unsupported-language",
            f"A script in {said or 'an unnamed language'!r} computes a parameter; the engine knows FEEL and JUEL "
            "only. Let the activity's worker do it, or a script task before it.",
            at=element,
        )
        return formulas.NULL
    return formulas.formula(place, text(element), at=element, language=language) or formulas.NULL


def _zeebe(place: Place, element: Element) -> Mapping:
    source = formulas.formula(place, element.get("source"), at=element) or formulas.NULL
    target, *path = element.get("target", "").strip().split(".")
    return Mapping(target=target, source=source, path=tuple(path))
