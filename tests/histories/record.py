"""Records the golden histories of the version at hand: `python -m tests.histories.record`.

Writes tests/histories/VERSION/NAME.jsonl, one file a case of `elements`; a file that is there already is left as it is,
since what a released version has written is what later ones must read.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bpm.compiler import compile_or_raise
from bpm.decisions import to_json as decisions_to_json
from bpm.graph import to_json
from bpm.replay import Recorded, exported
from bpm.scenarios import CoreDriver, read_scenarios, run_document
from bpm.scenarios.world import World
from bpm.semantics.commands import MigrateInstance
from bpm.semantics.events import FORMAT
from bpm.store.values import dumps
from bpm.store.version import ENGINE
from tests.histories.drawing import Case
from tests.histories.elements import CASES
from tests.pure.scenarios.writing import told, write

HERE = Path(__file__).parent


def perform(case: Case, folder: Path) -> World:
    """What the case brings about. AssertionError where an instance does not come to its end."""
    models = {f"model{number}": xml for number, xml in enumerate(case.models)}
    (folder / "rules.dmn").write_text(case.decisions)
    files = [*(f"{name}.bpmn" for name in models), *(["rules.dmn"] if case.decisions else [])]
    said = [f"models: [{', '.join(files)}]", f"start: {{{case.start}, variables: {dumps(case.variables)}}}"]
    said += case.steps.splitlines()
    said += ["expect: {ended: true}"] if case.ends else []
    file = write(folder, "\n".join(said), **models)
    drivers: list[CoreDriver] = []

    def driver() -> CoreDriver:
        drivers.append(CoreDriver(folder))
        return drivers[-1]

    if case.node:
        begun = driver()
        assert begun.deploy(files, strict=False) == ()
        begun.world.begin(begun.world.process("p"), case.node, case.variables)
        while begun.move():
            pass
        assert not any(thread.is_open for thread in begun.world.threads.values()), case.name
    else:
        results = [run_document(one, driver) for one in read_scenarios(file)]
        assert told(results) == [], (case.name, told(results), results)
    (world,) = (driver.world for driver in drivers)
    thread = world.threads.get("instance-1")
    for command, arguments in case.commands:
        if command is MigrateInstance:
            (thread.graph,) = compile_or_raise(case.later.encode()).processes
        world.execute(thread, command(at=world.clock, **arguments))
        while drivers[0].move():
            pass
    return world


def lines(world: World) -> Iterator[str]:
    """The instances as the lines of an exported file."""
    yield dumps(exported.head(engine=ENGINE))
    for key, evaluator in world.deployment.decisions.items():
        yield dumps(exported.decision(key, key, 1, decisions_to_json(evaluator.decisions)))
    for number, thread in enumerate(world.threads.values(), 1):
        id, begun = f"definition-{number}", world.process(thread.graph.id)
        yield dumps(exported.definition(id, thread.graph.id, 1, to_json(begun)))
        if thread.graph != begun:
            yield dumps(exported.definition(f"{id}-later", thread.graph.id, 2, to_json(thread.graph)))
        for commit in thread.commits:
            recorded = Recorded(
                sequence=commit.sequence,
                version=commit.version,
                command=commit.command,
                at=commit.at,
                arguments=commit.arguments,
                events=commit.events,
            )
            yield dumps(exported.commit(thread.id, id, recorded, format=FORMAT))


def record(folder: Path) -> list[Path]:
    """Write what is missing; the new files."""
    folder.mkdir(exist_ok=True)
    made = []
    for case in CASES:
        file = folder / f"{case.name.replace(' ', '-')}.jsonl"
        if file.exists():
            continue
        with tempfile.TemporaryDirectory() as models:
            world = perform(case, Path(models))
        file.write_text("".join(f"{line}\n" for line in lines(world)))
        made.append(file)
    return made


if __name__ == "__main__":
    for file in record(HERE / ENGINE):
        sys.stdout.write(f"{file.relative_to(HERE)}\n")
