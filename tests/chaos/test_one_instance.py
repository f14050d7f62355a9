"""16 processes on one instance with 200 parallel branches: each branch is completed once, and they join once."""

from __future__ import annotations

PROCESSES = 16
BRANCHES = 200


def test_all_branches_are_completed_once_and_join_once(zygote, record):
    instance = zygote.call("tests.chaos.racing:begin", branches=BRANCHES)
    told = zygote.run("tests.chaos.racing:work", times=PROCESSES, instance=instance)
    assert [one.signal for one in told] == [0] * PROCESSES
    workers = [one.said["returned"] for one in told]
    judged = zygote.call("tests.chaos.racing:judge", instance=instance)
    record.lines.append(f"branches completed by each of {PROCESSES}: {sorted(one['done'] for one in workers)}")
    completed, joined = judged["events"]["TASK_COMPLETED"], judged["events"]["TOKEN_JOINED"]
    record.add("race", faults=0, instances=1, lost=BRANCHES - completed, doubled=judged["twice"] + joined - 1)
    assert judged["state"] == "COMPLETED"
    assert judged["problems"] == []
    assert judged["twice"] == 0
    assert judged["events"]["TASK_COMPLETED"] == judged["events"]["TASK_LOCKED"] == BRANCHES
    assert judged["events"]["TOKEN_JOINED"] == 1
    assert sum(one["done"] for one in workers) == BRANCHES
    assert [one["refused"] for one in workers] == [{}] * PROCESSES
    # It was a race: no process did all the work.
    assert max(one["done"] for one in workers) < BRANCHES
