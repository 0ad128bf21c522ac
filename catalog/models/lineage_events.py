"""Events of OpenLineage producers as they came, and what they add up to: jobs and the datasets they read and write."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from catalog.models.graph import Asset
from foundation.due import DueRow
from foundation.models import Principal

EVENT_KINDS = ("run", "job", "dataset")


class LineageEvent(DueRow):
    """One event, stored once under the digest of its content; `due_at` is set until it is processed.

    `at` is the event's own time, but never after it came: a clock that runs ahead does not outrank later events.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    sha256 = models.CharField(max_length=64, unique=True)
    body = models.BinaryField()
    kind = models.CharField(max_length=20)
    run = models.CharField(max_length=36, blank=True)
    at = models.DateTimeField()
    received_at = models.DateTimeField()
    received_by = models.ForeignKey(Principal, models.PROTECT, related_name="+")
    processed_at = models.DateTimeField(null=True, blank=True)
    refusal = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["received_at", "id"]
        indexes = [
            models.Index(fields=["run", "at"], name="catalog_events_of_a_run"),
            models.Index(fields=["processed_at"], name="catalog_events_processed"),
        ]
        constraints = [models.CheckConstraint(condition=Q(kind__in=EVENT_KINDS), name="catalog_known_event_kind")]

    def __str__(self) -> str:
        return f"{self.kind} event {self.sha256[:12]}"


class LineageJob(models.Model):
    """A job as its newest run tells; `run` is that run's id, `started` when its first event was."""

    namespace = models.CharField(max_length=300)
    name = models.CharField(max_length=700)
    run = models.CharField(max_length=60, blank=True)
    started = models.DateTimeField(null=True, blank=True)
    completed = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["namespace", "name"], name="catalog_one_job")]

    def __str__(self) -> str:
        return self.name


class LineageDataset(models.Model):
    """A dataset by the name that producers use, and the asset that it is.

    `meant_namespace` and `meant_name` are those of the table that the producers say it is (a path that a catalogue
    knows as a table), else its own. `said` holds the facts that facets told: fact -> [rank, moment, value].
    `described` means that a dataset event told of it, so that it stands without any job; `dropped`, that it is gone.
    """

    namespace = models.CharField(max_length=300)
    name = models.CharField(max_length=500)
    meant_namespace = models.CharField(max_length=300)
    meant_name = models.CharField(max_length=500)
    asset = models.ForeignKey(Asset, models.PROTECT, related_name="lineage_datasets")
    said = models.JSONField(default=dict)
    described = models.BooleanField(default=False)
    dropped = models.BooleanField(default=False)
    told_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["namespace", "name"], name="catalog_one_dataset")]

    def __str__(self) -> str:
        return self.name


class LineageUse(models.Model):
    """A job reads or writes a dataset, as the run `by` said last."""

    job = models.ForeignKey(LineageJob, models.CASCADE, related_name="uses")
    dataset = models.ForeignKey(LineageDataset, models.CASCADE, related_name="uses")
    role = models.CharField(max_length=10)
    by = models.CharField(max_length=60)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "dataset", "role"], name="catalog_one_use"),
            models.CheckConstraint(condition=Q(role__in=["input", "output"]), name="catalog_known_use"),
        ]
