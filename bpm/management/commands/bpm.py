"""The command `bpm`: hands over to its subcommands in `bpm.management.bpm`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter

from bpm.management.bpm.registration import subcommands


class _Teaching(DjangoHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of a subcommand's docstring as they are."""


class Command(BaseCommand):
    """Deploy, start, test and look after processes."""

    help = "Deploy, start, test and look after processes. `bpm SUBCOMMAND --help` says more of each."
    # A subcommand that needs the database asks for it itself; testing a model needs nothing.
    requires_system_checks = ()
    requires_migrations_checks = False

    asked: str | None = None

    def run_from_argv(self, argv: list[str]) -> None:
        """As Django runs it, after a look at which subcommand is asked for."""
        self.asked = argv[2] if len(argv) > 2 else None
        super().run_from_argv(argv)

    def add_arguments(self, parser: CommandParser) -> None:
        """One parser a subcommand, described by its module's docstring."""
        verbs = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND", title="subcommands")
        for subcommand in subcommands(self.asked):
            verb = verbs.add_parser(
                subcommand.name,
                help=subcommand.summary,
                description=subcommand.teaching,
                formatter_class=_Teaching,
            )
            subcommand.arguments(verb)
            verb.set_defaults(run=subcommand.run)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the subcommand; without one, say which there are."""
        run = options.get("run")
        if run is None:
            self.print_help("manage.py", "bpm")
            sys.exit(2)
        status = run(self, options)
        if status:
            sys.exit(status)
