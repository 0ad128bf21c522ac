"""The fixed cast of these tests and the rows they need: a domain with its policy, an incident, a drafted plan."""

from __future__ import annotations

import itertools
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from approvals.models import Assertion, AutonomyRule, Outcome, Plan, Policy, Request, Step, Vote
from approvals.services import ask, autonomy
from approvals.services.decide import decide
from approvals.services.draft import seal_body
from catalog.models import (
    Asset,
    AssetRole,
    Consumer,
    Domain,
    EdgeClaim,
    GraphHead,
    GraphVersion,
    NodeClaim,
    Source,
    Sync,
)
from foundation.audit import Actor
from foundation.canonical import digest, timestamp
from foundation.clock import now
from foundation.models import Person, Principal
from foundation.people import create_person, system
from incidents.models import Cause, Damage, Evidence, Incident

NAMESPACE = "duckdb://orders"
counter = itertools.count(1)


def person(name: str, *, roles: tuple[str, ...] = ()) -> Person:
    return create_person(f"{name}-{secrets.token_hex(4)}@example.org", name.title(), roles=roles)


def as_actor(who: Person, source: str = "web") -> Actor:
    return Actor(who.principal, source)


def conductor() -> Actor:
    return Actor(system("conductor"), "timer")


@dataclass
class House:
    """One domain at L2 with its people, a table, a sync that reads it, and an open incident."""

    domain: Domain
    owner: Person
    second: Person
    approver: Person
    fallback: Person
    stranger: Person
    policy: Policy
    asset: Asset
    reader: Asset
    incident: Incident


def house(*, level: int = 2, next_read: timedelta | None = timedelta(hours=2), required: int = 1) -> House:
    """Build a house; `next_read` from now is when the sync reads (None: not known)."""
    owner, second, approver, fallback, stranger = map(person, ("owner", "second", "approver", "fallback", "stranger"))
    second.roles.create(name="admin", scope="")
    number = next(counter)
    domain = Domain.objects.create(key=f"orders-{number}", name="Orders", owner=owner)
    policy = Policy.objects.create(domain=domain, approver=approver, fallback=fallback, required=required)
    asset, reader = graph(domain, number)
    AssetRole.objects.create(asset=reader, person=stranger, role="operator")
    incident = open_incident(domain, asset, reader, next_read, number)
    built = House(domain, owner, second, approver, fallback, stranger, policy, asset, reader, incident)
    for _ in range(1, level):
        raise_level(built)
    return built


def raise_level(built: House, step_class: str = "") -> None:
    change = autonomy.propose_raise(built.domain, step_class, person=built.owner, reason="the would-do page is right")
    autonomy.second_raise(change.pk, person=built.second)


def graph(domain: Domain, number: int) -> tuple[Asset, Asset]:
    """A table that dbt claims, and the hourly sync that is declared to read it."""
    asset = Asset.objects.create(namespace=NAMESPACE, name=f"main.orders_{number}", kind="table", domain=domain)
    reader = Asset.objects.create(namespace="sync://tool", name=f"orders sync {number}", kind="sync", domain=domain)
    project = Source.objects.create(key=f"dbt:orders-{number}", kind="dbt")
    source = Source.objects.create(key=f"declared-{number}", kind="declared")
    head = GraphHead.objects.get_or_create(pk=1)[0]
    GraphHead.objects.filter(pk=1).update(version=head.version + 1)
    version = GraphVersion.objects.create(number=head.version + 1, at=now(), source=source)
    NodeClaim.objects.create(source=project, asset=asset, local_id=f"model.{number}", added_in=version)
    said = {"kind": reader.kind, "reads": [asset.name], "unmatched": []}
    NodeClaim.objects.create(source=source, asset=reader, local_id=reader.name, added_in=version, attributes=said)
    EdgeClaim.objects.create(source=source, from_asset=asset, to_asset=reader, added_in=version)
    consumer = Consumer.objects.create(asset=reader, cron="0 * * * *", lead_seconds=60)
    Sync.objects.create(consumer=consumer, tool="crm", mode="mirror")
    return asset, reader


