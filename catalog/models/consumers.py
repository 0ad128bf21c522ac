"""What people declare about assets: roles, consumers and when they read, syncs and what they delete, notes."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from catalog.models.graph import Asset
from catalog.words import MODES, ROLES
from foundation.models import Principal

STATUSES = ("suggested", "standing", "refused", "withdrawn")


class AssetRole(models.Model):
    """Who answers for an asset in one role: a person known here, or a `label` (a schedule, a team, an outside address).

    `source` tells who says so: people (`declared`), or a dbt project (`dbt:<project>`), whose word comes after theirs.
    """

    asset = models.ForeignKey(Asset, models.CASCADE, related_name="roles")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="asset_roles"
    )
    label = models.CharField(max_length=200, blank=True)
    role = models.CharField(max_length=40)
    source = models.CharField(max_length=200, default="declared")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["asset", "person", "role", "source"],
                condition=Q(person__isnull=False),
                name="catalog_one_role_of_a_person",
            ),
            models.UniqueConstraint(
                fields=["asset", "label", "role", "source"],
                condition=Q(person__isnull=True),
                name="catalog_one_role_of_a_label",
            ),
            models.CheckConstraint(condition=Q(role__in=ROLES), name="catalog_known_role"),
            models.CheckConstraint(
                condition=(Q(person__isnull=False) & Q(label="")) | (Q(person__isnull=True) & ~Q(label="")),
                name="catalog_person_or_label",
            ),
        ]


class Consumer(models.Model):
    """An asset that people or systems read, with the times at which they do.

    `cron` with `zone` gives the next read; empty means that the time is not known. `confirm_metric` on
    `confirm_source` names the value in the warehouse that the reader must show again after a repair. What an agent
    suggests is `suggested` until a person of the domain approves or refuses it; it counts in a blast radius meanwhile.
    `origin` tells who brought it: people (`declared`), a file of the repository (`repository`), a dbt exposure (`dbt`).
    """

    asset = models.OneToOneField(Asset, models.CASCADE, related_name="consumer")
    status = models.CharField(max_length=20, default="standing")
    origin = models.CharField(max_length=40, default="declared")
    cron = models.CharField(max_length=100, blank=True)
    zone = models.CharField(max_length=60, default="UTC")
    triggered_by_api = models.BooleanField(default=False)
    lead_seconds = models.PositiveIntegerField(default=60)
    consequence = models.CharField(max_length=500, blank=True)
    contact = models.CharField(max_length=200, blank=True)
    confirm_metric = models.CharField(max_length=200, blank=True)
    confirm_source = models.ForeignKey(Asset, models.PROTECT, null=True, blank=True, related_name="+")
    suggested_by = models.ForeignKey(Principal, models.PROTECT, null=True, blank=True, related_name="+")
    suggested_at = models.DateTimeField(null=True, blank=True)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    approved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(status__in=STATUSES), name="catalog_known_consumer_status"),
            models.CheckConstraint(
                condition=~Q(status="suggested") | Q(approved_by__isnull=True), name="catalog_suggested_is_unapproved"
            ),
        ]


class Sync(models.Model):
    """A consumer that copies a table into another tool; what it deletes there is unknown unless declared."""

    consumer = models.OneToOneField(Consumer, models.CASCADE, related_name="sync")
    tool = models.CharField(max_length=100)
    mode = models.CharField(max_length=40, default="unknown")
    delete_rule = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(mode__in=MODES), name="catalog_known_mode")]


class Note(models.Model):
    """A sentence about an asset; one that an agent wrote is a suggestion until a person of the domain accepts it."""

    asset = models.ForeignKey(Asset, models.CASCADE, related_name="notes")
    status = models.CharField(max_length=20, default="standing")
    text = models.TextField()
    author = models.ForeignKey(Principal, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    approved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(status__in=STATUSES), name="catalog_known_note_status")]


class Definition(models.Model):
    """What an asset means, in a sentence that its domain approved; each change is a new number, none is rewritten."""

    asset = models.ForeignKey(Asset, models.CASCADE, related_name="definitions")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=20, default="standing")
    text = models.TextField()
    author = models.ForeignKey(Principal, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    approved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["asset", "number"], name="catalog_one_definition_number"),
            models.CheckConstraint(condition=Q(status__in=STATUSES), name="catalog_known_definition_status"),
        ]
