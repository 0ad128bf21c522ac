"""Numbers about tables and what was thought of them: metrics, values, baselines, checks, results."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from catalog.models import Asset, Build
from foundation.models import Principal

OBTAINED = ("recorded", "measured")
VERDICTS = ("held", "breach", "not_evaluated")
RESULTS = ("passed", "failed", "not_evaluated", "error")


class Metric(models.Model):
    """A number that is kept for an asset, build after build."""

    asset = models.ForeignKey(Asset, models.PROTECT, related_name="metrics")
    name = models.CharField(max_length=200)
    unit = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["asset", "name"], name="incidents_metric_identity")]

    def __str__(self) -> str:
        return self.name


class Value(models.Model):
    """One value of a metric at one build: recorded by a principal, or measured by Spellbook's own query."""

    metric = models.ForeignKey(Metric, models.PROTECT, related_name="values")
    build = models.ForeignKey(Build, models.PROTECT, null=True, blank=True, related_name="values")
    number = models.DecimalField(max_digits=30, decimal_places=6)
    at = models.DateTimeField(db_index=True)
    recorded_at = models.DateTimeField()
    principal = models.ForeignKey(Principal, models.PROTECT, related_name="+")
    obtained = models.CharField(max_length=20, default="recorded")
    backdated = models.BooleanField(default=False)
    query = models.TextField(blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_reason = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["metric", "build", "obtained"], name="incidents_one_value_per_build"),
            models.CheckConstraint(condition=Q(obtained__in=OBTAINED), name="incidents_known_obtained"),
        ]


class Baseline(models.Model):
    """What a value was judged against, with the whole arithmetic.

    median ± max(5·MAD, 2 % of the median) over at least four earlier builds; `used` and `excluded` list value ids.
    """

    value = models.OneToOneField(Value, models.PROTECT, related_name="baseline")
    verdict = models.CharField(max_length=20)
    reason = models.CharField(max_length=300, blank=True)
    n = models.PositiveIntegerField(default=0)
    median = models.DecimalField(max_digits=30, decimal_places=6, null=True, blank=True)
    mad = models.DecimalField(max_digits=30, decimal_places=6, null=True, blank=True)
    tolerance = models.DecimalField(max_digits=30, decimal_places=6, null=True, blank=True)
    low = models.DecimalField(max_digits=30, decimal_places=6, null=True, blank=True)
    high = models.DecimalField(max_digits=30, decimal_places=6, null=True, blank=True)
    used = models.JSONField(default=list)
    excluded = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(verdict__in=VERDICTS), name="incidents_known_verdict"),
            models.CheckConstraint(
                condition=Q(verdict="not_evaluated") | Q(low__isnull=False, high__isnull=False),
                name="incidents_verdict_has_band",
            ),
        ]


class BuildReview(models.Model):
    """What was done with one build on this floor: dbt's own results taken over, row counts measured."""

    build = models.OneToOneField(Build, models.PROTECT, related_name="review")
    taken_over_at = models.DateTimeField(null=True, blank=True)
    measured_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=500, blank=True)


class Check(models.Model):
    """A rule about an asset; dbt tests are taken over under their own id, ours are run by query."""

    asset = models.ForeignKey(Asset, models.PROTECT, related_name="checks")
    kind = models.CharField(max_length=60)
    column = models.CharField(max_length=300, blank=True)
    origin = models.CharField(max_length=20, default="spellbook")
    local_id = models.CharField(max_length=500, blank=True)
    params = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["asset", "kind", "column", "origin", "local_id"], name="incidents_check_identity"
            )
        ]


class Result(models.Model):
    """What a check said about one build; "not evaluated" always carries its reason."""

    check_run = models.ForeignKey(Check, models.PROTECT, related_name="results")
    build = models.ForeignKey(Build, models.PROTECT, null=True, blank=True, related_name="results")
    status = models.CharField(max_length=20)
    reason = models.CharField(max_length=500, blank=True)
    observed = models.JSONField(default=dict)
    query = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at"]
        constraints = [
            models.UniqueConstraint(fields=["check_run", "build"], name="incidents_one_result_per_build"),
            models.CheckConstraint(condition=Q(status__in=RESULTS), name="incidents_known_result"),
            models.CheckConstraint(
                condition=~Q(status="not_evaluated") | ~Q(reason=""), name="incidents_not_evaluated_has_reason"
            ),
        ]
