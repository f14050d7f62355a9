"""What the database refuses, as pgtriggers: tables of rules, one function a rule.

Every trigger of ours is named `tokentrail_...`, so that pgtrigger's off-switch (the setting `pgtrigger.ignore`, which
any role may set) can be taken away from exactly these (see `bpm.models.installation`). Conditions (WHEN) are judged
before a function is called, so a rule that holds costs next to nothing.

SQLSTATEs: TT100 append-only, TT101 version, TT102 deletion, TT103 no change without its event, TT104 immutable,
TT108 run; TT004 (a refusal, no fault) suspended.
"""

from __future__ import annotations

from collections.abc import Sequence

import pgtrigger

from bpm.semantics.lifecycle import INITIAL, NEW_RUNS, final, net_transitions

PREFIX = "tokentrail_"


def line(sql: str) -> str:
    """The statement on one line, as migrations keep it."""
    return " ".join(sql.split())


def _raise(code: str, message: str, *values: str) -> str:
    arguments = "".join(f", {value}" for value in values)
    return f"RAISE EXCEPTION '{message}'{arguments} USING ERRCODE = '{code}', TABLE = TG_TABLE_NAME;"


def not_suspended() -> list[pgtrigger.Trigger]:
    """No run begins of a definition that is suspended."""
    func = line(f"""
        IF EXISTS (SELECT FROM definition_states d
                   WHERE d.process_def_id = NEW.process_def_id AND d.state = 'SUSPENDED') THEN
            {_raise("TT004", "the process definition % is suspended: nothing begins of it", "NEW.process_def_id")}
        END IF;
        RETURN NEW;
    """)
    return [
        pgtrigger.Trigger(name=f"{PREFIX}not_suspended", when=pgtrigger.Before, operation=pgtrigger.Insert, func=func),
        pgtrigger.Trigger(
            name=f"{PREFIX}not_suspended_again",
            when=pgtrigger.Before,
            operation=pgtrigger.Update,
            condition=pgtrigger.Condition("NEW.run_id IS DISTINCT FROM OLD.run_id"),
            func=func,
        ),
    ]


def versioned(*identity: str) -> list[pgtrigger.Trigger]:
    """A row is born with version 1, and each UPDATE raises it by exactly one and leaves `identity` as it is."""
    changed = "".join(f" OR NEW.{column} IS DISTINCT FROM OLD.{column}" for column in identity)
    return [
        pgtrigger.Trigger(
            name=f"{PREFIX}version_first",
            when=pgtrigger.Before,
            operation=pgtrigger.Insert,
            condition=pgtrigger.Condition("NEW.version IS DISTINCT FROM 1"),
            func=_raise("TT101", "a new row of % has version 1, not %", "TG_TABLE_NAME", "NEW.version"),
        ),
        pgtrigger.Trigger(
            name=f"{PREFIX}version_next",
            when=pgtrigger.Before,
            operation=pgtrigger.Update,
            condition=pgtrigger.Condition(f"NEW.version IS DISTINCT FROM OLD.version + 1{changed}"),
            func=_raise(
                "TT101",
                "an update of % raises version % by one and keeps the row''s identity",
                "TG_TABLE_NAME",
                "OLD.version",
            ),
        ),
    ]


def lifecycle(entity: str, *, within: str | None = None) -> list[pgtrigger.Trigger]:
    """Only the net transitions of the entity's table; its final states are absorbing (`within`: while that column stays
    the same).
    """
    same = f" AND NEW.{within} IS NOT DISTINCT FROM OLD.{within}" if within else ""
    return [
        pgtrigger.FSM(
            name=f"{PREFIX}lifecycle",
            field="state",
            transitions=net_transitions(entity),
            condition=pgtrigger.Condition(f"NEW.state IS DISTINCT FROM OLD.state{same}"),
        )
    ]


def runs(entity: str, run: str, history: str, *matches: tuple[str, str]) -> list[pgtrigger.Trigger]:
    """A row goes over to another run only from a final state to an initial one, and with the event that says so in the
    same commit (`matches` as in `explained`).
    """
    ended, begun = (", ".join(f"'{state}'" for state in found) for found in (final(entity), INITIAL[entity]))
    types = ", ".join(f"'{type}'" for type, kind in NEW_RUNS.items() if kind == entity)
    found = " AND ".join(f"h.{column} = {value}" for column, value in (*matches, ("at", "NEW.commit_at")))
    changed = f"NEW.{run} IS DISTINCT FROM OLD.{run}"
    return [
        pgtrigger.Trigger(
            name=f"{PREFIX}run",
            when=pgtrigger.Before,
            operation=pgtrigger.Update,
            condition=pgtrigger.Condition(f"{changed} AND NOT (OLD.state IN ({ended}) AND NEW.state IN ({begun}))"),
            func=_raise(
                "TT108",
                "a new run of % begins after the end of the last one, not from % to %",
                "TG_TABLE_NAME",
                "OLD.state",
                "NEW.state",
            ),
        ),
        pgtrigger.Trigger(
            name=f"{PREFIX}run_explained",
            when=pgtrigger.After,
            operation=pgtrigger.Update,
            timing=pgtrigger.Deferred,
            condition=pgtrigger.Condition(changed),
            func=line(f"""
                IF NOT EXISTS (SELECT FROM {history} h WHERE h.event_type IN ({types}) AND {found}) THEN
                    {_raise("TT103", f"the new run of a row of % has no event in {history}", "TG_TABLE_NAME")}
                END IF;
                RETURN NULL;
            """),
        ),
    ]


