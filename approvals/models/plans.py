"""A plan: ordered steps with their undo, the assertions that prove it, its runs and its verification."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from catalog.models import Asset, Build
from foundation.due import DueRow
from foundation.models import Principal
from incidents.models import Incident

PLAN_STATES = (
    "draft", "would_do", "asking", "acting", "verifying", "verified", "failed", "rejected", "expired", "superseded",
)  # fmt: skip
WAITING_PLANS = ("draft", "would_do", "asking")  # nobody has approved them
CARRIED_OUT = ("acting", "verifying")
LIVE_PLANS = WAITING_PLANS + CARRIED_OUT
STEP_KINDS = ("change", "rerun", "hold", "message", "grant")
STEP_STATES = ("proposed", "not_approved", "waiting", "acting", "done", "failed", "abandoned")
RUN_STATES = ("claimed", "running", "succeeded", "failed", "cancelled")


class Plan(DueRow):
    """One revision of a plan; `body` is the canonical form of its steps and assertions, `plan_digest` its SHA-256.

    `rehearsal`: {state: rehearsed | contradicted | not rehearsed, reason} and, where it ran, {seconds, exit_code,
    last_line, predicted: [{assertion, observed, passed, reason}]}; frozen before asking.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    incident = models.ForeignKey(Incident, models.PROTECT, null=True, blank=True, related_name="plans")
    undoes = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="undone_by")
    revision = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=20, default="draft")
    version = models.PositiveIntegerField(default=1)
    title = models.CharField(max_length=300)
    author = models.ForeignKey(Principal, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    body = models.BinaryField()
    plan_digest = models.CharField(max_length=64)
    rehearsal = models.JSONField(null=True, blank=True)
    expected_seconds = models.PositiveIntegerField(default=0)
    ended_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["incident", "revision"], name="approvals_plan_revision"),
            models.UniqueConstraint(
                fields=["incident"], condition=Q(state__in=LIVE_PLANS), name="approvals_one_live_plan"
            ),
            models.CheckConstraint(condition=Q(state__in=PLAN_STATES), name="approvals_known_plan_state"),
        ]


class Draft(models.Model):
    """That an incident was looked at for a plan: the plan, or why there is none."""

    incident = models.OneToOneField(Incident, models.PROTECT, related_name="draft")
    plan = models.ForeignKey(Plan, models.PROTECT, null=True, blank=True, related_name="+")
    reason = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(plan__isnull=False) | ~Q(reason=""), name="approvals_no_plan_has_reason")
        ]


class Step(DueRow):
    """One step of a plan. `step_class` is what a level is earned for; `actor` is "owner" or "spellbook".

    `params` by kind: change {repository (connection), branch, base, patch, files[]}; rerun {connection, select[],
    after[] (positions)}; message {to (principal), text}; hold {consumer}. `facts`: commit of a merge, run, delivery,
    waits (why it does). `due_at` is the next look at what the owner did.
    """

    plan = models.ForeignKey(Plan, models.PROTECT, related_name="steps")
    position = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=20)
    step_class = models.CharField(max_length=60)
    actor = models.CharField(max_length=20)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    title = models.CharField(max_length=300)
    params = models.JSONField(default=dict)
    undo = models.CharField(max_length=500)
    reversible = models.BooleanField()
    state = models.CharField(max_length=20, default="proposed")
    facts = models.JSONField(default=dict)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["plan", "position"], name="approvals_step_position"),
            models.CheckConstraint(condition=Q(kind__in=STEP_KINDS), name="approvals_known_step_kind"),
            models.CheckConstraint(condition=Q(state__in=STEP_STATES), name="approvals_known_step_state"),
            models.CheckConstraint(condition=Q(actor__in=["owner", "spellbook"]), name="approvals_known_actor"),
            models.CheckConstraint(
                condition=~Q(actor="owner") | Q(person__isnull=False), name="approvals_owner_step_has_person"
            ),
        ]


class Assertion(models.Model):
    """What must be true in the warehouse after the plan, signed with it.

    kinds: row_count {equals: "1200"}, no_nulls {column}, unique {column}, readable {}.
    """

    plan = models.ForeignKey(Plan, models.PROTECT, related_name="assertions")
    position = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=40)
    asset = models.ForeignKey(Asset, models.PROTECT, related_name="+")
    params = models.JSONField(default=dict)
    sentence = models.CharField(max_length=500)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["plan", "position"], name="approvals_assertion_position")]


class Verification(models.Model):
    """What Spellbook's own query found for one assertion on the build that the plan made."""

    assertion = models.ForeignKey(Assertion, models.PROTECT, related_name="verifications")
    build = models.ForeignKey(Build, models.PROTECT, related_name="+")
    passed = models.BooleanField(null=True)
    reason = models.CharField(max_length=500, blank=True)
    observed = models.JSONField(default=dict)
    query = models.TextField(blank=True)
    measured_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assertion", "build"], name="approvals_one_verification"),
            models.CheckConstraint(
                condition=Q(passed__isnull=False) | ~Q(reason=""), name="approvals_unverified_has_reason"
            ),
        ]


class Run(DueRow):
    """One dispatch of one approved step; the row is its own outbox and spends the step (I1, I9)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    outcome = models.ForeignKey("approvals.Outcome", models.PROTECT, null=True, blank=True, related_name="runs")
    step = models.ForeignKey(Step, models.PROTECT, related_name="runs")
    idempotency_key = models.CharField(max_length=100, unique=True)
    state = models.CharField(max_length=20, default="claimed")
    runner = models.CharField(max_length=40)
    commit = models.CharField(max_length=64, blank=True)
    claimed_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    last_line = models.CharField(max_length=500, blank=True)
    build = models.ForeignKey(Build, models.PROTECT, null=True, blank=True, related_name="runs")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["outcome", "step"], name="approvals_step_spent_once"),
            models.CheckConstraint(condition=Q(state__in=RUN_STATES), name="approvals_known_run_state"),
        ]
