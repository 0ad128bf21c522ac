"""How to reach another system: everything but the secret."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

PURPOSES = ("read", "rehearse", "run", "grant", "code")


class Connection(models.Model):
    """A declared way to another system; `secret_names` name variables or files, never values.

    `kind` is an open vocabulary.

    `namespace` is the OpenLineage namespace of the datasets behind it.
    """

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=60)
    purpose = models.CharField(max_length=20)
    namespace = models.CharField(max_length=300, blank=True)
    params = models.JSONField(default=dict, blank=True)
    secret_names = models.JSONField(default=list, blank=True)
    tested_at = models.DateTimeField(null=True, blank=True)
    tested_ok = models.BooleanField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(purpose__in=PURPOSES), name="foundation_known_connection_purpose")
        ]

    def __str__(self) -> str:
        return self.name
