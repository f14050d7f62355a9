"""Stories: what a client tells the engine from an instance's start to its end, every call with its key.

A client that was cut off tells its story again from the beginning: what had been done is answered from the receipt, the
rest is done. `tell` is called in a process of its own, which may die at any fault point; `tell_again` in the next one,
after the schedulers ran there as they do whenever a process starts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from bpm import engine
from bpm.jobs import schedule
from bpm.store import faults
from tests.chaos import models, proof

# What the locks of a dead worker and the tokens that nobody advanced need until the schedulers see them.
LATER = 120.0
# What moves instances on; the other jobs have tests of their own.
JOBS = ("locks", "tokens", "timers", "start_timers", "messages", "expired_messages")


@dataclass
class Story:
    """One telling of a story. `prefix` is its own: the business key of its instances."""

    prefix: str
    ledger: Path
    verbs: set[str] = field(default_factory=set)

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        """A verb of the engine; it is noted which were told."""
        self.verbs.add(verb)
        return getattr(engine, verb)

    def begin(self, process: str, **variables: Any) -> UUID:
        """Start it, once."""
        record = self.start(
            process, variables, business_key=self.prefix, actor="client", key=self.key(f"start {process}")
        )
        return record.thread_id

    def key(self, what: str) -> str:
        """An idempotency key of this story."""
        return f"{self.prefix}/{what}"

    def act(self, task: engine.LockedTask) -> None:
        """Do the task's work outside."""
        with self.ledger.open("a") as ledger:
            ledger.write(f"{task.id} {task.version}\n")

    def work(self, topic: str, **variables: Any) -> None:
        """Do what is ready of a topic."""
        for task in self.fetch_and_lock([topic], worker="w", max=10, lock_seconds=60):
            self.act(task)
            lock = {"worker": "w", "key": f"{task.id}/{task.version}", "cause": task.sequence}
            self.complete_task(task.id, variables=variables, **lock)

    def person(self, node: str, instance: UUID | None = None, *, first: bool = False) -> UUID | None:
        """The last (or first) user task at a node, also when it is done."""
        asked = "id = %s" if instance else "business_key = %s"
        rows = proof.ask(
            f"SELECT id FROM user_tasks WHERE node_id = %s AND instance_id IN "
            f"(SELECT id FROM process_instances WHERE {asked}) ORDER BY id {'' if first else 'DESC'} LIMIT 1",
            node, instance or self.prefix,
        )  # fmt: skip
        return rows[0][0] if rows else None

    def done(self, node: str, **said: Any) -> None:
        """The person at a node has done it."""
        self.complete_user_task(self.person(node), actor="ann", key=self.key(f"done {node}"), **said)

    def wait(self, seconds: float) -> None:
        """Time goes on."""
        proof.ask("SELECT bpm_move_clock(coalesce((SELECT ahead FROM runtime_clock_offset), '0') "
                  "+ make_interval(secs => %s))", seconds)  # fmt: skip

    def schedulers(self) -> None:
        """What beat does, twice: what the first round set going is done by the second."""
        for job in JOBS * 2:
            schedule.run_job(job)


def order(story: Story) -> None:
    """Tasks, a fork, a multi-instance, a timer, a called process and its return, a join."""
    story.begin("chaos_order", amount=7)
    story.work("pay", paid=True)
    story.work("ship")
    story.wait(31)
    story.fire_due_timers()
    story.work("pack", packed="yes")


def flaky(story: Story) -> None:
    """A worker that fails, extends, goes on with the next task, gives it back, and reports an error; a person looks."""
    story.begin("chaos_flaky")
    given = []
    for _ in range(2):
        for task in story.fetch_and_lock(["charge"], worker="w", max=10, lock_seconds=60):
            lock = {"worker": "w", "key": f"{task.id}/{task.version}", "cause": task.sequence}
            story.extend_lock(task.id, worker="w", seconds=90, key=f"{lock['key']}/extend")
            story.act(task)
            if "tried" not in task.variables:
                story.fail_task(task.id, message="no answer", retries=1, retry_after=0, variables={"tried": 1}, **lock)
            else:
                _, following = story.complete_and_lock_next(task.id, ["print"], variables={"charged": True}, **lock)
                given += [following] if following else []
    for task in [*given, *story.fetch_and_lock(["print"], worker="w", lock_seconds=60)]:
        key = f"{task.id}/{task.version}/unlock"
        story.unlock_task(task.id, worker="w", actor="w", reason="another one does it", key=key)
    for task in story.fetch_and_lock(["print"], worker="v", lock_seconds=60):
        story.act(task)
        story.throw_task_error(
            task.id, worker="v", code="DECLINED", variables={"why": "paper"}, key=f"{task.id}/{task.version}"
        )
    story.done("look")


