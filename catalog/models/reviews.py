"""Reviews of pull requests: what stands at the code host, what was said of it and when, and who answered for it."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from catalog.models.graph import Asset
from foundation.due import DueRow
from foundation.models import Connection, Inbox, Principal

STATES = ("unread", "open", "closed", "merged")
VERDICTS = ("safe", "look", "dangerous")
KINDS = ("manifest", "base_manifest", "catalog")


class PullRequest(DueRow):
    """One pull request as it was last read from its host; it is read again when `due_at` comes.

    `asked` rises whenever somebody wants it looked at, so that a wish during a look is not lost. `waiting_since` is
    when the wait for a manifest of `head_sha` began. `comment_id`, `check_run_id` (`check_run_for`: the digest of its
    commit and remarks) and `posted_digest` say what was posted: the row is its own outbox. `problem` is why it could
    not be reviewed or posted.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    connection = models.ForeignKey(Connection, models.PROTECT, related_name="pull_requests")
    number = models.PositiveBigIntegerField()
    state = models.CharField(max_length=10, default="unread")
    title = models.CharField(max_length=500, blank=True)
    author = models.CharField(max_length=200, blank=True)
    url = models.CharField(max_length=500, blank=True)
    head_sha = models.CharField(max_length=64, blank=True, db_index=True)
    head_ref = models.CharField(max_length=300, blank=True)
    head_repository = models.CharField(max_length=300, blank=True)
    base_sha = models.CharField(max_length=64, blank=True)
    base_ref = models.CharField(max_length=300, blank=True)
    from_fork = models.BooleanField(default=False)
    asked = models.PositiveIntegerField(default=0)
    seen_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)
    waiting_since = models.DateTimeField(null=True, blank=True)
    review = models.ForeignKey("catalog.Review", models.PROTECT, null=True, blank=True, related_name="+")
    comment_id = models.PositiveBigIntegerField(null=True, blank=True)
    check_run_id = models.PositiveBigIntegerField(null=True, blank=True)
    check_run_for = models.CharField(max_length=64, blank=True)
    posted_digest = models.CharField(max_length=64, blank=True)
    posted_at = models.DateTimeField(null=True, blank=True)
    problem = models.CharField(max_length=500, blank=True)
    failures = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-seen_at"]
        constraints = [
            models.UniqueConstraint(fields=["connection", "number"], name="catalog_one_pull_request"),
            models.CheckConstraint(condition=Q(state__in=STATES), name="catalog_known_pull_request_state"),
        ]

    def __str__(self) -> str:
        return f"{self.connection.name}#{self.number}"


class Review(models.Model):
    """What was said of one head of a pull request, never changed; `document` as `catalog.review.as_document` writes it.

    `digest` is that of the document without times and sentences: the same change among the same readers has the same.
    `summary` is what a list shows of it: {changes, readers, readers_known, next_reads (the first few)}.
    `compared` says in a sentence what was compared with what; an empty `base_manifest` means that there was nothing to
    compare with, and then the verdict is never safe. `subjects` lists what has to be answered for, as [{unique_id,
    asset (id or null)}]. `head_origin` is where the head's manifest came from: "posted" by a job, "artifact:<id>" of a
    workflow run, or "files" where no manifest was read; then `head_manifest` and `base_manifest` are one and the same,
    the digest of the list of changed files, which the host makes by comparing two commits.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    pull_request = models.ForeignKey(PullRequest, models.PROTECT, related_name="reviews")
    head_sha = models.CharField(max_length=64)
    base_sha = models.CharField(max_length=64, blank=True)
    head_manifest = models.CharField(max_length=64)
    head_origin = models.CharField(max_length=60)
    base_manifest = models.CharField(max_length=64, blank=True)
    base_commit = models.CharField(max_length=64, blank=True)
    compared = models.CharField(max_length=1000)
    graph_version = models.PositiveBigIntegerField(default=0)
    verdict = models.CharField(max_length=20)
    needs_answer = models.BooleanField()
    subjects = models.JSONField(default=list)
    document = models.JSONField()
    summary = models.JSONField(default=dict)
    markdown = models.TextField()
    annotations = models.JSONField(default=list)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=Q(verdict__in=VERDICTS), name="catalog_known_review_verdict"),
            models.CheckConstraint(
                condition=~Q(verdict="safe") | ~Q(base_manifest=""), name="catalog_nothing_compared_is_not_safe"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} at {self.head_sha[:12]}"


class ReviewArtifact(models.Model):
    """A file that a job posted for one commit; data for reviews alone, never a build and never a graph version.

    The newest of a kind counts.
    """

    connection = models.ForeignKey(Connection, models.PROTECT, related_name="review_artifacts")
    head_sha = models.CharField(max_length=64)
    kind = models.CharField(max_length=20)
    sha256 = models.CharField(max_length=64)
    posted_by = models.ForeignKey(Principal, models.PROTECT, related_name="+")
    posted_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["connection", "head_sha", "kind"], name="catalog_review_artifact")]
        constraints = [models.CheckConstraint(condition=Q(kind__in=KINDS), name="catalog_known_review_artifact")]


class ReviewAcknowledgement(models.Model):
    """A person who answers for a domain has seen one review and says why the change may go on; the reason can be
    erased, the rest never changes. `covers` are the unique ids among the review's subjects that the person answers for.
    """

    review = models.ForeignKey(Review, models.PROTECT, related_name="acknowledgements")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500)
    covers = models.JSONField(default=list)
    at = models.DateTimeField()

    class Meta:
        ordering = ["at"]
        constraints = [models.UniqueConstraint(fields=["review", "person"], name="catalog_one_acknowledgement")]


class ReviewRule(models.Model):
    """Changes that touch the asset have to be acknowledged, for a reason, until somebody lifts the rule."""

    asset = models.ForeignKey(Asset, models.PROTECT, related_name="review_rules")
    reason = models.CharField(max_length=500)
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    set_at = models.DateTimeField()
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    lifted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["asset"], condition=Q(lifted_at__isnull=True), name="catalog_one_review_rule"
            ),
            models.CheckConstraint(
                condition=Q(lifted_at__isnull=True, lifted_by__isnull=True)
                | Q(lifted_at__isnull=False, lifted_by__isnull=False),
                name="catalog_lifted_rule_has_a_person",
            ),
        ]


class ReviewDelivery(models.Model):
    """One delivery of a code host's webhook: its id is taken once, as the hash of its body is by the inbox."""

    connection = models.ForeignKey(Connection, models.PROTECT, related_name="+")
    delivery = models.CharField(max_length=100)
    inbox = models.OneToOneField(Inbox, models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["connection", "delivery"], name="catalog_one_delivery")]
