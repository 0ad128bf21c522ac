import uuid

import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Person",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                ("email", models.EmailField(max_length=254, unique=True)),
                ("is_active", models.BooleanField(default=True)),
                ("is_staff", models.BooleanField(default=False)),
            ],
            options={
                "verbose_name_plural": "people",
            },
        ),
        migrations.CreateModel(
            name="AuditRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("action", models.CharField(max_length=100)),
                ("name_commitment", models.CharField(blank=True, max_length=64)),
                ("source", models.CharField(max_length=10)),
                ("correlation_id", models.UUIDField(blank=True, db_index=True, null=True)),
                ("target_type", models.CharField(max_length=100)),
                ("target_id", models.CharField(max_length=300)),
                ("refused", models.BooleanField(default=False)),
                ("detail_sha256", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "ordering": ["at", "id"],
            },
        ),
        migrations.CreateModel(
            name="Principal",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("human", "Human"), ("agent", "Agent"), ("system", "System")], max_length=10
                    ),
                ),
                ("namespaces", models.JSONField(blank=True, default=list)),
                ("created_at", models.DateTimeField(editable=False)),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="agents",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AuditDetail",
            fields=[
                (
                    "audit",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="detail",
                        serialize=False,
                        to="foundation.auditrow",
                    ),
                ),
                ("salt", models.BinaryField(max_length=32)),
                ("body", models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name="Connection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True)),
                ("kind", models.CharField(max_length=60)),
                ("purpose", models.CharField(max_length=20)),
                ("namespace", models.CharField(blank=True, max_length=300)),
                ("params", models.JSONField(blank=True, default=dict)),
                ("secret_names", models.JSONField(blank=True, default=list)),
                ("tested_at", models.DateTimeField(blank=True, null=True)),
                ("tested_ok", models.BooleanField(blank=True, null=True)),
                ("version", models.PositiveIntegerField(default=1)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("purpose__in", ("read", "rehearse", "run", "grant", "code"))),
                        name="foundation_known_connection_purpose",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Inbox",
            fields=[
                ("due_at", models.DateTimeField(blank=True, db_index=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, editable=False, null=True)),
                ("lease_token", models.UUIDField(blank=True, editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("source", models.CharField(max_length=100)),
                ("external_id", models.CharField(max_length=300)),
                ("body", models.BinaryField()),
                ("headers", models.JSONField(default=dict)),
                ("received_at", models.DateTimeField(editable=False)),
                ("processed_at", models.DateTimeField(blank=True, null=True)),
                ("refusal", models.CharField(blank=True, max_length=500)),
            ],
            options={
                "verbose_name": "incoming message",
                "verbose_name_plural": "inbox",
                "ordering": ["received_at", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("source", "external_id"), name="foundation_received_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Outbox",
            fields=[
                ("due_at", models.DateTimeField(blank=True, db_index=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, editable=False, null=True)),
                ("lease_token", models.UUIDField(blank=True, editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("event", models.CharField(max_length=200)),
                ("destination", models.CharField(max_length=300)),
                ("purpose", models.CharField(max_length=100)),
                ("body", models.JSONField()),
                ("correlation_id", models.UUIDField(blank=True, db_index=True, null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Pending"), ("sent", "Sent"), ("failed", "Failed")],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("provider_id", models.CharField(blank=True, max_length=300)),
                ("last_error", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField(editable=False)),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "message",
                "ordering": ["created_at", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("event", "destination", "purpose"), name="foundation_one_message"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["pending", "sent", "failed"])),
                        name="foundation_known_message_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("due_at__isnull", False), ("state", "pending")),
                            models.Q(models.Q(("state", "pending"), _negated=True), ("due_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="foundation_pending_message_is_due",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("sent_at__isnull", False), ("state", "sent")),
                            models.Q(models.Q(("state", "sent"), _negated=True), ("sent_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="foundation_sent_message_has_a_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PrincipalName",
            fields=[
                (
                    "principal",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="name_row",
                        serialize=False,
                        to="foundation.principal",
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("salt", models.BinaryField(max_length=32)),
            ],
        ),
        migrations.AddField(
            model_name="auditrow",
            name="principal",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="foundation.principal"
            ),
        ),
        migrations.AddField(
            model_name="person",
            name="principal",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="person", to="foundation.principal"
            ),
        ),
        migrations.CreateModel(
            name="Role",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("scope", models.CharField(blank=True, default="", max_length=200)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="roles", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Token",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("label", models.CharField(blank=True, max_length=200)),
                ("prefix", models.CharField(max_length=12)),
                ("hash", models.CharField(max_length=64, unique=True)),
                ("scopes", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(editable=False)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "principal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="tokens", to="foundation.principal"
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="principal",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["human", "agent", "system"])), name="foundation_known_principal_kind"
            ),
        ),
        migrations.AddConstraint(
            model_name="principal",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "agent"), ("owner__isnull", False)),
                    models.Q(models.Q(("kind", "agent"), _negated=True), ("owner__isnull", True)),
                    _connector="OR",
                ),
                name="foundation_agents_have_an_owner",
            ),
        ),
        migrations.AddIndex(
            model_name="auditrow",
            index=models.Index(fields=["target_type", "target_id"], name="foundation_audit_target"),
        ),
        migrations.AddConstraint(
            model_name="auditrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("source__in", ("web", "api", "mcp", "cli", "timer", "slack"))),
                name="foundation_known_audit_source",
            ),
        ),
        migrations.AddConstraint(
            model_name="person",
            constraint=models.CheckConstraint(
                condition=models.Q(("email", django.db.models.functions.text.Lower("email"))),
                name="foundation_email_is_lower_case",
            ),
        ),
        migrations.AddConstraint(
            model_name="role",
            constraint=models.UniqueConstraint(fields=("person", "name", "scope"), name="foundation_one_role"),
        ),
    ]
