"""Client processes that work at the same moment, each on a connection of its own.

They are forked, so that a crowd of sixteen costs no sixteen starts of Django. Each holds one object and calls its
methods as it is told; what comes back carries when it began and ended and the processor time it took.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Self

from django.db import connections

PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a process's method returned, from when to when it took (one clock for all), and its processor seconds."""

    value: Any
    began: float
    ended: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Together:
    """What all processes answered: `seconds` from the first that began to the last that ended."""

    values: list[Any]
    seconds: float
    cpu: float


class Crowd:
    """Holds the processes; `make(place)` is called in each, 0 to size - 1."""

    def __init__(self, size: int, make: Callable[[int], object]) -> None:
        # A forked process must not share its parent's connection.
        connections.close_all()
        self._pipes: list[Connection] = []
        self._pids: list[int] = []
        for place in range(size):
            ours, theirs = Pipe()
            pid = os.fork()
            if pid == 0:
                for pipe in self._pipes:
                    pipe.close()
                ours.close()
                _serve(theirs, make, place)
            theirs.close()
            self._pipes.append(ours)
            self._pids.append(pid)
        self._receive()

    def ask(self, method: str, *arguments: Any) -> Together:
        """Let all of them do it now. Raises RuntimeError with the words of the first that could not."""
        for pipe in self._pipes:
            pipe.send((method, arguments))
        answers = self._receive()
        return Together(
            [answer.value for answer in answers],
            max(answer.ended for answer in answers) - min(answer.began for answer in answers),
            sum(answer.cpu for answer in answers),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End them: each ends with its pipe, one that is in the middle of something is killed."""
        for pipe in self._pipes:
            pipe.close()
        until = time.monotonic() + PATIENCE
        for pid in self._pids:
            while not os.waitpid(pid, os.WNOHANG)[0]:
                if time.monotonic() > until:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                    break
                time.sleep(0.005)
        self._pids = []

    def _receive(self) -> list[Answer]:
        answers: list[Any] = []
        for pipe in self._pipes:
            try:
                answers.append(pipe.recv())
            except EOFError:
                answers.append("a process of the crowd has ended")
        problems = [answer for answer in answers if isinstance(answer, str)]
        if problems:
            raise RuntimeError(problems[0])
        return answers


def _serve(pipe: Connection, make: Callable[[int], object], place: int) -> None:
    """The life of a process: it ends with the pipe, and never returns."""
    try:
        gc.freeze()
        client: object = None
        request: tuple[str, tuple[Any, ...]] | None = None
        while True:
            began, cpu = time.monotonic(), _cpu()
            try:
                if request is None:
                    client, value = make(place), None
                else:
                    value = getattr(client, request[0])(*request[1])
                answer: Answer | str = Answer(value, began, time.monotonic(), _cpu() - cpu)
            except Exception:
                answer = traceback.format_exc()
            pipe.send(answer)
            request = pipe.recv()
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
