"""What each source says of an asset."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0006_lineage_events"), ("foundation", "0001_first")]

    operations = [
        migrations.CreateModel(
            name="Declaration",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("said", models.JSONField(default=dict)),
                ("at", models.DateTimeField()),
                (
                    "asset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="declarations", to="catalog.asset"
                    ),
                ),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="foundation.principal"
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="declarations", to="catalog.source"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("source", "asset"), name="catalog_one_declaration")],
            },
        ),
    ]
