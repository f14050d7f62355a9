"""Reading scenario files: which files a path means, and their YAML as JSON values.

YAML can say more than a scenario may: here `no` and `on` are texts, a date is a text, a fraction is exact, and the same
key twice is an error. A file that cannot be read at all is an `UnreadableFile` (the command's exit status 2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML built without libyaml: ten times slower, the same result
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

SUFFIXES = (".yaml", ".yml")


class UnreadableFile(Exception):
    """A file or path that cannot be read as scenarios. `file` names it."""

    def __init__(self, file: str, message: str) -> None:
        super().__init__(message)
        self.file = file
        self.message = message

    def __reduce__(self) -> tuple[type[UnreadableFile], tuple[str, str]]:
        # Exceptions are pickled by their args alone; results travel between processes.
        return (UnreadableFile, (self.file, self.message))


class _JsonLoader(_Loader):
    """YAML restricted to what JSON can say."""


def scenario_files(paths: Iterable[str]) -> list[Path]:
    """The scenario files that the paths mean: files as given, folders recursively and sorted; each file once.

    Raises UnreadableFile for a path that does not exist and for a folder without a scenario file.
    """
    found: dict[Path, None] = {}
    for name in paths:
        path = Path(name)
        if path.is_dir():
            inside = sorted(p for suffix in SUFFIXES for p in path.rglob("*" + suffix) if p.is_file())
            if not inside:
                raise UnreadableFile(name, "the folder holds no scenario file (*.yaml)")
            found.update(dict.fromkeys(inside))
        elif path.is_file():
            found[path] = None
        else:
            raise UnreadableFile(name, "there is no such file or folder")
    return list(found)


def documents(path: Path) -> list[Any]:
    """The documents of a YAML file as JSON values, empty ones left out. Raises UnreadableFile."""
    try:
        with path.open("rb") as stream:
            return [document for document in yaml.load_all(stream, Loader=_JsonLoader) if document is not None]
    except OSError as problem:
        raise UnreadableFile(str(path), problem.strerror or str(problem)) from None
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        raise UnreadableFile(str(path), f"this is no YAML: {' '.join(str(problem).split())}") from None


def _mapping(loader: Any, node: yaml.MappingNode) -> Iterator[dict[Any, Any]]:
    # In two steps, as PyYAML does it, so that an anchor may be used inside itself without endless recursion.
    found: dict[Any, Any] = {}
    yield found
    loader.flatten_mapping(node)
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str) or key in found:
            wrong = f"the key {key!r} {'stands here twice' if isinstance(key, str) else 'is no text'}"
            raise yaml.constructor.ConstructorError(None, None, wrong, key_node.start_mark)
        found[key] = loader.construct_object(value_node, deep=True)


def _exact(loader: Any, node: yaml.ScalarNode) -> Decimal:
    return Decimal(loader.construct_scalar(node))


# The core schema of YAML 1.2, as far as JSON goes.
_RESOLVERS = (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"-?(?:0|[1-9][0-9]*)", list("-0123456789")),
    ("float", r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", list("-0123456789")),
    ("merge", r"<<", ["<"]),
)

_JsonLoader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in _RESOLVERS:
    _JsonLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), _first)
_JsonLoader.add_constructor("tag:yaml.org,2002:map", _mapping)
_JsonLoader.add_constructor("tag:yaml.org,2002:float", _exact)
