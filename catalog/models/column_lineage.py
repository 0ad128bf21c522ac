"""Which columns a column is made of, as one source's code says."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from catalog.models.graph import Asset
from foundation.due import DueRow

STATES = ("waiting", "known", "partly", "unknown")


class ColumnLineage(DueRow):
    """The column lineage of one asset by one source; `due_at` is set until its code has been read.

    `sql` is the compiled code, `checksum` that of the code before compiling: an artifact without compiled code of the
    same checksum leaves the row alone (D8). `columns` maps each output column to {sources: [[table, column], ...],
    kind (identity, transformed, aggregated, constant), confidence (0 to 100)}, tables by asset id where one is known;
    `catalog.columns.entries` has the names that stand for no column ("" and "*"). `reason` says why a part is not
    known.
    """

    asset = models.ForeignKey(Asset, models.CASCADE, related_name="column_lineages")
    source = models.CharField(max_length=200)
    state = models.CharField(max_length=20, default="waiting")
    checksum = models.CharField(max_length=128, blank=True)
    sql_sha256 = models.CharField(max_length=64, blank=True)
    sql = models.TextField(blank=True)
    dialect = models.CharField(max_length=40, blank=True)
    columns = models.JSONField(default=dict)
    reason = models.CharField(max_length=500, blank=True)
    computed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["asset", "source"], name="catalog_one_column_lineage"),
            models.CheckConstraint(condition=Q(state__in=STATES), name="catalog_known_column_state"),
        ]
