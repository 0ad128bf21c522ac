"""What people declare about assets: roles, consumers and when they read, syncs and what they delete, notes."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from catalog.models.graph import Asset
from foundation.models import Principal

ROLES = ("owner", "operator", "business_owner", "on_call", "tool_admin")
MODES = ("mirror", "append", "full", "one_time", "activation", "extract", "unknown")


class AssetRole(models.Model):
    """A person answers for an asset in one role."""

    asset = models.ForeignKey(Asset, models.CASCADE, related_name="roles")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="asset_roles")
    role = models.CharField(max_length=40)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["asset", "person", "role"], name="catalog_one_role"),
            models.CheckConstraint(condition=Q(role__in=ROLES), name="catalog_known_role"),
        ]


class Consumer(models.Model):
    """An asset that people or systems read, with the times at which they do.

    `cron` with `zone` gives the next read; empty means that the time is not known. `confirm_metric` on
    `confirm_source` names the value in the warehouse that the reader must show again after a repair.
    """

    asset = models.OneToOneField(Asset, models.CASCADE, related_name="consumer")
    cron = models.CharField(max_length=100, blank=True)
    zone = models.CharField(max_length=60, default="UTC")
    triggered_by_api = models.BooleanField(default=False)
    lead_seconds = models.PositiveIntegerField(default=60)
    consequence = models.CharField(max_length=500, blank=True)
    confirm_metric = models.CharField(max_length=200, blank=True)
    confirm_source = models.ForeignKey(Asset, models.PROTECT, null=True, blank=True, related_name="+")
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    approved_at = models.DateTimeField(null=True, blank=True)


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
    text = models.TextField()
    author = models.ForeignKey(Principal, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    approved_at = models.DateTimeField(null=True, blank=True)
