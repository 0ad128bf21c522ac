"""Pull requests and what was said of them, who acknowledged it, rules, files and deliveries."""

from __future__ import annotations

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0009_introspection"),
        ("foundation", "0002_audit_by_action"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PullRequest",
            fields=[
                ("due_at", models.DateTimeField(blank=True, db_index=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, editable=False, null=True)),
                ("lease_token", models.UUIDField(blank=True, editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("number", models.PositiveBigIntegerField()),
                ("state", models.CharField(default="unread", max_length=10)),
                ("title", models.CharField(blank=True, max_length=500)),
                ("author", models.CharField(blank=True, max_length=200)),
                ("url", models.CharField(blank=True, max_length=500)),
                ("head_sha", models.CharField(blank=True, db_index=True, max_length=64)),
                ("head_ref", models.CharField(blank=True, max_length=300)),
                ("head_repository", models.CharField(blank=True, max_length=300)),
                ("base_sha", models.CharField(blank=True, max_length=64)),
                ("base_ref", models.CharField(blank=True, max_length=300)),
                ("from_fork", models.BooleanField(default=False)),
                ("asked", models.PositiveIntegerField(default=0)),
                ("seen_at", models.DateTimeField()),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                ("waiting_since", models.DateTimeField(blank=True, null=True)),
                ("comment_id", models.PositiveBigIntegerField(blank=True, null=True)),
                ("check_run_id", models.PositiveBigIntegerField(blank=True, null=True)),
                ("check_run_for", models.CharField(blank=True, max_length=64)),
                ("posted_digest", models.CharField(blank=True, max_length=64)),
                ("posted_at", models.DateTimeField(blank=True, null=True)),
                ("problem", models.CharField(blank=True, max_length=500)),
                ("failures", models.PositiveIntegerField(default=0)),
                (
                    "connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pull_requests",
                        to="foundation.connection",
                    ),
                ),
            ],
            options={
                "ordering": ["-seen_at"],
            },
        ),
        migrations.CreateModel(
            name="Review",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("head_sha", models.CharField(max_length=64)),
                ("base_sha", models.CharField(blank=True, max_length=64)),
                ("head_manifest", models.CharField(max_length=64)),
                ("head_origin", models.CharField(max_length=60)),
                ("base_manifest", models.CharField(blank=True, max_length=64)),
                ("base_commit", models.CharField(blank=True, max_length=64)),
                ("compared", models.CharField(max_length=1000)),
                ("graph_version", models.PositiveBigIntegerField(default=0)),
                ("verdict", models.CharField(max_length=20)),
                ("needs_answer", models.BooleanField()),
                ("subjects", models.JSONField(default=list)),
                ("document", models.JSONField()),
                ("summary", models.JSONField(default=dict)),
                ("markdown", models.TextField()),
                ("annotations", models.JSONField(default=list)),
                ("digest", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField()),
                (
                    "pull_request",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="reviews", to="catalog.pullrequest"
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.AddField(
            model_name="pullrequest",
            name="review",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="catalog.review",
            ),
        ),
        migrations.CreateModel(
            name="ReviewAcknowledgement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.CharField(max_length=500)),
                ("covers", models.JSONField(default=list)),
                ("at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "review",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="acknowledgements",
                        to="catalog.review",
                    ),
                ),
            ],
            options={
                "ordering": ["at"],
            },
        ),
        migrations.CreateModel(
            name="ReviewArtifact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("head_sha", models.CharField(max_length=64)),
                ("kind", models.CharField(max_length=20)),
                ("sha256", models.CharField(max_length=64)),
                ("posted_at", models.DateTimeField()),
                (
                    "connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="review_artifacts",
                        to="foundation.connection",
                    ),
                ),
                (
                    "posted_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="foundation.principal"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ReviewDelivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("delivery", models.CharField(max_length=100)),
                (
                    "connection",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="foundation.connection"
                    ),
                ),
                (
                    "inbox",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="foundation.inbox"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ReviewRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.CharField(max_length=500)),
                ("set_at", models.DateTimeField()),
                ("lifted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "asset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="review_rules", to="catalog.asset"
                    ),
                ),
                (
                    "lifted_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "set_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="review",
            constraint=models.CheckConstraint(
                condition=models.Q(("verdict__in", ("safe", "look", "dangerous"))), name="catalog_known_review_verdict"
            ),
        ),
        migrations.AddConstraint(
            model_name="review",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("verdict", "safe"), _negated=True),
                    models.Q(("base_manifest", ""), _negated=True),
                    _connector="OR",
                ),
                name="catalog_nothing_compared_is_not_safe",
            ),
        ),
        migrations.AddConstraint(
            model_name="pullrequest",
            constraint=models.UniqueConstraint(fields=("connection", "number"), name="catalog_one_pull_request"),
        ),
        migrations.AddConstraint(
            model_name="pullrequest",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ("unread", "open", "closed", "merged"))),
                name="catalog_known_pull_request_state",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewacknowledgement",
            constraint=models.UniqueConstraint(fields=("review", "person"), name="catalog_one_acknowledgement"),
        ),
        migrations.AddIndex(
            model_name="reviewartifact",
            index=models.Index(fields=["connection", "head_sha", "kind"], name="catalog_review_artifact"),
        ),
        migrations.AddConstraint(
            model_name="reviewartifact",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ("manifest", "base_manifest", "catalog"))),
                name="catalog_known_review_artifact",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewdelivery",
            constraint=models.UniqueConstraint(fields=("connection", "delivery"), name="catalog_one_delivery"),
        ),
        migrations.AddConstraint(
            model_name="reviewrule",
            constraint=models.UniqueConstraint(
                condition=models.Q(("lifted_at__isnull", True)), fields=("asset",), name="catalog_one_review_rule"
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewrule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("lifted_at__isnull", True), ("lifted_by__isnull", True)),
                    models.Q(("lifted_at__isnull", False), ("lifted_by__isnull", False)),
                    _connector="OR",
                ),
                name="catalog_lifted_rule_has_a_person",
            ),
        ),
    ]
