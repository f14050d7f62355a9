"""Finds the subcommands: every module of this package but this one; each has `arguments` and `run`."""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.management.base import BaseCommand

from bpm.management import bpm as package


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A verb: `teaching` is what its help says; `run(command, options)` does it and gives the exit status."""

    name: str
    teaching: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[BaseCommand, Mapping[str, Any]], int]

    @property
    def summary(self) -> str:
        """One line for the list of subcommands."""
        return self.teaching.splitlines()[0].rstrip(".")


def subcommands(asked: str | None = None) -> list[Subcommand]:
    """All subcommands, by name. Where the one that is `asked` for exists, only that: the others are not loaded."""
    modules = (f"{package.__name__}.{info.name}" for info in pkgutil.iter_modules(package.__path__))
    named = {_name(module): module for module in modules if module != __name__}
    return [_subcommand(named[name]) for name in ([asked] if asked in named else sorted(named))]


def _name(module: str) -> str:
    return module.rpartition(".")[2].replace("_", "-")


def _subcommand(name: str) -> Subcommand:
    module = importlib.import_module(name)
    return Subcommand(_name(name), inspect.getdoc(module) or "", module.arguments, module.run)