def explained(
    history: str,
    *matches: tuple[str, str],
    also: Sequence[tuple[str, str]] = (),
    at: str = "NEW.commit_at",
    where: str = "",
) -> list[pgtrigger.Trigger]:
    """No change without its event: at commit, the row's new version must be found in `history`.

    `matches` pairs a column of the history table with an expression over NEW. The row names the time of its last commit
    (`at`), so only that month's partition is looked into. What `also` pairs is compared with what the others have found
    (OFFSET keeps it so): a month that is young has no statistics, and then all events of an instance seem no more than
    those of a token. `where` (over NEW) limits which rows are judged.
    """
    message = f"version % of a row of % has no event in {history}"
    found = _equal((*matches, ("at", at)))
    if also:
        history, found = f"(SELECT * FROM {history} h WHERE {found} OFFSET 0)", _equal(also)  # noqa: S608
    return [
        pgtrigger.Trigger(
            name=f"{PREFIX}explained",
            when=pgtrigger.After,
            operation=pgtrigger.Insert | pgtrigger.Update,
            timing=pgtrigger.Deferred,
            condition=pgtrigger.Condition(where) if where else None,
            func=line(f"""
                IF NOT EXISTS (SELECT FROM {history} h WHERE {found}) THEN
                    {_raise("TT103", message, "NEW.version", "TG_TABLE_NAME")}
                END IF;
                RETURN NULL;
            """),
        )
    ]


def _equal(pairs: Sequence[tuple[str, str]]) -> str:
    return " AND ".join(f"h.{column} = {value}" for column, value in pairs)


def explained_by_event(history: str, entity_column: str, *, where: str = "") -> list[pgtrigger.Trigger]:
    """The usual case of `explained`: the event names instance, entity, row version and the instance's version."""
    return explained(
        history,
        (entity_column, "NEW.id"),
        ("row_version", "NEW.version"),
        also=(("instance_id", "NEW.instance_id"), ("thread_version", "NEW.commit_version")),
        where=where,
    )


def explained_by_commit(thread: str, *, name: str = "committed", where: str = "") -> list[pgtrigger.Trigger]:
    """Rows that are consequences of a commit as a whole: that commit must be in the log."""
    triggers = explained("runtime_commit", ("thread_id", thread), ("version", "NEW.commit_version"), where=where)
    for trigger in triggers:
        trigger.name = f"{PREFIX}{name}"
    return triggers


def kept_while_open(instance: str = "OLD.instance_id") -> list[pgtrigger.Trigger]:
    """A runtime row is deleted only when its instance has ended (history can rebuild it), and never by TRUNCATE."""
    return [
        pgtrigger.Trigger(
            name=f"{PREFIX}kept_while_open",
            when=pgtrigger.Before,
            operation=pgtrigger.Delete,
            func=line(f"""
                IF EXISTS (SELECT FROM process_instances p WHERE p.id = {instance} AND p.ended_at IS NULL) THEN
                    {_raise("TT102", "instance % is open: its row of % stays", instance, "TG_TABLE_NAME")}
                END IF;
                RETURN OLD;
            """),
        ),
        never_truncated(),
    ]


def never_deleted() -> pgtrigger.Trigger:
    """DELETE is refused, whether the instance is open or not."""
    return pgtrigger.Trigger(
        name=f"{PREFIX}never_deleted",
        when=pgtrigger.Before,
        operation=pgtrigger.Delete,
        func=_raise("TT102", "rows of % are never deleted", "TG_TABLE_NAME"),
    )


def never_truncated() -> pgtrigger.Trigger:
    """TRUNCATE is refused. Partitions do not inherit this; `bpm_add_partition` puts it on each."""
    return pgtrigger.Trigger(
        name=f"{PREFIX}never_truncated",
        level=pgtrigger.Statement,
        when=pgtrigger.Before,
        operation=pgtrigger.Truncate,
        func=_raise("TT100", "% is never truncated", "TG_TABLE_NAME"),
    )


def immutable(what: str) -> list[pgtrigger.Trigger]:
    """Rows come and stay as they are; `what` is what a row is called."""
    return [
        pgtrigger.Trigger(
            name=f"{PREFIX}immutable",
            when=pgtrigger.Before,
            operation=pgtrigger.Update | pgtrigger.Delete,
            func=line(f"""
                RAISE EXCEPTION '{what} is immutable: % is refused', TG_OP
                    USING ERRCODE = 'TT104', TABLE = TG_TABLE_NAME;
            """),
        ),
        never_truncated(),
    ]


def append_only() -> list[pgtrigger.Trigger]:
    """Rows come and stay as they are."""
    return [
        pgtrigger.Trigger(
            name=f"{PREFIX}append_only",
            when=pgtrigger.Before,
            operation=pgtrigger.Update | pgtrigger.Delete,
            func=_raise("TT100", "% only grows: % is refused", "TG_TABLE_NAME", "TG_OP"),
        ),
        never_truncated(),
    ]
