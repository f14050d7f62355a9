import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("bpm", "0003_api_tokens"),
    ]

    operations = [
        migrations.CreateModel(
            name="DecisionDefinition",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("key", models.CharField(verbose_name="key")),
                ("name", models.CharField(blank=True, verbose_name="name")),
                ("version", models.IntegerField(verbose_name="version")),
                ("version_tag", models.CharField(null=True, verbose_name="version tag")),
                ("decisions", models.JSONField(verbose_name="decisions")),
                ("decisions_hash", models.CharField(verbose_name="hash of the decisions")),
                ("source", models.TextField(verbose_name="source")),
                ("source_hash", models.CharField(verbose_name="hash of the source")),
                ("resource", models.CharField(blank=True, verbose_name="file")),
                ("deployment_id", models.UUIDField(db_index=True, verbose_name="deployment")),
                ("created_at", models.DateTimeField(verbose_name="created")),
                ("created_by", models.CharField(verbose_name="created by")),
                ("commit_version", models.BigIntegerField(verbose_name="commit")),
                ("commit_at", models.DateTimeField(verbose_name="time of its commit")),
            ],
            options={
                "verbose_name": "decision definition",
                "verbose_name_plural": "decision definitions",
                "db_table": "decision_definitions",
                "constraints": [
                    models.UniqueConstraint(fields=("key", "version"), name="decision_definitions_key_version")
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="decisiondefinition",
            trigger=pgtrigger.compiler.Trigger(
                name="tokentrail_immutable",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'a decision definition is immutable: % is refused', TG_OP USING ERRCODE = 'TT104', TABLE = TG_TABLE_NAME;",
                    hash="309150db30a584078df1423c2722aa23d42f06ac",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_tokentrail_immutable_002f6",
                    table="decision_definitions",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="decisiondefinition",
            trigger=pgtrigger.compiler.Trigger(
                name="tokentrail_never_truncated",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME USING ERRCODE = 'TT100', TABLE = TG_TABLE_NAME;",
                    hash="1c84fbde54de91544209a3c8266a977b2f4fff7c",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_tokentrail_never_truncated_0db70",
                    table="decision_definitions",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="decisiondefinition",
            trigger=pgtrigger.compiler.Trigger(
                name="tokentrail_committed",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    constraint="CONSTRAINT",
                    func="IF NOT EXISTS (SELECT FROM runtime_commit h WHERE h.thread_id = '00000000-0000-0000-0000-000000000000'::uuid AND h.version = NEW.commit_version AND h.at = NEW.commit_at) THEN RAISE EXCEPTION 'version % of a row of % has no event in runtime_commit', NEW.version, TG_TABLE_NAME USING ERRCODE = 'TT103', TABLE = TG_TABLE_NAME; END IF; RETURN NULL;",
                    hash="4a6fcd240a35f2336be259c008142fa592016d51",
                    operation="INSERT OR UPDATE",
                    pgid="pgtrigger_tokentrail_committed_4ca7a",
                    table="decision_definitions",
                    timing="DEFERRABLE INITIALLY DEFERRED",
                    when="AFTER",
                ),
            ),
        ),
    ]
