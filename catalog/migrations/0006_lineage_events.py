"""Events of OpenLineage producers, and what they add up to."""

from __future__ import annotations

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0005_search"), ("foundation", "0001_first")]

    operations = [
        migrations.CreateModel(
            name="LineageDataset",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("namespace", models.CharField(max_length=300)),
                ("name", models.CharField(max_length=500)),
                ("meant_namespace", models.CharField(max_length=300)),
                ("meant_name", models.CharField(max_length=500)),
                ("said", models.JSONField(default=dict)),
                ("described", models.BooleanField(default=False)),
                ("dropped", models.BooleanField(default=False)),
                ("told_at", models.DateTimeField()),
                (
                    "asset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="lineage_datasets", to="catalog.asset"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="LineageEvent",
            fields=[
                ("due_at", models.DateTimeField(blank=True, db_index=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, editable=False, null=True)),
                ("lease_token", models.UUIDField(blank=True, editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("sha256", models.CharField(max_length=64, unique=True)),
                ("body", models.BinaryField()),
                ("kind", models.CharField(max_length=20)),
                ("run", models.CharField(blank=True, max_length=36)),
                ("at", models.DateTimeField()),
                ("received_at", models.DateTimeField()),
                ("processed_at", models.DateTimeField(blank=True, null=True)),
                ("refusal", models.CharField(blank=True, max_length=500)),
                (
                    "received_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="foundation.principal"
                    ),
                ),
            ],
            options={
                "ordering": ["received_at", "id"],
            },
        ),
        migrations.CreateModel(
            name="LineageJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("namespace", models.CharField(max_length=300)),
                ("name", models.CharField(max_length=700)),
                ("run", models.CharField(blank=True, max_length=60)),
                ("started", models.DateTimeField(blank=True, null=True)),
                ("completed", models.BooleanField(default=False)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("namespace", "name"), name="catalog_one_job")],
            },
        ),
        migrations.CreateModel(
            name="LineageUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(max_length=10)),
                ("by", models.CharField(max_length=60)),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="uses", to="catalog.lineagedataset"
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="uses", to="catalog.lineagejob"
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="lineagedataset",
            constraint=models.UniqueConstraint(fields=("namespace", "name"), name="catalog_one_dataset"),
        ),
        migrations.AddIndex(
            model_name="lineageevent",
            index=models.Index(fields=["run", "at"], name="catalog_events_of_a_run"),
        ),
        migrations.AddIndex(
            model_name="lineageevent",
            index=models.Index(fields=["processed_at"], name="catalog_events_processed"),
        ),
        migrations.AddConstraint(
            model_name="lineageevent",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ("run", "job", "dataset"))), name="catalog_known_event_kind"
            ),
        ),
        migrations.AddConstraint(
            model_name="lineageuse",
            constraint=models.UniqueConstraint(fields=("job", "dataset", "role"), name="catalog_one_use"),
        ),
        migrations.AddConstraint(
            model_name="lineageuse",
            constraint=models.CheckConstraint(
                condition=models.Q(("role__in", ["input", "output"])), name="catalog_known_use"
            ),
        ),
    ]
