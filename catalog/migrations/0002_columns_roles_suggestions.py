"""Columns in one row an asset, roles without a person, suggestions, definitions, staging tables."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0001_first"),
        ("foundation", "0001_first"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ColumnLineage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("due_at", models.DateTimeField(blank=True, db_index=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, editable=False, null=True)),
                ("lease_token", models.UUIDField(blank=True, editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("source", models.CharField(max_length=200)),
                ("state", models.CharField(default="waiting", max_length=20)),
                ("checksum", models.CharField(blank=True, max_length=128)),
                ("sql_sha256", models.CharField(blank=True, max_length=64)),
                ("sql", models.TextField(blank=True)),
                ("dialect", models.CharField(blank=True, max_length=40)),
                ("columns", models.JSONField(default=dict)),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("computed_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="ColumnList",
            fields=[
                (
                    "asset",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="column_list",
                        serialize=False,
                        to="catalog.asset",
                    ),
                ),
                ("items", models.JSONField(default=list)),
            ],
        ),
        migrations.CreateModel(
            name="Definition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("status", models.CharField(default="standing", max_length=20)),
                ("text", models.TextField()),
                ("created_at", models.DateTimeField()),
                ("approved_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-number"],
            },
        ),
        migrations.CreateModel(
            name="NamespaceAlias",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("alias", models.CharField(max_length=300, unique=True)),
                ("namespace", models.CharField(max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name="StagedEdge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("batch", models.UUIDField(db_index=True)),
                ("kind", models.CharField(default="feeds", max_length=40)),
            ],
        ),
        migrations.CreateModel(
            name="StagedNode",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("batch", models.UUIDField(db_index=True)),
                ("local_id", models.CharField(max_length=500)),
                ("attributes", models.JSONField(default=dict)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="assetrole",
            name="catalog_one_role",
        ),
        migrations.AddField(
            model_name="assetrole",
            name="label",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name="assetrole",
            name="source",
            field=models.CharField(default="declared", max_length=200),
        ),
        migrations.AddField(
            model_name="consumer",
            name="contact",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name="consumer",
            name="origin",
            field=models.CharField(default="declared", max_length=40),
        ),
        migrations.AddField(
            model_name="consumer",
            name="status",
            field=models.CharField(default="standing", max_length=20),
        ),
        migrations.AddField(
            model_name="consumer",
            name="suggested_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="consumer",
            name="suggested_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="foundation.principal",
            ),
        ),
        migrations.AddField(
            model_name="note",
            name="status",
            field=models.CharField(default="standing", max_length=20),
        ),
        migrations.AlterField(
            model_name="assetrole",
            name="person",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="asset_roles",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="assetrole",
            constraint=models.UniqueConstraint(
                condition=models.Q(("person__isnull", False)),
                fields=("asset", "person", "role", "source"),
                name="catalog_one_role_of_a_person",
            ),
        ),
        migrations.AddConstraint(
            model_name="assetrole",
            constraint=models.UniqueConstraint(
                condition=models.Q(("person__isnull", True)),
                fields=("asset", "label", "role", "source"),
                name="catalog_one_role_of_a_label",
            ),
        ),
        migrations.AddConstraint(
            model_name="assetrole",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("person__isnull", False), ("label", "")),
                    models.Q(("person__isnull", True), models.Q(("label", ""), _negated=True)),
                    _connector="OR",
                ),
                name="catalog_person_or_label",
            ),
        ),
        migrations.AddConstraint(
            model_name="consumer",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ("suggested", "standing", "refused", "withdrawn"))),
                name="catalog_known_consumer_status",
            ),
        ),
        migrations.AddConstraint(
            model_name="consumer",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", "suggested"), _negated=True), ("approved_by__isnull", True), _connector="OR"
                ),
                name="catalog_suggested_is_unapproved",
            ),
        ),
        migrations.AddConstraint(
            model_name="note",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ("suggested", "standing", "refused", "withdrawn"))),
                name="catalog_known_note_status",
            ),
        ),
        migrations.AddField(
            model_name="columnlineage",
            name="asset",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="column_lineages", to="catalog.asset"
            ),
        ),
        migrations.AddField(
            model_name="definition",
            name="approved_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="definition",
            name="asset",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="definitions", to="catalog.asset"
            ),
        ),
        migrations.AddField(
            model_name="definition",
            name="author",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="foundation.principal"
            ),
        ),
        migrations.AddField(
            model_name="stagededge",
            name="from_asset",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="catalog.asset"
            ),
        ),
        migrations.AddField(
            model_name="stagededge",
            name="source",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="catalog.source"
            ),
        ),
        migrations.AddField(
            model_name="stagededge",
            name="to_asset",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="catalog.asset"
            ),
        ),
        migrations.AddField(
            model_name="stagednode",
            name="asset",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="catalog.asset"
            ),
        ),
        migrations.AddField(
            model_name="stagednode",
            name="source",
            field=models.ForeignKey(
                db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="catalog.source"
            ),
        ),
        migrations.AddConstraint(
            model_name="columnlineage",
            constraint=models.UniqueConstraint(fields=("asset", "source"), name="catalog_one_column_lineage"),
        ),
        migrations.AddConstraint(
            model_name="columnlineage",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ("waiting", "known", "partly", "unknown"))),
                name="catalog_known_column_state",
            ),
        ),
        migrations.AddConstraint(
            model_name="definition",
            constraint=models.UniqueConstraint(fields=("asset", "number"), name="catalog_one_definition_number"),
        ),
        migrations.AddConstraint(
            model_name="definition",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ("suggested", "standing", "refused", "withdrawn"))),
                name="catalog_known_definition_status",
            ),
        ),
    ]
