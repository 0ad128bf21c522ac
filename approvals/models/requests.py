"""A request to a named person, the votes on it, and its one outcome."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from approvals.models.plans import Plan
from catalog.models import Domain
from foundation.due import DueRow

REQUEST_STATES = ("pending", "approved", "rejected", "expired", "withdrawn", "superseded")


class Request(DueRow):
    """A plan put before a named person; chain and shown form are frozen, `due_at` is the next turn or the expiry.

    `chain`: [{position, person (id), principal (UUID), starts_after_seconds}], no names, so that people can be erased;
    `shown`: canonical bytes of what the page showed; `frozen_seconds`: what stops have taken out of its life.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    plan = models.ForeignKey(Plan, models.PROTECT, related_name="requests")
    domain = models.ForeignKey(Domain, models.PROTECT, related_name="requests")
    state = models.CharField(max_length=20, default="pending")
    version = models.PositiveIntegerField(default=1)
    required = models.PositiveSmallIntegerField(default=1)
    chain = models.JSONField()
    plan_digest = models.CharField(max_length=64)
    shown = models.BinaryField()
    shown_digest = models.CharField(max_length=64)
    deadline_reason = models.CharField(max_length=500)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    frozen_seconds = models.PositiveIntegerField(default=0)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["plan"], condition=Q(state="pending"), name="approvals_one_open_request"),
            models.CheckConstraint(condition=Q(required__gte=1), name="approvals_quorum_at_least_one"),  # guard: I8
            models.CheckConstraint(condition=Q(state__in=REQUEST_STATES), name="approvals_known_request_state"),
            models.CheckConstraint(
                condition=Q(state="pending", ended_at__isnull=True) | ~Q(state="pending") & Q(ended_at__isnull=False),
                name="approvals_ended_request_has_time",
            ),
        ]


class Turn(models.Model):
    """One step of the frozen escalation chain: whose turn it is, since when, and that they were told once."""

    request = models.ForeignKey(Request, models.PROTECT, related_name="turns")
    position = models.PositiveSmallIntegerField()
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="turns")
    starts_at = models.DateTimeField()
    told_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["request", "position"], name="approvals_one_turn")]


class Vote(models.Model):
    """What one person decided, over which digests; the words of the reason stand in an erasable row of their own.

    `reason_sha256`: SHA-256(salt || reason in UTF-8), hex; empty when no reason was given.
    """

    request = models.ForeignKey(Request, models.PROTECT, related_name="votes")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="votes")
    decision = models.CharField(max_length=20)
    steps = models.JSONField(default=list)
    reason_sha256 = models.CharField(max_length=64, blank=True)
    plan_digest = models.CharField(max_length=64)
    shown_digest = models.CharField(max_length=64)
    idempotency_key = models.CharField(max_length=100, unique=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "person"], name="approvals_one_vote"),  # guard: I1
            models.CheckConstraint(condition=Q(decision__in=["approve", "reject"]), name="approvals_known_decision"),
            models.CheckConstraint(
                condition=~Q(decision="reject") | ~Q(reason_sha256=""), name="approvals_reject_has_reason"
            ),
        ]

    @property
    def reason(self) -> str:
        """The words of the reason, "" when none was given, "reason erased" when its row is gone."""
        said: VoteReason | None = getattr(self, "said", None)
        return said.text if said is not None else "reason erased" if self.reason_sha256 else ""


class VoteReason(models.Model):
    """The words in which somebody gave a reason; may be deleted (erasure), never changed (D15)."""

    vote = models.OneToOneField(Vote, models.PROTECT, primary_key=True, related_name="said")
    salt = models.BinaryField(max_length=32)
    text = models.TextField()


class Outcome(models.Model):
    """How a request ended, written in the transaction of the vote that completed the quorum (I1)."""

    request = models.OneToOneField(Request, models.PROTECT, related_name="outcome")  # guard: I1
    decision = models.CharField(max_length=20)
    steps = models.JSONField(default=list)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(decision__in=["approve", "reject"]), name="approvals_known_outcome")
        ]
