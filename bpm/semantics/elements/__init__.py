"""What each kind of node does. One module a family; one table registers them all.

    enter(work, token, node) -> bool    the token arrives; True: it leaves at once, False: it waits, forked or ended
    close(work, token, node)            it is done here: outputs are written, what hangs on it ends
    choose(work, token, node) -> flows  the flows it takes (none: it ends)

An element is added with a kind in `bpm.graph.model.NODE_KINDS`, its functions in the module of its family, and a row
here; a test asks that the table covers every kind. What an emptied scope does is in `emptied`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bpm.graph import Flow, Node
from bpm.semantics.elements import activities, decisions, ends, events, flows, gateways, subprocesses
from bpm.semantics.work import Work


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The three functions of a kind of node."""

    enter: Callable[[Work, int, Node], bool]
    close: Callable[[Work, int, Node], None] = activities.close_activity
    choose: Callable[[Work, int, Node], list[Flow]] = flows.unconditional_and_holding


BEHAVIOURS: dict[str, Behaviour] = {
    "start": Behaviour(events.pass_event, events.close_event),
    "boundary": Behaviour(events.pass_event, events.close_event),
    "catch": Behaviour(events.enter_catch, events.close_event),
    "throw": Behaviour(events.enter_throw, events.close_event, events.choose_after_throw),
    "end": Behaviour(ends.enter_end, ends.close_end),
    "pass": Behaviour(activities.enter_pass),
    "external": Behaviour(activities.enter_external),
    "decision": Behaviour(decisions.enter_decision),
    "send": Behaviour(activities.enter_send),
    "user": Behaviour(activities.enter_user),
    "receive": Behaviour(activities.enter_receive),
    "call": Behaviour(activities.enter_call, activities.close_call),
    "subprocess": Behaviour(subprocesses.enter_subprocess, subprocesses.close_subprocess),
    "event_subprocess": Behaviour(subprocesses.enter_event_subprocess),
    "exclusive": Behaviour(gateways.pass_gateway, gateways.close_gateway, flows.first_that_holds),
    "parallel": Behaviour(gateways.enter_parallel, gateways.close_gateway, flows.all_flows),
    "inclusive": Behaviour(gateways.enter_judged, gateways.close_gateway, flows.all_that_hold),
    "complex": Behaviour(gateways.enter_judged, gateways.close_gateway, flows.all_that_hold),
    "event_based": Behaviour(gateways.enter_event_based, gateways.close_gateway, flows.all_flows),
}
