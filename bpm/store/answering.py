"""What the core asks about the world outside of the instance while it decides (`bpm.semantics.view`).

Of a decision (DMN) it asks the id of the definition that is meant, which goes into the command's answers and so into
the log, and the compiled model, which never changes and is kept in memory. Of a bean it asks whether it is registered,
and what a call gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from bpm.semantics import State
from bpm.semantics.commands import Command, answer_name
from bpm.semantics.state import Key
from bpm.store import beans, decisions
from bpm.store.channel import Channel


def answered(
    keys: Sequence[Key], command: Command, state: State, *, process: UUID, channel: Channel
) -> tuple[Command, list[Key]]:
    """The command with the answers to the questions about decisions and beans, and the other questions, which are about
    the instance.

    Compiled models go into the state's library at once. `process` is the definition that the instance runs by.
    """
    answers: dict[str, Any] = {}
    others: list[Key] = []
    for key in keys:
        match key:
            case ("decision", str(name), str(binding), version):
                found = _bound(name, binding, version, process=process, channel=channel)
                answers[answer_name(key)] = None if found is None else str(found)
            case ("bean", str(name)):
                answers[answer_name(key)] = beans.is_known(name)
            case ("call", str(name), str(arguments), int()):
                answers[answer_name(key)] = beans.call(name, arguments)
            case ("model", str(id)):
                state.library[id] = decisions.load(UUID(id), channel=channel).evaluator
            case _:
                others.append(key)
    return (replace(command, answers=command.answers | answers) if answers else command), others


def _bound(name: str, binding: str, version: str | None, *, process: UUID, channel: Channel) -> UUID | None:
    """The definition that a binding means now. A version that is no number is one that there is not."""
    match binding:
        case "deployment":
            return decisions.find_deployed_with(process, name, channel=channel)
        case "version_tag":
            return decisions.find(name, version_tag=version or "", channel=channel)
        case "version":
            number = int(version) if version and version.isdecimal() and len(version) < 10 else 0
            return decisions.find(name, version=number, channel=channel)
    return decisions.find(name, channel=channel)
