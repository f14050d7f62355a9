"""Finds the subcommands: every module of this package that has `arguments` and `run`."""

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


def subcommands() -> list[Subcommand]:
    """All subcommands, by name."""
    found: list[Subcommand] = []
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if hasattr(module, "arguments") and hasattr(module, "run"):
            name = info.name.replace("_", "-")
            found.append(Subcommand(name, inspect.getdoc(module) or "", module.arguments, module.run))
    return found
