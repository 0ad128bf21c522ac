"""Columns move into their new rows; readers say who brought them."""

from __future__ import annotations

from typing import Any

from django.db import migrations

CHUNK = 500


def move_columns(apps: Any, schema_editor: Any) -> None:
    column, lists = apps.get_model("catalog", "Column"), apps.get_model("catalog", "ColumnList")
    items: dict[int, list[dict[str, Any]]] = {}
    for row in column.objects.order_by("asset_id", "position", "name").iterator():
        one = {"name": row.name, "type": row.data_type, "description": row.description, "nullable": None}
        items.setdefault(row.asset_id, []).append(one)
    lists.objects.bulk_create((lists(asset_id=pk, items=columns) for pk, columns in items.items()), batch_size=CHUNK)


def name_origins(apps: Any, schema_editor: Any) -> None:
    consumer = apps.get_model("catalog", "Consumer")
    declared = consumer.objects.filter(asset__claims__source__key="declared").values("pk")
    consumer.objects.exclude(pk__in=declared).update(origin="dbt")
    consumer.objects.filter(pk__in=declared, approved_by__isnull=True).update(status="suggested")
    apps.get_model("catalog", "Note").objects.filter(approved_by__isnull=True).update(status="suggested")


class Migration(migrations.Migration):
    dependencies = [("catalog", "0002_columns_roles_suggestions")]

    operations = [
        migrations.RunPython(move_columns, migrations.RunPython.noop),
        migrations.RunPython(name_origins, migrations.RunPython.noop),
    ]
