"""The core reads the time of a step only where it leaves a note of that: a step that is decided before its time is
known (`bpm.store.foreseeing`) is told for another one, which is right as long as nothing that was decided hangs on it.
"""

from __future__ import annotations

import ast
from pathlib import Path

SEMANTICS = Path(__file__).resolve().parents[2] / "bpm" / "semantics"
# Where the time goes from the command to the scratch paper, and where one command is put in another's words.
HANDED_ON = {
    "decide.py: Work(graph, state, command.at, dict(command.answers))",
    "people.py: c.UnclaimUserTask(at=command.at, user_task=command.user_task)",
}
# A clock of its own, which no pure module has.
CLOCKS = {"now", "utcnow", "today", "time", "monotonic", "perf_counter", "time_ns"}


def parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def readings(file: Path) -> list[str]:
    """Whatever reads a time otherwise than by Work.at, has_come or ahead."""
    tree = ast.parse(file.read_text())
    above = parents(tree)
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name("work"), attr="at"):
                continue
            case ast.Attribute(attr="at"):
                call = above[node]
                while not isinstance(call, ast.Call | ast.stmt):
                    call = above[call]
                found.append(f"{file.name}: {ast.unparse(call)}")
            case ast.Attribute(attr="_at") if file.name != "work.py":
                found.append(f"{file.name}: {ast.unparse(node)}")
            case ast.Call(func=ast.Name("getattr"), args=[_, ast.Constant("at" | "_at"), *_]):
                found.append(f"{file.name}: {ast.unparse(node)}")
            case ast.Call(func=ast.Attribute(attr=attr)) if attr in CLOCKS:
                found.append(f"{file.name}: {ast.unparse(node)}")
    return found


def test_it_is_kept_by_what_notes_who_asks():
    tree = ast.parse((SEMANTICS / "work.py").read_text())
    (work,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Work")
    readers = {
        function.name
        for function in work.body
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(node, ast.Attribute) and node.attr == "_at" for node in ast.walk(function))
    }
    assert readers == {"at", "has_come", "ahead"}


def test_what_a_way_round_it_would_be_is_seen(tmp_path):
    file = tmp_path / "round.py"
    file.write_text(
        "def f(work, command):\n    g(command.at, work.at, work._at, getattr(command, 'at'), datetime.now())\n"
    )
    assert len(readings(file)) == 4


def test_the_time_is_read_through_work_alone():
    files = sorted(SEMANTICS.rglob("*.py"))
    assert len(files) > 30
    assert {reading for file in files for reading in readings(file)} == HANDED_ON
