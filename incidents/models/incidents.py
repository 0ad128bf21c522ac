"""An incident: its findings, its cause with evidence, the holds that were asked, the damage at each reader."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from catalog.models import Asset, Build, Domain
from foundation.due import DueRow
from incidents.models.measures import Baseline, Result

STATES = ("open", "acknowledged", "diagnosed", "closed")
RESOLUTIONS = ("", "repaired", "repaired_outside", "false_alarm", "accepted", "duplicate")
HOLD_STATES = ("asked", "acknowledged", "held", "declined", "released", "too_late")
DAMAGE_STATES = ("pending", "done", "repaired", "averted")


class IncidentHead(models.Model):
    """The single row whose lock numbers incidents and lets one breach at a time open or join one."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    last_number = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="incidents_one_head")]


class Incident(DueRow):
    """One incident per cause. `due_at` is when the conductor looks at it next; `reach` is frozen once drawn."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    number = models.PositiveBigIntegerField(unique=True)
    asset = models.ForeignKey(Asset, models.PROTECT, related_name="incidents")
    domain = models.ForeignKey(Domain, models.PROTECT, null=True, blank=True, related_name="incidents")
    state = models.CharField(max_length=20, default="open")
    version = models.PositiveIntegerField(default=1)
    resolution = models.CharField(max_length=20, blank=True)
    severity = models.CharField(max_length=20, default="unknown")
    severity_reason = models.CharField(max_length=300, blank=True)
    first_bad_build = models.ForeignKey(Build, models.PROTECT, null=True, blank=True, related_name="+")
    last_good_build = models.ForeignKey(Build, models.PROTECT, null=True, blank=True, related_name="+")
    opened_at = models.DateTimeField()
    reached_at = models.DateTimeField(null=True, blank=True)
    told_at = models.DateTimeField(null=True, blank=True)
    diagnosed_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    reach = models.JSONField(null=True, blank=True)
    reach_digest = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-opened_at"]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=STATES), name="incidents_known_state"),
            models.CheckConstraint(condition=Q(resolution__in=RESOLUTIONS), name="incidents_known_resolution"),
            models.CheckConstraint(
                condition=Q(state="closed", closed_at__isnull=False) & ~Q(resolution="")
                | ~Q(state="closed") & Q(closed_at__isnull=True, resolution=""),
                name="incidents_closed_has_resolution",
            ),
        ]

    def __str__(self) -> str:
        return f"INC-{self.number}"


class Finding(models.Model):
    """One breach or failed check that belongs to an incident."""

    incident = models.ForeignKey(Incident, models.PROTECT, related_name="findings")
    asset = models.ForeignKey(Asset, models.PROTECT, related_name="findings")
    build = models.ForeignKey(Build, models.PROTECT, null=True, blank=True, related_name="findings")
    baseline = models.OneToOneField(Baseline, models.PROTECT, null=True, blank=True, related_name="finding")
    result = models.OneToOneField(Result, models.PROTECT, null=True, blank=True, related_name="finding")
    at = models.DateTimeField()

    class Meta:
        ordering = ["at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(baseline__isnull=False, result__isnull=True)
                | Q(baseline__isnull=True, result__isnull=False),
                name="incidents_finding_has_one_source",
            )
        ]


class Cause(models.Model):
    """The verdict of a diagnosis: a cause with its proof, or that none was established and what was tried.

    `facts` for kind "code": model, unique_id, change (row-set kind), predicate, dialect, direction, why, nulls
    [{relation, column, unique_id, nulls, total}] or relation and keys, proof {good, bad, ...}, and where the commit is
    known commit, subject, committed_at, commits, merge, merge_subject, merged_at. For kind "data": asset, assets, rows,
    good, since_build. All counts are strings of integers; nobody is named.
    """

    incident = models.OneToOneField(Incident, models.PROTECT, related_name="cause")
    established = models.BooleanField()
    kind = models.CharField(max_length=40, blank=True)
    asset = models.ForeignKey(Asset, models.PROTECT, null=True, blank=True, related_name="+")
    statement = models.TextField()
    facts = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(established=False) | ~Q(kind=""), name="incidents_established_cause_has_kind"
            )
        ]


class Evidence(models.Model):
    """A statement with the query or comparison behind it; `speaks` is for, against or neutral to the verdict."""

    incident = models.ForeignKey(Incident, models.PROTECT, related_name="evidence")
    kind = models.CharField(max_length=40)
    statement = models.TextField()
    query = models.TextField(blank=True)
    result = models.JSONField(default=dict)
    speaks = models.CharField(max_length=20, default="neutral")
    weight = models.PositiveSmallIntegerField(default=0)
    measured_at = models.DateTimeField()

    class Meta:
        ordering = ["-weight", "id"]


class Hold(DueRow):
    """A request to a sync's operator to stop it before its next run; only that person can, Spellbook never does."""

    incident = models.ForeignKey(Incident, models.PROTECT, related_name="holds")
    consumer = models.ForeignKey(Asset, models.PROTECT, related_name="holds")
    operator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="holds")
    state = models.CharField(max_length=20, default="asked")
    asked_at = models.DateTimeField()
    needed_by = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answer = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["incident", "consumer"], name="incidents_one_hold"),
            models.CheckConstraint(condition=Q(state__in=HOLD_STATES), name="incidents_known_hold_state"),
        ]


class Damage(models.Model):
    """What the bad build does, did or would have done at one reader; sizes are what the reader's run announced."""

    incident = models.ForeignKey(Incident, models.PROTECT, related_name="damage")
    consumer = models.ForeignKey(Asset, models.PROTECT, related_name="damage")
    state = models.CharField(max_length=20, default="pending")
    expected_at = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)
    done_by = models.ForeignKey(Build, models.PROTECT, null=True, blank=True, related_name="+")
    rows_removed = models.BigIntegerField(null=True, blank=True)
    repaired_at = models.DateTimeField(null=True, blank=True)
    repaired_by = models.ForeignKey(Build, models.PROTECT, null=True, blank=True, related_name="+")
    rows_inserted = models.BigIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["incident", "consumer"], name="incidents_one_damage"),
            models.CheckConstraint(condition=Q(state__in=DAMAGE_STATES), name="incidents_known_damage_state"),
            models.CheckConstraint(
                condition=~Q(state__in=["done", "repaired"]) | Q(done_at__isnull=False),
                name="incidents_done_damage_has_time",
            ),
        ]


class Confirmation(models.Model):
    """What a reader showed after the repair, next to the value in the warehouse that it must equal."""

    incident = models.ForeignKey(Incident, models.PROTECT, related_name="confirmations")
    consumer = models.ForeignKey(Asset, models.PROTECT, related_name="+")
    metric = models.CharField(max_length=200)
    source_value = models.DecimalField(max_digits=30, decimal_places=6, null=True, blank=True)
    reader_value = models.DecimalField(max_digits=30, decimal_places=6, null=True, blank=True)
    equal = models.BooleanField(default=False)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["incident", "consumer", "metric"], name="incidents_one_confirmation")
        ]
