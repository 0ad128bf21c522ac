"""What a request shows, as one canonical document that is frozen with it; its SHA-256 is the `shown_digest` (I2)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from approvals.chain import Link
from approvals.deadlines import Deadline
from approvals.models import Plan, Policy, Request
from approvals.scope import incident_of
from catalog.models import AssetRole
from catalog.reader_identity import told_besides_agents
from foundation.canonical import canonical_bytes, digest, timestamp
from foundation.models import Person
from incidents.models import Evidence, Incident

COPIED = ("operator", "business_owner")


def build(plan: Plan, policy: Policy, chain: list[Link], until: Deadline) -> bytes:
    """RFC 8785 bytes of everything that the approver is shown. People stand in it by the UUID of their principal."""
    incident = incident_of(plan)
    return canonical_bytes(
        {
            "plan": _plan(plan),
            "incident": _incident(incident) if incident else None,
            "reach": reach(incident) if incident else None,
            "cause": _cause(incident) if incident else None,
            "evidence": _evidence(incident) if incident else [],
            "rehearsal": plan.rehearsal,
            "chain": chain,
            "required": policy.required,
            "policy_version": policy.version,
            "copied": copied(incident) if incident else [],
            "deadline": timestamp(until.expires_at),
            "deadline_reason": until.reason,
            "damage_at": timestamp(until.damage_at) if until.damage_at else None,
        }
    )


def read(request: Request) -> dict[str, Any]:
    """The frozen document of a request."""
    document: dict[str, Any] = json.loads(bytes(request.shown))
    return document


def joined(document: dict[str, Any], reach_now: Collection[int] | str) -> set[int] | None:
    """Readers (asset ids) that read now and were not shown; for a digest of the reach, None when it is another one."""
    shown = document["reach"] or {"consumers": [], "digest": ""}
    if isinstance(reach_now, str):
        return set() if reach_now == shown["digest"] else None
    return set(reach_now) - {consumer["asset_id"] for consumer in shown["consumers"]}


def binding(consumers: Iterable[Mapping[str, Any]]) -> list[int]:
    """Asset ids of the readers that may hold up a decision; what agents alone suggest may not (D12), and a reader that
    stands does so whatever an agent adds to it."""
    listed = list(consumers)
    told = told_besides_agents([consumer["asset_id"] for consumer in listed if consumer["status"] == "suggested"])
    return [one["asset_id"] for one in listed if one["status"] != "suggested" or one["asset_id"] in told]


def reach(incident: Incident) -> dict[str, Any]:
    """The reach as frozen in the incident, with its digest and without the names of people."""
    frozen: dict[str, Any] = _nameless(incident.reach or {})
    return {**frozen, "consumers": frozen.get("consumers", []), "digest": incident.reach_digest}


def copied(incident: Incident) -> list[dict[str, Any]]:
    """Operators and business owners of what is reached: they are told of the request and do not decide."""
    ids = [consumer["asset_id"] for consumer in (incident.reach or {}).get("consumers", [])]
    named = AssetRole.objects.filter(asset_id__in=ids, role__in=COPIED, person__isnull=False)
    fields = ("person__principal_id", "role", "asset__name")
    rows = named.order_by("asset__name", "role", "person_id").values_list(*fields)
    return [{"principal": str(who), "role": role, "asset": name} for who, role, name in dict.fromkeys(rows)]


def _plan(plan: Plan) -> dict[str, Any]:
    return {
        "id": str(plan.pk),
        "revision": plan.revision,
        "title": plan.title,
        "author": str(plan.author_id),
        "digest": plan.plan_digest,
        "expected_seconds": plan.expected_seconds,
    }


def _incident(incident: Incident) -> dict[str, Any]:
    return {
        "id": str(incident.pk),
        "number": incident.number,
        "asset": incident.asset.name,
        "severity": incident.severity,
        "severity_reason": incident.severity_reason,
    }


def _cause(incident: Incident) -> dict[str, Any] | None:
    cause = getattr(incident, "cause", None)
    if cause is None:
        return None
    return {
        "established": cause.established,
        "kind": cause.kind,
        "statement": cause.statement,
        "facts_sha256": digest(cause.facts),
    }


def _evidence(incident: Incident) -> list[dict[str, Any]]:
    rows = Evidence.objects.filter(incident=incident).order_by("pk")
    return [{"kind": row.kind, "speaks": row.speaks, "sha256": evidence_digest(row)} for row in rows]


def evidence_digest(row: Evidence) -> str:
    """SHA-256 of what one piece of evidence says and how it was found."""
    return digest(
        {
            "kind": row.kind,
            "statement": row.statement,
            "query": row.query,
            "result": row.result,
            "speaks": row.speaks,
            "measured_at": timestamp(row.measured_at),
        }
    )


def _nameless(value: Any) -> Any:
    """The same document in which a person {person_id, name} is the UUID of their principal."""
    if isinstance(value, list):
        return [_nameless(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "person_id" in value:
        person = Person.objects.filter(pk=value["person_id"]).first()
        return str(person.principal_id) if person else None
    return {key: _nameless(item) for key, item in value.items()}
