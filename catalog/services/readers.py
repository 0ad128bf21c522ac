"""Declared readers: what they are, when they read, and their claims on what they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from django.db.models import QuerySet

from catalog import actions
from catalog.adjacency import head_version
from catalog.models import Asset, Consumer, EdgeClaim, GraphVersion, NodeClaim, Sync
from catalog.names import find_asset
from catalog.services import claims
from catalog.services.access import is_agent, person_of
from catalog.services.fields import named_domain, set_fields, set_roles
from catalog.sources.declared import ConsumerEntry, SyncEntry
from foundation import audit, clock
from foundation.audit import Actor
from foundation.errors import BadInput, NotAllowed, NotFound
from foundation.models import Person

SOURCE = "declared"
NAMESPACE = "declared://readers"


def reader(entry: ConsumerEntry) -> Asset:
    """The asset of a declared reader: one that is known as a reader already (a dbt exposure), else one of its own."""
    namespace = entry.namespace or NAMESPACE
    own = Asset.objects.filter(namespace=namespace, name=entry.name).first()
    if own is None and not entry.namespace:
        with suppress(NotFound):
            own = find_asset(entry.name, among=Asset.objects.filter(consumer__isnull=False))
    return own or Asset.objects.create(namespace=namespace, name=entry.name, kind=entry.kind)


def keep(
    asset: Asset, entry: ConsumerEntry, people: Mapping[str, Person], source: Asset | None, *, actor: Actor
) -> bool:
    """Keep what is declared of the reader `asset` (`source`: where its number is confirmed); whether anything changed.

    Its claims are not written here but by `claim`. NotAllowed when an agent would change what a person approved,
    BadInput when its times cannot be read.
    """
    if entry.cron:
        clock.next_run(entry.cron, entry.zone, clock.now())
    consumer, changed = Consumer.objects.get_or_create(asset=asset)
    approved = consumer.approved_by_id is not None
    steps = (
        set_fields(consumer, _fields(entry, source)),
        _sync(consumer, entry.sync),
        _described(asset, entry),
        set_roles(asset, entry.roles, people),
        _read_before(asset) not in (None, list(entry.reads)),
    )
    changed = changed or any(steps)
    if approved and changed and is_agent(actor):
        raise NotAllowed(f"A person approved the reader {asset.name}; an agent may not change it.")
    if changed or not approved:
        changed = _approve(consumer, actor, changed=changed) or changed
    if changed:
        action = actions.CONSUMER_SUGGESTED if is_agent(actor) else actions.CONSUMER_DECLARED
        audit.record(actor, action, consumer, facts={"consumer": asset.name})
    return changed


def claim(readers: Sequence[tuple[Asset, ConsumerEntry]], *, actor: Actor) -> tuple[int, list[dict[str, str]]]:
    """Claim these readers and an edge from each thing that they read; returns the graph version and what is unmatched.

    BadInput when a name is ambiguous.
    """
    items = {_local_id(asset): (asset, {"kind": asset.kind, "reads": list(entry.reads)}) for asset, entry in readers}
    version = _write(items, actor, sure=True)
    mine = _standing().filter(local_id__in=items).order_by("pk")
    return version, [{"in": one.asset.name, "name": name} for one in mine for name in one.attributes["unmatched"]]


def join(*, actor: Actor) -> int:
    """Look up again what the declared readers read, after tables came or went; returns the newest graph version."""
    items = {one.local_id: (one.asset, one.attributes) for one in _standing()}
    return _write(items, actor, sure=False) if items else head_version()


def unmatched() -> list[dict[str, str]]:
    """What declared readers read and nobody knows: {in: the reader, name: the table as declared}."""
    return [{"in": one.asset.name, "name": name} for one in _standing() for name in one.attributes["unmatched"]]


def _local_id(asset: Asset) -> str:
    return f"reader:{asset.pk}"


def _standing() -> QuerySet[NodeClaim]:
    return NodeClaim.objects.filter(source__key=SOURCE, removed_in__isnull=True).select_related("asset")


def _read_before(asset: Asset) -> list[str] | None:
    found = _standing().filter(local_id=_local_id(asset)).first()
    return found.attributes["reads"] if found else None


def _fields(entry: ConsumerEntry, source: Asset | None) -> dict[str, Any]:
    return {
        "cron": entry.cron,
        "zone": entry.zone,
        "triggered_by_api": entry.triggered_by_api,
        "lead_seconds": entry.lead_seconds,
        "consequence": entry.consequence,
        "confirm_metric": entry.confirm_metric,
        "confirm_source": source,
    }


def _described(asset: Asset, entry: ConsumerEntry) -> bool:
    told = NodeClaim.objects.filter(asset=asset, removed_in__isnull=True).exclude(source__key=SOURCE).exists()
    return set_fields(asset, {"domain": named_domain(entry.domain), "kind": None if told else entry.kind})


def _sync(consumer: Consumer, entry: SyncEntry | None) -> bool:
    if entry is None:
        return False
    wanted = {"tool": entry.tool, "mode": entry.mode, "delete_rule": entry.delete_rule}
    sync, created = Sync.objects.get_or_create(consumer=consumer, defaults=wanted)
    return set_fields(sync, wanted) or created


def _approve(consumer: Consumer, actor: Actor, *, changed: bool) -> bool:
    """A person who declares a reader approves it; what somebody else changed loses its approval. Whether it changed."""
    person = person_of(actor)
    if person is None and not (changed and consumer.approved_by_id):
        return False
    consumer.approved_by, consumer.approved_at = person, clock.now() if person else None
    consumer.save(update_fields=["approved_by", "approved_at"])
    return True


def _write(items: Mapping[str, tuple[Asset, Mapping[str, Any]]], actor: Actor, *, sure: bool) -> int:
    together = {asset.pk for asset, _ in items.values()}

    def compare() -> claims.Difference:
        nodes, edges = {}, set()
        for name, (asset, attributes) in items.items():
            known, unknown = _resolve(asset, attributes["reads"], together, sure=sure)
            nodes[name] = (asset.pk, {**attributes, "unmatched": unknown})
            edges |= {(pk, asset.pk, "reads") for pk in known if pk != asset.pk}
        return claims.difference(SOURCE, nodes, edges, partial=True)

    def in_step(change: claims.Change) -> None:
        counts = {"added": change.added, "changed": change.changed, "removed": change.removed}
        facts = {"version": change.version, **counts}
        audit.record(actor, actions.GRAPH_DECLARED, GraphVersion(number=change.version), facts=facts)

    return claims.write(SOURCE, "declared", compare, in_step=in_step).version


def _resolve(asset: Asset, names: Sequence[str], together: set[int], *, sure: bool) -> tuple[set[int], list[str]]:
    """What `asset` reads, and the names that mean nothing in the graph now; an edge to what was in it stays.

    A name that became ambiguous after it was declared (not `sure`) is listed too, and the edges of before stay.
    """
    known, unknown = set(), []
    for name in names:
        try:
            found = find_asset(name)
        except NotFound:
            unknown.append(name)
        except BadInput:
            if sure:
                raise
            unknown.append(name)
            edges = EdgeClaim.objects.filter(source__key=SOURCE, to_asset=asset, removed_in__isnull=True)
            known |= set(edges.values_list("from_asset_id", flat=True))
        else:
            known.add(found.pk)
            if not (found.pk in together or found.in_graph):  # type: ignore[attr-defined]
                unknown.append(name)
    return known, unknown