def broken(story: Story) -> None:
    """A worker whose retries run out; an operator repairs it."""
    instance = story.begin("chaos_broken")
    for task in story.fetch_and_lock(["repair"], worker="w", lock_seconds=60):
        story.act(task)
        if "repaired" in task.variables:
            story.complete_task(task.id, worker="w", key=f"{task.id}/{task.version}")
        else:
            story.fail_task(task.id, worker="w", message="broken", retries=0, key=story.key("fail"))
    story.set_variables(instance, {"repaired": True}, actor="olga", reason="by hand", key=story.key("repair"))
    incidents = proof.ask("SELECT id FROM incidents WHERE instance_id = %s", instance)
    for (incident,) in incidents:
        story.retry_incident(incident, actor="olga", reason="repaired", key=story.key("retry"))
    story.work("repair")


def people(story: Story) -> None:
    """Persons: claimed, given back, claimed by another, done; an error that the model catches."""
    story.begin("chaos_people")
    review = story.person("review")
    story.claim_task(review, "ann", key=story.key("claim"))
    story.unclaim_task(review, actor="ann", key=story.key("unclaim"))
    story.claim_task(review, "bob", key=story.key("claim again"))
    story.complete_user_task(review, actor="bob", variables={"good": False}, key=story.key("complete"))
    story.throw_user_task_error(
        story.person("decide"), actor="ann", code="DECLINED", message="not good", key=story.key("error")
    )


def lent(story: Story) -> None:
    """Begun by a condition; a file is kept; a task gets more tries; a person's task is given to one, who lends it."""
    said = {"heat": 99, "note": story.keep_file(b"hot", name="note.txt")}
    story.evaluate_conditions(
        said, actor="op", process="chaos_lent", business_key=story.prefix, key=story.key("conditions")
    )
    for (task,) in proof.ask(
        "SELECT t.id FROM external_tasks t JOIN process_instances p ON p.id = t.instance_id WHERE p.business_key = %s",
        story.prefix,
    ):
        story.set_retries(task, 5, actor="olga", key=story.key("retries"))
    story.work("weigh")
    check = story.person("check")
    story.assign_user_task(check, "ann", actor="olga", key=story.key("assign"))
    story.delegate_user_task(check, "bob", actor="ann", key=story.key("lend"))
    story.resolve_user_task(check, actor="bob", key=story.key("give back"))
    story.done("check")


def mail(story: Story) -> None:
    """Messages and a signal from outside: to who waits, before anybody waits, to all who wait."""
    story.begin("chaos_mail")
    said = {"business_key": story.prefix, "actor": "bank"}
    story.publish("ChaosSent", variables={"sent": 1}, ttl=86_400, key=story.key("sent"), **said)
    story.correlate("ChaosPaid", variables={"sum": 3}, key=story.key("paid"), **said)
    story.done("sort")
    # A signal reaches who waits at its throw: a client throws it when it sees that somebody does.
    waits = """SELECT 1 FROM runtime_wait_ticket t JOIN process_instances p ON p.id = t.instance_id
               WHERE t.kind = 'SIGNAL' AND p.business_key = %s"""
    if proof.ask(waits, story.prefix):
        story.throw_signal("ChaosGo", variables={"gone": True}, actor="bank", key=story.key("go"))


def talk(story: Story) -> None:
    """Two instances: one's message starts the other, whose message the first one waits for."""
    story.begin("chaos_talk")


