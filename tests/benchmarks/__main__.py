"""script/bench: choose figures, start the server, run them one after the other, write what was measured."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def prepare() -> int:
    """Django, with settings that need no server yet; the port that the broker of this run has once it is started. It is
    chosen here, since Celery's app keeps the first address that it sees.
    """
    from config.valkey import free_port

    port = free_port(16_390)
    os.environ.update(DATABASE_URL="postgresql:///none", DEBUG="0", LOG_LEVEL="ERROR")
    os.environ["REDIS_URL"] = f"redis://127.0.0.1:{port}/0"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("SECRET_KEY", "bench")
    # Handlers of the figures that run Celery; settings of a site are those of every site.
    os.environ["EXTRA_APPS"] = "tests.benchmarks.handling"
    os.environ["EXAMPLES"] = "0"
    import django

    django.setup()
    return port


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="script/bench", description="Measure the engine against PostgreSQL itself.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures; all of them without one (see --list)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--short", dest="scale", action="store_const", const="short", help="tiny numbers")
    size.add_argument("--full", dest="scale", action="store_const", const="full", help="the largest numbers")
    parser.add_argument("--from", dest="after", metavar="NAME", help="this figure and those that follow it")
    parser.add_argument("--no-page", action="store_true", help="leave docs/performance.md as it is")
    parser.add_argument("--list", action="store_true", help="the names of the figures")
    parser.set_defaults(scale="usual")
    return parser.parse_args()


def main() -> int:
    """Exit status: 0 all figures were measured, 1 some were not, 2 there is no such figure."""
    asked = options()
    port = prepare()
    from config.local import local_folder
    from tests.benchmarks import page, running, table
    from tests.benchmarks.ground import started
    from tests.benchmarks.lines import say

    if asked.list:
        print("\n".join(figure.name for figure in table.FIGURES))
        return 0
    try:
        figures = table.chosen(asked.names, asked.after)
    except KeyError as unknown:
        say(f"there is no figure {unknown}: {', '.join(figure.name for figure in table.FIGURES)}")
        return 2
    to = None if asked.no_page or asked.scale == "short" else page.PAGE
    # Beside the checkout, not among temporary files: those may lie in memory, where nothing is durable.
    folder = Path(os.environ.get("TOKENTRAIL_BENCH") or local_folder() / "bench" / str(os.getpid()))
    with started(folder, port, durable=asked.scale != "short") as ground:
        failed = running.measure(figures, ground, asked.scale, to)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
