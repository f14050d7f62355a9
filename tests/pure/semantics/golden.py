"""The golden histories: what each feature does, event by event, in files beside this one.

`python -m tests.pure.semantics.golden` writes them anew; read the difference before you commit it.
"""

from __future__ import annotations

from pathlib import Path

from bpm.compiler.supported import FEATURES, Feature
from tests.pure.semantics.examples import example, play

FOLDER = Path(__file__).parent / "golden"


def path(feature: Feature) -> Path:
    """The file of a feature."""
    return FOLDER / ("-".join(part.replace("_", "-") for part in feature if part) + ".txt")


def main() -> None:
    """Write the history of every feature."""
    FOLDER.mkdir(exist_ok=True)
    for feature in FEATURES:
        path(feature).write_text(play(example(feature)))


if __name__ == "__main__":
    main()
