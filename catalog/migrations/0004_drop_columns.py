"""The old table of columns goes."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("catalog", "0003_move_columns")]

    operations = [migrations.DeleteModel(name="Column")]
