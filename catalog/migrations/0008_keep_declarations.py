"""What people declared before is theirs."""

from __future__ import annotations

from typing import Any

from django.db import migrations
from django.utils import timezone

FIELDS = ("consequence", "contact", "lead_seconds")


def keep(apps: Any, schema_editor: Any) -> None:
    """One declaration for each reader that people declared, from the rows that told of it until now."""
    claims = apps.get_model("catalog", "NodeClaim").objects
    sync = apps.get_model("catalog", "Sync").objects
    keeps = apps.get_model("catalog", "Declaration").objects
    names = apps.get_model("foundation", "Principal").objects
    anyone = names.filter(kind="system").first() or names.first()
    for claim in claims.filter(source__key="declared", removed_in__isnull=True).select_related("asset__consumer"):
        consumer = getattr(claim.asset, "consumer", None)
        if consumer is None or anyone is None:
            continue
        said = {name: getattr(consumer, name) for name in FIELDS}
        said |= {"reader": True, "kind": claim.asset.kind, "reads": claim.attributes.get("reads", [])}
        said["schedule"] = {name: getattr(consumer, name) for name in ("cron", "zone", "triggered_by_api")}
        if consumer.confirm_source_id:
            said["confirm"] = {"metric": consumer.confirm_metric, "source_id": consumer.confirm_source_id}
        for row in sync.filter(consumer=consumer):
            said |= {"tool": row.tool, "mode": row.mode, "delete_rule": row.delete_rule}
        consumer.status = "standing" if consumer.status == "suggested" else consumer.status
        consumer.save()
        author = consumer.approved_by.principal_id if consumer.approved_by else anyone.pk
        keeps.create(
            source_id=claim.source_id,
            asset=claim.asset,
            said=said,
            author_id=author,
            at=consumer.approved_at or timezone.now(),
        )


class Migration(migrations.Migration):
    dependencies = [("catalog", "0007_declarations"), ("foundation", "0001_first")]

    operations = [migrations.RunPython(keep, migrations.RunPython.noop)]
