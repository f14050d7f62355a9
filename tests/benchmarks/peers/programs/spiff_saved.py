"""SpiffWorkflow with its state saved to PostgreSQL after every step: one row a workflow, each time a transaction.
Arguments: address of the database, "row" (ten tasks one after the other) or "many" (300 at once), workflows.
"""

from __future__ import annotations

import json
import sys
import time
import uuid

import psycopg
from lxml import etree
from SpiffWorkflow import TaskState
from SpiffWorkflow.bpmn import BpmnWorkflow
from SpiffWorkflow.bpmn.parser import BpmnParser
from SpiffWorkflow.bpmn.serializer import BpmnWorkflowSerializer

HEAD = '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="bench">'
MANY = (
    '<process id="many" isExecutable="true"><startEvent id="s"/><manualTask id="t">'
    '<multiInstanceLoopCharacteristics isSequential="false"><loopCardinality>300</loopCardinality>'
    '</multiInstanceLoopCharacteristics></manualTask><endEvent id="e"/>'
    '<sequenceFlow id="f1" sourceRef="s" targetRef="t"/><sequenceFlow id="f2" sourceRef="t" targetRef="e"/></process>'
)


def row() -> str:
    """Ten tasks one after the other."""
    names = [f"t{number}" for number in range(1, 11)]
    flows = zip(["s", *names], [*names, "e"], strict=True)
    tasks = "".join(f'<manualTask id="{name}"/>' for name in names)
    drawn = "".join(f'<sequenceFlow id="{a}{b}" sourceRef="{a}" targetRef="{b}"/>' for a, b in flows)
    return f'<process id="row" isExecutable="true"><startEvent id="s"/>{tasks}<endEvent id="e"/>{drawn}</process>'


url, kind, workflows = sys.argv[1], sys.argv[2], int(sys.argv[3])
parser = BpmnParser()
parser.add_bpmn_xml(etree.fromstring(f"{HEAD}{row() if kind == 'row' else MANY}</definitions>".encode()))
spec = parser.get_spec(kind)
serializer = BpmnWorkflowSerializer(BpmnWorkflowSerializer.configure())
connection = psycopg.connect(url, autocommit=True)
connection.execute("CREATE TABLE IF NOT EXISTS spiff (id uuid PRIMARY KEY, state jsonb NOT NULL)")
SAVE = "INSERT INTO spiff VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET state = excluded.state"


def run() -> int:
    """One workflow to its end; how many tasks that were."""
    workflow, id, done = BpmnWorkflow(spec), uuid.uuid4(), 0
    workflow.do_engine_steps()
    connection.execute(SAVE, [id, serializer.serialize_json(workflow)], prepare=True)
    while not workflow.completed:
        workflow.get_next_task(state=TaskState.READY, manual=True).run()
        workflow.do_engine_steps()
        connection.execute(SAVE, [id, serializer.serialize_json(workflow)], prepare=True)
        done += 1
    return done


if kind == "row":
    run()
print("ready", flush=True)
sys.stdin.readline()
began = time.monotonic()
tasks = sum(run() for _ in range(workflows))
print(json.dumps({"n": tasks, "began": began, "ended": time.monotonic()}), flush=True)
