"""Suspending a definition: nothing begins of it, whoever asks (start, call, message, timer), until it is resumed.

The database refuses it, whatever a program believes; only a start that is under way just then may still commit. Its
instances go on; each is suspended by itself. Start timers that fall due meanwhile fire when it is resumed; messages
wait.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from bpm.engine.acting import Refused, act_outside, given_reason
from bpm.engine.starting import find_definition
from bpm.store.channel import Channel
from bpm.store.outside import outside, query
from bpm.store.receipts import Done

ACTIVE, SUSPENDED = "ACTIVE", "SUSPENDED"


def suspend_definition(
    process: str | UUID, *, actor: str, version: int | None = None, reason: str | None = None, key: str | None = None
) -> UUID:
    """Let nothing begin of a definition: the newest version of a process (its key) or `version`, or by its id.

    Out: the definition's id. Raises NotFound, Invalid, KeyConflict, or Refused: wrong_state (it is suspended already).
    """
    return _set(find_definition(process, version=version), SUSPENDED, actor, reason, key)


def resume_definition(
    process: str | UUID, *, actor: str, version: int | None = None, reason: str | None = None, key: str | None = None
) -> UUID:
    """Let it begin again. Raises NotFound, Invalid, KeyConflict, or Refused: wrong_state (it is not suspended)."""
    return _set(find_definition(process, version=version), ACTIVE, actor, reason, key)


def _set(definition: UUID, state: str, actor: str, reason: str | None, key: str | None) -> UUID:
    stated = given_reason(reason)
    command = "SuspendDefinition" if state == SUSPENDED else "ResumeDefinition"

    def change(channel: Channel | None) -> Done:
        found = query(channel, "state_of_definition", {"definition": definition})
        if (found[0][0] if found else ACTIVE) == state:
            raise Refused(f"the definition is {state} already", code="wrong_state")
        about: dict[str, Any] = {"definition": str(definition)}
        with outside(channel, command, about, actor=actor, reason=stated, key=key) as commit:
            if not commit.run("set_definition_state", {"definition": definition, "state": state}):
                raise Refused(f"the definition is {state} already", code="wrong_state")
        return Done(commit.sequence, about)

    act_outside(actor, key, {"verb": command, "definition": str(definition)}, change)
    return definition
