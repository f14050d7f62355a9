from __future__ import annotations

from django.db import migrations

from bpm.migrations.sql import statements


class Migration(migrations.Migration):
    """A step of a large instance looks at no token but those that it touches, and a task is looked up by its id."""

    dependencies = [
        ("bpm", "0019_wanted_variables"),
    ]

    operations = [
        # A function that is replaced loses its settings.
        migrations.RunSQL("\n".join(statements(name) for name in ("load", "generic_plans", "settle")), migrations.RunSQL.noop),
    ]
