"""The search index."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("catalog", "0004_drop_columns")]

    operations: list[object] = []
