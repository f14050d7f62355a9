"""script/bench: choose figures, start the server, run them one after the other, write what was measured."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path


def main() -> int:
    """Exit status: 0 all figures measured, 1 some could not be, 2 no such figure."""
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures; all of them without one")
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--short", dest="scale", action="store_const", const="short", default="usual", help="tiny numbers"
    )
    size.add_argument("--full", dest="scale", action="store_const", const="full", help="the largest numbers")
    options = parser.parse_args()
    os.environ.setdefault("DATABASE_URL", "postgresql:///none")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("SECRET_KEY", "bench")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    import django

    django.setup()
    from tests.benchmarks import hot_path
    from tests.benchmarks.ground import started
    from tests.benchmarks.lines import say

    folder = Path(os.environ.get("TOKENTRAIL_BENCH") or tempfile.mkdtemp(prefix="tokentrail-bench-"))
    with started(folder, durable=options.scale != "short") as ground:
        for line in hot_path.run(ground, options.scale):
            print(line.as_json(), flush=True)
            say(" | ".join(line.as_cells()))
    return 0


sys.exit(main())
