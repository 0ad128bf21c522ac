"""Everything that is known of one table, from every floor; what nobody knows is said so."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from catalog.models import Asset, Note
from catalog.models.consumers import ROLES
from catalog.reach import reach
from catalog.selectors import ColumnView, ancestors, columns, dbt_node, full_name, people
from foundation.canonical import timestamp
from foundation.people import display_name
from incidents.models import Baseline, Check, Incident, Metric, Result

UNKNOWN = "not known yet"


def explain(asset: Asset, *, at: datetime) -> dict[str, Any]:
    """Definition, columns, people, lineage both ways, readers, notes, checks with their last results, open incidents.

    Plain JSON; a part of which nothing is known is the text "not known yet", never an empty answer that reads as fine.
    """
    down = reach(asset, at=at).as_dict()
    return {
        "asset": full_name(asset),
        "asset_id": asset.pk,
        "kind": asset.kind,
        "domain": asset.domain.name if asset.domain else UNKNOWN,
        "description": asset.description or UNKNOWN,
        "definition": _definition(asset),
        "columns": [_column(column) for column in columns(asset)] or UNKNOWN,
        "people": {role: [display_name(one.principal) for one in people(asset, role)] or UNKNOWN for role in ROLES},
        "upstream": [{"name": one.name, "kind": one.kind, "hops": hops} for one, hops in ancestors(asset)],
        "downstream": {"total": down["total"], "truncated": down["truncated"], "nodes": down["nodes"]},
        "readers": down["consumers"],
        "next_read": down["next_read"] or UNKNOWN,
        "checks": [_check(check) for check in Check.objects.filter(asset=asset).order_by("kind", "column", "pk")]
        or UNKNOWN,
        "metrics": [_metric(metric) for metric in Metric.objects.filter(asset=asset)] or UNKNOWN,
        "open_incidents": [str(one) for one in Incident.objects.filter(asset=asset).exclude(state="closed")],
        "notes": [
            _note(note) for note in asset.notes.select_related("author", "approved_by__principal").order_by("pk")
        ],
        "trust": UNKNOWN,
    }


def _definition(asset: Asset) -> dict[str, Any] | str:
    node = dbt_node(asset)
    if node is None:
        return UNKNOWN
    names = ("materialized", "package", "path", "patch_path", "checksum", "relation", "adapter", "version", "tags")
    known = {name: node.attributes[name] for name in names if node.attributes.get(name)}
    return {"source": node.source.key, "id": node.local_id, "since_version": node.added_in_id, **known}


def _column(column: ColumnView) -> dict[str, Any]:
    return {"name": column.name, "type": column.type or UNKNOWN, "description": column.description}


def _check(check: Check) -> dict[str, Any]:
    last = Result.objects.filter(check_run=check).order_by("-at", "-pk").first()
    result = {"status": last.status, "reason": last.reason, "at": timestamp(last.at)} if last else "never evaluated"
    return {"kind": check.kind, "column": check.column, "origin": check.origin, "last": result}


def _metric(metric: Metric) -> dict[str, Any]:
    last = metric.values.filter(withdrawn_at__isnull=True).order_by("-at", "-pk").first()
    if last is None:
        return {"name": metric.name, "last": UNKNOWN}
    verdict = Baseline.objects.filter(value=last).values_list("verdict", flat=True).first()
    return {
        "name": metric.name,
        "last": str(last.number.normalize()),
        "at": timestamp(last.at),
        "verdict": verdict or UNKNOWN,
    }


def _note(note: Note) -> dict[str, Any]:
    approved = display_name(note.approved_by.principal) if note.approved_by else None
    return {
        "text": note.text,
        "author": display_name(note.author),
        "at": timestamp(note.created_at),
        "approved_by": approved,
    }
