"""Loading a part of an instance: enough to decide as on the whole, and never more than the command touches."""

from __future__ import annotations

import random
from contextlib import contextmanager

import pytest

from bpm.semantics import Decided, Need, decide
from bpm.semantics import commands as c
from bpm.store import committing as stepping
from bpm.store import ids, reading
from bpm.store.loading import Known

WIDTH = 60
WINDOW = 24  # of bpm_load
WIDE = (
    "start s > parallel f",
    "f > external B0 > parallel j",
    *(f"f > external B{n} > j" for n in range(1, WIDTH)),
    "j > external Z > end e",
)


@contextmanager
def compared(run):
    """Each step in the block is decided again on the whole stored state, with the same events."""
    original = stepping.loaded_state
    sizes = []

    def loaded(thread, command, answer):
        part = original(thread, command, answer)
        sizes.append(len(part.tokens))
        return part

    stepping.loaded_state = loaded
    make = run.do

    def do(kind, **arguments):
        whole = reading.stored_state(run.thread, channel=run.channel)
        record = make(kind, **arguments)
        said = {
            key: value for key, value in arguments.items() if key not in ("actor", "key", "reason", "cause", "incoming")
        }
        answer = decide(run.graph, whole, kind(at=record.at, **said))
        assert isinstance(answer, Decided)
        assert answer.events == record.events
        return record

    run.do = do
    try:
        yield sizes
    finally:
        stepping.loaded_state = original
        run.do = make


def test_a_wide_fork(deploy):
    run = deploy(*WIDE)
    run.start()
    run.advance()
    order = list(range(WIDTH))
    random.Random(5).shuffle(order)  # noqa: S311
    with compared(run) as sizes:
        for n in order:
            task = run.lock(f"B{n}")
            run.do(
                c.CompleteExternalTask, task=ids.ordinal(task.id), worker="worker", actor="worker", variables={"x": n}
            )
    assert reading.stored_state(run.thread, channel=run.channel).tokens[1].node == "j"
    run.advance()
    run.complete("Z")
    run.agrees()
    assert max(sizes) <= WIDTH + 2


def test_the_window_does_not_grow_with_the_instance(deploy):
    """Of 40 or 300 siblings that do not meet, as many rows at most as the window has."""
    rows = {}
    for width in (40, 300):
        run = deploy("start s > parallel f", *(f"f > external B{n} > end e{n}" for n in range(width)))
        run.start()
        run.advance()
        with compared(run) as sizes:
            task = run.lock("B7")
            run.do(c.CompleteExternalTask, task=ids.ordinal(task.id), worker="worker", actor="worker")
        rows[width] = sizes[0]
    assert max(rows.values()) <= 2 * WINDOW + 2


@pytest.mark.parametrize("statistics", ["none", "of few"])
def test_what_a_step_goes_through_does_not_grow_with_the_instance(deploy, statistics):
    """Of 40 or 200 siblings that meet at a gateway to which none has come: what is loaded, and what the rules look up
    before the commit.
    """
    gone_through = {}
    for width in (40, 200):
        run = deploy(
            "start s > parallel f",
            "f > external B0 > parallel j",
            *(f"f > external B{n} > j" for n in range(1, width)),
            "j > end e",
        )
        run.start()
        if statistics == "of few" and width == 200:
            run.channel.raw.execute("ANALYZE tokens")
        run.advance()
        task = ids.ordinal(run.lock("B7").id)
        with run.channel.raw.transaction():
            before = rows_read(run.channel)
            run.do(c.CompleteExternalTask, task=task, worker="worker", actor="worker")
            run.channel.raw.execute("SET CONSTRAINTS ALL IMMEDIATE")
            gone_through[width] = rows_read(run.channel) - before
    assert 0 < gone_through[40] <= 5 * WINDOW
    assert gone_through[200] <= gone_through[40] + 10


def rows_read(channel):
    """Rows that this session has been through, by its own count that is not told to others yet."""
    found = channel.raw.execute(
        "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables"
    ).fetchone()
    return int(found[0] or 0)


def test_an_inclusive_join_sees_its_whole_scope(deploy):
    run = deploy(
        "start s > inclusive f",
        "f > external B0 > inclusive j",
        *(f"f > external B{n} > j" for n in range(1, 40)),
        "j > end e",
    )
    run.start()
    run.advance()
    with compared(run):
        for n in range(40):
            task = run.lock(f"B{n}")
            run.do(c.CompleteExternalTask, task=ids.ordinal(task.id), worker="worker", actor="worker")
            for token in run.records[-1].active:
                run.do(c.AdvanceToken, token=token)
    run.agrees()
    assert reading.stored_state(run.thread, channel=run.channel).instances[0].state == "COMPLETED"


def test_cancelling_a_wide_instance(deploy):
    run = deploy(*WIDE)
    run.start()
    run.advance()
    with compared(run):
        run.do(c.CancelInstance, text="enough")
    run.agrees()


@pytest.mark.parametrize("seed", range(4))
def test_variables_in_scopes(deploy, seed):
    run = deploy(
        "start s > subprocess P > exclusive g",
        "g > end e [x > 5]",
        "g > external L [*]",
        "L > end e2",
        "start i > external A > external B > end y",
        scopes={"P": ("i", "A", "B", "y")},
    )
    chance = random.Random(seed)  # noqa: S311
    run.start(variables={"x": chance.randint(0, 10), "unread": "u"})
    run.advance()
    with compared(run):
        for topic in ("A", "B"):
            task = run.lock(topic)
            brought = {"x": chance.randint(0, 10)} if chance.random() < 0.5 else {}
            local = {"mine": chance.randint(0, 3)} if chance.random() < 0.5 else {}
            run.do(
                c.CompleteExternalTask,
                task=ids.ordinal(task.id),
                worker="worker",
                actor="worker",
                variables=brought,
                local_variables=local,
            )
            for token in run.records[-1].active:
                run.do(c.AdvanceToken, token=token)
    run.agrees()


def test_known_answers_by_rule():
    known = Known.of({("token", 9)}, whole=True, scopes={0, 4}, full={4}, names={"x"})
    for key in (
        ("token", 9),
        ("attached", 77),
        ("subtree", 0),
        ("variable", 0, "x"),
        ("variable", 4, "y"),
        ("variables", 4),
    ):
        assert key in known
    for key in (("token", 8), ("task", 1), ("variable", 0, "y"), ("variables", 0), ("variable", 5, "x")):
        assert key not in known
    more = known.plus({("task", 1)})
    assert ("task", 1) in more and ("attached", 1) in more and ("task", 1) not in known
    part = Known.of((), whole=False)
    assert ("attached", 1) not in part


def test_two_thousand_tokens_are_cancelled_in_one_step(deploy):
    run = deploy("start s > external A > user U > end e")
    run.start()
    run.do(c.ModifyInstance, start=tuple({"before": "U"} for _ in range(2_000)))
    record = run.do(c.ModifyInstance, cancel=({"node": "U"},))
    assert sum(event.type == "TOKEN_CANCELLED" for event in record.events) == 2_000


def test_whoever_asks_in_vain_is_stopped(deploy, monkeypatch):
    run = deploy("start s > external A > end e")
    run.start()
    monkeypatch.setattr(stepping, "decide", lambda graph, state, command: Need((("attached", 1),)))
    with pytest.raises(AssertionError, match="never has enough"):
        run.do(c.SetVariables, variables={"x": 1})
