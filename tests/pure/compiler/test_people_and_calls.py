"""User tasks, forms, call activities."""

from __future__ import annotations

import json

from tests.pure.compiler.writing import node, process


def test_a_user_task_of_the_family():
    found = node(
        '<userTask id="x" camunda:assignee="${boss}" camunda:candidateUsers="ann, bob"'
        ' camunda:candidateGroups="${groups(a, b)},sales"'
        ' camunda:dueDate="${now}" camunda:followUpDate="2030-01-01" camunda:priority="70" camunda:formKey="form:a"/>'
    ).user
    assert (found.assignee.text, [f.text for f in found.candidate_users]) == ("${boss}", ["ann", "bob"])
    assert [f.text for f in found.candidate_groups] == ["${groups(a, b)}", "sales"]
    assert (found.due.text, found.follow_up.text, found.priority.text, found.form_key.text) == (
        "${now}",
        "2030-01-01",
        "70",
        "form:a",
    )


def test_a_user_task_of_zeebe():
    found = node(
        '<userTask id="x"><extensionElements><zeebe:assignmentDefinition assignee="=boss"'
        ' candidateGroups="=[&quot;a&quot;, &quot;b&quot;]"'
        ' candidateUsers="ann,bob"/><zeebe:formDefinition formId="f1"/><zeebe:taskSchedule dueDate="=due"'
        ' followUpDate="2030-01-01"/>'
        '<zeebe:priorityDefinition priority="=p"/></extensionElements></userTask>',
        zeebe=True,
    ).user
    assert (found.assignee.text, [f.text for f in found.candidate_groups]) == ("=boss", ['=["a", "b"]'])
    assert [f.text for f in found.candidate_users] == ["ann", "bob"]
    assert (found.form_key.text, found.due.text, found.follow_up.text, found.priority.text) == (
        "f1",
        "=due",
        "2030-01-01",
        "=p",
    )


def test_the_standards_own_roles():
    found = node(
        '<userTask id="x"><humanPerformer><resourceAssignmentExpression><formalExpression>kermit</formalExpression>'
        "</resourceAssignmentExpression></humanPerformer><potentialOwner><resourceAssignmentExpression>"
        "<formalExpression>user(ann), group(sales), accounts</formalExpression>"
        "</resourceAssignmentExpression></potentialOwner></userTask>"
    ).user
    assert found.assignee.text == "kermit"
    assert [f.text for f in found.candidate_users] == ["ann"]
    assert [f.text for f in found.candidate_groups] == ["sales", "accounts"]


def test_form_fields():
    found = node(
        '<userTask id="x"><extensionElements><camunda:formData><camunda:formField id="amount"'
        ' label="Amount" type="long" defaultValue="1">'
        '<camunda:validation><camunda:constraint name="required"/><camunda:constraint name="min"'
        ' config="0"/></camunda:validation>'
        '</camunda:formField><camunda:formField id="colour" type="enum"><camunda:value id="r" name="Red"/>'
        "</camunda:formField>"
        '</camunda:formData><activiti:formProperty id="old" name="Old" type="string" required="true" writable="false"/>'
        "</extensionElements></userTask>"
    ).user.form_fields
    assert [json.loads(field) for field in found] == [
        {
            "id": "amount",
            "label": "Amount",
            "type": "long",
            "default": "1",
            "required": True,
            "constraints": {"min": "0"},
        },
        {"id": "colour", "type": "enum", "values": {"r": "Red"}},
        {"id": "old", "label": "Old", "type": "string", "required": True, "writable": False},
    ]


def test_the_form_of_a_start_event():
    found = process('<startEvent id="s" camunda:formKey="start-form"/>').nodes["s"]
    assert found.user.form_key.text == "start-form"


def test_a_call_of_the_family():
    found = node(
        '<callActivity id="x" calledElement="${which}" camunda:calledElementBinding="version"'
        ' camunda:calledElementVersion="3">'
        '<extensionElements><camunda:in variables="all"/><camunda:in source="a" target="b"/>'
        '<camunda:in sourceExpression="${c + 1}" target="d" local="true"/><camunda:in'
        ' businessKey="#{execution.processBusinessKey}"/>'
        '<camunda:out source="e" target="f"/><camunda:out variables="all"/></extensionElements></callActivity>'
    ).call
    assert (found.target.text, found.binding, found.version.text) == ("${which}", "version", "3")
    assert [(m.target, m.source.text, m.everything, m.business_key, m.local) for m in found.inputs] == [
        ("", "", True, False, False),
        ("b", "a", False, False, False),
        ("d", "${c + 1}", False, False, True),
        ("", "#{execution.processBusinessKey}", False, True, False),
    ]
    assert [(m.target, m.everything) for m in found.outputs] == [("f", False), ("", True)]
    assert not found.propagate_all_outputs


def test_a_call_of_zeebe():
    found = node(
        '<callActivity id="x"><extensionElements><zeebe:calledElement processId="sub"'
        ' propagateAllChildVariables="false"/>'
        "</extensionElements></callActivity>",
        zeebe=True,
    ).call
    assert (found.target.text, found.propagate_all_outputs, found.inputs[0].everything) == ("sub", False, True)
    found = node(
        '<callActivity id="x"><extensionElements><zeebe:calledElement processId="=id"'
        ' bindingType="versionTag" versionTag="v2"'
        ' propagateAllParentVariables="false"/></extensionElements></callActivity>',
        zeebe=True,
    ).call
    assert (found.binding, found.version.text, found.propagate_all_outputs) == ("version_tag", "v2", True)
    (passed,) = found.inputs  # what the activity itself has set (Camunda 8, Call activities, "Variable mappings")
    assert passed.everything
    assert passed.local


def test_activiti_calls():
    assert node('<callActivity id="x" calledElement="q" flowable:inheritVariables="true"/>').call.inputs[0].everything
    assert node('<callActivity id="x" calledElement="q" flowable:sameDeployment="true"/>').call.binding == "deployment"
