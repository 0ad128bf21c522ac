"""Who decides for a domain, how far Spellbook may go there, and the stop."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from catalog.models import Domain


class Policy(models.Model):
    """The named approver of a domain, the fallback, and the deadlines."""

    domain = models.OneToOneField(Domain, models.PROTECT, related_name="policy")
    approver = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    fallback = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    required = models.PositiveSmallIntegerField(default=1)
    minimum_seconds = models.PositiveIntegerField(default=1800)
    after_damage_seconds = models.PositiveIntegerField(default=86400)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(required__gte=1), name="approvals_policy_quorum"),  # guard: I8
            models.CheckConstraint(condition=~Q(approver=F("fallback")), name="approvals_fallback_is_another"),
        ]


class AutonomyRule(models.Model):
    """The level of one class of steps in one domain; an empty class means every class without a rule of its own."""

    domain = models.ForeignKey(Domain, models.PROTECT, related_name="autonomy_rules")
    step_class = models.CharField(max_length=60, blank=True)
    level = models.PositiveSmallIntegerField(default=1)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["domain", "step_class"], name="approvals_one_rule"),
            models.CheckConstraint(condition=Q(level__lte=4), name="approvals_known_level"),
        ]


class LevelChange(models.Model):
    """A raise by one step that waits for a second person, or a change that was done."""

    domain = models.ForeignKey(Domain, models.PROTECT, related_name="level_changes")
    step_class = models.CharField(max_length=60, blank=True)
    from_level = models.PositiveSmallIntegerField()
    to_level = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=20, default="proposed")
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField()
    seconded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    ended_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-proposed_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["domain", "step_class"], condition=Q(state="proposed"), name="approvals_one_open_raise"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["proposed", "done", "withdrawn"]), name="approvals_known_change_state"
            ),
            models.CheckConstraint(  # guard: I11
                condition=Q(to_level__lt=F("from_level")) | Q(to_level=F("from_level") + 1),
                name="approvals_raise_by_one",
            ),
            models.CheckConstraint(  # guard: I11
                condition=~Q(state="done")
                | Q(to_level__lt=F("from_level"))
                | Q(seconded_by__isnull=False) & ~Q(seconded_by=F("proposed_by")),
                name="approvals_raise_needs_two",
            ),
        ]


class Stop(models.Model):
    """The single row that every dispatch claim reads under lock (D14)."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    active = models.BooleanField(default=False)
    version = models.PositiveIntegerField(default=1)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    changed_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="approvals_one_stop")]
