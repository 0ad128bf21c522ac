"""Events of OpenLineage producers."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("catalog", "0005_search")]

    operations: list[object] = []
