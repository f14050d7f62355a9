"""Definitions, process and decision, held against the log: each row is what its deployment says, and none is missing.

A Deploy commit keeps digests of what it deploys (`bpm.store.fingerprints`), and the commit is sealed. What older
versions deployed has none: of those the graph is held against the hash beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bpm import decisions
from bpm.audit.statements import ask
from bpm.graph import graph_hash
from bpm.store import ids
from bpm.store.channel import Channel
from bpm.store.fingerprints import DECISION, PROCESS, fingerprint

DEPLOY = "Deploy"
# What the parts of a fingerprint are in the row.
PARTS = {"graph": "its model", "source": "its source", "file": "the hash of its file", "rest": "what is beside them"}

type Digests = Mapping[str, Mapping[str, Mapping[str, str]]]
type Find = Callable[[str, str], None]


def judge_definitions(
    find: Find, deployed: dict[int, Digests], *, channel: Channel, going_on: Callable[[], None] = lambda: None
) -> int:
    """Tell `find` (code, message) what is not as it was deployed; the number of definitions. `deployed`: the digests of
    the Deploy commits that are sealed, by their sequence; of other commits those that a definition names are read here.
    `going_on` is called before each definition, and may end it by what it raises.
    """
    unsealed = ask("deployments", {"known": list(deployed)}, channel=channel)
    deployed = {sequence: digests_of(json.loads(said)) for sequence, said in unsealed} | deployed
    number = 0
    for kind, (ids_of, statement, columns, hashed) in KINDS.items():
        missing = {(sequence, key) for sequence, said in deployed.items() for key in (said.get(f"{kind}s") or {})}
        for row in _rows(ids_of, statement, channel):
            going_on()
            number += 1
            name = f"{kind} {row['key']} {row['version']}"
            missing.discard((row["sequence"], row["key"]))
            if row["sequence"] not in deployed:
                find("definition-stray", f"{name} names commit {row['sequence']}, which deployed nothing")
                continue
            graph = hashed(row["model"])
            said = (deployed[row["sequence"]].get(f"{kind}s") or {}).get(row["key"])
            if said is None:
                if deployed[row["sequence"]]:
                    find("definition-stray", f"{name}: commit {row['sequence']} did not deploy it")
                elif graph != row["model_hash"]:
                    find("definition-changed", f"{name}: its model does not have its hash")
                continue
            found = fingerprint(row, columns, graph=graph, file=row["source_hash"])
            different = [what for part, what in PARTS.items() if said.get(part) != found[part]]
            if row["id"] != ids.definition(NAMED[kind], row["key"], row["version"], said["graph"], said["file"]):
                different.append("its id or version")
            if row["model_hash"] != said["graph"]:
                different.append("the hash of its model")
            if different:
                find("definition-changed", f"{name}: {', '.join(different)}: not as it was deployed")
        for sequence, key in sorted(missing):
            find("definition-missing", f"{kind} {key}, which commit {sequence} deployed")
    return number


def digests_of(arguments: Mapping[str, Any]) -> Digests:
    """What a Deploy commit says of its definitions; nothing where an older version made it."""
    return arguments.get("digests") or {}


def _rows(ids_of: str, statement: str, channel: Channel) -> Iterator[dict[str, Any]]:
    """Each definition; one at a time, since a model may be large."""
    for (id,) in ask(ids_of, channel=channel):
        for (text,) in ask(statement, {"id": id}, channel=channel):
            yield {**json.loads(text), "id": id}


KINDS: Mapping[str, tuple[str, str, tuple[str, ...], Callable[[dict[str, Any]], str]]] = {
    "definition": ("process_definition_ids", "process_definition", PROCESS, graph_hash),
    "decision": ("decision_definition_ids", "decision_definition", DECISION, decisions.decisions_hash),
}
NAMED = {"definition": "process", "decision": "decision"}
