"""The command `bpm`: hands over to its subcommands in `bpm.management.bpm`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter

from bpm.management.bpm.registration import subcommands
from bpm.management.trouble import in_words


class _Teaching(DjangoHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of a subcommand's docstring as they are."""


class _Verb(CommandParser):
    """Takes Django's own options behind the subcommand, too, and says itself what it does not know."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        for switch in ("--traceback", "--no-color", "--force-color"):
            self.add_argument(switch, action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        for value in ("--settings", "--pythonpath"):
            self.add_argument(value, default=argparse.SUPPRESS, help=argparse.SUPPRESS)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        known, others = super().parse_known_args(args, namespace)
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}")
        return known, others


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
        verbs = parser.add_subparsers(dest="subcommand", metavar="SUBCOMMAND", title="subcommands", parser_class=_Verb)
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
        try:
            status = run(self, options)
        except CommandError:
            raise
        except Exception as trouble:
            # Whoever asks for the traceback gets all of it.
            said = None if options.get("traceback") else in_words(trouble)
            if said is None:
                raise
            raise CommandError(said) from trouble
        if status:
            sys.exit(status)
