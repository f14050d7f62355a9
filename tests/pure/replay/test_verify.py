"""Verify: deciding again parts from a history that was changed, and says where and how."""

from __future__ import annotations

from dataclasses import replace

from bpm.replay import verify
from tests.pure.replay.recording import spoil, two_branches
from tests.pure.semantics.drawing import draw

RUN = two_branches()


def test_an_honest_history_is_decided_the_same():
    assert verify(RUN.process, RUN.commits, thread="i") is None


def test_a_changed_value_is_found():
    found = verify(RUN.process, spoil(RUN.commits, "VARIABLE_SET", nth=1, payload={"value": 7}), thread="i")
    assert found is not None
    assert found.command == "CompleteExternalTask"
    assert found.recorded and found.recorded.payload == {"name": "y", "value": 7}
    assert found.decided and found.decided.payload == {"name": "y", "value": {"z": [1, 2]}}
    assert str(found) == (
        f"commit {found.sequence} (version {found.version}, CompleteExternalTask), event {found.ordinal}: "
        "VARIABLE_SET 0: payload is {'name': 'y', 'value': 7} recorded, "
        "{'name': 'y', 'value': {'z': [1, 2]}} decided now"
    )


def test_a_missing_and_an_added_event_are_found():
    missing = verify(RUN.process, spoil(RUN.commits, "INSTANCE_COMPLETED", drop=True), thread="i")
    assert missing is not None and missing.recorded is None
    assert missing.reason == "INSTANCE_COMPLETED 0 is decided now, not recorded"
    last = RUN.commits[-1]
    added = [*RUN.commits[:-1], replace(last, events=(*last.events, last.events[-1]))]
    more = verify(RUN.process, added, thread="i")
    assert more is not None and more.decided is None
    assert more.reason == "INSTANCE_COMPLETED 0 is recorded, not decided now"
    other = verify(RUN.process, spoil(RUN.commits, "TIMER_FIRED", type="TIMER_CANCELLED"), thread="i")
    assert other is not None and "is recorded, TIMER_FIRED" in other.reason


def test_a_command_that_is_refused_or_unreadable_now_is_found():
    lock = next(n for n, commit in enumerate(RUN.commits) if commit.command == "CompleteExternalTask")
    for changes, said in (
        ({"arguments": {"task": 99, "worker": "w"}}, "the command is refused now (not_found)"),
        ({"command": "Dance"}, "the command cannot be read: KeyError 'Dance'"),
        ({"arguments": {"taks": 5}}, "the command cannot be read: TypeError"),
    ):
        commits = [*RUN.commits]
        commits[lock] = replace(commits[lock], **changes)
        found = verify(RUN.process, commits, thread="i")
        assert found is not None and found.sequence == commits[lock].sequence and found.reason.startswith(said)


def test_another_version_of_the_model_parts_where_it_decides_otherwise():
    other = draw("start s > parallel f > external A > parallel j > end e", "f > j")
    found = verify(other, RUN.commits, thread="i")
    assert found is not None
    assert found.version == 1
    assert found.recorded and found.recorded.type == "TOKEN_FORKED"


def test_locks_that_are_no_steps_are_only_folded():
    commits = [
        replace(one, version=None, command="FetchAndLock") if one.command == "LockTask" else one for one in RUN.commits
    ]
    assert verify(RUN.process, commits, thread="i") is None
    broken = spoil(commits, "TASK_LOCKED", from_state="DONE")
    found = verify(RUN.process, broken, thread="i")
    assert found is not None and "not DONE" in found.reason


def test_a_lock_that_says_nonsense_is_found_too():
    locks = [replace(one, version=None) if one.command == "LockTask" else one for one in RUN.commits]
    for nonsense, why in (({"until": "tomorrow"}, "tomorrow"), ({"until": None}, "TypeError")):
        found = verify(RUN.process, spoil(locks, "TASK_LOCKED", payload=nonsense), thread="i")
        assert found is not None
        assert why in found.reason
