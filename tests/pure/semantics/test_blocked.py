"""What comes and cannot be taken: an incident beside what the token waits for, which goes on waiting."""

from __future__ import annotations

from bpm.graph import Formula, Trigger
from bpm.semantics import commands as c
from tests.pure.semantics.drawing import Run, draw

HOUR = Trigger(kind="timer", timer_kind="duration", timer=Formula(text="PT1H"))


def test_a_token_goes_on_waiting_beside_the_incident() -> None:
    run = Run(draw("start s > catch t > end e", t={"trigger": HOUR}))
    (timer,) = run.state.timers.values()
    about = {"token": timer.token, "text": "cannot fire", "beside": "t"}
    (opened,) = run.do(c.ReportIncident, **about)
    assert (opened.type, opened.node, opened.payload["kind"]) == ("INCIDENT_OPENED", "t", "blocked")
    assert (run.state.tokens[timer.token].state, run.state.timers[timer.id].state) == ("WAITING", "SCHEDULED")
    assert run.refused(c.ReportIncident, **about) == "wrong_state"
    (resolved,) = run.do(c.RetryIncident, incident=opened.id)
    assert (resolved.type, run.state.tokens[timer.token].state) == ("INCIDENT_RESOLVED", "WAITING")
    assert run.do(c.ReportIncident, **about) != ()
    run.wait(3600)
    assert run.ended == "COMPLETED"
    assert {incident.state for incident in run.state.incidents.values()} == {"RESOLVED"}


def test_the_instance_waits_beside_an_incident_of_its_event_subprocess() -> None:
    run = Run(draw("start s > user U > end e", "start late > end over", "event_subprocess sub",
                   scopes={"sub": ("late", "over")}, late={"trigger": HOUR}))  # fmt: skip
    (opened,) = run.do(c.ReportIncident, token=0, text="cannot fire", beside="late")
    assert (opened.token, opened.node) == (0, "late")
    run.do(c.CompleteUserTask, user_task=next(iter(run.state.user_tasks)), user="ann")
    assert run.ended == "COMPLETED"
