"""Starting an instance of a deployed process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from bpm.engine.acting import act, named
from bpm.engine.errors import Invalid, NotFound
from bpm.engine.variables import checked
from bpm.semantics.commands import StartInstance
from bpm.store import definitions, ids, receipts
from bpm.store.records import CommitRecord

LARGEST_VERSION = 2**31 - 1


def start(
    process: str | UUID,
    variables: Mapping[str, Any] | None = None,
    *,
    actor: str,
    business_key: str | None = None,
    version: int | None = None,
    node: str | None = None,
    reason: str | None = None,
    key: str | None = None,
) -> CommitRecord:
    """Start an instance of the process: its key (the newest version, or `version`), or the id of a definition.

    `node` is the start event, where the process has several. With an idempotency `key` the same actor starts it once:
    the id of the instance is made of both. Inside `transaction.atomic()` it stands or falls with the caller's changes.

    Out: the commit; its `thread_id` is the instance's id. Raises NotFound, Invalid (it cannot be started so),
    InvalidVariables, KeyConflict, Refused.
    """
    given = checked(variables)
    called = None if business_key is None else named(business_key, "business_key")
    begins = None if node is None else named(node, "node")
    definition = find_definition(process, version=version)
    if key is None:
        thread, content = ids.new_instance(), None
    else:
        thread = ids.derived_instance("start", named(actor, "actor"), named(key, "key"))
        content = receipts.content_of(["start", str(process), version, begins, called, given])
    return act(
        thread,
        lambda at: StartInstance(at=at, node=begins, variables=given, business_key=called),
        actor=actor,
        reason=reason,
        key=key,
        definition=definition,
        content=content,
    )


def find_definition(process: str | UUID, *, version: int | None = None) -> UUID:
    """The id of the definition that is meant: by id, or by the process's key. Raises NotFound."""
    if version is not None and (isinstance(version, bool) or not isinstance(version, int)):
        raise Invalid("version must be a whole number")
    if isinstance(process, UUID):
        return _known(process)
    named(process, "process")
    found = definitions.find(process, version=version) if may_be_version(version) else None
    if found is not None:
        return found
    try:
        return _known(UUID(process))
    except ValueError:
        which = "" if version is None else f" with the version {version}"
        raise NotFound(f"there is no process {process}{which}") from None


def may_be_version(version: int | None) -> bool:
    """Whether a definition can have that number: the database knows no larger one."""
    return version is None or 0 < version <= LARGEST_VERSION


def _known(id: UUID) -> UUID:
    try:
        return definitions.load(id).id
    except KeyError:
        raise NotFound(f"there is no process definition {id}") from None
