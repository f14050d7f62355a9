from __future__ import annotations

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations
from pgtrigger.migrations import RemoveTrigger

from bpm.models.installation import LOOKED_UP

RULES = [
    pgtrigger.migrations.AddTrigger(
        model_name="externaltask",
        trigger=pgtrigger.compiler.Trigger(
            name="tokentrail_explained",
            sql=pgtrigger.compiler.UpsertTriggerSql(
                constraint="CONSTRAINT",
                func="IF NOT EXISTS (SELECT FROM (SELECT * FROM external_task_events h WHERE h.task_id = NEW.id AND h.row_version = NEW.version AND h.at = NEW.commit_at OFFSET 0) h WHERE h.instance_id = NEW.instance_id AND h.thread_version = NEW.commit_version) THEN RAISE EXCEPTION 'version % of a row of % has no event in external_task_events', NEW.version, TG_TABLE_NAME USING ERRCODE = 'TT103', TABLE = TG_TABLE_NAME; END IF; RETURN NULL;",
                hash="200b055db375791ed06a4b3859d41032b0084a1a",
                operation="INSERT OR UPDATE",
                pgid="pgtrigger_tokentrail_explained_bda96",
                table="external_tasks",
                timing="DEFERRABLE INITIALLY DEFERRED",
                when="AFTER",
            ),
        ),
    ),
    pgtrigger.migrations.AddTrigger(
        model_name="incident",
        trigger=pgtrigger.compiler.Trigger(
            name="tokentrail_explained",
            sql=pgtrigger.compiler.UpsertTriggerSql(
                constraint="CONSTRAINT",
                func="IF NOT EXISTS (SELECT FROM (SELECT * FROM work_events h WHERE h.entity_id = NEW.id AND h.row_version = NEW.version AND h.at = NEW.commit_at OFFSET 0) h WHERE h.instance_id = NEW.instance_id AND h.thread_version = NEW.commit_version) THEN RAISE EXCEPTION 'version % of a row of % has no event in work_events', NEW.version, TG_TABLE_NAME USING ERRCODE = 'TT103', TABLE = TG_TABLE_NAME; END IF; RETURN NULL;",
                hash="1b0090b926b1939a60354fe3ef30394d4aac4f05",
                operation="INSERT OR UPDATE",
                pgid="pgtrigger_tokentrail_explained_7b19a",
                table="incidents",
                timing="DEFERRABLE INITIALLY DEFERRED",
                when="AFTER",
            ),
        ),
    ),
    pgtrigger.migrations.AddTrigger(
        model_name="message",
        trigger=pgtrigger.compiler.Trigger(
            name="tokentrail_explained",
            sql=pgtrigger.compiler.UpsertTriggerSql(
                condition="WHEN (NEW.box = 'OUT')",
                constraint="CONSTRAINT",
                func="IF NOT EXISTS (SELECT FROM (SELECT * FROM work_events h WHERE h.entity_id = NEW.id AND h.row_version = NEW.version AND h.at = NEW.commit_at OFFSET 0) h WHERE h.instance_id = NEW.instance_id AND h.thread_version = NEW.commit_version) THEN RAISE EXCEPTION 'version % of a row of % has no event in work_events', NEW.version, TG_TABLE_NAME USING ERRCODE = 'TT103', TABLE = TG_TABLE_NAME; END IF; RETURN NULL;",
                hash="4c01af07c4814702017740ea733660cbfce6e422",
                operation="INSERT OR UPDATE",
                pgid="pgtrigger_tokentrail_explained_b9f60",
                table="runtime_message",
                timing="DEFERRABLE INITIALLY DEFERRED",
                when="AFTER",
            ),
        ),
    ),
    pgtrigger.migrations.AddTrigger(
        model_name="timer",
        trigger=pgtrigger.compiler.Trigger(
            name="tokentrail_explained",
            sql=pgtrigger.compiler.UpsertTriggerSql(
                constraint="CONSTRAINT",
                func="IF NOT EXISTS (SELECT FROM (SELECT * FROM timer_events h WHERE h.timer_id = NEW.id AND h.row_version = NEW.version AND h.at = NEW.commit_at OFFSET 0) h WHERE h.instance_id = NEW.instance_id AND h.thread_version = NEW.commit_version) THEN RAISE EXCEPTION 'version % of a row of % has no event in timer_events', NEW.version, TG_TABLE_NAME USING ERRCODE = 'TT103', TABLE = TG_TABLE_NAME; END IF; RETURN NULL;",
                hash="719f01a4aa36e7c0690e7283c83b46b67a2fb5ab",
                operation="INSERT OR UPDATE",
                pgid="pgtrigger_tokentrail_explained_9f189",
                table="timers",
                timing="DEFERRABLE INITIALLY DEFERRED",
                when="AFTER",
            ),
        ),
    ),
    pgtrigger.migrations.AddTrigger(
        model_name="token",
        trigger=pgtrigger.compiler.Trigger(
            name="tokentrail_explained",
            sql=pgtrigger.compiler.UpsertTriggerSql(
                constraint="CONSTRAINT",
                func="IF NOT EXISTS (SELECT FROM (SELECT * FROM token_events h WHERE h.token_id = NEW.id AND h.row_version = NEW.version AND h.at = NEW.commit_at OFFSET 0) h WHERE h.instance_id = NEW.instance_id AND h.thread_version = NEW.commit_version) THEN RAISE EXCEPTION 'version % of a row of % has no event in token_events', NEW.version, TG_TABLE_NAME USING ERRCODE = 'TT103', TABLE = TG_TABLE_NAME; END IF; RETURN NULL;",
                hash="5700e4f43204ebec33b9ee887dc4b95ea22961ce",
                operation="INSERT OR UPDATE",
                pgid="pgtrigger_tokentrail_explained_bb2b0",
                table="tokens",
                timing="DEFERRABLE INITIALLY DEFERRED",
                when="AFTER",
            ),
        ),
    ),
    pgtrigger.migrations.AddTrigger(
        model_name="tokenlink",
        trigger=pgtrigger.compiler.Trigger(
            name="tokentrail_explained",
            sql=pgtrigger.compiler.UpsertTriggerSql(
                constraint="CONSTRAINT",
                func="IF NOT EXISTS (SELECT FROM (SELECT * FROM token_events h WHERE h.token_id = NEW.child_token_id AND h.at = NEW.commit_at OFFSET 0) h WHERE h.instance_id = NEW.instance_id AND h.thread_version = NEW.commit_version) THEN RAISE EXCEPTION 'version % of a row of % has no event in token_events', NEW.version, TG_TABLE_NAME USING ERRCODE = 'TT103', TABLE = TG_TABLE_NAME; END IF; RETURN NULL;",
                hash="6c4dc3f97562f1617b9904c56f3e16196d9d1dba",
                operation="INSERT OR UPDATE",
                pgid="pgtrigger_tokentrail_explained_dd4be",
                table="token_links",
                timing="DEFERRABLE INITIALLY DEFERRED",
                when="AFTER",
            ),
        ),
    ),
    pgtrigger.migrations.AddTrigger(
        model_name="usertask",
        trigger=pgtrigger.compiler.Trigger(
            name="tokentrail_explained",
            sql=pgtrigger.compiler.UpsertTriggerSql(
                constraint="CONSTRAINT",
                func="IF NOT EXISTS (SELECT FROM (SELECT * FROM work_events h WHERE h.entity_id = NEW.id AND h.row_version = NEW.version AND h.at = NEW.commit_at OFFSET 0) h WHERE h.instance_id = NEW.instance_id AND h.thread_version = NEW.commit_version) THEN RAISE EXCEPTION 'version % of a row of % has no event in work_events', NEW.version, TG_TABLE_NAME USING ERRCODE = 'TT103', TABLE = TG_TABLE_NAME; END IF; RETURN NULL;",
                hash="e9f7f4c7639435bc57b5325d9faa6df8a7c2af2b",
                operation="INSERT OR UPDATE",
                pgid="pgtrigger_tokentrail_explained_31530",
                table="user_tasks",
                timing="DEFERRABLE INITIALLY DEFERRED",
                when="AFTER",
            ),
        ),
    ),
    pgtrigger.migrations.AddTrigger(
        model_name="variable",
        trigger=pgtrigger.compiler.Trigger(
            name="tokentrail_explained",
            sql=pgtrigger.compiler.UpsertTriggerSql(
                constraint="CONSTRAINT",
                func="IF NOT EXISTS (SELECT FROM (SELECT * FROM runtime_state_command h WHERE h.variable_id = NEW.id AND h.row_version = NEW.version AND h.at = NEW.commit_at OFFSET 0) h WHERE h.instance_id = NEW.instance_id AND h.thread_version = NEW.commit_version) THEN RAISE EXCEPTION 'version % of a row of % has no event in runtime_state_command', NEW.version, TG_TABLE_NAME USING ERRCODE = 'TT103', TABLE = TG_TABLE_NAME; END IF; RETURN NULL;",
                hash="4ae62be6f7806843ad3cf7ff598e4566b744adbb",
                operation="INSERT OR UPDATE",
                pgid="pgtrigger_tokentrail_explained_b6b43",
                table="variables",
                timing="DEFERRABLE INITIALLY DEFERRED",
                when="AFTER",
            ),
        ),
    ),
    pgtrigger.migrations.AddTrigger(
        model_name="waitticket",
        trigger=pgtrigger.compiler.Trigger(
            name="tokentrail_explained",
            sql=pgtrigger.compiler.UpsertTriggerSql(
                constraint="CONSTRAINT",
                func="IF NOT EXISTS (SELECT FROM (SELECT * FROM work_events h WHERE h.entity_id = NEW.id AND h.row_version = NEW.version AND h.at = NEW.commit_at OFFSET 0) h WHERE h.instance_id = NEW.instance_id AND h.thread_version = NEW.commit_version) THEN RAISE EXCEPTION 'version % of a row of % has no event in work_events', NEW.version, TG_TABLE_NAME USING ERRCODE = 'TT103', TABLE = TG_TABLE_NAME; END IF; RETURN NULL;",
                hash="c62e6eb0820a3d558d0735f31a3c65b2f89d61a0",
                operation="INSERT OR UPDATE",
                pgid="pgtrigger_tokentrail_explained_a2db0",
                table="runtime_wait_ticket",
                timing="DEFERRABLE INITIALLY DEFERRED",
                when="AFTER",
            ),
        ),
    ),
]


def function_of(trigger: pgtrigger.compiler.Trigger) -> str:
    """The function of a trigger that is there, and the mark by which pgtrigger knows the trigger again: to make it anew
    would hold up whoever writes to the table.
    """
    text = trigger.install_sql
    function, mark = text.index(f"CREATE OR REPLACE FUNCTION {trigger.sql.pgid}"), text.index("COMMENT ON TRIGGER")
    return text[function : text.index("DROP TRIGGER")] + text[mark:]


class Migration(migrations.Migration):
    """The event of a change is looked up by what has changed, however many events its instance has."""

    dependencies = [
        ("bpm", "0020_large_instances"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                *(migrations.RunSQL(function_of(one.trigger), migrations.RunSQL.noop) for one in RULES),
                # A function that is replaced loses its settings; they are given again after all migrations, and here at
                # once.
                migrations.RunSQL(LOOKED_UP, migrations.RunSQL.noop),
            ],
            # No trigger is taken away: this is said to Django's state alone.
            state_operations=[
                operation
                for one in RULES
                for operation in (
                    RemoveTrigger(model_name=one.model_name, name="tokentrail_explained"),
                    one,
                )
            ],
        ),
    ]
