"""When each warehouse is looked at, and how large its tables were."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0008_keep_declarations"),
        ("foundation", "0001_first"),
    ]

    operations = [
        migrations.CreateModel(
            name="Introspection",
            fields=[
                ("due_at", models.DateTimeField(blank=True, db_index=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, editable=False, null=True)),
                ("lease_token", models.UUIDField(blank=True, editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                (
                    "connection",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="introspection",
                        serialize=False,
                        to="foundation.connection",
                    ),
                ),
                ("seen_at", models.DateTimeField(blank=True, null=True)),
                ("tables", models.PositiveIntegerField(blank=True, null=True)),
                ("problem", models.CharField(blank=True, max_length=500)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="TableSize",
            fields=[
                (
                    "asset",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="size",
                        serialize=False,
                        to="catalog.asset",
                    ),
                ),
                ("rows", models.PositiveBigIntegerField(blank=True, null=True)),
                ("bytes", models.PositiveBigIntegerField(blank=True, null=True)),
                ("seen_at", models.DateTimeField()),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="catalog.source"
                    ),
                ),
            ],
        ),
    ]
