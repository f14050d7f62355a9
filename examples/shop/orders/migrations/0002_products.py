from decimal import Decimal

from django.db import migrations


def fill_the_shelf(apps, schema_editor):
    apps.get_model("orders", "Product").objects.bulk_create(
        apps.get_model("orders", "Product")(name=name, price=Decimal(price), stock=stock)
        for name, price, stock in (("teapot", "24.90", 40), ("clock", "640.00", 12))
    )


class Migration(migrations.Migration):
    dependencies = [("orders", "0001_initial")]
    operations = [migrations.RunPython(fill_the_shelf, migrations.RunPython.noop)]
