"""Who does what a command does: the person at the terminal, as history will name them."""

from __future__ import annotations

import argparse
import getpass


def add_actor(parser: argparse.ArgumentParser) -> None:
    """--actor NAME, by default who is logged in."""
    parser.add_argument("--actor", metavar="NAME", default=_login(), help="whom history names (default: your login)")


def add_reason(parser: argparse.ArgumentParser) -> None:
    """--reason TEXT, kept with the events."""
    parser.add_argument("--reason", metavar="TEXT", default=None, help="why, kept in history beside who")


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "command line"