def open_incident(domain: Domain, asset: Asset, reader: Asset, next_read: timedelta | None, number: int) -> Incident:
    moment = now()
    reads_at = moment + next_read if next_read is not None else None
    reach = frozen_reach(asset, reader, reads_at)
    incident = Incident.objects.create(
        number=number, asset=asset, domain=domain, opened_at=moment, reach=reach, reach_digest=digest(reach)
    )
    Damage.objects.create(incident=incident, consumer=reader, expected_at=reads_at)
    Cause.objects.create(
        incident=incident, established=True, kind="code", asset=asset, statement="A filter drops rows.",
        facts={"commit": "c" * 40, "proof": {"missing": "12", "removed": "12"}}, at=moment,
    )  # fmt: skip
    Evidence.objects.create(
        incident=incident, kind="code", statement="12 rows are missing", query="SELECT 12", result={"n": "12"},
        speaks="for", weight=3, measured_at=moment,
    )  # fmt: skip
    return incident


def frozen_reach(asset: Asset, reader: Asset, reads_at: datetime | None) -> dict[str, Any]:
    useful = timestamp(reads_at - timedelta(seconds=60)) if reads_at else None
    consumer = {
        "asset_id": reader.pk, "name": reader.name, "mode": "mirror", "through": None, "hops": 1, "lead_seconds": 60,
        "next_read": timestamp(reads_at) if reads_at else None, "last_useful_minute": useful,
        "operator": None, "tool_admin": None,
    }  # fmt: skip
    return {"asset": asset.name, "asset_id": asset.pk, "total": 1, "truncated": False, "consumers": [consumer]}


def plan(built: House, *, author: Principal | None = None, revision: int = 1, expected_seconds: int = 60) -> Plan:
    """A drafted plan: 1 the owner's change, 2 a rerun that depends on it, 3 a message."""
    drafted = Plan.objects.create(
        incident=built.incident, revision=revision, title="Keep the rows", author=author or system("drafter"),
        created_at=now(), body=b"", plan_digest="", expected_seconds=expected_seconds,
        rehearsal={"state": "rehearsed", "predicted": {}},
    )  # fmt: skip
    rows: list[tuple[str, str, str, dict[str, Any]]] = [
        ("change", "filter", "owner", {"base": "b" * 40, "patch": "-a\n+b\n", "files": ["m.sql"]}),
        ("rerun", "rerun:dbt", "spellbook", {"connection": "dbt", "select": ["m+"], "after": [1]}),
        ("message", "message", "spellbook", {"to": str(built.stranger.principal_id), "text": "rows come back"}),
    ]
    for position, (kind, step_class, actor, params) in enumerate(rows, 1):
        Step.objects.create(
            plan=drafted, position=position, kind=kind, step_class=step_class, actor=actor, params=params,
            person=built.owner if actor == "owner" else None, title=kind, undo="revert", reversible=True,
        )  # fmt: skip
    Assertion.objects.create(
        plan=drafted, position=1, kind="row_count", asset=built.asset, params={"equals": "12"}, sentence="12 rows"
    )
    seal_body(drafted)
    return drafted


def asked(built: House, **options: Any) -> Request:
    """A plan that was put before its approver."""
    return ask.ask(plan(built, **options).pk, actor=conductor())


def post(request: Request, who: Person, decision: str = "approve", **changes: Any) -> Outcome | Vote:
    """Post the form as its page showed it; `changes` overrides single fields."""
    request.refresh_from_db()
    form: dict[str, Any] = {
        "person": who,
        "decision": decision,
        "steps": None,
        "reason": "looks right",
        "plan_digest": request.plan_digest,
        "shown_digest": request.shown_digest,
        "idempotency_key": secrets.token_hex(8),
        "actor": as_actor(who),
        "reach_now": [consumer["asset_id"] for consumer in (request.plan.incident.reach or {})["consumers"]],  # type: ignore[union-attr]
    }
    return decide(request.pk, **{**form, **changes})


def approved(built: House, *, steps: list[int] | None = None) -> Plan:
    """A plan that its approver has approved (all steps, or those named)."""
    request = asked(built)
    post(request, built.approver, steps=steps)
    return Plan.objects.get(pk=request.plan_id)


def asked_ago(built: House, ago: timedelta, **options: Any) -> Request:
    """A plan that was put before its approver some time ago; the next read is as far from now as the house says."""
    with patch("approvals.services.ask.now", lambda: now() - ago):
        return asked(built, **options)


def past_its_deadline(request: Request) -> None:
    """The deadline has gone by and no sweep has run."""
    Request.objects.filter(pk=request.pk).update(expires_at=now() - timedelta(seconds=1))
    request.refresh_from_db()


def level_of(built: House, step_class: str = "") -> int:
    rule = AutonomyRule.objects.filter(domain=built.domain, step_class=step_class).first()
    return rule.level if rule else 1
