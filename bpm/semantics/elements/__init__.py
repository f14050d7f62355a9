"""What each kind of node does. One module a family; these two tables register them all.

`ENTER[kind](work, token, node) -> bool`: the token arrives; True: it leaves at once, False: it waits, forked or ended.
`LEAVE[kind](work, token, node) -> flows`: it goes; the flows it takes (none: it ends here).

An element is added with a kind in `bpm.graph.model.NODE_KINDS`, its functions in the module of its family, and a row in
each table; a test asks that the tables cover every kind.
"""

from __future__ import annotations

from collections.abc import Callable

from bpm.graph import Flow, Node
from bpm.semantics.elements import activities, events, gateways, subprocesses
from bpm.semantics.work import Work

ENTER: dict[str, Callable[[Work, int, Node], bool]] = {
    "start": events.pass_event,
    "boundary": events.pass_event,
    "catch": events.enter_catch,
    "throw": events.enter_throw,
    "end": events.enter_end,
    "pass": activities.enter_pass,
    "external": activities.enter_external,
    "user": activities.enter_user,
    "receive": activities.enter_receive,
    "call": activities.enter_call,
    "subprocess": subprocesses.enter_subprocess,
    "event_subprocess": subprocesses.enter_event_subprocess,
    "exclusive": gateways.enter_open,
    "parallel": gateways.enter_parallel,
    "inclusive": gateways.enter_inclusive,
    "event_based": gateways.enter_event_based,
}

LEAVE: dict[str, Callable[[Work, int, Node], list[Flow]]] = {
    "start": events.leave_event,
    "boundary": events.leave_event,
    "catch": events.leave_event,
    "throw": events.leave_event,
    "end": events.leave_event,
    "pass": activities.leave_activity,
    "external": activities.leave_activity,
    "user": activities.leave_activity,
    "receive": activities.leave_activity,
    "call": activities.leave_call,
    "subprocess": activities.leave_activity,
    "event_subprocess": activities.leave_activity,
    "exclusive": gateways.leave_exclusive,
    "parallel": gateways.leave_parallel,
    "inclusive": gateways.leave_inclusive,
    "event_based": gateways.leave_parallel,
}
