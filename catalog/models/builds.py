"""Builds: any run that writes tables, what it wrote, and the artifacts it left."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from catalog.models.graph import Asset, GraphVersion
from foundation.due import DueRow
from foundation.models import Principal

KINDS = ("dbt", "sync", "load", "profiles", "orchestrator", "unknown")
STATUSES = ("succeeded", "failed", "unknown")


class Build(DueRow):
    """One run; `key` is the producer's own id for it. `due_at` is set until its artifacts are processed.

    `facts` of a sync: rows_removed, rows_inserted (int) and the name of the sync as its output.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.CharField(max_length=300, unique=True)
    kind = models.CharField(max_length=40, default="unknown")
    producer = models.CharField(max_length=200, blank=True)
    status = models.CharField(max_length=20, default="unknown")
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    commit = models.CharField(max_length=64, blank=True)
    repository = models.CharField(max_length=500, blank=True)
    connection = models.CharField(max_length=200, blank=True)
    project = models.CharField(max_length=200, blank=True)
    facts = models.JSONField(default=dict)
    announced_by = models.ForeignKey(Principal, models.PROTECT, related_name="+")
    announced_at = models.DateTimeField()
    processed_at = models.DateTimeField(null=True, blank=True)
    refusal = models.CharField(max_length=500, blank=True)
    graph_version = models.ForeignKey(GraphVersion, models.PROTECT, null=True, blank=True, related_name="builds")

    class Meta:
        ordering = ["-announced_at"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="catalog_known_build_kind"),
            models.CheckConstraint(condition=Q(status__in=STATUSES), name="catalog_known_build_status"),
        ]

    def __str__(self) -> str:
        return self.key


class BuildArtifact(models.Model):
    """A file that a build left, by its digest; the bytes are in the artifact store."""

    build = models.ForeignKey(Build, models.CASCADE, related_name="artifacts")
    kind = models.CharField(max_length=40)
    sha256 = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["build", "kind"], name="catalog_one_artifact_kind")]


class BuildOutput(models.Model):
    """An asset that a build wrote, with what the producer said of it (rows may be unknown)."""

    build = models.ForeignKey(Build, models.CASCADE, related_name="outputs")
    asset = models.ForeignKey(Asset, models.PROTECT, related_name="outputs")
    status = models.CharField(max_length=40, blank=True)
    rows = models.BigIntegerField(null=True, blank=True)
    milliseconds = models.PositiveBigIntegerField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["build", "asset"], name="catalog_one_output")]
