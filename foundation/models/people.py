"""Who acts: principals with a UUID that never changes, the people behind them, their tokens and roles."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower


class Principal(models.Model):
    """Whoever or whatever acts. Never deleted; its name stands elsewhere and can be erased."""

    class Kind(models.TextChoices):
        HUMAN = "human"
        AGENT = "agent"
        SYSTEM = "system"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    owner = models.ForeignKey("foundation.Person", models.PROTECT, null=True, blank=True, related_name="agents")
    namespaces = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["human", "agent", "system"]), name="foundation_known_principal_kind"
            ),
            models.CheckConstraint(
                condition=Q(kind="agent", owner__isnull=False) | (~Q(kind="agent") & Q(owner__isnull=True)),
                name="foundation_agents_have_an_owner",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class PrincipalName(models.Model):
    """The name of a principal and the salt of its commitments. Deleting this row erases the name everywhere."""

    principal = models.OneToOneField(Principal, models.PROTECT, primary_key=True, related_name="name_row")
    name = models.CharField(max_length=200)
    salt = models.BinaryField(max_length=32)

    def __str__(self) -> str:
        return self.name


class PersonManager(BaseUserManager["Person"]):
    """Finds people by e-mail, whatever its case."""

    def get_by_natural_key(self, username: str | None) -> Person:
        return self.get(email=(username or "").strip().lower())


class Person(AbstractBaseUser):
    """A human who signs in by e-mail. `is_staff` opens Django's admin, which is read only."""

    email = models.EmailField(unique=True)
    principal = models.OneToOneField(Principal, models.PROTECT, related_name="person")
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)

    objects = PersonManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        verbose_name_plural = "people"
        constraints = [
            models.CheckConstraint(condition=Q(email=Lower("email")), name="foundation_email_is_lower_case"),
        ]

    def __str__(self) -> str:
        return self.email

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        """Django's admin asks this: staff may look at everything and change nothing there."""
        return self.is_active and self.is_staff and perm.partition(".")[2].startswith("view_")

    @property
    def is_admin(self) -> bool:
        """Whether the person is active and has the role "admin" everywhere. One query."""
        return self.is_active and self.roles.filter(name="admin", scope="").exists()

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_active and self.is_staff


class Role(models.Model):
    """A named right of a person, everywhere (scope '') or in one scope, such as a domain."""

    person = models.ForeignKey(Person, models.PROTECT, related_name="roles")
    name = models.CharField(max_length=60)
    scope = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "name", "scope"], name="foundation_one_role")]

    def __str__(self) -> str:
        return f"{self.name} of {self.scope}" if self.scope else self.name


class Token(models.Model):
    """A bearer token of a principal. Only its SHA-256 is kept; `prefix` is what people recognise it by."""

    principal = models.ForeignKey(Principal, models.PROTECT, related_name="tokens")
    label = models.CharField(max_length=200, blank=True)
    prefix = models.CharField(max_length=12)
    hash = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.prefix}…"
