from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="Parcel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.CharField(max_length=40, unique=True)),
                ("sender", models.CharField(max_length=100)),
                ("recipient", models.CharField(max_length=100)),
                ("instance", models.UUIDField(unique=True)),
                ("grams", models.PositiveIntegerField(null=True)),
            ],
        ),
    ]
