"""Large instances in the pure core, and how long they take: `python -m tests.pure.semantics.sizes`.

What is printed is a measurement; no test depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from time import process_time

from bpm.graph import Formula, LoopSpec, Process, Scope
from bpm.semantics import Decided, State, decide
from bpm.semantics import commands as c
from tests.pure.semantics.drawing import START, draw


class Big:
    """An instance whose steps are decided on the whole state, and nothing else."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.state = State(thread="i")
        self.steps = 0

    def do(self, command: c.Command) -> Decided:
        """One step."""
        decided = decide(self.process, self.state, command)
        assert isinstance(decided, Decided), decided
        self.state = decided.state.sealed()
        self.steps += 1
        return decided

    def start(self, **variables: object) -> None:
        """The first step."""
        self.do(c.StartInstance(at=START, variables=variables))

    def settle(self) -> None:
        """Advance what is ACTIVE until nothing is."""
        while active := [token.id for token in self.state.tokens.values() if token.state == "ACTIVE"]:
            for token in active:
                self.do(c.AdvanceToken(at=START, token=token))

    def work(self, task: int) -> Decided:
        """A worker does a task."""
        self.do(c.LockTask(at=START, task=task, worker="w", until=START + timedelta(hours=1)))
        return self.do(c.CompleteExternalTask(at=START, task=task, worker="w"))

    def ready(self, decided: Decided) -> Iterator[int]:
        """The tokens that a step made ACTIVE."""
        for kind, key in decided.state.touched:
            if kind == "token" and self.state.tokens[key].state == "ACTIVE":
                yield key


def rounds(kind: str, number: int) -> Big:
    """A multi-instance of external tasks, from the start to the end."""
    loop = LoopSpec(kind=kind, collection=Formula(kind="variable", text="items"), element_variable="item")
    big = Big(draw("start s > external A > end e", A={"loop": loop}))
    big.start(items=list(range(number)))
    if kind == "parallel":
        big.settle()
        for task in list(big.state.tasks):
            big.work(task)
    else:
        active = [1, *(token.id for token in big.state.tokens.values() if token.state == "ACTIVE")]
        for _ in range(number):
            big.do(c.AdvanceToken(at=START, token=active[-1]))
            active = list(big.ready(big.work(big.state.counter)))
    big.settle()
    return big


def nested(depth: int) -> Process:
    """Subprocesses in each other, a task in the innermost."""
    names = ["p", *(f"sub{n}" for n in range(depth))]
    lines = [f"start s{n} > subprocess {inner} > end e{n}" for n, inner in enumerate(names[1:])]
    lines.append(f"start s{depth} > external A > end e{depth}")
    scopes = {
        name: (f"s{n}", names[n + 1] if n < depth else "A", f"e{n}") for n, name in enumerate(names) if name != "p"
    }
    process = draw(*lines, scopes=scopes)
    assert isinstance(process.scopes["p"], Scope)
    return process


def main() -> None:
    """Print what large instances take, in seconds of this processor."""
    for kind in ("parallel", "sequential"):
        taken = {}
        for number in (1_000, 10_000):
            before = process_time()
            big = rounds(kind, number)
            taken[number] = process_time() - before
            print(f"{kind} multi-instance of {number:,}: {taken[number]:.2f} s, {big.steps:,} steps")
        print(f"  ten times the rounds take {taken[10_000] / taken[1_000]:.1f} times as long")
    wide = Big(
        draw("start s > external A > end e", A={"loop": LoopSpec(kind="parallel", cardinality=Formula(text="${n}"))})
    )
    wide.start(n=10_000)
    wide.settle()
    deep = Big(nested(2_000))
    deep.start()
    deep.settle()
    for name, big in (("10,000 tokens", wide), ("2,000 nested scopes", deep)):
        before = process_time()
        big.do(c.CancelInstance(at=START))
        print(f"cancelling {name}: {process_time() - before:.2f} s")


if __name__ == "__main__":
    main()
