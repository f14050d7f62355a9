"""Events that are caught and thrown."""

from __future__ import annotations

from tests.histories.drawing import (
    BESIDE,
    BOTH,
    COMPENSATE,
    DONE,
    ERROR,
    HEARD,
    LATER,
    PARALLEL,
    SENT,
    SET,
    TERMINATE,
    UNDOING,
    YES,
    Case,
    at_boundary,
    catch,
    escalation,
    in_scope,
    inside,
    message,
    p,
    reacting,
    signal,
    steps,
    throw,
)
from tests.pure.scenarios.writing import boundary, end, gateway, process, start, timer, work

# The event that comes, and what makes it come.
EVENTS = (
    ("message", message("m1"), SENT),
    ("timer", timer("PT1H"), LATER),
    ("signal", signal("s1"), HEARD),
    ("conditional", YES, SET),
    ("multiple", BOTH, HEARD),
)

CAUGHT = (
    *(
        Case(f"{name} catch", (p(start("s"), catch("c", inner), end("e"), "s > c > e"),), steps(comes))
        for name, inner, comes in EVENTS
    ),
    Case(
        "parallel multiple catch",
        (p(start("s"), catch("c", BOTH, PARALLEL), end("e"), "s > c > e"),),
        steps(HEARD, SENT),
    ),
    Case(
        "links",
        (
            p(
                start("s"),
                throw("t", '<linkEventDefinition name="l"/>'),
                catch("c", '<linkEventDefinition name="l"/>'),
                end("e"),
                "s > t",
                "c > e",
            ),
        ),
    ),
    *(
        Case(
            f"{name} {'interrupting' if stops else 'non-interrupting'} {place}",
            (make(inner, interrupting=stops),),
            steps(comes, *([] if stops else [DONE])),
        )
        for name, inner, comes in EVENTS
        for stops in (True, False)
        for place, make in (("boundary", at_boundary), ("event subprocess", in_scope))
    ),
    *(
        Case(
            f"parallel multiple {'interrupting' if stops else 'non-interrupting'} boundary",
            (at_boundary(BOTH, interrupting=stops, mark=PARALLEL),),
            steps(HEARD, SENT, *([] if stops else [DONE])),
        )
        for stops in (True, False)
    ),
    *(
        Case(
            f"parallel multiple {'interrupting' if stops else 'non-interrupting'} event subprocess",
            (in_scope(BOTH, interrupting=stops).replace('<startEvent id="ES"', f'<startEvent id="ES"{PARALLEL}'),),
            steps(HEARD, SENT, *([] if stops else [DONE])),
        )
        for stops in (True, False)
    ),
    Case("error boundary", (at_boundary(ERROR),), steps("- error: {activity: W, code: x1, message: sold out}")),
    Case("error event subprocess", (in_scope(ERROR),), steps("- error: {activity: W, code: x1}")),
)

THROWN = (
    Case("none throw", (p(start("s"), throw("t"), end("e"), "s > t > e"),)),
    Case(
        "message throw and end",
        (
            p(start("s"), throw("t", message("m1")), end("e", message("m2")), "s > t > e"),
            process(
                "q", start("qs", message("m1")), catch("qc", message("m2")), end("qe"), "qs > qc > qe", beside=BESIDE
            ),
        ),
    ),
    Case(
        "signal throw and end",
        (
            p(
                start("s"),
                gateway("parallel", "f"),
                catch("c", signal("s1")),
                work("W"),
                throw("t", signal("s1")),
                end("e"),
                end("d", signal("s2")),
                "s > f",
                "f > c > e",
                "f > W > t > d",
            ),
        ),
        steps(DONE),
    ),
    Case(
        "multiple throw and end",
        (p(start("s"), throw("t", BOTH), end("e", message("m2") + signal("s2")), "s > t > e"),),
    ),
    *(
        Case(
            f"escalation {'interrupting' if stops else 'non-interrupting'} boundary",
            (
                p(
                    start("s"),
                    inside(
                        "S",
                        start("is"),
                        throw("t", escalation("u1")),
                        work("W"),
                        end("ie", escalation("u2")),
                        "is > t > W > ie",
                    ),
                    boundary("B", "S", escalation("u1"), interrupting=stops),
                    end("e"),
                    end("b"),
                    "s > S > e",
                    "B > b",
                ),
            ),
            "" if stops else steps(DONE),
        )
        for stops in (True, False)
    ),
    *(
        Case(
            f"escalation {'interrupting' if stops else 'non-interrupting'} event subprocess",
            (
                p(
                    start("s"),
                    throw("t", escalation("u1")),
                    work("W"),
                    end("e"),
                    "s > t > W > e",
                    reacting("E", escalation("u1"), interrupting=stops),
                ),
            ),
            "" if stops else steps(DONE),
        )
        for stops in (True, False)
    ),
    Case(
        "compensation throw and end",
        (
            p(
                start("s"),
                *UNDOING,
                throw("t", COMPENSATE),
                work("V"),
                end("e", COMPENSATE),
                "s > W > t > V > e",
            ),
        ),
        steps(DONE, "- complete: {activity: H}", "- complete: {activity: V}"),
    ),
    Case(
        "compensation event subprocess",
        (
            p(
                start("s"),
                inside("S", start("is"), work("W"), end("ie"), "is > W > ie", reacting("E", COMPENSATE)),
                throw("t", COMPENSATE),
                end("e"),
                "s > S > t > e",
            ),
        ),
        steps(DONE),
    ),
    Case("error end", (p(start("s"), end("e", ERROR), "s > e"),)),
    Case(
        "terminate end",
        (
            p(
                start("s"),
                gateway("parallel", "f"),
                work("W"),
                work("V"),
                end("e", TERMINATE),
                end("n"),
                "s > f",
                "f > W > e",
                "f > V > n",
            ),
        ),
        steps(DONE),
    ),
    Case("a timer that does not matter any more", (at_boundary(timer("PT1H")),), steps(DONE)),
    Case("a message that does not matter any more", (at_boundary(message("m1")),), steps(DONE)),
)
