from __future__ import annotations

from django.db import migrations

from bpm.migrations.sql import statements


class Migration(migrations.Migration):
    """A step loads the variables of its scopes without going through those of the whole instance."""

    dependencies = [
        ("bpm", "0021_found_by_entity"),
    ]

    operations = [
        # A function that is replaced loses its settings.
        migrations.RunSQL("\n".join(statements(name) for name in ("load", "generic_plans")), migrations.RunSQL.noop),
    ]
