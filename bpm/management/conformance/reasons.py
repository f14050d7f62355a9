"""Why some expectations are not met, as tables. What is in none of them is a failure without an excuse."""

from __future__ import annotations

from collections.abc import Mapping

# scenario -> why its expectation is wrong
SCENARIOS: Mapping[str, str] = {
    "MultiInstance_ComplexBehavior": (
        "Three rounds are asked for; one is expected, and with it the flow behind the activity. If the boundary event"
        " that catches what the first round throws interrupts the activity, nothing goes on behind it; if not, there"
        " are three rounds (BPMN 2.0.2, 13.3.7 and table 10.30). Of the same model with the behavior `none`, three"
        " rounds are expected."
    ),
    "EXT.012 EXT012_failure_sequenceFlow_manualFix is refused": (
        "The model has been repaired (its name says so): an expression in natural language is allowed where the process"
        " is not executable, as here (BPMN 2.0.2, 8.4.6)."
    ),
    "EXT.106 fail_sub_process_manualFix is refused": (
        "The model has been repaired (its name says so): it has no cancel event any more, of which the rule says that"
        " it stands in a transaction (BPMN 2.0.2, 10.5.3)."
    ),
}

# The peer's parser refuses the model, this one does not: the model's file -> why
ACCEPTED: Mapping[str, str] = {
    "FormServiceTest.testInvalidFormKeyReference.bpmn20.xml": (
        "The peer deploys it, too: what fails in that test is showing the form."
    ),
    "BoundaryErrorEventTest.testThrowErrorWithoutErrorCode.bpmn20.xml": (
        "An error without a code is thrown and caught by its id; a warning says so."
    ),
    "MessageIntermediateEventTest.testEmptyMessageNameFails.bpmn20.xml": (
        "A message without a name goes by its id; a warning says so."
    ),
    "JavaServiceTaskTest.testIllegalUseOfResultVariableName.bpmn20.xml": (
        "A Java class is a topic here, and what its worker brings back as `result` has the name that is given."
    ),
}

# The peer runs the model, this engine refuses it: the model's file -> why
REFUSED: Mapping[str, str] = {
    "BpmnParseTest.testParseEscalationStartEvent.bpmn20.xml": (
        "An event subprocess without an id: history could not name it."
    ),
    "ScriptTaskTest.testPreviousTaskShouldNotHandleException.bpmn": (
        "The text of a timer is no time; the peer finds that out when an instance is there already."
    ),
    "ServiceTaskDelegateExpressionActivityBehaviorTest.testExceptionThrownBySecondScopeServiceTaskIsNotHandled.bpmn": (
        "The text of a timer is no time; the peer finds that out when an instance is there already."
    ),
}
