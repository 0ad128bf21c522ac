"""Messages that leave and messages that come in, each exactly one row."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from foundation.due import DueRow


class Outbox(DueRow):
    """A message to `destination` ("kind:rest"), written in the transaction that caused it.

    Its id serves as idempotency key.
    """

    class State(models.TextChoices):
        PENDING = "pending"
        SENT = "sent"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    event = models.CharField(max_length=200)
    destination = models.CharField(max_length=300)
    purpose = models.CharField(max_length=100)
    body = models.JSONField()
    correlation_id = models.UUIDField(null=True, blank=True, db_index=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    provider_id = models.CharField(max_length=300, blank=True)
    last_error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(editable=False)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "message"
        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["event", "destination", "purpose"], name="foundation_one_message"),
            models.CheckConstraint(
                condition=Q(state__in=["pending", "sent", "failed"]), name="foundation_known_message_state"
            ),
            models.CheckConstraint(
                condition=Q(state="pending", due_at__isnull=False) | (~Q(state="pending") & Q(due_at__isnull=True)),
                name="foundation_pending_message_is_due",
            ),
            models.CheckConstraint(
                condition=Q(state="sent", sent_at__isnull=False) | (~Q(state="sent") & Q(sent_at__isnull=True)),
                name="foundation_sent_message_has_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} to {self.destination}"


class Inbox(DueRow):
    """A message that came in, verified by its receiver, stored once as raw bytes; due until it is processed. Whoever
    processes it may drop its body then, where that is large and nobody needs it again."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    source = models.CharField(max_length=100)
    external_id = models.CharField(max_length=300)
    body = models.BinaryField()
    headers = models.JSONField(default=dict)
    received_at = models.DateTimeField(editable=False)
    processed_at = models.DateTimeField(null=True, blank=True)
    refusal = models.CharField(max_length=500, blank=True)

    class Meta:
        verbose_name = "incoming message"
        verbose_name_plural = "inbox"
        ordering = ["received_at", "id"]
        constraints = [models.UniqueConstraint(fields=["source", "external_id"], name="foundation_received_once")]

    def __str__(self) -> str:
        return f"{self.source} {self.external_id}"