def operated(story: Story) -> None:
    """Suspended, resumed, given variables, and cancelled while it waits for a called instance."""
    instance = story.begin("chaos_operated")
    olga = {"actor": "olga", "reason": "maintenance"}
    story.suspend_instance(instance, key=story.key("suspend"), **olga)
    story.resume_instance(instance, key=story.key("resume"), **olga)
    story.set_variables(instance, {"a": 1}, key=story.key("set"), **olga)
    story.set_variables(instance, unset=["a"], key=story.key("unset"), **olga)
    story.done("wait")
    story.continue_instance(instance)
    story.cancel_instance(instance, key=story.key("cancel"), **olga)


def deployed(story: Story) -> None:
    """A deployment whose processes start by themselves: one by a timer, one by a message."""
    story.deploy(models.begun(story.prefix), actor="dora", key=story.key("deploy"))
    story.correlate(f"{story.prefix}Begin", business_key=story.prefix, actor="bank", key=story.key("begin"))
    story.wait(11)
    story.fire_start_timers()
    for process in ("timer", "message"):
        for (instance,) in proof.ask(
            "SELECT id FROM process_instances WHERE definition_key = %s", f"{story.prefix}_{process}"
        ):
            story.complete_user_task(story.person("look", instance), actor="ann", key=story.key(f"done {process}"))


def moved(story: Story) -> None:
    """Another version is deployed; an instance is put elsewhere and goes on with it."""
    process = f"{story.prefix}_moved"
    olga = {"actor": "olga", "reason": "the process changed"}
    story.deploy({"p.bpmn": models.moved(process, "")}, actor="dora", key=story.key("first"))
    instance = story.begin(process)
    story.deploy({"p.bpmn": models.moved(process, "later")}, actor="dora", key=story.key("second"))
    story.modify_instance(instance, start_before=["two"], cancel_at=["one"], key=story.key("modify"), **olga)
    story.plan_migration(instance, version=2)
    story.migrate_instance(instance, version=2, key=story.key("migrate"), **olga)
    story.done("two")
    three = story.person("three", first=True)
    story.complete_user_task(three, actor="ann", key=story.key("done three"))
    story.suspend_definition(process, key=story.key("suspend"), **olga)
    story.resume_definition(process, key=story.key("resume"), **olga)
    story.restart_instance(instance, start_before=["three"], key=story.key("restart"), **olga)
    again = story.person("three", instance)
    story.complete_user_task(again, actor="ann", key=story.key("done three again"))


def kept(story: Story) -> None:
    """What schedulers do: locks that ran out, messages that nobody took, what was left behind, months, receipts."""
    story.begin("chaos_broken", repaired=True)
    story.publish("ChaosNobody", business_key=story.prefix, actor="bank", ttl=1, key=story.key("nobody"))
    story.fetch_and_lock(["repair"], worker="w", lock_seconds=1)
    story.wait(LATER)
    story.release_expired_locks()
    story.expire_messages()
    story.advance_left_behind()
    story.deliver_pending()
    story.ensure_partitions()
    story.sweep_ended()
    story.sweep_receipts()
    story.sweep_messages()
    story.tick("kept", {})
    story.recover()
    story.work("repair")


STORIES: dict[str, Callable[[Story], None]] = {
    one.__name__: one for one in (order, flaky, broken, people, lent, mail, talk, operated, deployed, moved, kept)
}


def deploy() -> None:
    """Deploy what the stories run."""
    engine.deploy(models.STANDING, actor="dora")


def tell(name: str, prefix: str, ledger: str) -> dict[str, Any]:
    """Tell a story; the environment says at which fault point this process dies. Out: which verbs were told."""
    story = Story(prefix, Path(ledger))
    faults.arm()
    STORIES[name](story)
    return {"verbs": sorted(verb for verb in story.verbs if callable(getattr(engine, verb, None)))}


def tell_again(name: str, prefix: str, ledger: str) -> dict[str, Any]:
    """What a new process does: the schedulers run, the client tells its story again, they run again. Out: the proof."""
    story = Story(prefix, Path(ledger))
    story.wait(LATER)
    story.schedulers()
    STORIES[name](story)
    story.schedulers()
    return proof.of_story(prefix, Path(ledger))
