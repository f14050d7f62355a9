"""The processes that the chaos tests run."""

from __future__ import annotations

from tests.database.engine.drawing import (
    boundary,
    call,
    catch,
    duration,
    end,
    error,
    flows,
    message,
    model,
    parallel,
    service,
    signal,
    start,
    throw,
    user,
)

IN_OUT = '<camunda:in variables="all"/><camunda:out variables="all"/>'
DECLINED = '<bpmn:error id="declined" errorCode="DECLINED"/>'
EACH = (
    "<bpmn:multiInstanceLoopCharacteristics>"
    "<bpmn:loopCardinality>3</bpmn:loopCardinality></bpmn:multiInstanceLoopCharacteristics>"
)

ORDER = model(
    start(), service("pay"), parallel("fork"), parallel("join"), service("ship", inner=EACH),
    catch("pause", duration("PT30S")), call("packing", "chaos_pack", IN_OUT), end(),
    flows("start -> pay -> fork", "fork -> ship -> join", "fork -> pause -> join", "fork -> packing -> join",
          "join -> end"),
    id="chaos_order",
)  # fmt: skip
PACK = model(start(), service("pack"), end(), flows("start -> pack -> end"), id="chaos_pack")
FLAKY = model(
    start(), service("charge"), service("print"), boundary("no", "print", error("declined")), end(), user("look"),
    end("looked"), flows("start -> charge -> print -> end", "no -> look -> looked"),
    id="chaos_flaky", before=DECLINED,
)  # fmt: skip
BROKEN = model(start(), service("repair"), end(), flows("start -> repair -> end"), id="chaos_broken")
PEOPLE = model(
    start(), user("review"), user("decide"), boundary("no", "decide", error("declined")), end(), end("refused"),
    flows("start -> review -> decide -> end", "no -> refused"), id="chaos_people", before=DECLINED,
)  # fmt: skip
MAIL = model(
    start(), catch("paid", message("m1")), user("sort"), catch("sent", message("m2")), catch("go", signal("s1")),
    end(), flows("start -> paid -> sort -> sent -> go -> end"), id="chaos_mail",
    before='<bpmn:message id="m1" name="ChaosPaid"/><bpmn:message id="m2" name="ChaosSent"/>'
           '<bpmn:signal id="s1" name="ChaosGo"/>',
)  # fmt: skip
TALK = model(
    start(), throw("ask", message("m1")), catch("heard", message("m2")), end(), flows("start -> ask -> heard -> end"),
    id="chaos_talk", before='<bpmn:message id="m1" name="ChaosAsk"/><bpmn:message id="m2" name="ChaosAnswer"/>',
)  # fmt: skip
ANSWER = model(
    start(inner=message("m1")), throw("say", message("m2")), end(), flows("start -> say -> end"),
    id="chaos_answer", before='<bpmn:message id="m1" name="ChaosAsk"/><bpmn:message id="m2" name="ChaosAnswer"/>',
)  # fmt: skip
LENT = model(
    start(), start("hot", "<bpmn:conditionalEventDefinition><bpmn:condition>${heat == 99}</bpmn:condition>"
                   "</bpmn:conditionalEventDefinition>"),
    service("weigh"), user("check"), end(), flows("start -> weigh -> check -> end", "hot -> weigh"), id="chaos_lent",
)  # fmt: skip
OPERATED = model(
    start(), user("wait"), call("called", "chaos_pack"), end(), flows("start -> wait -> called -> end"),
    id="chaos_operated",
)  # fmt: skip


def files(*models: bytes) -> dict[str, bytes]:
    """The models by the names of their files."""
    return {f"{one.split(b'process id=')[1].split(b'"')[1].decode()}.bpmn": one for one in models}


STANDING = files(ORDER, PACK, FLAKY, BROKEN, PEOPLE, MAIL, TALK, ANSWER, LENT, OPERATED)

NOTED = '<bpmn:message id="m1" name="StormNoted"/>'
# Tasks, a failure and its second try, a multi-instance, a timer, a called process, a message that starts another one.
STORM = model(
    start(), service("pay", "storm.pay"), parallel("fork"), parallel("join"), service("ship", "storm.ship", inner=EACH),
    catch("pause", duration("PT1S")), call("packing", "storm_pack", IN_OUT), throw("tell", message("m1")), end(),
    flows("start -> pay -> fork", "fork -> ship -> join", "fork -> pause -> join", "fork -> packing -> join",
          "join -> tell -> end"),
    id="storm", before=NOTED,
)  # fmt: skip
STORM_PACK = model(start(), service("pack", "storm.pack"), end(), flows("start -> pack -> end"), id="storm_pack")
STORM_NOTE = model(
    start(inner=message("m1")), service("note", "storm.note"), end(), flows("start -> note -> end"), id="storm_note",
    before=NOTED,
)  # fmt: skip
STORMY = files(STORM, STORM_PACK, STORM_NOTE)


def begun(prefix: str) -> dict[str, bytes]:
    """Two processes of their own for one telling: started by a timer, and by a message."""
    timer = start(inner=duration("PT10S"))
    named = f'<bpmn:message id="m" name="{prefix}Begin"/>'
    return {
        "timer.bpmn": model(timer, user("look"), end(), flows("start -> look -> end"), id=f"{prefix}_timer"),
        "message.bpmn": model(
            start(inner=message("m")), user("look"), end(), flows("start -> look -> end"), id=f"{prefix}_message",
            before=named,
        ),
    }  # fmt: skip


def moved(process: str, last: str) -> bytes:
    """Three persons one after the other; `last` is what the third one's task is called, which makes a version."""
    third = user("three", f'name="{last}"')
    return model(
        start(), user("one"), user("two"), third, end(), flows("start -> one -> two -> three -> end"), id=process
    )


def wide(branches: int) -> bytes:
    """A fork into so many parallel tasks, and their join."""
    names = [f"b{number}" for number in range(branches)]
    tasks = "".join(service(name, "branch") for name in names)
    ways = [f"fork -> {name} -> join" for name in names]
    return model(
        start(), parallel("fork"), parallel("join"), tasks, end(), flows("start -> fork", *ways, "join -> end"),
        id="chaos_wide",
    )  # fmt: skip
