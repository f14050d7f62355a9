"""Every lifecycle of the engine, as tables.

`evolve` checks each event against them, the database refuses the same net transitions (`bpm.models` derives CHECKs and
triggers from here), and the documents draw their diagrams from here. A state that a row's table does not list as a
source is final: nothing leaves it.
"""

from __future__ import annotations

# entity -> {state: states that may follow}
TRANSITIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "instance": {
        "RUNNING": ("SUSPENDED", "COMPLETED", "FAILED", "CANCELLED"),
        "SUSPENDED": ("RUNNING", "FAILED", "CANCELLED"),
        "COMPLETED": (),
        "FAILED": (),
        "CANCELLED": (),
    },
    "token": {
        "ACTIVE": ("WAITING", "COMPLETED", "FAILED", "CANCELLED"),
        "WAITING": ("ACTIVE", "COMPLETED", "FAILED", "CANCELLED"),
        "COMPLETED": (),
        "FAILED": (),
        "CANCELLED": (),
    },
    "task": {
        "READY": ("LOCKED", "FAILED", "CANCELLED"),  # FAILED: nobody finishes it within a lock
        "LOCKED": ("READY", "DONE", "FAILED", "CANCELLED"),
        # Retries ran out. An operator may make it READY again, so this state is not final.
        "FAILED": ("READY", "CANCELLED"),
        "DONE": (),
        "CANCELLED": (),
    },
    "timer": {"SCHEDULED": ("FIRED", "CANCELLED"), "FIRED": (), "CANCELLED": ()},
    "user_task": {
        "READY": ("CLAIMED", "DONE", "CANCELLED"),
        "CLAIMED": ("READY", "DONE", "CANCELLED"),
        "DONE": (),
        "CANCELLED": (),
    },
    "ticket": {"OPEN": ("CONSUMED", "CANCELLED"), "CONSUMED": (), "CANCELLED": ()},
    "incident": {"OPEN": ("RESOLVED",), "RESOLVED": ()},
    "message": {"PENDING": ("DELIVERED", "EXPIRED"), "DELIVERED": (), "EXPIRED": ()},
}

# The states a row may be born in.
INITIAL: dict[str, tuple[str, ...]] = {
    "instance": ("RUNNING",),
    "token": ("ACTIVE", "WAITING"),
    "task": ("READY",),
    "timer": ("SCHEDULED",),
    "user_task": ("READY", "CLAIMED"),
    "ticket": ("OPEN",),
    "incident": ("OPEN",),
    "message": ("PENDING", "DELIVERED"),
}

# A person's task that was given to another person: until that one has resolved it, and after (None: never delegated).
DELEGATION = ("PENDING", "RESOLVED")

# Final states are absorbing within a run. What opens a new run of an entity that has ended: event -> entity; the state
# after it is one of INITIAL.
NEW_RUNS: dict[str, str] = {"INSTANCE_RESTARTED": "instance"}


def states(entity: str) -> tuple[str, ...]:
    """All states of an entity, in the order of its table."""
    return tuple(TRANSITIONS[entity])


def final(entity: str) -> tuple[str, ...]:
    """The states that nothing leaves."""
    return tuple(state for state, after in TRANSITIONS[entity].items() if not after)


def is_final(entity: str, state: str) -> bool:
    """Whether nothing leaves the state; KeyError for a state that the entity does not have."""
    return not TRANSITIONS[entity][state]


def allowed(entity: str, before: str, after: str) -> bool:
    """Whether one event may change the state so. Staying in an open state is always allowed."""
    following = TRANSITIONS[entity][before]
    return after in following or (before == after and bool(following))


def net_transitions(entity: str) -> list[tuple[str, str]]:
    """All (before, after) that several events of one commit may bring about together, staying put left out.

    A commit writes each row once, so the database sees only the first and the last state of a chain.
    """
    pairs: list[tuple[str, str]] = []
    for start in TRANSITIONS[entity]:
        seen: list[str] = []
        todo = list(TRANSITIONS[entity][start])
        while todo:
            state = todo.pop(0)
            if state not in seen:
                seen.append(state)
                todo.extend(TRANSITIONS[entity][state])
        pairs.extend((start, state) for state in TRANSITIONS[entity] if state in seen and state != start)
    return pairs
