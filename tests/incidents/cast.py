"""The tables, readers, builds and numbers of this floor's tests."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from approvals.services.incident_receipt import close_with_receipt
from catalog.models import (
    Asset,
    AssetRole,
    Build,
    Consumer,
    EdgeClaim,
    GraphHead,
    GraphVersion,
    NodeClaim,
    Source,
    Sync,
)
from catalog.services import builds
from foundation.audit import Actor
from foundation.clock import now
from foundation.models import Person
from foundation.people import create_person, system
from incidents.models import Incident
from incidents.services import checks
from incidents.services.record import Recorded, record

NAMESPACE = "duckdb://shop"
ROWS = "row_count"
NORMAL = (1000, 1001, 999, 1002, 998)


def conductor() -> Actor:
    return Actor(system("conductor"), "timer")


def person(name: str = "Ada Operator") -> Person:
    return create_person(f"{name.split(maxsplit=1)[0].lower()}@example.org", name)


def by(who: Person) -> Actor:
    return Actor(who.principal, "web")


def table(name: str, *above: Asset, kind: str = "model", attributes: dict[str, Any] | None = None) -> Asset:
    """A table that is fed by `above`, claimed by one source in a graph version of its own."""
    asset = Asset.objects.create(namespace=NAMESPACE, name=name, kind=kind)
    source, _ = Source.objects.get_or_create(key="tests", defaults={"kind": "tests"})
    head, _ = GraphHead.objects.get_or_create(pk=1)
    head.version += 1
    head.save()
    version = GraphVersion.objects.create(number=head.version, at=now(), source=source)
    NodeClaim.objects.create(
        source=source, asset=asset, local_id=name, added_in=version, attributes=attributes or {"kind": kind}
    )
    for one in above:
        EdgeClaim.objects.create(source=source, from_asset=one, to_asset=asset, added_in=version)
    return asset


def a_sync(name: str, *above: Asset, mode: str = "mirror", cron: str = "17 * * * *", **more: Any) -> Asset:
    """A sync that copies `above`; `operator` names a person, other fields are those of the consumer."""
    operator = more.pop("operator", None)
    asset = table(name, *above, kind="sync")
    consumer = Consumer.objects.create(asset=asset, cron=cron, **more)
    Sync.objects.create(consumer=consumer, tool="crm", mode=mode)
    if operator is not None:
        AssetRole.objects.create(asset=asset, person=operator, role="operator")
    return asset


def a_report(name: str, *above: Asset, cron: str = "", **more: Any) -> Asset:
    asset = table(name, *above, kind="report")
    Consumer.objects.create(asset=asset, cron=cron, **more)
    return asset


def nights(asset: Asset, numbers: tuple[int, ...] = NORMAL, *, metric: str = ROWS) -> list[Recorded]:
    """One value a night, the last one yesterday, each of a build that is known by its key only."""
    moment = now()
    return [
        record(
            asset, metric, number, actor=conductor(), at=moment - timedelta(days=len(numbers) - index),
            build_key=f"night-{index}",
        )
        for index, number in enumerate(numbers)
    ]  # fmt: skip


def breach(asset: Asset, number: int = 449, *, build: str | None = "bad") -> Incident:
    """A value far outside, and the incident that it opened or joined."""
    incident = record(asset, ROWS, number, actor=conductor(), build_key=build).incident
    assert incident is not None
    return incident


def broken(name: str = "shop.orders", *above: Asset) -> tuple[Asset, Incident]:
    """A table with a history and a breach tonight."""
    asset = table(name, *above)
    nights(asset)
    return asset, breach(asset)


def announced(key: str, *outputs: Asset, kind: str = "dbt", **fields: Any) -> Build:
    """A build that was announced and processed."""
    names = [f"{asset.namespace}/{asset.name}" for asset in outputs]
    build, _ = builds.announce(key=key, kind=kind, actor=conductor(), outputs=names, **fields)
    return builds.process(build.pk, actor=conductor())


def ran(key: str, reader: Asset, *, began: datetime | None, removed: int | None = 5, inserted: int | None = 0) -> Build:
    """A run of a sync that began then and took a moment."""
    facts = {"rows_removed": removed, "rows_inserted": inserted}
    ended = began + timedelta(milliseconds=1) if began else None
    return announced(key, reader, kind="sync", started_at=began, ended_at=ended, facts=facts)


def good_again(asset: Asset, number: int = 1000, *, build: str = "repair") -> None:
    """A build ends now, its table is counted inside the baseline."""
    done = announced(build, asset, started_at=now(), ended_at=now())
    checks.review(done, actor=conductor())
    assert record(asset, ROWS, number, actor=conductor(), build_key=build).baseline.verdict == "held"  # type: ignore[union-attr]


def end(incident: Incident, resolution: str) -> None:
    """Close an incident with its receipt, as the floor above does."""
    assert close_with_receipt(incident.pk, actor=conductor(), resolution=resolution, reason="looked at by a person")
    incident.refresh_from_db()
