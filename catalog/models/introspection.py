"""What the warehouses themselves were asked: when, and how large their tables were."""

from __future__ import annotations

from django.db import models

from catalog.models.graph import Asset, Source
from foundation.due import DueRow
from foundation.models import Connection


class Introspection(DueRow):
    """One connection's warehouse is looked at when `due_at` comes; `problem` says why the last look gave nothing."""

    connection = models.OneToOneField(Connection, models.CASCADE, primary_key=True, related_name="introspection")
    seen_at = models.DateTimeField(null=True, blank=True)
    tables = models.PositiveIntegerField(null=True, blank=True)
    problem = models.CharField(max_length=500, blank=True)


class TableSize(models.Model):
    """How large a table was at `seen_at`, as its warehouse estimates it; null where the warehouse does not say."""

    asset = models.OneToOneField(Asset, models.CASCADE, primary_key=True, related_name="size")
    source = models.ForeignKey(Source, models.PROTECT, related_name="+")
    rows = models.PositiveBigIntegerField(null=True, blank=True)
    bytes = models.PositiveBigIntegerField(null=True, blank=True)
    seen_at = models.DateTimeField()
