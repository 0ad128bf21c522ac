"""Receipts and the ledger that orders them; bytes are stored as they were signed (D15)."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

TYPES = ("step", "plan", "incident", "level", "stop", "grant", "refusal", "checks")


class Receipt(models.Model):
    """What was done, by whom, how it was checked. The row is its own seal queue: no envelope yet means not sealed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    type = models.CharField(max_length=20)
    subject = models.CharField(max_length=200)
    statement = models.BinaryField()
    statement_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    envelope = models.BinaryField(null=True, blank=True)
    sealed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["type", "subject"], name="approvals_one_receipt"),
            models.CheckConstraint(condition=Q(type__in=TYPES), name="approvals_known_receipt_type"),
            models.CheckConstraint(
                condition=Q(envelope__isnull=True, sealed_at__isnull=True)
                | Q(envelope__isnull=False, sealed_at__isnull=False),
                name="approvals_sealed_has_envelope",
            ),
        ]


class LedgerHead(models.Model):
    """The single row whose lock orders the ledger."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    size = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="approvals_one_ledger_head")]


class Leaf(models.Model):
    """One entry of the ledger: the RFC 8785 bytes that were hashed, at a gapless index."""

    index = models.PositiveBigIntegerField(primary_key=True)
    receipt = models.OneToOneField(Receipt, models.PROTECT, related_name="leaf")
    data = models.BinaryField()
    leaf_hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["index"]


class Checkpoint(models.Model):
    """A signed head of the ledger (C2SP checkpoint), consistent with every one before it."""

    size = models.PositiveBigIntegerField(primary_key=True)
    root = models.CharField(max_length=64)
    note = models.TextField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["-size"]


class LedgerKey(models.Model):
    """A public key that the sealer signs with, as its vkey line; other processes know the published keys from here."""

    vkey = models.CharField(max_length=300, unique=True)
    role = models.CharField(max_length=20)
    since_size = models.PositiveBigIntegerField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(role__in=["receipt", "checkpoint"]), name="approvals_known_key_role")
        ]
