"""What was done: rows that are only ever added, and their erasable side rows."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from foundation.models.people import Principal

SOURCES = ("web", "api", "mcp", "cli", "timer", "slack")


class AuditRow(models.Model):
    """One act: when, who (by UUID and a salted commitment of the name), what, on what. Append-only by trigger.

    `name_commitment` = SHA-256(salt || name) and `detail_sha256` = SHA-256(salt || RFC 8785 of the side row's body),
    both hex and empty when there is no name or no detail.
    """

    at = models.DateTimeField()
    action = models.CharField(max_length=100)
    principal = models.ForeignKey(Principal, models.PROTECT, related_name="+")
    name_commitment = models.CharField(max_length=64, blank=True)
    source = models.CharField(max_length=10)
    correlation_id = models.UUIDField(null=True, blank=True, db_index=True)
    target_type = models.CharField(max_length=100)
    target_id = models.CharField(max_length=300)
    refused = models.BooleanField(default=False)
    detail_sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["at", "id"]
        indexes = [
            models.Index(fields=["target_type", "target_id"], name="foundation_audit_target"),
            models.Index(fields=["action", "-id"], name="foundation_audit_action"),  # the newest act of a kind
        ]
        constraints = [models.CheckConstraint(condition=Q(source__in=SOURCES), name="foundation_known_audit_source")]

    def __str__(self) -> str:
        return f"{self.action} on {self.target_type} {self.target_id}"


class AuditDetail(models.Model):
    """The facts, before and after of an act. May be deleted (erasure), never changed."""

    audit = models.OneToOneField(AuditRow, models.PROTECT, primary_key=True, related_name="detail")
    salt = models.BinaryField(max_length=32)
    body = models.JSONField()

    def __str__(self) -> str:
        return f"detail of {self.audit_id}"
