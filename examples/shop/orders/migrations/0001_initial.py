import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="Product",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True)),
                ("price", models.DecimalField(decimal_places=2, max_digits=10)),
                ("stock", models.PositiveIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Order",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reference", models.CharField(max_length=40, unique=True)),
                ("customer", models.CharField(max_length=100)),
                ("quantity", models.PositiveIntegerField()),
                ("instance", models.UUIDField(unique=True)),
                ("placed_at", models.DateTimeField(auto_now_add=True)),
                ("paid_at", models.DateTimeField(null=True)),
                ("shipped_at", models.DateTimeField(null=True)),
                ("taken_back_at", models.DateTimeField(null=True)),
                ("product", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="orders.product")),
            ],
            options={"ordering": ["-placed_at"]},
        ),
    ]
