"""The invoice example, whose approver follows from a table: in the core and through the engine."""

from __future__ import annotations

from pathlib import Path

from bpm import engine
from bpm.audit.replaying import replay_stored
from tests.database.decisions.conftest import evaluated
from tests.database.engine.conftest import World

INVOICE = Path(__file__).resolve().parents[3] / "examples" / "invoice"


def test_the_approver_follows_from_amount_and_cost_centre(world: World):
    files = {file.name: file.read_bytes() for file in INVOICE.iterdir() if file.suffix in (".bpmn", ".dmn")}
    engine.deploy(files, actor="ann")
    for amount, centre, group, rule in (
        (312.40, "office", "team-leads", "Everyday"),
        (312.40, "travel", "management", "Usual"),
        (10000.01, "office", "board", "Large"),
        (None, None, "board", "Large"),
    ):
        instance = world.start("invoice", variables={"amount": amount})
        engine.complete_user_task(
            world.only("user_tasks", instance), actor="accountant", variables={"cost_centre": centre}
        )
        ((groups,),) = world.ask(
            "SELECT candidate_groups::text FROM user_tasks WHERE instance_id = %s AND node_id = 'Approve'", instance
        )
        assert engine.loads(groups) == [group]
        ((table,),) = [one["tables"] for one in evaluated(world, instance)]
        assert [one["id"] for one in table["rules"]] == [rule]
        assert replay_stored([instance], again=True)[0].problems == ()
